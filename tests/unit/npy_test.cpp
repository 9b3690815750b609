// .npy files: those of NumPy itself, round trips, and a sentence for each kind of broken file.
#include "tensor/npy.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <bit>
#include <cmath>
#include <csignal>
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
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// ---- What NumPy 2.4.6 wrote, with numpy.lib.format.write_array of the arrays above them ----

// np.array([[1, -2.5, 1/3], [np.nan, -np.inf, 5e-324]])
constexpr std::string_view kFp64 =
    "934e554d5059010076007b276465736372273a20273c6638272c2027666f727472616e5f6f7264657227"
    "3a2046616c73652c20277368617065273a2028322c2033292c207d202020202020202020202020202020"
    "202020202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "200a000000000000f03f00000000000004c0555555555555d53f000000000000f87f000000000000f0ff"
    "0100000000000000";
// np.array([0.1, -0.0, 3e38], 'f4')
constexpr std::string_view kFp32 =
    "934e554d5059010076007b276465736372273a20273c6634272c2027666f727472616e5f6f7264657227"
    "3a2046616c73652c20277368617065273a2028332c292c207d2020202020202020202020202020202020"
    "202020202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "200acdcccc3d00000080e6b1617f";
// np.arange(4, dtype='f2').reshape(2, 1, 2, 1) - 0.5
constexpr std::string_view kFp16 =
    "934e554d5059010076007b276465736372273a20273c6632272c2027666f727472616e5f6f7264657227"
    "3a2046616c73652c20277368617065273a2028322c20312c20322c2031292c207d202020202020202020"
    "202020202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "200a00b80038003e0041";
// np.float64(42)
constexpr std::string_view kNumber =
    "934e554d5059010076007b276465736372273a20273c6638272c2027666f727472616e5f6f7264657227"
    "3a2046616c73652c20277368617065273a2028292c207d20202020202020202020202020202020202020"
    "202020202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "200a0000000000004540";
// np.zeros((3, 0, 2), 'f4')
constexpr std::string_view kEmpty =
    "934e554d5059010076007b276465736372273a20273c6634272c2027666f727472616e5f6f7264657227"
    "3a2046616c73652c20277368617065273a2028332c20302c2032292c207d202020202020202020202020"
    "202020202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "200a";
// np.array([1.5], 'f2'), version=(2, 0)
constexpr std::string_view kVersion2 =
    "934e554d50590200740000007b276465736372273a20273c6632272c2027666f727472616e5f6f726465"
    "72273a2046616c73652c20277368617065273a2028312c292c207d202020202020202020202020202020"
    "202020202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "200a003e";
// np.array([1.5], 'f2'), version=(3, 0)
constexpr std::string_view kVersion3 =
    "934e554d50590300740000007b276465736372273a20273c6632272c2027666f727472616e5f6f726465"
    "72273a2046616c73652c20277368617065273a2028312c292c207d202020202020202020202020202020"
    "202020202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "200a003e";
// np.asfortranarray(np.ones((1, 2)).T @ np.ones((1,2)))
constexpr std::string_view kFortran =
    "934e554d5059010076007b276465736372273a20273c6638272c2027666f727472616e5f6f7264657227"
    "3a20547275652c20277368617065273a2028322c2032292c207d20202020202020202020202020202020"
    "202020202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "200a000000000000f03f000000000000f03f000000000000f03f000000000000f03f";

Array read(const string& file) {
  return read_npy(Source("x.npy", bytes_of(file)));
}

string said(const string& file) {
  return refusal([&] { read(file); });
}

// A file of version 1.0 with the dict, and so many bytes of data.
string file_of(const string& dict, std::size_t data = 0) {
  string file = "\x93NUMPY\x01";
  file.push_back('\0');
  file.push_back(static_cast<char>(dict.size() & 0xff));
  file.push_back(static_cast<char>(dict.size() >> 8));
  return file + dict + string(data, '\0');
}
string dict_of(const string& descr, const string& shape, const string& fortran = "False") {
  return "{'descr': " + descr + ", 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

bool same(const Array& a, const Array& b) {
  if (a.shape != b.shape || a.dtype != b.dtype || a.values.size() != b.values.size()) return false;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const bool nan = std::isnan(a.values[i]) && std::isnan(b.values[i]);
    if (!nan &&
        std::bit_cast<std::uint64_t>(a.values[i]) != std::bit_cast<std::uint64_t>(b.values[i])) {
      return false;
    }
  }
  return true;
}

