#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernels/launch/naive.hpp"
#include "kernels/naive/naive.hpp"
#include "kernels/ptx/stopwatch.cuh"

namespace swa {
namespace {

constexpr int kOutputs = 8;  // of a lane at a time: 256 elements of a row's output
constexpr double kMostBlocks = 2147483647;

template <class Real>
__device__ Real sum_of_warp(Real x) {
  for (int lane = 16; lane > 0; lane /= 2) x += __shfl_xor_sync(~0U, x, lane);
  return x;
}

template <class Real, class Element>
__device__ Real dot(const Element* a, const Element* b, Index dim) {
  Real sum = 0;
  for (Index d = threadIdx.x % 32; d < dim; d += 32) {
    sum += static_cast<Real>(a[d]) * static_cast<Real>(b[d]);
  }
  return sum_of_warp(sum);
}

// Calls `visit` for each key that the row sees, in all lanes of the warp.
template <class Visit>
__device__ void for_each_key(const Mask& mask, Index row, Visit visit) {
  const int lane = threadIdx.x % 32;
  for (Index first = 0; first < mask.n_k; first += 32) {
    unsigned seen = __ballot_sync(~0U, sees(mask, row, first + lane));
    for (; seen != 0; seen &= seen - 1) visit(first + __ffs(static_cast<int>(seen)) - 1);
  }
}

// Two passes over the row's keys: its highest score, then weights, sums and output, 256 elements at
// a time.
template <class Element, class Real, bool kFacts>
__global__ void naive(const __grid_constant__ ForwardParams p, const NaiveFacts facts) {
  const ptx::Stopwatch stopwatch(p);
  const Index at = blockIdx.x * Index{kNaiveWarps} + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const Index row = at % p.n_q, head = at / p.n_q % p.heads_q, s = at / p.n_q / p.heads_q;
  if (s >= p.batch) return;
  const CallSequence sequence = sequence_of(p, s);
  const Mask& mask = sequence.mask;
  if (row >= mask.n_q) return;

  const Index token = sequence.q_row + row, kv_head = head / (p.heads_q / p.heads_kv);
  const Element* const q =
      static_cast<const Element*>(p.q) + offset(p.q_strides, sequence.entry, head, token);
  const Element* const k = static_cast<const Element*>(p.k) +
                           offset(p.k_strides, sequence.entry, kv_head, sequence.k_row);
  const Element* const v = static_cast<const Element*>(p.v) +
                           offset(p.v_strides, sequence.entry, kv_head, sequence.k_row);
  const Real scale = static_cast<Real>(p.scale), cap = static_cast<Real>(p.softcap);
  const auto score_of = [&](Index key) {
    const Real score = scale * dot<Real>(q, k + key * p.k_strides.token, p.head_dim);
    return cap > 0 ? cap * tanh(score / cap) : score;
  };

  const bool has_sink = p.sink_logits != nullptr;
  const Real sink = has_sink ? static_cast<const Real*>(p.sink_logits)[head] : Real{0};
  bool any = has_sink;
  Real highest = sink;
  Index keys = 0;
  double longest = 0;  // squared norm of the keys
  for_each_key(mask, row, [&](Index key) {
    const Real score = score_of(key);
    highest = any ? max(highest, score) : score;
    any = true;
    ++keys;
    if constexpr (kFacts) {
      const Element* const its = k + key * p.k_strides.token;
      longest = max(longest, dot<double>(its, its, p.head_dim));
    }
  });

  Element* const out =
      static_cast<Element*>(p.out) + offset(p.out_strides, sequence.entry, head, token);
  const Index out_at = out - static_cast<Element*>(p.out);
  const Real start = has_sink ? exp(sink - highest) : Real{0};
  Real total = 0;
  double largest_v = 0;
  for (Index first = 0; first < p.head_dim_v; first += 32 * kOutputs) {
    Real sums[kOutputs] = {};
    double abs_sums[kOutputs] = {};
    total = start;
    for_each_key(mask, row, [&](Index key) {
      const Real weight = exp(score_of(key) - highest);
      total += weight;
      for (int i = 0; i < kOutputs; ++i) {
        const Index d = first + i * 32 + lane;
        if (d >= p.head_dim_v) continue;
        const Real x = static_cast<Real>(v[key * p.v_strides.token + d]);
        sums[i] += weight * x;
        if constexpr (kFacts) {
          abs_sums[i] += weight * fabs(x);
          largest_v = max(largest_v, static_cast<double>(fabs(x)));
        }
      }
    });
    for (int i = 0; i < kOutputs; ++i) {
      const Index d = first + i * 32 + lane;
      if (d >= p.head_dim_v) continue;
      out[d] = static_cast<Element>(keys > 0 ? sums[i] / total : Real{0});
      if constexpr (kFacts) facts.abs_output[out_at + d] = keys > 0 ? abs_sums[i] / total : 0;
    }
  }

  const Index lse_at = offset(p.lse_strides, sequence.entry, head, token);
  if (lane == 0) {
    static_cast<Real*>(p.lse)[lse_at] = any ? highest + log(total) : -INFINITY;
  }
  if constexpr (kFacts) {
    for (int step = 16; step > 0; step /= 2) {
      largest_v = max(largest_v, __shfl_xor_sync(~0U, largest_v, step));
    }
    const double q_norm = dot<double>(q, q, p.head_dim);  // squared
    if (lane == 0) {
      const double of_keys = fabs(p.scale) * sqrt(q_norm * longest);
      facts.keys[lse_at] = keys;
      facts.score_bound[lse_at] = max(of_keys, has_sink ? fabs(static_cast<double>(sink)) : 0.0);
      facts.largest_v[lse_at] = largest_v;
      facts.denominator[lse_at] = any ? static_cast<double>(total) : 1.0;
    }
  }
}

template <class Element, class Real, bool kFacts>
cudaError_t launch(const ForwardParams& p, const NaiveFacts& facts, cudaStream_t stream) {
  const Index rows = p.batch * p.heads_q * p.n_q;
  const unsigned blocks = static_cast<unsigned>(ceil_div(rows, kNaiveWarps));
  naive<Element, Real, kFacts><<<blocks, 32 * kNaiveWarps, 0, stream>>>(p, facts);
  return cudaGetLastError();
}

}  // namespace

cudaError_t launch_naive(const ForwardParams& p, Dtype dtype, cudaStream_t stream) {
  switch (dtype) {
    case Dtype::fp64:
      return launch<double, double, false>(p, {}, stream);
    case Dtype::fp32:
    case Dtype::tf32:
      return launch<float, float, false>(p, {}, stream);
    case Dtype::bf16:
      return launch<__nv_bfloat16, float, false>(p, {}, stream);
    case Dtype::fp16:
      return launch<__half, float, false>(p, {}, stream);
    case Dtype::fp8_e4m3:
    case Dtype::fp8_e5m2:
      break;
  }
  return cudaErrorInvalidValue;
}

cudaError_t launch_naive_oracle(const ForwardParams& p, const NaiveFacts& facts,
                                cudaStream_t stream) {
  return launch<double, double, true>(p, facts, stream);
}

double largest_naive() {
  return kMostBlocks * kNaiveWarps;
}

bool has_naive_code() {
  cudaFuncAttributes attributes;
  const bool found = cudaFuncGetAttributes(&attributes, naive<float, float, false>) == cudaSuccess;
  cudaGetLastError();
  return found;
}

}  // namespace swa
