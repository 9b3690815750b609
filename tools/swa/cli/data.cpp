#include "cli/data.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "error.hpp"

namespace swa::cli {

std::string data_path(const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  std::vector<fs::path> folders;
  if (const char* asked = std::getenv("SWA_DATA_DIR"); asked != nullptr && *asked != '\0') {
    folders = {asked};  // an answer from elsewhere would not be the one that was asked for
  } else {
    const fs::path binary = fs::read_symlink("/proc/self/exe", ignored);
    folders = {binary.parent_path().parent_path() / "share" / "swa", SWA_SOURCE_DATA_DIR};
  }
  for (const fs::path& folder : folders) {
    if (fs::exists(folder / name, ignored)) return (folder / name).string();
  }
  throw CannotRun(fmt::format("the data '{}' are not in {}", name, folders.back().string()),
                  "set SWA_DATA_DIR to the project's data folder");
}

}  // namespace swa::cli
