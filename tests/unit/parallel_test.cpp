// Loops over threads: every number once, nested loops on their own thread, the first failure.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <mutex>
#include <set>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "parallel.hpp"

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

// The process can take so many further bytes, of addresses too, while it lives.
struct FewBytes {
  explicit FewBytes(rlim_t bytes) {
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    getrlimit(RLIMIT_AS, &before);
    rlimit limit = before;
    limit.rlim_cur = pages * 4096 + bytes;
    setrlimit(RLIMIT_AS, &limit);
  }
  ~FewBytes() { setrlimit(RLIMIT_AS, &before); }
  FewBytes(const FewBytes&) = delete;
  FewBytes& operator=(const FewBytes&) = delete;
  rlimit before{};
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

#ifndef SWA_SANITIZED  // the sanitizers' own bytes are beyond any such limit
TEST_CASE("a loop goes on with the threads that could be started") {
  const Threads set(500);
  std::vector<int> calls(1000);
  {
    const FewBytes few(64 << 20);  // the stacks of a few threads
    std::atomic<bool> over{false};
    std::vector<std::jthread> waiting;
    CHECK_THROWS_AS(
        [&] {
          for (int i = 0; i < 500; ++i) {
            waiting.emplace_back([&] { over.wait(false); });
          }
        }(),
        std::system_error);
    over = true;
    over.notify_all();
    waiting.clear();
    parallel_for(1000, [&](Index i) {
      ++calls[static_cast<std::size_t>(i)];
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  }
  CHECK(calls == std::vector<int>(1000, 1));
}
#endif

TEST_CASE("a loop that is asked to stop leaves out what is left and says so") {
  const Threads set(1);
  int calls = 0;
  const auto loop = [&](Index count) {
    parallel_for(count, [&](Index i) {
      ++calls;
      if (i == 3) request_stop();
    });
  };
  CHECK_THROWS_AS(loop(10), Stopped);
  CHECK(calls == 4);
  CHECK(stop_requested());
  CHECK_THROWS_AS(loop(1), Stopped);  // and no further loop begins
  CHECK(calls == 4);
  clear_stop();
  CHECK_FALSE(stop_requested());
  loop(4);  // stopped by its last call, which leaves nothing out
  CHECK(calls == 8);
  clear_stop();
}
