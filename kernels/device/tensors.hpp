// The tensors of one call on the device.
#pragma once

#include <optional>

#include "kernels/device/buffer.hpp"
#include "kernels/params.h"
#include "problem/problem.hpp"

namespace swa::device {

// Inputs in elements of `dtype`, rounded nowhere, and outputs that are poisoned. Dense, in the
// shapes of the problem; what params() points to lives as long as this does.
class Tensors {
 public:
  Tensors(const Problem& problem, const Inputs& inputs, Dtype dtype);

  ForwardParams params() const { return params_; }
  // Elements that no kernel wrote become kUnwritten.
  void read(Attention& outputs) const;

 private:
  Dtype dtype_, lse_dtype_;
  Buffer q_, k_, v_, sink_logits_, out_, lse_;
  Buffer lengths_q_, lengths_k_, first_q_, first_k_;
  ForwardParams params_;
};

// The bytes that it takes on the device, as a double.
double tensor_bytes(const Problem& problem, Dtype dtype);

}  // namespace swa::device
