// Runs while swa is built: writes compiled_kernels(), from what keep.cmake kept of each object.
// Usage: table OUTPUT OBJECT...
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/resources/compiled.hpp"

namespace fs = std::filesystem;

namespace {

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  if (!file) throw std::runtime_error(path.string() + " cannot be read");
  return text;
}

std::vector<swa::CompiledKernel> kernels_of(const std::string& object) {
  const fs::path kept = object + ".kept";
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(kept)) {
    if (entry.path().extension() == ".ptx") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> ptx;
  for (const fs::path& path : paths) ptx.push_back(content_of(path));
  try {
    return swa::compiled_kernels_of(ptx, content_of(kept / "ptxas.txt"));
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(kept.string() + ": " + error.what());
  }
}

// Neither names nor instructions hold quotes or backslashes.
std::string list(const std::vector<std::string>& words) {
  std::string text = "{";
  for (const std::string& word : words) text += "\"" + word + "\", ";
  return text + "}";
}

std::string row(const swa::CompiledKernel& k) {
  std::string text = "      {\"" + k.entry + "\", \"" + k.arch + "\"";
  for (const int n : {k.registers, k.spill_stores, k.spill_loads, k.static_smem}) {
    text += ", " + std::to_string(n);
  }
  text += k.one_by_one ? ", true" : ", false";
  text += ", " + list(k.mma) + ", " + list(k.copies);
  for (const int n : {k.mma_plain, k.mma_transposed, k.mma_other}) text += ", " + std::to_string(n);
  return text + "},\n";
}

void write_table(const std::string& output, const std::vector<std::string>& objects) {
  std::string text =
      "// Written by kernels/resources/table.cpp.\n"
      "#include \"kernels/resources/compiled.hpp\"\n\n"
      "namespace swa {\n\n"
      "std::vector<CompiledKernel> compiled_kernels() {\n"
      "  return {\n";
  for (const std::string& object : objects) {
    for (const swa::CompiledKernel& kernel : kernels_of(object)) text += row(kernel);
  }
  text += "  };\n}\n\n}  // namespace swa\n";
  std::ofstream file(output, std::ios::binary);
  if (!(file << text).flush()) throw std::runtime_error(output + " cannot be written");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 3) throw std::runtime_error("usage: table OUTPUT OBJECT...");
    write_table(argv[1], {argv + 2, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
