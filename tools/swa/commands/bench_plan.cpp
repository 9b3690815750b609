#include "commands/bench_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "commands/choose.hpp"
#include "commands/problem_record.hpp"
#include "kernels/launch/plan.hpp"
#include "verify/kernel.hpp"

namespace swa::commands {
namespace {

constexpr int kMultiprocessors = 132;  // of an H100 or H200

report::Record record_of(const Problem& p, const ProblemColumns& columns, const LaunchPlan& plan) {
  const auto number = [&](Index x) {
    return plan.unsupported ? report::Value() : report::Value(x);
  };
  report::Record record;
  record.add({"kernel", "kernel"}, plan.kernel);
  add_mask(record, p, columns);
  add_rest(record, p, columns);
  record.add({"BM", "BM"}, number(plan.BM))
      .add({"BN", "BN"}, number(plan.BN))
      .add({"heads", "heads in a tile"}, number(plan.heads))
      .add({"positions", "positions"}, number(plan.positions))
      .add({"grid", "blocks"}, number(plan.blocks))
      .add({"threads", "threads"}, number(plan.threads))
      .add({"smem_bytes", "smem B"}, number(plan.smem_bytes))
      .add({"splits", "splits"}, number(plan.splits))
      .add({"useful_share", "useful / issued", ".3f"},
           plan.unsupported ? report::Value()
                            : report::Value(visible_pairs_of(p) / plan.issued_pairs))
      .hide("issued_pairs", plan.issued_pairs)
      .hide("supported", !plan.unsupported)
      .add({"reason", "reason"}, plan.unsupported ? *plan.unsupported : plan.reason)
      .hide("multiprocessors", Index{kMultiprocessors})
      .hide("repro", fmt::format("swa bench --plan {} --kernel {}", swa::options(p), plan.kernel));
  return record;
}

}  // namespace

cli::Outcome plan_launches(const std::vector<Case>& cases, const cli::Option& kernel) {
  std::vector<Problem> problems;
  for (const Case& c : cases) problems.push_back(c.problem);
  const ProblemColumns columns(problems);
  std::vector<std::string> names;
  for (const LaunchPlan& plan : launch_plans(problems.front(), kMultiprocessors)) {
    names.push_back(plan.kernel);
  }
  const std::vector<std::size_t> chosen =
      choose_names(kernel, names, "none of that name has a plan", "leave --kernel out for all");
  report::Table table;
  for (const Problem& p : problems) {
    const std::vector<LaunchPlan> plans = launch_plans(p, kMultiprocessors);
    for (const std::size_t i : chosen) append(table, record_of(p, columns, plans[i]));
  }
  cli::Outcome outcome;
  outcome.report.schema = "swa.bench-plan/1";
  outcome.report.blocks = {
      report::Lines{{fmt::format("plans for a GPU of {} multiprocessors (H100, H200); no GPU is "
                                 "needed, and nothing was run",
                                 kMultiprocessors)}},
      table};
  return outcome;
}

}  // namespace swa::commands
