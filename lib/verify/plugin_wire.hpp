// What swa and the process that a plug-in runs in say to each other. Both are the same binary, so
// the structs go over a socket as they are. Private to this room.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "verify/swa_plugin.h"

namespace swa {

// The pointers of a swa_attention. In a request they are offsets into the shared memory, which lies
// elsewhere in each process; 0 is NULL.
enum class Slot : std::uint8_t {
  lengths_q,
  lengths_k,
  offsets_q,
  offsets_k,
  q,
  k,
  v,
  sink_logits,
  out,
  lse,
};
inline constexpr std::size_t kSlots = 10;

struct Request {
  std::size_t shared_bytes = 0;
  std::array<std::size_t, kSlots> offsets{};  // by Slot
  swa_attention attention{};                  // its pointers are not read
};

enum class Outcome : std::int32_t {
  loaded,      // the first reply: the function was found
  not_loaded,  // it was not; `text` says why
  returned,    // from a call, with `returned` and `attention`
  threw,       // an exception; `text` is its what()
  left_child,  // it returned, and a process that it started is still there
};

struct Reply {
  Outcome outcome = Outcome::loaded;
  int returned = 0;
  swa_attention attention{};
  std::array<char, 1024> text{};  // ends with 0
};

// The first page of the shared memory; tensors come after it.
struct FirstPage {
  std::atomic<int> inside;  // 1 while code of the plug-in runs
};
static_assert(std::atomic<int>::is_always_lock_free);
inline constexpr std::size_t kPage = 4096;

// The hidden first argument of the binary. After it come the descriptors of the socket and of the
// shared memory, swa's process id, and the path of the library.
inline constexpr const char* kPluginHost = "--plugin-host";

}  // namespace swa
