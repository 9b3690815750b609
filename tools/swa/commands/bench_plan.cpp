#include "commands/bench_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "commands/choose.hpp"
#include "commands/problem_record.hpp"
#include "error.hpp"
#include "kernels/launch/dispatch.hpp"
#include "verify/kernel.hpp"

namespace swa::commands {
namespace {

// 0 where nothing is visible and no tile is visited.
double useful_share(const Problem& p, const LaunchPlan& plan) {
  return plan.issued_pairs == 0 ? 0 : visible_pairs_of(p) / plan.issued_pairs;
}

report::Record record_of(const Case& one, const ProblemColumns& columns, const LaunchPlan& plan,
                         const GpuModel& gpu) {
  const Problem& p = one.problem;
  report::Record record;
  if (one.name.empty()) {
    record.add({"kernel", "kernel"}, plan.kernel);
    add_mask(record, p, columns);
    add_rest(record, p, columns);
  } else {
    add_case(record, one);
    record.add({"kernel", "kernel"}, plan.kernel);
    hide_problem(record, p);
  }
  add_launch(record, plan);
  add_reason(record, p, plan, gpu);
  record.add({"chosen", "chosen"}, dispatch(p, gpu).kernel == plan.kernel);
  std::string repro = fmt::format("swa bench --plan {} --kernel {}", swa::options(p), plan.kernel);
  if (gpu.arch != kHopper.arch) repro += fmt::format(" --arch {}", gpu.arch);
  record.hide("repro", repro);
  return record;
}

// "sm_90", "sm_90a", "90a" and "90" are one; "sm_90" is the table's.
std::string plain_arch(std::string_view word) {
  if (word.starts_with("sm_")) word.remove_prefix(3);
  if (word.ends_with("a") || word.ends_with("f")) word.remove_suffix(1);
  return fmt::format("sm_{}", word);
}

}  // namespace

const GpuModel& gpu_model(const cli::Option& arch) {
  std::vector<std::string> known;
  for (const GpuModel& gpu : kGpuModels) {
    if (gpu.arch == plain_arch(arch.text)) return gpu;
    known.emplace_back(gpu.arch);
  }
  throw UsageError(fmt::format("{} {} is not a GPU that plans are known for", arch.name, arch.text),
                   fmt::format("choose from {}", fmt::join(known, ", ")));
}

report::Lines plan_heading(const GpuModel& gpu) {
  return {
      {fmt::format("plans for a GPU of {} multiprocessors ({}); no GPU is needed, and nothing was "
                   "run",
                   gpu.multiprocessors, gpu.devices)}};
}

void add_launch(report::Record& record, const LaunchPlan& plan) {
  // Of what there is at all, there is at least one.
  const auto number = [](Index x) { return x == 0 ? report::Value() : report::Value(x); };
  record.add({"BM", "BM"}, number(plan.BM))
      .add({"BN", "BN"}, number(plan.BN))
      .add({"heads", "heads in a tile"}, number(plan.heads))
      .add({"positions", "positions"}, number(plan.positions))
      .add({"grid", "blocks"}, number(plan.blocks))
      .add({"threads", "threads"}, number(plan.threads))
      .add({"smem_bytes", "smem B"}, number(plan.smem_bytes))
      .add({"splits", "splits"}, number(plan.splits));
}

void add_reason(report::Record& record, const Problem& p, const LaunchPlan& plan,
                const GpuModel& gpu) {
  record
      .add({"useful_share", "useful / issued", ".3f"},
           plan.unsupported ? report::Value() : report::Value(useful_share(p, plan)))
      .hide("issued_pairs", plan.issued_pairs)
      .hide("supported", !plan.unsupported)
      .add({"reason", "reason"}, plan.unsupported ? *plan.unsupported : plan.reason)
      .hide("arch", std::string(gpu.arch))
      .hide("multiprocessors", Index{gpu.multiprocessors});
}

cli::Outcome plan_launches(const std::vector<Case>& cases, const cli::Option& kernel,
                           const GpuModel& gpu) {
  std::vector<Problem> problems;
  for (const Case& c : cases) problems.push_back(c.problem);
  const ProblemColumns columns(problems);
  std::vector<std::string> names;
  for (const LaunchPlan& plan : launch_plans(problems.front(), gpu)) {
    names.push_back(plan.kernel);
  }
  const std::vector<std::size_t> chosen =
      choose_names(kernel, names, "none of that name has a plan", "leave --kernel out for all");
  report::Table table;
  for (const Case& one : cases) {
    const std::vector<LaunchPlan> plans = launch_plans(one.problem, gpu);
    for (const std::size_t i : chosen) append(table, record_of(one, columns, plans[i], gpu));
  }
  cli::Outcome outcome;
  outcome.report.schema = "swa.bench-plan/1";
  outcome.report.blocks = {plan_heading(gpu), table};
  return outcome;
}

}  // namespace swa::commands
