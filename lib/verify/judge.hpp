// One kernel's verdict on one problem.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "verify/comparison.hpp"
#include "verify/kernel.hpp"

namespace swa {

enum class Status : std::uint8_t {
  pass,
  fail,
  mistrusted,   // passed under bounds so wide that an output of zeros nearly passes too
  unsupported,  // the kernel cannot run the problem
  error,        // the kernel broke off
};
std::string_view name(Status status);

struct Verdict {
  std::string kernel;
  Status status = Status::error;
  std::string reason;  // of mistrusted, unsupported and error
  Comparison output, lse;

  // Whether output and lse hold a comparison.
  bool compared() const {
    return status == Status::pass || status == Status::fail || status == Status::mistrusted;
  }
  // Whether the answer to "is it right?" is no.
  bool is_no() const { return status != Status::pass && status != Status::unsupported; }
};

// Runs the kernel on poisoned outputs and compares them. Never throws what the kernel throws, but
// for Stopped.
Verdict judge(const Kernel& kernel, const Problem& problem, const Inputs& inputs,
              const Oracle& oracle);

}  // namespace swa
