#include "parallel.hpp"

#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace swa {
namespace {

std::atomic<Index> chosen_threads{0};  // 0: all cores
std::atomic<bool> stopping{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // or a signal handler could not set it
thread_local bool inside_loop = false;

// One loop: the threads take the next number until none is left, or one of them gives up.
class Loop {
 public:
  Loop(Index count, const std::function<void(Index)>& body) : count_(count), body_(body) {}

  void work() {
    const bool nested = inside_loop;
    inside_loop = true;
    for (Index i = next_++; i < count_; i = next_++) {
      try {
        if (stop_requested()) throw Stopped();
        body_(i);
      } catch (...) {
        const std::lock_guard lock(failure_guard_);
        if (!failure_) failure_ = std::current_exception();
        next_ = count_;
      }
    }
    inside_loop = nested;
  }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  Index count_;
  const std::function<void(Index)>& body_;
  std::atomic<Index> next_{0};
  std::exception_ptr failure_;
  std::mutex failure_guard_;
};

}  // namespace

void parallel_for(Index count, const std::function<void(Index)>& body) {
  Loop loop(count, body);
  const Index workers = inside_loop ? 1 : smaller(thread_count(), count);
  std::vector<std::jthread> threads;
  try {
    for (Index i = 1; i < workers; ++i) threads.emplace_back([&loop] { loop.work(); });
  } catch (const std::system_error&) {
    // No further thread can be started here: those that were, and this one, do all the work.
  }
  loop.work();
  threads.clear();  // joins
  loop.rethrow();
}

Index thread_count() {
  const Index chosen = chosen_threads;
  return chosen > 0 ? chosen : larger(1, static_cast<Index>(std::thread::hardware_concurrency()));
}

void set_thread_count(Index count) {
  chosen_threads = count;
}

void request_stop() noexcept {
  stopping = true;
}

bool stop_requested() noexcept {
  return stopping;
}

void clear_stop() noexcept {
  stopping = false;
}

}  // namespace swa
