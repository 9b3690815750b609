// Copies of boxes of a tensor between global and shared memory, by the tensor memory accelerator
// (sm_90). One thread starts them; a box may hang over the tensor's edges: what lies outside reads
// as zero and is not written.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace swa::ptx {

// Coordinates of a box in a tensor of swa::sm90 (tensor_maps.hpp), its innermost first.
struct BoxOrigin {
  int dim, head, kv_head, token, entry;
};

// What the L2 is told of the lines of a copy.
using CachePolicy = std::uint64_t;
__device__ inline CachePolicy evict_first() {
  CachePolicy policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0;\n" : "=l"(policy));
  return policy;
}
__device__ inline CachePolicy evict_last() {
  CachePolicy policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0;\n" : "=l"(policy));
  return policy;
}

__device__ inline void prefetch(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];\n" ::"l"(&map) : "memory");
}

// The barrier counts the bytes as they arrive.
__device__ inline void load_box(std::uint32_t to, const CUtensorMap& map, BoxOrigin at,
                                std::uint32_t barrier, CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%2, %3, %4, %5, %6}], [%7], %8;\n" ::"r"(to),
      "l"(&map), "r"(at.dim), "r"(at.head), "r"(at.kv_head), "r"(at.token), "r"(at.entry),
      "r"(barrier), "l"(policy)
      : "memory");
}
__device__ inline void store_box(const CUtensorMap& map, BoxOrigin at, std::uint32_t from,
                                 CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.5d.global.shared::cta.bulk_group.L2::cache_hint "
      "[%0, {%1, %2, %3, %4, %5}], [%6], %7;\n" ::"l"(&map),
      "r"(at.dim), "r"(at.head), "r"(at.kv_head), "r"(at.token), "r"(at.entry), "r"(from),
      "l"(policy)
      : "memory");
}
// Ends a group of stores of this thread.
__device__ inline void commit_stores() {
  asm volatile("cp.async.bulk.commit_group;\n" ::: "memory");
}
// Until the stores of this thread have read their shared memory, or are done.
__device__ inline void wait_for_stores_to_read() {
  asm volatile("cp.async.bulk.wait_group.read 0;\n" ::: "memory");
}
__device__ inline void wait_for_stores() {
  asm volatile("cp.async.bulk.wait_group 0;\n" ::: "memory");
}

}  // namespace swa::ptx
