// The trap "nan" on kernels: the chapter's experiment, the guard left out of a real one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/data.hpp"
#include "cli/values.hpp"
#include "commands/case_memory.hpp"
#include "commands/chapter_traps.hpp"
#include "commands/choose.hpp"
#include "commands/problem_record.hpp"
#include "kernels/forward.hpp"
#include "problem/cases.hpp"
#include "verify/faults.hpp"
#include "verify/judge.hpp"
#include "verify/traps.hpp"

namespace swa::commands {
namespace {

constexpr std::string_view kNoGuard = "nan-after-masked-tile";

// A kernel, and the same without the guard.
struct GuardPair {
  std::string name;
  Kernel guarded, unguarded;
};

const Kernel* find(const std::vector<Kernel>& kernels, const std::string& name) {
  const auto found =
      std::find_if(kernels.begin(), kernels.end(), [&](const Kernel& k) { return k.name == name; });
  return found == kernels.end() ? nullptr : &*found;
}

std::vector<GuardPair> guard_pairs() {
  const TileShape tile;
  std::vector<GuardPair> pairs{
      {"cpu-tiled", cpu_kernels(tile).front(), planted_kernel({&fault(kNoGuard)}, tile)}};
  const std::vector<Kernel> gpu = gpu_kernels(), planted = planted_gpu_kernels();
  const Kernel* const guarded = find(gpu, "portable-prefill");
  const Kernel* const unguarded = find(planted, fmt::format("{}{}", kPlantedGpu, kNoGuard));
  if (guarded != nullptr && unguarded != nullptr) {
    pairs.push_back({guarded->name, *guarded, *unguarded});
  }
  return pairs;
}

std::vector<Case> chapter_in_bf16() {
  std::vector<Case> cases = read_cases(cli::data_path("cases/chapter.toml"));
  for (Case& c : cases) {
    c.problem.dtype = Dtype::bf16;
    require_memory_of(c.problem, TileShape());
  }
  return cases;
}

// Where rows were lost, in the chapter's words.
struct Tally {
  std::vector<std::string> lost, clean;  // names of cases
};

bool add_record(const GuardPair& pair, const Case& c, report::Table& table, Tally& tally) {
  const Problem& p = c.problem;
  const Inputs inputs = make_inputs(p);
  const Oracle expected = oracle(p, inputs);
  const UnguardedTrial trial = run_unguarded_trial(pair.unguarded, p, inputs, expected);
  const Verdict guarded = judge(pair.guarded, p, inputs, expected);
  const bool ok = trial.same_rows && trial.others_right && guarded.status == Status::pass;
  (trial.nan_rows > 0 ? tally.lost : tally.clean).push_back(c.name);
  report::Record record;
  record.add({"kernel", "kernel"}, pair.name)
      .add({"case", "case"}, c.name)
      .add({"n_q", "n_q"}, p.n_q)
      .add({"n_k", "n_k"}, p.n_k)
      .add({"window", "W", "", report::Show::everywhere, "", "none"}, window_cell(p.window))
      .add({"rows", "rows"}, trial.rows)
      .add({"nan_rows", "NaN rows"}, trial.nan_rows)
      .add({"predicted_nan_rows", "predicted"}, trial.predicted_nan_rows)
      .hide("others_right", trial.others_right)
      .add({"guarded_nan_elements", "guarded: NaN/Inf"}, guarded.output.nonfinite)
      .add({"guarded_max_err", "guarded: max err", ".2e"}, guarded.output.error)
      .hide("guarded_status", std::string(name(guarded.status)))
      .hide("options", options(p))
      .add({"verdict", "verdict"}, std::string(ok ? kAsPredicted : kUnexpected))
      .hide("repro", "swa trap-demo nan --kernel " + cli::shell_word(pair.name));
  append(table, record);
  return ok;
}

}  // namespace

bool show_nan_of_kernels(const cli::Option& kernel, report::Report& report) {
  const std::vector<GuardPair> pairs =
      choose(kernel, guard_pairs(), gpu_absence(), "the CPU kernel shows it: --kernel cpu-tiled");
  const std::vector<Case> cases = chapter_in_bf16();
  report::Table table;
  table.name = "nan";
  table.title = "nan: kernels without the guard on the chapter's problems, in bf16";
  report::Lines lines{
      {"A row is predicted to be lost when the first tile that its kernel does not skip holds none "
       "of its keys."}};
  bool all = true;
  for (const GuardPair& pair : pairs) {
    Tally tally;
    for (const Case& c : cases) all = add_record(pair, c, table, tally) && all;
    const auto list = [](const std::vector<std::string>& names) {
      return names.empty() ? std::string("none") : fmt::format("{}", fmt::join(names, ", "));
    };
    lines.lines.push_back(fmt::format("{} without the guard: NaN in {}; clean: {}", pair.name,
                                      list(tally.lost), list(tally.clean)));
  }
  report.blocks.emplace_back(table);
  report.blocks.emplace_back(lines);
  return all;
}

}  // namespace swa::commands
