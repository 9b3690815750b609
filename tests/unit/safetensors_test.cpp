// safetensors files: one of the format's own library, round trips, and a sentence for each broken
// rule.
#include "tensor/safetensors.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>

#include "bytes.hpp"
#include "folder.hpp"
#include "scratch.hpp"

namespace fs = std::filesystem;

namespace swa {
namespace {

using namespace swa::test;
using std::string;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Written by the format's reference library, version 0.5.3, with its function serialize().
constexpr std::string_view kReference =
    "c0010000000000007b225f5f6d657461646174615f5f223a7b226d616465206279223a22746865207265"
    "666572656e6365227d2c2277223a7b226474797065223a22463634222c227368617065223a5b5d2c2264"
    "6174615f6f666673657473223a5b302c385d7d2c226e6f6e65223a7b226474797065223a22463332222c"
    "227368617065223a5b322c305d2c22646174615f6f666673657473223a5b382c385d7d2c2278223a7b22"
    "6474797065223a22463332222c227368617065223a5b312c325d2c22646174615f6f666673657473223a"
    "5b382c31365d7d2c226b223a7b226474797065223a2242463136222c227368617065223a5b335d2c2264"
    "6174615f6f666673657473223a5b31362c32325d7d2c2271223a7b226474797065223a22463136222c22"
    "7368617065223a5b322c325d2c22646174615f6f666673657473223a5b32322c33305d7d2c226534223a"
    "7b226474797065223a2246385f45344d33222c227368617065223a5b325d2c22646174615f6f66667365"
    "7473223a5b33302c33325d7d2c226535223a7b226474797065223a2246385f45354d32222c2273686170"
    "65223a5b325d2c22646174615f6f666673657473223a5b33322c33345d7d7d2020202020555555555555"
    "d53fcdcccc3d000080ff803f00c0c07f003c00b8ff7b01007e817bfc";

// What it holds.
std::vector<NamedArray> reference_arrays() {
  return {{"w", {{}, Dtype::fp64, {1.0 / 3}}},
          {"none", {{2, 0}, Dtype::fp32, {}}},
          {"x", {{1, 2}, Dtype::fp32, {0.1F, -kInfinity}}},
          {"k", {{3}, Dtype::bf16, {1, -2, std::numeric_limits<double>::quiet_NaN()}}},
          {"q", {{2, 2}, Dtype::fp16, {1, -0.5, 65504, 0x1p-24}}},
          {"e4", {{2}, Dtype::fp8_e4m3, {448, -0x1p-9}}},
          {"e5", {{2}, Dtype::fp8_e5m2, {57344, -kInfinity}}}};
}

bool same(const Array& a, const Array& b) {
  const auto equal = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  return a.shape == b.shape && a.dtype == b.dtype &&
         std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(), equal);
}

// The length, the header, and so many bytes of data.
string file_of(const string& header, std::size_t data = 0) {
  string file;
  for (int bit = 0; bit < 64; bit += 8) file.push_back(static_cast<char>(header.size() >> bit));
  return file + header + string(data, '\0');
}

// Its header and all its arrays are read.
string said(const string& file) {
  return refusal([&] {
    const SafetensorsFile read(Source("x", bytes_of(file)));
    for (const auto& entry : read.entries()) read.read(entry);
  });
}
string said_of(const string& header, std::size_t data = 0) {
  return said(file_of(header, data));
}

// The entry of a tensor.
string entry(const string& name, const string& dtype, const string& shape, const string& range) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":[" + shape +
         "],\"data_offsets\":[" + range + "]}";
}

}  // namespace

TEST_CASE("a file of the reference library is read") {
  const string content = from_hex(kReference);
  const SafetensorsFile file(Source("x", bytes_of(content)));
  CHECK(file.metadata() == Metadata{{"made by", "the reference"}});
  const std::vector<NamedArray> expected = reference_arrays();
  REQUIRE(file.entries().size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(expected[i].name);
    CHECK(file.entries()[i].name == expected[i].name);
    CHECK(same(file.read(expected[i].name), expected[i].array));
    CHECK(same(file.read(file.entries()[i]), expected[i].array));
  }
}

