#include "verify/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>

#include "error.hpp"
#include "memory.hpp"
#include "parallel.hpp"
#include "tiles/counts.hpp"

namespace swa {
namespace {

// Kernels hold scores in fp32 (fp64 for fp64).
std::string beyond_fp32(const Problem& problem, const Oracle& oracle) {
  double largest = 0;
  for (const RowFacts& row : oracle.rows) largest = std::max(largest, row.score_bound);
  if (problem.dtype == Dtype::fp64 || largest <= largest_finite(Dtype::fp32)) return {};
  return fmt::format("scores may reach {:.1e}, more than fp32 holds", largest);
}

// Elements of all tensors of a call.
double elements_of(const Problem& p) {
  const Index dims = p.head_dim + p.value_dim();
  return static_cast<double>(p.query_shape(dims).size() + p.key_shape(dims).size());
}

// Whether a check of so many calls is done; where it is not, the verdict says so.
bool is_due(Checks::When when, const char* what, Index calls, const Problem& p, Verdict& verdict) {
  if (when == Checks::When::never) return false;
  // Each check holds its own inputs and some outputs.
  if (3 * sizeof(double) * elements_of(p) > spare_bytes()) {
    verdict.left_out.push_back(fmt::format("{}: the memory at hand is too little", what));
    return false;
  }
  if (when == Checks::When::always) return true;
  constexpr double kSmall = 2e9;  // steps: about a second on a core
  constexpr double kStepsPerElement = 8;
  const double steps = visible_pairs_of(p) * static_cast<double>(p.head_dim + p.value_dim()) +
                       kStepsPerElement * elements_of(p);
  if (steps * static_cast<double>(calls) <= kSmall) return true;
  verdict.left_out.push_back(fmt::format("{}: {} calls of {:.1e} steps", what, calls, steps));
  return false;
}

void run_probe(const Kernel& kernel, const Problem& p, const Checks& checks, Verdict& verdict) {
  const std::vector<Index> rows =
      checks.rows > 0 ? sampled_rows(p, checks.rows) : std::vector<Index>{};
  const double most = largest_probe(p.dtype);
  if (static_cast<double>(p.key_shape(1).tokens) > most && checks.probe != Checks::When::always) {
    verdict.left_out.push_back(
        fmt::format("the probe: {} tells at most {:.0f} keys apart", name(p.dtype), most));
    return;
  }
  if (!is_due(checks.probe, "the probe", probe_launches(p, rows), p, verdict)) return;
  verdict.probed = probe(kernel, p, rows, checks.every_key);
  verdict.mask = compare_mask(p, *verdict.probed);
}

// Loops of kernels whose tile is unknown are tried with the shapes that many kernels have.
constexpr std::array kUsualTiles{TileShape{64, 64},  TileShape{128, 64},  TileShape{128, 128},
                                 TileShape{64, 128}, TileShape{128, 176}, TileShape{32, 32},
                                 TileShape{16, 16}};

FaultSet faults_of_tiles() {
  FaultSet list;
  for (const Fault& f : faults()) {
    if (f.kind == "tiles") list.push_back(&f);
  }
  return list;
}

void look_for_faults(const Kernel& kernel, const Problem& p, const Inputs& inputs,
                     const Oracle& oracle, const Attention& got, Verdict& verdict) {
  // Query-key pairs of all hypotheses together: some seconds.
  constexpr double kMostSingles = 1e8, kMostPairs = 3e7;
  Observation seen{&got, verdict.probed ? &*verdict.probed : nullptr};
  constexpr double kMostBytes = 0x1p30;  // of their outputs, and of the sums of weight |v|
  const auto all = static_cast<double>(faults().size());
  if (visible_pairs_of(p) * all > kMostSingles ||
      2 * sizeof(double) * elements_of(p) * all > kMostBytes) {
    seen.got = nullptr;  // the mask may tell
    if (seen.probe == nullptr) {
      verdict.left_out.emplace_back(
          "the diagnosis: --probe may name the fault, or a smaller problem that fails too");
      return;
    }
  }
  verdict.diagnosed = true;
  const auto try_tile = [&](TileShape tile, auto look) {
    Hypotheses hypotheses(p, tile, kernel.sums, inputs, oracle);
    verdict.diagnoses = look(std::vector<Evidence>{{&hypotheses, seen}});
    return !verdict.diagnoses.empty();
  };
  const TileShape first = kernel.tile ? kernel.tile(p) : kUsualTiles.front();
  if (try_tile(first, [](const auto& e) { return diagnose(e, all_faults()); })) return;
  for (const TileShape tile : kUsualTiles) {
    if (kernel.tile) break;
    if (try_tile(tile, [](const auto& e) { return diagnose(e, faults_of_tiles()); })) return;
  }
  try_tile(first, [](const auto& e) { return diagnose_pairs(e, kMostPairs); });
}

// The kernel's own granule is that of a window. Rows of two chunks may share a query tile, where
// the poison of one reaches the other's.
std::optional<Index> granule_for(const Kernel& kernel, const Problem& p) {
  if (!kernel.granule) return std::nullopt;
  return *kernel.granule + (p.window.kind == Window::Kind::chunked ? p.window.width : 0);
}

// What the numbers say, the probe and the poison.
bool is_right(const Verdict& v) {
  return v.output.pass() && v.lse.pass() && (!v.mask || v.mask->exact()) &&
         (!v.poison || v.poison->pass(v.granule));
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
              const Oracle& oracle, const Checks& checks) {
  Verdict verdict;
  verdict.kernel = kernel.name;
  verdict.granule = granule_for(kernel, problem);
  Attention got;
  try {
    verdict.reason = kernel.unsupported(problem).value_or(beyond_fp32(problem, oracle));
    if (!verdict.reason.empty()) {
      verdict.status = Status::unsupported;
      return verdict;
    }
    got = run_poisoned(kernel, problem, inputs);
    const Tolerance tolerance(problem, kernel.sums);
    verdict.output = compare_output(oracle, tolerance, got.out);
    if (!got.lse.data.empty()) verdict.lse = compare_lse(oracle, tolerance, got.lse);
    run_probe(kernel, problem, checks, verdict);
    if (is_due(checks.poison, "the poison tests", kPoisonRuns, problem, verdict)) {
      verdict.poison = poison_test(kernel, problem, inputs);
    }
  } catch (const Stopped&) {
    throw;  // nobody knows whether the kernel is right
  } catch (const Error&) {
    throw;  // ours: the question cannot be answered
  } catch (const std::exception& error) {
    verdict.reason = error.what();
    return verdict;
  }
  verdict.status = is_right(verdict) ? Status::pass : Status::fail;
  if (verdict.status == Status::pass && 2 * verdict.output.vacuous > verdict.output.elements) {
    verdict.status = Status::mistrusted;
    verdict.reason = fmt::format(
        "within its bound, but for {} of {} elements 0 would be too: shorter "
        "rows, or a scale nearer to 1 / sqrt(head_dim), decide",
        verdict.output.vacuous, verdict.output.elements);
  }
  if (verdict.status == Status::fail && checks.diagnose) {
    look_for_faults(kernel, problem, inputs, oracle, got, verdict);
  }
  return verdict;
}

}  // namespace swa
