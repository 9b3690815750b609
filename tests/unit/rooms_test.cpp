// The rooms of the project keep to their doors: who may include whom, and which library.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

const fs::path kRoot = SWA_SOURCE_DIR;

struct Include {
  fs::path file;       // relative to the root
  std::string header;  // as written
};

std::vector<Include> includes_of(const std::vector<std::string>& folders) {
  static const std::regex kInclude(R"re(^\s*#\s*include\s*[<"]([^>"]+)[>"])re");
  std::vector<Include> found;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      const std::string kind = entry.path().extension().string();
      static const std::set<std::string> kKinds{".hpp", ".cpp", ".h", ".cu", ".cuh", ".in"};
      if (kKinds.count(kind) == 0) continue;
      std::ifstream file(entry.path());
      std::string line;
      std::smatch match;
      while (std::getline(file, line)) {
        if (std::regex_search(line, match, kInclude)) {
          found.push_back({fs::relative(entry.path(), kRoot), match[1]});
        }
      }
    }
  }
  return found;
}

// "mask" for lib/mask/window.hpp; "" for files outside the rooms.
std::string room_of(const fs::path& file) {
  std::vector<std::string> parts;
  for (const auto& part : file) parts.push_back(part.string());
  return parts.size() >= 3 && parts[0] == "lib" ? parts[1] : "";
}

}  // namespace

TEST_CASE("each room of lib includes only the rooms before it") {
  const std::map<std::string, std::set<std::string>> allowed{
      {"mask", {}},
      {"report", {}},
      {"tensor", {"mask"}},
      {"tiles", {"mask"}},
      {"cache", {"mask"}},
      {"problem", {"mask", "tensor", "cache"}},
      {"model", {"mask", "problem", "tensor"}},
      {"budget", {"mask", "model"}},
      {"reference", {"mask", "tensor", "problem", "tiles"}},
      {"verify", {"mask", "tensor", "problem", "tiles", "reference", "cache"}}};
  std::size_t seen = 0;
  for (const Include& include : includes_of({"lib"})) {
    const std::string from = room_of(include.file);
    const std::string to = room_of(fs::path("lib") / include.header);
    if (from.empty() || to.empty() || !fs::exists(kRoot / "lib" / include.header)) continue;
    ++seen;
    CAPTURE(include.file.string());
    CAPTURE(include.header);
    REQUIRE(allowed.count(from) == 1);
    CHECK((from == to || allowed.at(from).count(to) == 1));
  }
  CHECK(seen > 50);
}

TEST_CASE("each third-party library has its rooms and no others") {
  const auto is_in = [](const fs::path& file, const std::set<std::string>& rooms) {
    return rooms.count(room_of(file)) == 1;
  };
  for (const Include& include : includes_of({"lib", "kernels", "tools"})) {
    CAPTURE(include.file.string());
    CAPTURE(include.header);
    const std::string& header = include.header;
    const bool in_kernels = include.file.string().starts_with("kernels/");
    if (header.starts_with("CLI/")) CHECK(include.file.string().starts_with("tools/swa/cli/"));
    if (header.starts_with("Eigen/")) CHECK(is_in(include.file, {"reference", "verify"}));
    if (header.starts_with("toml++/")) CHECK(is_in(include.file, {"problem", "model"}));
    if (header.starts_with("nlohmann/")) CHECK(is_in(include.file, {"model", "report", "tensor"}));
    if (header.starts_with("cuda")) CHECK(in_kernels);
  }
}

TEST_CASE("device code sees the window header and nothing else of lib") {
  for (const Include& include : includes_of({"lib"})) {
    if (include.file != fs::path("lib/mask/window.hpp")) continue;
    CHECK(include.header == "cstdint");
  }
}

TEST_CASE("what nvcc compiles includes no library and little of lib") {
  const auto is_device = [](const std::string& file) {
    static const std::regex kDevice(
        R"re(kernels/(.*\.cu|.*\.cuh|.*\.cu\.in|params\.h|(portable|naive|ptx|sm90)/.*\.hpp))re");
    return std::regex_match(file, kDevice);
  };
  const auto is_allowed = [](const std::string& header) {
    static const std::regex kAllowed(
        R"re([a-z_]+|cuda.*|kernels/.*|mask/.*|cache/layout\.hpp|tiles/tiles\.hpp|tensor/dtype\.hpp)re");
    return std::regex_match(header, kAllowed);
  };
  // The headers that those files include are read by nvcc too, and so on.
  const std::vector<Include> includes = includes_of({"lib", "kernels"});
  std::set<std::string> read;
  for (const Include& include : includes) {
    if (is_device(include.file.string())) read.insert(include.file.string());
  }
  CHECK(read.size() > 10);
  for (std::size_t before = 0; before < read.size();) {
    before = read.size();
    for (const Include& include : includes) {
      if (read.count(include.file.string()) == 0) continue;
      const std::string& header = include.header;
      read.insert(header.starts_with("kernels/") ? header : "lib/" + header);
    }
  }
  for (const Include& include : includes) {
    if (read.count(include.file.string()) == 0) continue;
    CAPTURE(include.file.string());
    CAPTURE(include.header);
    CHECK(is_allowed(include.header));
  }
}

TEST_CASE("only the comparison of reproduce reads the chapter's figures") {
  for (const std::string folder : {"lib", "kernels", "tools"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      if (!entry.is_regular_file() || entry.path().extension() == ".sh") continue;
      std::ifstream file(entry.path());
      const std::string text((std::istreambuf_iterator<char>(file)), {});
      if (text.find("figures.tsv") == std::string::npos) continue;
      CHECK(entry.path().filename() == "reproduce.cpp");
    }
  }
}
