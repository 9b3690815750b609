#include "verify/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "reference/parallel.hpp"

namespace swa {
namespace {

// Kernels hold scores in fp32 (fp64 for fp64).
std::string beyond_fp32(const Problem& problem, const Oracle& oracle) {
  double largest = 0;
  for (const RowFacts& row : oracle.rows) largest = std::max(largest, row.score_bound);
  if (problem.dtype == Dtype::fp64 || largest <= largest_finite(Dtype::fp32)) return {};
  return fmt::format("scores may reach {:.1e}, more than fp32 holds", largest);
}

}  // namespace

std::string_view name(Status status) {
  switch (status) {
    case Status::pass:
      return "pass";
    case Status::fail:
      return "fail";
    case Status::mistrusted:
      return "mistrusted";
    case Status::unsupported:
      return "unsupported";
    case Status::error:
      return "error";
  }
  return {};
}

Verdict judge(const Kernel& kernel, const Problem& problem, const Inputs& inputs,
              const Oracle& oracle) {
  Verdict verdict;
  verdict.kernel = kernel.name;
  verdict.reason = kernel.unsupported(problem).value_or(beyond_fp32(problem, oracle));
  if (!verdict.reason.empty()) {
    verdict.status = Status::unsupported;
    return verdict;
  }
  Attention got = poisoned_outputs(problem);
  try {
    kernel.run(problem, inputs, got);
  } catch (const Stopped&) {
    throw;  // nobody knows whether the kernel is right
  } catch (const std::exception& error) {
    verdict.reason = error.what();
    return verdict;
  }
  const Tolerance tolerance(problem, kernel.sums);
  verdict.output = compare_output(oracle, tolerance, got.out);
  if (!got.lse.data.empty()) verdict.lse = compare_lse(oracle, tolerance, got.lse);
  verdict.status = verdict.output.pass() && verdict.lse.pass() ? Status::pass : Status::fail;
  if (verdict.status == Status::pass && 2 * verdict.output.vacuous > verdict.output.elements) {
    verdict.status = Status::mistrusted;
    verdict.reason = fmt::format(
        "within its bound, but for {} of {} elements 0 would be too: shorter "
        "rows, or a scale nearer to 1 / sqrt(head_dim), decide",
        verdict.output.vacuous, verdict.output.elements);
  }
  return verdict;
}

}  // namespace swa
