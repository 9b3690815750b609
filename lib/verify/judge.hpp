// One kernel's verdict on one problem.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "verify/comparison.hpp"
#include "verify/diagnosis.hpp"
#include "verify/kernel.hpp"
#include "verify/poison.hpp"
#include "verify/recovered.hpp"

namespace swa {

enum class Status : std::uint8_t {
  pass,
  fail,
  mistrusted,   // passed under bounds so wide that an output of zeros nearly passes too
  unsupported,  // the kernel cannot run the problem
  error,        // the kernel broke off
};
std::string_view name(Status status);

// What is done besides the comparison with the oracle.
struct Checks {
  enum class When : std::uint8_t { never, if_small, always };
  When probe = When::if_small;
  When poison = When::if_small;
  bool diagnose = true;    // what does not pass
  Index rows = 0;          // of the probe, sampled; 0: all
  bool every_key = false;  // of the probe: see probe()
};
inline constexpr Checks kNumbersOnly{Checks::When::never, Checks::When::never, false, 0};

struct Verdict {
  std::string kernel;
  Status status = Status::error;
  std::string reason;  // of mistrusted, unsupported and error
  Comparison output, lse;

  std::optional<Probe> probed;
  std::optional<MaskComparison> mask;  // with `probed`
  std::optional<PoisonTest> poison;
  std::optional<Index> granule;       // declared by the kernel, for this mask
  std::vector<std::string> left_out;  // "the probe: ...", checks that were too large
  std::vector<Diagnosis> diagnoses;   // best first; of a kernel that does not pass
  bool diagnosed = false;             // whether explanations were looked for

  // Whether output and lse hold a comparison.
  bool compared() const {
    return status == Status::pass || status == Status::fail || status == Status::mistrusted;
  }
  // Whether the answer to "is it right?" is no.
  bool is_no() const { return status != Status::pass && status != Status::unsupported; }
};

// Runs the kernel on poisoned outputs and compares them; then the probe and the poison tests, where
// they are wanted; then looks for the fault, where something was found. Never throws what the
// kernel throws, but for Stopped.
Verdict judge(const Kernel& kernel, const Problem& problem, const Inputs& inputs,
              const Oracle& oracle, const Checks& checks = kNumbersOnly);

}  // namespace swa