// What is written of an array.
string written(const Array& array) {
  const Scratch scratch;
  const string path = scratch.folder() + "/x.npy";
  write_npy(path, array);
  return content_of(path);
}

const Array kFp64Array{{2, 3}, Dtype::fp64, {1, -2.5, 1.0 / 3, kNan, -kInfinity, 0x1p-1074}};
const Array kFp32Array{{3}, Dtype::fp32, {0.1F, -0.0, 3e38F}};
const Array kFp16Array{{2, 1, 2, 1}, Dtype::fp16, {-0.5, 0.5, 1.5, 2.5}};
const Array kNumberArray{{}, Dtype::fp64, {42}};
const Array kEmptyArray{{3, 0, 2}, Dtype::fp32, {}};

}  // namespace

TEST_CASE("files that NumPy wrote are read") {
  CHECK(same(read(from_hex(kFp64)), kFp64Array));
  CHECK(same(read(from_hex(kFp32)), kFp32Array));
  CHECK(same(read(from_hex(kFp16)), kFp16Array));
  CHECK(same(read(from_hex(kNumber)), kNumberArray));
  CHECK(same(read(from_hex(kEmpty)), kEmptyArray));
  CHECK(same(read(from_hex(kVersion2)), {{1}, Dtype::fp16, {1.5}}));
  CHECK(same(read(from_hex(kVersion3)), {{1}, Dtype::fp16, {1.5}}));
}

TEST_CASE("arrays are written byte for byte as NumPy writes them") {
  CHECK(written(kFp64Array) == from_hex(kFp64));
  CHECK(written(kFp32Array) == from_hex(kFp32));
  CHECK(written(kFp16Array) == from_hex(kFp16));
  CHECK(written(kNumberArray) == from_hex(kNumber));
  CHECK(written(kEmptyArray) == from_hex(kEmpty));
}

TEST_CASE("what NumPy has no type for is written in a wider one") {
  const auto stored = [](Dtype dtype) { return read(written({{3}, dtype, {0.1, -448, 0x1p-9}})); };
  const auto rounded = [](Dtype dtype, Dtype wider) {
    return Array{{3}, wider, {round_to(dtype, 0.1), -448, 0x1p-9}};
  };
  CHECK(same(stored(Dtype::tf32), rounded(Dtype::tf32, Dtype::fp32)));
  CHECK(same(stored(Dtype::bf16), rounded(Dtype::bf16, Dtype::fp32)));
  CHECK(same(stored(Dtype::fp8_e4m3), rounded(Dtype::fp8_e4m3, Dtype::fp16)));
  CHECK(same(stored(Dtype::fp8_e5m2), rounded(Dtype::fp8_e5m2, Dtype::fp16)));
}

TEST_CASE("arrays larger than a block come back from a file") {
  const Scratch scratch;
  for (const Dtype dtype : {Dtype::fp64, Dtype::fp32, Dtype::fp16}) {
    Array array{{3, 1, 9001}, dtype, std::vector<double>(27003)};
    for (std::size_t i = 0; i < array.values.size(); ++i) {
      array.values[i] = round_to(dtype, 1.0 / (static_cast<double>(i) + 1));
    }
    const string path = scratch.folder() + "/large.npy";
    write_npy(path, array);
    CHECK(same(read_npy(path), array));
    const string file = content_of(path);
    CHECK(file.size() % 64 == static_cast<std::size_t>(27003 * bytes(dtype) % 64));
    CHECK(same(read(file), array));
  }
}

