// The key-value pairs at the head of a GGUF file, and files that are none.
#include "model/gguf/header.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "bytes.hpp"
#include "gguf.hpp"
#include "model/config.hpp"
#include "scratch.hpp"

using namespace swa;
using test::Gguf;
using test::little_endian;

namespace {

GgufHeader read(const std::string& bytes) {
  return read_gguf_header(Source("f", test::bytes_of(bytes)));
}

std::string refused(const std::string& bytes) {
  return test::refusal([&] { read(bytes); });
}

std::string refused(Gguf::Type type, const std::string& bytes) {
  return refused(Gguf().add("a.b", type, bytes).bytes());
}

}  // namespace

TEST_CASE("the thirteen types of a GGUF header") {
  const std::string ones(8, '\xff');
  for (const std::uint32_t version : {2u, 3u}) {
    const GgufHeader header = read(Gguf()
                                       .add("u8", Gguf::u8, ones.substr(0, 1))
                                       .add("i8", Gguf::i8, ones.substr(0, 1))
                                       .add("u16", Gguf::u16, little_endian(513, 2))
                                       .add("i16", Gguf::i16, little_endian(0x8000, 2))
                                       .add("u32", 4'000'000'000u)
                                       .add("i32", Gguf::i32, little_endian(4'000'000'000u, 4))
                                       .add("f32", 1.5f)
                                       .add("flag", Gguf::flag, "\1")
                                       .add("text", std::string("a \u00e4"))
                                       .add("u64", Gguf::u64, ones)
                                       .add("i64", Gguf::i64, ones)
                                       .add("f64", Gguf::f64, little_endian(0x4000000000000000, 8))
                                       .add("numbers", std::vector<std::int32_t>{-1, 7})
                                       .add("flags", std::vector<bool>{true, false})
                                       .add("texts", std::vector<std::string>{"a", "", "b"})
                                       .bytes(version));
    CHECK(header.size() == 15);
    CHECK(header.at("u8").value == 255);
    CHECK(header.at("i8").value == -1);
    CHECK(header.at("u16").value == 513);
    CHECK(header.at("i16").value == -32'768);
    CHECK(header.at("u32").value == 4'000'000'000u);
    CHECK(header.at("i32").value == -294'967'296);
    CHECK(header.at("f32").value == 1.5);
    CHECK(header.at("flag").value == true);
    CHECK(header.at("text").value == "a \u00e4");
    CHECK(header.at("u64").value == ~std::uint64_t{0});
    CHECK(header.at("i64").value == -1);
    CHECK(header.at("f64").value == 2.0);
    CHECK(header.at("numbers").value == nlohmann::json{-1, 7});
    CHECK(header.at("flags").value == nlohmann::json{true, false});
    CHECK(header.at("texts").value.is_null());
    CHECK(header.at("texts").type == "array of 3 string");
    CHECK(header.at("numbers").type == "array of 2 int32");
    CHECK(header.at("u16").type == "uint16");
  }
}

TEST_CASE("what is long in a GGUF header is passed over and what follows is read") {
  const std::string numbers = little_endian(Gguf::u16, 4) + little_endian(100'000, 8);
  const GgufHeader header =
      read(Gguf()
               .add("tokens", std::vector<std::string>(300'000, "token"))
               .add("numbers", Gguf::array, numbers + std::string(200'000, '\7'))
               .add("template", std::string(70'000, 'x'))
               .add("last", 5u)
               .bytes());
  CHECK(header.at("tokens").value.is_null());
  CHECK(header.at("numbers").type == "array of 100000 uint16");
  CHECK(header.at("numbers").value.is_null());
  CHECK(header.at("template").value.is_null());
  CHECK(header.at("last").value == 5);
}

TEST_CASE("only the head of a large GGUF file is read") {
  const test::Scratch scratch;
  const std::string path = scratch.write("m.gguf", Gguf("llama").add("a", 1u).bytes());
  std::filesystem::resize_file(path, std::uintmax_t{100} << 30);  // a hole, no disk
  const Source source(path);
  CHECK(read_gguf_header(source).at("a").value == 1);
}

TEST_CASE("what is no GGUF file is refused") {
  const std::string none = "f: that is not a GGUF file";
  CHECK(refused("") == none);
  CHECK(refused("GGUF") == none);
  CHECK(refused("GGML" + Gguf().bytes().substr(4)) == none);
  CHECK(refused(Gguf().bytes(1)) == "f: version 1 of GGUF is not read, only 2 and 3");
  CHECK(refused(Gguf().bytes(4)) == "f: version 4 of GGUF is not known, only 2 and 3");
  CHECK(refused(Gguf().bytes(0)) == "f: version 0 of GGUF is not known, only 2 and 3");
  CHECK(refused(Gguf().bytes(0x03000000)) == "f: the file is big-endian");
  CHECK(read(Gguf().bytes()).empty());
}

TEST_CASE("names that are no GGUF files are refused") {
  const test::Scratch scratch;
  const auto refusal = [&](const std::string& path) {
    return scratch.without_folder(test::refusal([&] { read_gguf(path); }));
  };
  CHECK(refusal(scratch.folder()).ends_with(": that is a folder"));
  CHECK(refusal(scratch.folder() + "/none") == "none: No such file or directory");
  CHECK(refusal(scratch.write("empty", "")) == "empty: that is not a GGUF file");
  CHECK(refusal("/dev/zero") == "/dev/zero: that is not a plain file");
}

TEST_CASE("counts and lengths beyond a GGUF file are refused before anything is stored") {
  const std::string most(8, '\xff');
  CHECK(refused(Gguf::head(3, ~std::uint64_t{0})) ==
        "f: the header promises 18446744073709551615 keys, more than fit into the file's 24 bytes");
  CHECK(refused(Gguf::head(3, 1) + std::string(13, 'x')) ==
        "f: the header promises 1 keys, more than fit into the file's 37 bytes");
  CHECK(refused(Gguf::head(3, 1) + most + std::string(40, 'x')) ==
        "f: key 1 at byte 24 has a name of 18446744073709551615 bytes, not of 1 to 65535");
  CHECK(refused(Gguf::head(3, 1) + little_endian(50, 8) + std::string(40, 'x')) ==
        "f: key 1 at byte 24 needs 50 bytes from byte 32 on, and the file has 72 bytes");
  CHECK(refused(Gguf::text, most) ==
        "f: 'a.b' at byte 24 needs 18446744073709551615 bytes from byte 47 on, and the file has "
        "47 bytes");
  CHECK(refused(Gguf::array, little_endian(Gguf::u64, 4) + most + std::string(8, 'x')) ==
        "f: 'a.b' at byte 24 promises 18446744073709551615 elements, more than fit into the file's "
        "59 bytes");
  CHECK(refused(Gguf::array,
                little_endian(Gguf::text, 4) + little_endian(3, 8) + std::string(23, '\0')) ==
        "f: 'a.b' at byte 24 promises 3 elements, more than fit into the file's 74 bytes");
  CHECK(refused(Gguf::array, little_endian(Gguf::text, 4) + little_endian(1, 8) + most) ==
        "f: 'a.b' at byte 24 needs 18446744073709551615 bytes from byte 59 on, and the file has "
        "59 bytes");
}

TEST_CASE("a GGUF file that is cut off anywhere is refused") {
  const std::string whole = Gguf("llama")
                                .add("a", 1u)
                                .add("b", std::vector<bool>{true, false})
                                .add("c", std::vector<std::string>{"x", "yz"})
                                .bytes();
  CHECK(read(whole).size() == 4);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    CHECK(refused(whole.substr(0, length)).starts_with("f: "));
  }
}

TEST_CASE("a GGUF header with what the format does not allow is refused") {
  const std::string key = "f: 'a.b' at byte 24 ";
  CHECK(refused(Gguf::Type{13}, "") == key + "is of type 13, which the format does not know");
  CHECK(refused(Gguf::flag, "\2") == key + "is a boolean of value 2");
  CHECK(refused(Gguf::array, little_endian(Gguf::array, 4) + little_endian(1, 8)) ==
        key + "is an array of arrays");
  CHECK(refused(Gguf::array, little_endian(99, 4) + little_endian(1, 8)) ==
        key + "is of type 99, which the format does not know");
  CHECK(refused(Gguf().add("a.b", std::string("\xff")).bytes()) ==
        key + "is a string that is not UTF-8");
  CHECK(refused(Gguf().add("a.b", 1u).add("a.b", 1u).bytes()) ==
        "f: 'a.b' at byte 43 stands in the header for the second time");
  CHECK(refused(Gguf().add("", 1u).add("a", 1u).bytes()) ==
        "f: key 1 at byte 24 has a name of 0 bytes, not of 1 to 65535");
  for (const std::string bad : {"\xc3\xa4", "\xff", "a\n", "\x7f"}) {
    CHECK(refused(Gguf().add(bad, 1u).bytes()) ==
          "f: key 1 at byte 24 has a name with other bytes than printable ASCII");
  }
}

TEST_CASE("a GGUF header that goes on without end is refused") {
  Gguf many;
  for (int i = 0; i < 300; ++i) {
    many.add(std::string(60'000, 'x') + std::to_string(i), Gguf::flag, "\1");
  }
  CHECK(refused(many.bytes()).ends_with("brings the keys and their values past 16777216 bytes"));

  const test::Scratch scratch;
  const std::string path =
      scratch.write("m.gguf", Gguf::head(3, 2) + Gguf::sized("a") + little_endian(Gguf::text, 4) +
                                  little_endian(std::uint64_t{1} << 30, 8));
  std::filesystem::resize_file(path, std::uintmax_t{4} << 30);
  CHECK(test::refusal([&] { read_gguf(path); })
            .ends_with("'a' at byte 24 goes past byte 268435456, where no header is still going "
                       "on"));
}
