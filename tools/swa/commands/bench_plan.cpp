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

// 0 where nothing is visible and no tile is visited.
double useful_share(const Problem& p, const LaunchPlan& plan) {
  return plan.issued_pairs == 0 ? 0 : visible_pairs_of(p) / plan.issued_pairs;
}

report::Record record_of(const Problem& p, const ProblemColumns& columns, const LaunchPlan& plan) {
  report::Record record;
  record.add({"kernel", "kernel"}, plan.kernel);
  add_mask(record, p, columns);
  add_rest(record, p, columns);
  add_launch(record, plan);
  add_reason(record, p, plan);
  record.hide("repro",
              fmt::format("swa bench --plan {} --kernel {}", swa::options(p), plan.kernel));
  return record;
}

}  // namespace

std::vector<LaunchPlan> plans_of(const Problem& problem) {
  return launch_plans(problem, kMultiprocessors);
}

report::Lines plan_heading() {
  return {
      {fmt::format("plans for a GPU of {} multiprocessors (H100, H200); no GPU is needed, and "
                   "nothing was run",
                   kMultiprocessors)}};
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

void add_reason(report::Record& record, const Problem& p, const LaunchPlan& plan) {
  record
      .add({"useful_share", "useful / issued", ".3f"},
           plan.unsupported ? report::Value() : report::Value(useful_share(p, plan)))
      .hide("issued_pairs", plan.issued_pairs)
      .hide("supported", !plan.unsupported)
      .add({"reason", "reason"}, plan.unsupported ? *plan.unsupported : plan.reason)
      .hide("multiprocessors", Index{kMultiprocessors});
}

cli::Outcome plan_launches(const std::vector<Case>& cases, const cli::Option& kernel) {
  std::vector<Problem> problems;
  for (const Case& c : cases) problems.push_back(c.problem);
  const ProblemColumns columns(problems);
  std::vector<std::string> names;
  for (const LaunchPlan& plan : plans_of(problems.front())) {
    names.push_back(plan.kernel);
  }
  const std::vector<std::size_t> chosen =
      choose_names(kernel, names, "none of that name has a plan", "leave --kernel out for all");
  report::Table table;
  for (const Problem& p : problems) {
    const std::vector<LaunchPlan> plans = plans_of(p);
    for (const std::size_t i : chosen) append(table, record_of(p, columns, plans[i]));
  }
  cli::Outcome outcome;
  outcome.report.schema = "swa.bench-plan/1";
  outcome.report.blocks = {plan_heading(), table};
  return outcome;
}

}  // namespace swa::commands
