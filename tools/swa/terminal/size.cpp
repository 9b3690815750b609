#include "terminal/size.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

namespace swa::terminal {

std::optional<int> columns() {
  winsize size{};
  if (isatty(STDOUT_FILENO) != 1 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return {};
  if (size.ws_col == 0) return {};
  return size.ws_col;
}

}  // namespace swa::terminal
