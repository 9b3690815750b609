// The reader takes a path, so the bytes go into a file that lies in memory.
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "fuzz/targets.hpp"
#include "problem/cases.hpp"

bool swa::fuzz::cases(Bytes file) {
  static const int kFile = memfd_create("cases", MFD_CLOEXEC);
  static const std::string kPath = "/proc/self/fd/" + std::to_string(kFile);
  const auto size = static_cast<ssize_t>(file.size());
  require(ftruncate(kFile, 0) == 0 && pwrite(kFile, file.data(), file.size(), 0) == size,
          "a file in memory");
  return is_taken([] { require(!read_cases(kPath).empty(), "a case at least"); });
}
