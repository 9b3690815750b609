// One call of attention in files of a folder, for kernels that run elsewhere.
//
// swa writes q.npy, k.npy, v.npy and, where the problem has sink logits, sink_logits.npy, and the
// same arrays under the same names in inputs.safetensors:
//
//   q            [batch, heads_q, n_q, head_dim]
//   k            [batch, heads_kv, n_k, head_dim]
//   v            [batch, heads_kv, n_k, head_dim_v]
//   sink_logits  [heads_q]
//
// with batch 1 and all tokens of the batch where sequences are packed; padding holds NaN. Whoever
// runs the kernel writes o.npy and perhaps lse.npy, or outputs.safetensors with "o" and perhaps
// "lse":
//
//   o    [batch, heads_q, n_q, head_dim_v], in the problem's dtype, or fp32 for bf16 and fp16
//   lse  [batch, heads_q, n_q], fp32 or fp64; fp64 where the problem is
//
// .npy has no bf16: such numbers stand there as fp32. Outputs may hold NaN and infinities, which
// are judged like other numbers.
#pragma once

#include <optional>
#include <string>

#include "problem/problem.hpp"

namespace swa {

// Writes the inputs into a folder that is there. Throws as write_file() does.
void write_call(const std::string& folder, const Problem& problem, const Inputs& inputs);

// Bytes on the disk that write_call() takes, but for headers; and bytes of memory that this room
// holds besides inputs and outputs while a call is written or read. As doubles.
double call_bytes(const Problem& problem);
double call_memory(const Problem& problem);

// Whether there is an output, right or wrong.
bool has_output(const std::string& folder);

// What the kernel wrote; lse is empty where it wrote none. Throws UsageError that names the file
// where o is missing, stands in both kinds of files, or is of another shape or type than above, and
// as read_npy() and read_safetensors() do.
Attention read_outputs(const std::string& folder, const Problem& problem);
// The same from one .npy file each.
Attention read_outputs(const std::string& o, const std::optional<std::string>& lse,
                       const Problem& problem);

// Inputs from .npy files, of the types that o may have. The problem has no sink logits. Throws
// UsageError also where an element outside of padding is not finite, or no number of the problem's
// dtype. Padding holds NaN afterwards, whatever stood there.
Inputs read_inputs(const std::string& q, const std::string& k, const std::string& v,
                   const Problem& problem);

// Throws UsageError where inputs.safetensors does not hold these inputs.
void require_inputs(const std::string& folder, const Problem& problem, const Inputs& inputs);

// Writes o.npy, in the problem's dtype, and lse.npy, where there is one, in fp64.
void write_outputs(const std::string& folder, const Problem& problem, const Attention& outputs);

}  // namespace swa
