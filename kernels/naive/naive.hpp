// The naive kernel: one warp a row, every pair decided by sees(). Slow and plain, for any NVIDIA
// GPU: what the other kernels are compared with where the CPU would take minutes.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/params.h"
#include "tensor/dtype.hpp"

namespace swa {

// Of each row [entries, heads_q, tokens_q]; pointers on the device. See RowFacts of the oracle.
struct NaiveFacts {
  Index* keys = nullptr;
  double *score_bound = nullptr, *largest_v = nullptr, *denominator = nullptr;
  double* abs_output = nullptr;  // like out
};

// In double for fp64, else in float; elements of q, k, v and out are of `dtype`, with 2 bytes or
// more. Sink logits and lse are double for fp64, else float.
cudaError_t launch_naive(const ForwardParams& params, Dtype dtype, cudaStream_t stream);

// fp64 with the facts besides.
cudaError_t launch_naive_oracle(const ForwardParams& params, const NaiveFacts& facts,
                                cudaStream_t stream);

// Rows that one launch can have, n_q of all sequences and heads.
double largest_naive();

// Whether this build has code for the current device.
bool has_naive_code();

}  // namespace swa