TEST_CASE("a dict may be written in other ways") {
  const Array expected{{2}, Dtype::fp32, {0, 0}};
  for (const string& dict :
       {dict_of("'<f4'", "(2,)"), dict_of("\"<f4\"", "( 2 , )"),
        string("{'shape':(2,),'fortran_order':False,'descr':'<f4'}"),
        string(" { 'shape' : (2,)\n,\t'descr':'<f4','fortran_order':False,}  ")}) {
    CAPTURE(dict);
    CHECK(same(read(file_of(dict, 8)), expected));
  }
  CHECK(read(file_of(dict_of("'<f4'", "(1, 2,)"), 8)).shape == std::vector<Index>{1, 2});
}

TEST_CASE("a file that is no npy file is refused") {
  const string not_npy = "x.npy: that is not a .npy file";
  const string cut = "x.npy: the file ends within its header";
  const string whole = from_hex(kFp64);
  CHECK(said("") == not_npy);
  CHECK(said(whole.substr(0, 7)) == not_npy);
  CHECK(said("PK\x03\x04 this is an .npz file") == not_npy);
  CHECK(said(whole.substr(0, 8)) == cut);
  CHECK(said(whole.substr(0, 9)) == cut);
  CHECK(said(whole.substr(0, 50)) == cut);
  CHECK(said(whole.substr(0, 127)) == cut);
  CHECK(said(from_hex(kVersion2).substr(0, 11)) == cut);

  string file = whole;
  file[6] = 4;
  CHECK(said(file) == "x.npy: version 4.0 of the format is not known");
  file[6] = 1, file[7] = 1;
  CHECK(said(file) == "x.npy: version 1.1 of the format is not known");
  file = from_hex(kVersion2);
  file[11] = '\x7f';  // a header of 2 GiB
  CHECK(said(file) == cut);
  file = from_hex(kVersion2) + string(100'000, ' ');
  file[10] = 1;
  CHECK(said(file) == "x.npy: the header has 65652 bytes, more than 65536");
}

TEST_CASE("data of another length than the header says are refused") {
  const string whole = from_hex(kFp64);
  CHECK(said(whole.substr(0, whole.size() - 1)) ==
        "x.npy: the file is cut off: 6 elements of shape [2, 3] take 48 bytes, and 47 follow the "
        "header");
  CHECK(said(whole.substr(0, 128)).starts_with("x.npy: the file is cut off: "));
  CHECK(said(whole + "x") == "x.npy: 1 bytes follow the 6 elements of shape [2, 3]");
  CHECK(said(from_hex(kEmpty) + "x") == "x.npy: 1 bytes follow the 0 elements of shape [3, 0, 2]");
}

TEST_CASE("elements of other kinds are refused") {
  const auto of_type = [](const string& descr) {
    return said(file_of(dict_of(descr, "(2,)"), 16));
  };
  CHECK(of_type("'>f8'") == "x.npy: its elements, '>f8', are big-endian");
  for (const string descr : {"'<i8'", "'|O'", "'<c16'", "'|b1'", "'<U3'", "'f8'", "'=f8'", "''"}) {
    CAPTURE(descr);
    CHECK(of_type(descr) ==
          "x.npy: its elements are of type " + descr + ", not '<f8', '<f4' or '<f2'");
  }
  CHECK(of_type("[('a', '<f4'), ('b', '<f4')]") == "x.npy: its elements have several fields");
  CHECK(of_type("'" + string(1000, 'f') + "'") ==
        "x.npy: its elements are of type '" + string(60, 'f') + "...', not '<f8', '<f4' or '<f2'");
  CHECK(said(from_hex(kFortran)) == "x.npy: its elements stand in Fortran order");
}

TEST_CASE("a shape without a meaning is refused") {
  const auto of_shape = [](const string& shape) { return said(file_of(dict_of("'<f2'", shape))); };
  const string too_many = "x.npy: the lengths of the shape multiply to more than 2^60";
  CHECK(of_shape("(3, -1)") == "x.npy: the shape has a negative length");
  CHECK(of_shape("(4611686018427387904,)") == too_many);
  CHECK(of_shape("(1" + string(400, '0') + ",)") == too_many);
  CHECK(of_shape("(18446744073709551617,)") == too_many);  // 2^64 + 1
  CHECK(of_shape("(4294967296, 4294967296)") == too_many);
  CHECK(of_shape("(4294967296, 4294967296, 0)") == too_many);
  CHECK(of_shape("(" + [] {
          string axes;
          for (int i = 0; i < 65; ++i) axes += "1, ";
          return axes;
        }() + ")") == "x.npy: the shape has 65 axes, more than 64");
  // The largest that is taken: 2^63 bytes of fp64 are not there.
  CHECK(said(file_of(dict_of("'<f8'", "(1152921504606846976,)"), 16)) ==
        "x.npy: the file is cut off: 1152921504606846976 elements of shape [1152921504606846976] "
        "take 9223372036854775808 bytes, and 16 follow the header");
}

TEST_CASE("a header that is not the dict is refused with its place") {
  const auto place = [](const string& dict) {
    const string sentence = said(file_of(dict, 8));
    const string begin = "x.npy: the header is not the dict that NumPy writes: at byte ";
    CHECK_MESSAGE(sentence.starts_with(begin), sentence);
    return sentence.substr(std::min(begin.size(), sentence.size()));
  };
  CHECK(place("") == "0 of it '{' should stand");
  CHECK(place("[]") == "0 of it '{' should stand");
  CHECK(place("{'descr'") == "8 of it ':' should stand");
  CHECK(place("{'descr") == "1 of it a plain string should stand");
  CHECK(place("{'des\\x63r': '<f8'") == "1 of it a plain string should stand");
  CHECK(place("{descr: '<f8'") == "1 of it a string should stand");
  CHECK(place("{'descr': 8}") == "10 of it a string should stand");
  CHECK(place("{'fortran_order': 0}") == "18 of it True or False should stand");
  CHECK(place("{'shape': 3}") == "10 of it '(' should stand");
  CHECK(place("{'shape': (3)}") == "12 of it ',' should stand");
  CHECK(place("{'shape': (,)}") == "11 of it a length or ')' should stand");
  CHECK(place("{'shape': (3, x)}") == "14 of it a length or ')' should stand");
  CHECK(place("{'shape': (3, 4") == "15 of it ')' should stand");
  CHECK(place("{'shape': (3.5,)}") == "12 of it ',' should stand");
  CHECK(place("{'shape': (3,) 'descr'") == "15 of it '}' should stand");
  CHECK(place(dict_of("'<f4'", "(2,)") + "x").ends_with(" of it nothing more should stand"));
  CHECK(place(string(60'000, '{')) == "1 of it a string should stand");

  const string lacks = "x.npy: the header lacks 'descr', 'fortran_order' or 'shape'";
  CHECK(said(file_of("{}")) == lacks);
  CHECK(said(file_of("{'descr': '<f8', 'shape': ()}")) == lacks);
  CHECK(said(file_of("{'descr': '<f8', 'descr': '<f8'}")) ==
        "x.npy: the header has a key 'descr' too many");
  CHECK(said(file_of("{'order': 'C'}")) == "x.npy: the header has a key 'order' too many");
}

TEST_CASE("what is no plain file is refused at once") {
  const Scratch scratch;
  const string folder = scratch.folder();
  const auto of_file = [&](const string& name) {
    return scratch.without_folder(refusal([&] { read_npy(folder + "/" + name); }));
  };
  CHECK(of_file("none.npy") == "none.npy: No such file or directory");
  fs::create_directory(folder + "/folder.npy");
  CHECK(of_file("folder.npy") == "folder.npy: that is a folder");
  REQUIRE(mkfifo((folder + "/pipe.npy").c_str(), 0600) == 0);
  CHECK(of_file("pipe.npy") == "pipe.npy: that is not a plain file");
  fs::create_symlink("/dev/zero", folder + "/device.npy");
  CHECK(of_file("device.npy") == "device.npy: that is not a plain file");
  scratch.write("empty.npy", "");
  CHECK(of_file("empty.npy") == "empty.npy: that is not a .npy file");
  scratch.write("a", "");
  CHECK(of_file(string("a\0.npy", 6)) == "a: the name holds a zero byte");
}

TEST_CASE("a file that memory does not hold is refused before it is read") {
  // 2^51 bytes, as doubles 2^53, which no machine has; the file takes no room on the disk.
  const Scratch scratch;
  const string path = scratch.write("huge.npy", file_of(dict_of("'<f2'", "(1125899906842624,)")));
  std::error_code trouble;
  fs::resize_file(path, fs::file_size(path) + (std::uintmax_t{1} << 51), trouble);
  if (trouble) {
    // Not every file system has files of that size: a smaller one, which is more than memory, too.
    scratch.write("huge.npy", file_of(dict_of("'<f2'", "(2199023255552,)")));
    fs::resize_file(path, fs::file_size(path) + (std::uintmax_t{1} << 42));
  }
  try {
    read_npy(path);
    FAIL("it was read");
  } catch (const CannotRun& error) {
    CHECK(string(error.what()).starts_with("an array of " + path + " needs about "));
    CHECK_FALSE(error.remedy().empty());
  }
}

TEST_CASE("a write that fails leaves the older file and no other") {
  const Scratch scratch;
  const string path = scratch.write("x.npy", "old");
  const Array array{{10'000}, Dtype::fp64, std::vector<double>(10'000)};
  {
    const FullDisk full(5000);
    CHECK_THROWS_AS(write_npy(path, array), CannotRun);
  }
  CHECK(content_of(path) == "old");
  CHECK(names_in(scratch.folder()) == std::set<string>{"x.npy"});
  write_npy(path, array);
  CHECK(same(read_npy(path), array));

  const string missing = scratch.folder() + "/none/x.npy";
  CHECK(refusal([&] { write_npy(missing, array); }) == missing + ": there is no such folder");
  const string pipe = scratch.folder() + "/pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(refusal([&] { write_npy(pipe, array); }) == pipe + ": that is not a plain file");
  CHECK_THROWS_AS(write_npy(path, {{3}, Dtype::fp64, {1, 2}}), std::invalid_argument);
  CHECK_THROWS_AS(write_npy(path, {{-1}, Dtype::fp64, {}}), std::invalid_argument);
}

TEST_CASE("the first element that is not finite is found with its place") {
  CHECK_FALSE(find_non_finite(kFp32Array));
  CHECK_FALSE(find_non_finite(kEmptyArray));
  const auto found = find_non_finite(kFp64Array);
  REQUIRE(found);
  CHECK(found->count == 2);
  CHECK(found->first == std::vector<Index>{1, 0});
  CHECK(std::isnan(found->value));
  Array array{{2, 3, 5}, Dtype::fp32, std::vector<double>(30, 1.0)};
  array.values[29] = kInfinity;
  CHECK(find_non_finite(array)->first == std::vector<Index>{1, 2, 4});
  array.values[7] = -kInfinity;
  CHECK(find_non_finite(array)->first == std::vector<Index>{0, 1, 2});
  CHECK(find_non_finite(array)->value == -kInfinity);
  CHECK(find_non_finite({{}, Dtype::fp64, {kNan}})->first.empty());
}

TEST_CASE("shapes and how many elements they have") {
  const auto count = [](const std::vector<Index>& shape) { return element_count(shape); };
  CHECK(count({}) == 1);
  CHECK(count({0}) == 0);
  CHECK(count({2, 3, 4}) == 24);
  CHECK(count({kMaxIndex}) == kMaxIndex);
  CHECK(count({kMaxIndex, 0}) == 0);
  CHECK_FALSE(count({kMaxIndex + 1}));
  CHECK_FALSE(count({0, kMaxIndex + 1}));
  CHECK_FALSE(count({Index{1} << 30, Index{1} << 30, 2}));
  CHECK_FALSE(count({0, -1}));
  CHECK_FALSE(count(std::vector<Index>(65, 1)));
  CHECK(count(std::vector<Index>(64, 1)) == 1);
  CHECK(describe(std::vector<Index>{2, 0, 7}) == "[2, 0, 7]");
  CHECK(describe({}) == "[]");
}

}  // namespace swa
