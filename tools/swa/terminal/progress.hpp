// A line on stderr that tells how far a long run is, on a terminal only, after half a second and
// then at most ten times a second.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>

namespace swa::terminal {

// Any thread may update it.
class Progress {
 public:
  Progress(std::string what, std::size_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` of the total are finished; the next one is called `next`.
  void update(std::size_t done, const std::string& next);
  // One more than before is finished; it was called `what`.
  void finish_one(const std::string& what);

 private:
  using Clock = std::chrono::steady_clock;

  void show(std::size_t done, const std::string& text);  // with the guard held

  std::string what_;
  std::size_t total_, finished_ = 0;
  Clock::time_point begin_ = Clock::now(), last_ = begin_;
  bool on_terminal_;
  bool shown_ = false;
  std::mutex guard_;
};

}  // namespace swa::terminal
