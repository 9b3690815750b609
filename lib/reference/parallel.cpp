#include "reference/parallel.hpp"

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace swa {

void parallel_for(Index count, const std::function<void(Index)>& body) {
  std::atomic<Index> next{0};
  std::exception_ptr failure;
  std::mutex failure_guard;
  const auto work = [&] {
    for (Index i = next++; i < count; i = next++) {
      try {
        body(i);
      } catch (...) {
        const std::lock_guard lock(failure_guard);
        if (!failure) failure = std::current_exception();
        next = count;
      }
    }
  };
  const Index cores = larger(1, static_cast<Index>(std::thread::hardware_concurrency()));
  std::vector<std::jthread> threads;
  for (Index i = 1; i < smaller(cores, count); ++i) threads.emplace_back(work);
  work();
  threads.clear();  // joins
  if (failure) std::rethrow_exception(failure);
}

}  // namespace swa
