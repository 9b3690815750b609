#include "cli/data.hpp"

#include <fmt/format.h>
#include <sys/auxv.h>

#include <cstdlib>
#include <filesystem>

#include "error.hpp"

namespace swa::cli {
namespace {

namespace fs = std::filesystem;

// The running binary, symbolic links resolved. Where /proc is not mounted, as in a bare chroot, the
// kernel's note of the path that was executed has to do.
fs::path binary() {
  std::error_code trouble;
  fs::path path = fs::read_symlink("/proc/self/exe", trouble);
  if (!trouble) return path;
  if (const unsigned long executed = getauxval(AT_EXECFN); executed != 0) {
    path = fs::canonical(reinterpret_cast<const char*>(executed), trouble);
    if (!trouble) return path;
  }
  // A relative path would be looked up wherever the user stands.
  throw CannotRun("swa cannot tell where its own binary lies", "set SWA_DATA_DIR, or mount /proc");
}

fs::path folder() {
  const char* asked = std::getenv("SWA_DATA_DIR");
  // An answer from elsewhere would not be the one that was asked for.
  if (asked != nullptr && *asked != '\0') return asked;
  return binary().parent_path().parent_path() / "share" / "swa";
}

}  // namespace

std::string data_path(const std::string& name) {
  const fs::path path = folder() / name;
  std::error_code ignored;
  if (fs::exists(path, ignored)) return path.string();
  throw CannotRun(fmt::format("the data '{}' are not in {}", name, folder().string()),
                  "set SWA_DATA_DIR to the project's data folder");
}

}  // namespace swa::cli