TEST_CASE("arrays are written byte for byte as the reference library writes them") {
  const Scratch scratch;
  const string path = scratch.folder() + "/x.safetensors";
  write_safetensors(path, reference_arrays(), {{"made by", "the reference"}});
  CHECK(content_of(path) == from_hex(kReference));
}

TEST_CASE("arrays of every dtype and shape come back from a file") {
  const Scratch scratch;
  const string path = scratch.folder() + "/x.safetensors";
  std::vector<NamedArray> arrays;
  for (const Dtype dtype :
       {Dtype::fp8_e4m3, Dtype::fp64, Dtype::bf16, Dtype::fp32, Dtype::fp8_e5m2, Dtype::fp16}) {
    const string type(name(dtype));
    arrays.push_back({type + " number", {{}, dtype, {-1.5}}});
    arrays.push_back({type + " none", {{4, 0, 2}, dtype, {}}});
    Array array{{2, 3, 1, 3001}, dtype, std::vector<double>(18006)};
    for (std::size_t i = 0; i < array.values.size(); ++i) {
      array.values[i] = round_to(dtype, std::sin(static_cast<double>(i)));
    }
    arrays.push_back({type + " \"4-D\" \n", array});
  }
  write_safetensors(path, arrays, {{"key", "ä\\\"\n"}, {"", ""}});
  const SafetensorsFile file(path);
  CHECK(file.metadata() == Metadata{{"key", "ä\\\"\n"}, {"", ""}});
  for (const NamedArray& named : arrays) {
    CAPTURE(named.name);
    CHECK(same(file.read(named.name), named.array));
  }
  CHECK(read_safetensors(path).size() == arrays.size());
  // Each begins at a multiple of the width of its elements.
  const Index data = static_cast<Index>(fs::file_size(path)) - file.entries().back().end;
  for (const auto& e : file.entries()) CHECK((data + e.begin) % bytes(e.dtype) == 0);

  write_safetensors(path, {});
  CHECK(SafetensorsFile(path).entries().empty());
}

TEST_CASE("values are rounded to the dtype they are written in") {
  const Scratch scratch;
  const string path = scratch.folder() + "/x.safetensors";
  write_safetensors(path, {{"x", {{2}, Dtype::bf16, {0.1, 1 + 0x1p-8}}}});
  CHECK(read_safetensors(path)[0].array.values == std::vector<double>{0.10009765625, 1});
}

TEST_CASE("one tensor is read without the others") {
  // What stands before it would not fit into memory; on the disk it takes no room.
  const Scratch scratch;
  const string huge = "1099511627776";
  const string path =
      scratch.write("x", file_of("{" + entry("huge", "F8_E4M3", huge, "0," + huge) + "," +
                                 entry("x", "F16", "2", huge + ",1099511627780") + "}"));
  const auto header = fs::file_size(path);
  fs::resize_file(path, header + (std::uintmax_t{1} << 40) + 4);
  const SafetensorsFile file(path);
  CHECK(same(file.read("x"), {{2}, Dtype::fp16, {0, 0}}));
  CHECK_THROWS_AS(file.read("huge"), CannotRun);
}

TEST_CASE("a tensor that is not there is said with those that are") {
  const string content = from_hex(kReference);
  const SafetensorsFile file(Source("x", bytes_of(content)));
  try {
    file.read("v");
    FAIL("it was read");
  } catch (const UsageError& error) {
    CHECK(string(error.what()) == "x: it has no tensor 'v'");
    CHECK(error.remedy() == "it has 'w', 'none', 'x', 'k', 'q', 'e4', 'e5'");
  }
}

