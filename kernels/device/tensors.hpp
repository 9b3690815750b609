// The tensors of one call on the device.
#pragma once

#include <optional>

#include "kernels/device/buffer.hpp"
#include "kernels/params.h"
#include "problem/problem.hpp"

namespace swa::device {

// What a launch is told of a problem, without pointers and strides.
ForwardParams sizes_of(const Problem& problem);

// The sequences of a call on the device, empty where all have one length.
class SequenceTables {
 public:
  SequenceTables() = default;
  explicit SequenceTables(const Problem& problem);
  void point(ForwardParams& params) const;  // valid while this lives

 private:
  Buffer lengths_q_, lengths_k_, first_q_, first_k_;
};

// Inputs in elements of `dtype`, rounded nowhere, and outputs that are poisoned. Dense, in the
// shapes of the problem, k and v as its cache holds them: NaN where no key lives. What params()
// points to lives as long as this does.
class Tensors {
 public:
  Tensors(const Problem& problem, const Inputs& inputs, Dtype dtype);
  // Random normal inputs of the problem's dtype, made on the device: q, k, v and sink logits are
  // the streams 0 to 3 of its seed. q, k, v and out lie as attention libraries have them, [batch,
  // tokens, heads, dim].
  explicit Tensors(const Problem& problem);

  ForwardParams params() const { return params_; }
  // Elements that no kernel wrote become kUnwritten.
  void read(Attention& outputs) const;
  // Fills the output with NaN again.
  void poison_again();

 private:
  Tensors(const Problem& problem, Dtype dtype);  // without inputs
  using StridesOf = Strides (*)(const Shape&);
  void point(const Problem& problem, StridesOf strides_of);

  Dtype dtype_, lse_dtype_;
  Buffer q_, k_, v_, sink_logits_, out_, lse_;
  SequenceTables sequences_;
  Buffer table_;
  Shape k_shape_, v_shape_;  // in memory
  Index table_stride_ = 0;
  ForwardParams params_;
};

// The bytes that it takes on the device, as a double.
double tensor_bytes(const Problem& problem, Dtype dtype);

}  // namespace swa::device
