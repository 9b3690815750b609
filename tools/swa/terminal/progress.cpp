#include "terminal/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace swa::terminal {
namespace {

constexpr const char* kEraseLine = "\r\x1b[K";

}  // namespace

Progress::Progress(std::string what, std::size_t total)
    : what_(std::move(what)), total_(total), on_terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (shown_) std::fputs(kEraseLine, stderr);
}

void Progress::update(std::size_t done, const std::string& next) {
  const std::lock_guard lock(guard_);
  show(done, next);
}

void Progress::finish_one(const std::string& what) {
  const std::lock_guard lock(guard_);
  show(++finished_, what);
}

void Progress::show(std::size_t done, const std::string& text) {
  if (!on_terminal_) return;
  const Clock::time_point now = Clock::now();
  const std::chrono::duration<double> elapsed = now - begin_, since_shown = now - last_;
  if (elapsed.count() < 0.5 || since_shown.count() < 0.1) return;
  shown_ = true;
  last_ = now;
  std::string eta = "?";
  if (done > 0) {
    const double left =
        elapsed.count() * static_cast<double>(total_ - done) / static_cast<double>(done);
    eta = fmt::format("{}:{:02}", static_cast<int>(left) / 60, static_cast<int>(left) % 60);
  }
  const std::string line =
      fmt::format("{}{} {}/{}  ETA {}  {}", kEraseLine, what_, done, total_, eta, text);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace swa::terminal