TEST_CASE("a header that the file does not hold is refused") {
  CHECK(said("") == "x: that is not a safetensors file: it has less than 8 bytes");
  CHECK(said("1234567") == "x: that is not a safetensors file: it has less than 8 bytes");
  const string whole = from_hex(kReference);
  CHECK(said(whole.substr(0, 100)) == "x: the header is said to have 448 bytes, and 92 follow");
  CHECK(said(from_hex("ffffffffffffffff7b7d")) ==
        "x: the header is said to have 18446744073709551615 bytes, more than 100000000");
  CHECK(said(from_hex("00e1f505000000007b7d")) ==
        "x: the header is said to have 100000000 bytes, and 2 follow");
  CHECK(said(from_hex("01e1f505000000007b7d")).ends_with("100000001 bytes, more than 100000000"));
  const string no_object = "x: the header is not JSON that begins with '{'";
  CHECK(said_of("") == no_object);
  CHECK(said_of(" {}") == no_object);
  CHECK(said_of("[]") == no_object);
  CHECK(said_of("\xef\xbb\xbf{}") == no_object);
  CHECK(said_of(string("{}\0x", 4)) == no_object);
  CHECK(said_of("{}   ") == "");
}

TEST_CASE("a header that is not JSON is refused") {
  for (const string header :
       {"{", "{}}", "{} x", "{\"a\"}", "{\"__metadata__\":{}", "{'a':{}}", "{\"__metadata__\":{},}",
        "{\"\xff\":{}}", "{\"a\nb\":{}}", "{\"a\":{\"shape\":[1e999]}}"}) {
    CAPTURE(header);
    CHECK(said_of(header).starts_with("x: the header is not JSON, at byte "));
  }
  // A token of a megabyte is not repeated.
  CHECK(said_of("{\"" + string(1 << 20, 'a')).size() < 80);
}

TEST_CASE("nesting is refused where it begins") {
  const std::size_t deep = 1 << 20;
  CHECK(said_of("{\"a\":" + string(deep, '[')) == "x: tensor 'a' is no object");
  CHECK(said_of("{\"a\":{\"shape\":" + string(deep, '[')) ==
        "x: tensor 'a' has another 'shape' than an array of whole numbers");
  string objects;
  for (std::size_t i = 0; i < deep; ++i) objects += "{\"a\":";
  CHECK(said_of(objects) == "x: tensor 'a' has 'a', which the format does not know");
  CHECK(said_of("{\"__metadata__\":{\"k\":{}}}") ==
        "x: __metadata__ has a value at 'k' that is no string");
}

TEST_CASE("entries of another form are refused with their name") {
  const auto of = [](const string& fields) { return said_of("{\"a\":" + fields + "}", 4); };
  const string incomplete = "x: tensor 'a' lacks its 'dtype', 'shape' or two 'data_offsets'";
  CHECK(of("{}") == incomplete);
  CHECK(of("{\"dtype\":\"F32\",\"shape\":[1]}") == incomplete);
  CHECK(of("{\"dtype\":\"F32\",\"data_offsets\":[0,4]}") == incomplete);
  CHECK(of("{\"shape\":[1],\"data_offsets\":[0,4]}") == incomplete);
  CHECK(of("{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}") == incomplete);
  CHECK(of("{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,4]}") ==
        "x: tensor 'a' has more than two 'data_offsets'");
  CHECK(of("3") == "x: tensor 'a' is no object");
  CHECK(of("null") == "x: tensor 'a' is no object");
  CHECK(of("{\"dtype\":4}") == "x: tensor 'a' has another 'dtype' than a string");
  const string no_numbers = "x: tensor 'a' has another 'shape' than an array of whole numbers";
  for (const string shape : {"3", "\"3\"", "[-1]", "[1.0]", "[true]", "[null]", "[\"1\"]", "{}",
                             "[18446744073709551616]"}) {
    CAPTURE(shape);
    CHECK(of("{\"shape\":" + shape + "}") == no_numbers);
  }
  CHECK(of("{\"data_offsets\":[0,-4]}") ==
        "x: tensor 'a' has another 'data_offsets' than an array of whole numbers");
  CHECK(of("{\"strides\":[1]}") == "x: tensor 'a' has 'strides', which the format does not know");
  CHECK(of("{\"strides\":1}") == "x: tensor 'a' has 'strides', which the format does not know");
  for (const string dtype : {"I32", "BOOL", "f16", "F8_E4M3FN", "FP16", ""}) {
    CHECK(of("{\"dtype\":\"" + dtype + "\"}") ==
          "x: tensor 'a' is of dtype '" + dtype + "', not F64, F32, F16, BF16, F8_E4M3 or F8_E5M2");
  }
  CHECK(said_of("{\"" + string(1000, 'n') + "\":3}") ==
        "x: tensor '" + string(60, 'n') + "...' is no object");
  // A zero byte would end the sentence.
  CHECK(said_of("{\"a\\u0000\\u001b[1m\":3}") == "x: tensor 'a??[1m' is no object");
  // What one entry has, the next may still lack.
  const string first = "{" + entry("a", "F16", "", "0,2") + ",\"b\":";
  CHECK(said_of(first + "{\"shape\":[],\"data_offsets\":[2,4]}}", 4)
            .starts_with("x: tensor 'b' lacks"));
  CHECK(said_of(first + "{\"dtype\":\"I16\"}}", 4).starts_with("x: tensor 'b' is of dtype 'I16'"));
}

