// Loops over threads: every number once, nested loops on their own thread, the first failure.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "reference/parallel.hpp"

using namespace swa;

namespace {

// Sets a number of threads, and all cores again when the test ends.
struct Threads {
  explicit Threads(Index count) : before(thread_count()) { set_thread_count(count); }
  ~Threads() { set_thread_count(before); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  Index before;
};

}  // namespace

TEST_CASE("a loop calls its body once for each number") {
  for (const Index threads : {1, 2, 7}) {
    const Threads set(threads);
    CHECK(thread_count() == threads);
    for (const Index count : {0, 1, 2, 100}) {
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
      parallel_for(count, [&](Index i) { ++calls[static_cast<std::size_t>(i)]; });
      for (const auto& number : calls) CHECK(number == 1);
    }
  }
}

TEST_CASE("a loop runs on as many threads as were set") {
  const Threads set(3);
  std::mutex guard;
  std::set<std::thread::id> seen;
  std::atomic<int> waiting{0};
  // Each of the first three calls waits for the others, so three threads must take part.
  parallel_for(3, [&](Index) {
    ++waiting;
    while (waiting < 3) std::this_thread::yield();
    const std::lock_guard lock(guard);
    seen.insert(std::this_thread::get_id());
  });
  CHECK(seen.size() == 3);
}

TEST_CASE("a loop inside a loop stays on its thread") {
  const Threads set(3);
  parallel_for(6, [&](Index) {
    const std::thread::id outer = std::this_thread::get_id();
    std::atomic<int> calls{0}, elsewhere{0};
    parallel_for(20, [&](Index) {
      ++calls;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // time for others to join in
      elsewhere += std::this_thread::get_id() != outer;
    });
    CHECK(calls == 20);
    CHECK(elsewhere == 0);
  });
  // And the next loop has its threads again.
  std::atomic<int> waiting{0};
  parallel_for(3, [&](Index) {
    ++waiting;
    while (waiting < 3) std::this_thread::yield();
  });
  CHECK(waiting == 3);
}

TEST_CASE("a failure ends a loop and is rethrown") {
  const Threads set(2);
  std::atomic<int> calls{0};
  CHECK_THROWS_WITH_AS(parallel_for(1'000'000,
                                    [&](Index) {
                                      ++calls;
                                      throw std::runtime_error("no");
                                    }),
                       "no", std::runtime_error);
  CHECK(calls <= 2);
}