TEST_CASE("metadata map words to words") {
  CHECK(said_of("{\"__metadata__\":{}}") == "");
  CHECK(said_of("{\"__metadata__\":3}") == "x: __metadata__ is no object");
  CHECK(said_of("{\"__metadata__\":[]}") == "x: __metadata__ is no object");
  for (const string value : {"1", "-1", "1.5", "null", "true", "[]"}) {
    CHECK(said_of("{\"__metadata__\":{\"k\":" + value + "}}") ==
          "x: __metadata__ has a value at 'k' that is no string");
  }
}

TEST_CASE("a key that stands twice is refused") {
  const string one = entry("a", "F16", "1", "0,2");
  CHECK(said_of("{" + one + "," + entry("a", "F16", "1", "2,4") + "}", 4) ==
        "x: tensor 'a' stands twice in the header");
  CHECK(said_of("{\"a\":{\"dtype\":\"F16\",\"dtype\":\"F16\"}}") ==
        "x: tensor 'a' has 'dtype' twice");
  CHECK(said_of("{\"__metadata__\":{\"k\":\"1\",\"k\":\"1\"}}") == "x: __metadata__ has 'k' twice");
  CHECK(said_of("{\"__metadata__\":{},\"__metadata__\":{}}") ==
        "x: __metadata__ stands twice in the header");
}

TEST_CASE("ranges cover the data once") {
  const auto of = [](const string& entries, std::size_t data) {
    return said_of("{" + entries + "}", data);
  };
  const string a = entry("a", "F16", "2", "0,4"), b = entry("b", "F16", "2", "4,8");
  CHECK(of(b + "," + a, 8) == "");
  CHECK(of(a + "," + entry("none", "F16", "0", "4,4") + "," + b, 8) == "");
  CHECK(of(a + "," + entry("b", "F16", "2", "6,10"), 10) ==
        "x: tensor 'b' begins at byte 6 of the data, which leaves a hole behind what ends at byte "
        "4");
  CHECK(of(a + "," + entry("b", "F16", "2", "2,6"), 6) ==
        "x: tensor 'b' begins at byte 2 of the data, which overlaps what ends at byte 4");
  CHECK(of(a + "," + entry("b", "F16", "2", "0,4"), 4).ends_with("overlaps what ends at byte 4"));
  CHECK(of(entry("a", "F16", "2", "1,5"), 5).ends_with("leaves a hole behind what ends at byte 0"));
  CHECK(of(a, 5) == "x: 1 bytes at the end belong to no tensor");
  CHECK(of("", 1) == "x: 1 bytes at the end belong to no tensor");
  CHECK(of(a, 3) == "x: tensor 'a' is said to fill bytes 0 to 4 of the 3 that follow the header");
  CHECK(of(entry("a", "F16", "2", "4,0"), 4) ==
        "x: tensor 'a' is said to fill bytes 4 to 0 of the 4 that follow the header");
  CHECK(
      of(entry("a", "F16", "2", "0,18446744073709551615"), 4).ends_with("that follow the header"));
  CHECK(of(entry("a", "F32", "2", "0,4"), 4) ==
        "x: tensor 'a' has 4 bytes, and its shape [2] in F32 takes 8");
  CHECK(of(entry("a", "F16", "", "0,4"), 4) ==
        "x: tensor 'a' has 4 bytes, and its shape [] in F16 takes 2");
}

TEST_CASE("shapes beyond all bounds are refused without memory") {
  const auto of_shape = [](const string& shape) {
    return said_of("{" + entry("a", "F64", shape, "0,8") + "}", 8);
  };
  const string too_many = "x: tensor 'a' has a shape whose lengths multiply to more than 2^60";
  CHECK(of_shape("4611686018427387904") == too_many);
  CHECK(of_shape("18446744073709551615") == too_many);
  CHECK(of_shape("4294967296,4294967297") == too_many);
  CHECK(of_shape("4611686018427387904,0") == too_many);
  CHECK(of_shape("1152921504606846976") ==
        "x: tensor 'a' has 8 bytes, and its shape [1152921504606846976] in F64 takes "
        "9223372036854775808");
  string axes = "1";
  for (int i = 0; i < 63; ++i) axes += ",1";
  CHECK(of_shape(axes) == "");
  CHECK(of_shape(axes + ",1") == "x: tensor 'a' has more than 64 axes");
}

TEST_CASE("a header with very many tensors is read in linear time") {
  string header = "{";
  constexpr int kTensors = 100'000;
  for (int i = 0; i < kTensors; ++i) {
    if (i > 0) header += ",";
    header += entry(std::to_string(i), "F16", "0", "0,0");
  }
  const Scratch scratch;
  const string path = scratch.write("x", file_of(header + "}"));
  CHECK(read_safetensors(path).size() == kTensors);
}

TEST_CASE("what is no plain file holds no tensors") {
  const Scratch scratch;
  const string folder = scratch.folder();
  const auto of_file = [&](const string& name) {
    return scratch.without_folder(refusal([&] { read_safetensors(folder + "/" + name); }));
  };
  CHECK(of_file("none") == "none: No such file or directory");
  CHECK(refusal([&] { read_safetensors(folder); }) == folder + ": that is a folder");
  REQUIRE(mkfifo((folder + "/pipe").c_str(), 0600) == 0);
  CHECK(of_file("pipe") == "pipe: that is not a plain file");
}

TEST_CASE("safetensors that cannot be written leave the older file") {
  const Scratch scratch;
  const string path = scratch.write("x", "old");
  const Array number{{}, Dtype::fp64, {1}};
  {
    const FullDisk full(5000);
    const Array large{{10'000}, Dtype::fp64, std::vector<double>(10'000)};
    CHECK_THROWS_AS(write_safetensors(path, {{"a", large}}), CannotRun);
  }
  CHECK(refusal([&] {
          write_safetensors(path, {{"\xff", number}});
        }) == path + ": '\xff' is not UTF-8 and cannot be written");
  CHECK(refusal([&] {
          write_safetensors(path, {}, {{"k", "\xc3"}});
        }) == path + ": '\xc3' is not UTF-8 and cannot be written");
  CHECK_THROWS_AS(write_safetensors(path, {{"a", number}, {"a", number}}), std::invalid_argument);
  CHECK_THROWS_AS(write_safetensors(path, {{"__metadata__", number}}), std::invalid_argument);
  CHECK_THROWS_AS(write_safetensors(path, {{"a", {{2}, Dtype::fp64, {1}}}}), std::invalid_argument);
  CHECK(content_of(path) == "old");
  CHECK(names_in(scratch.folder()) == std::set<string>{"x"});
}

}  // namespace swa
