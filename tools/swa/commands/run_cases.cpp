#include "commands/run_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "cli/values.hpp"
#include "commands/case_groups.hpp"
#include "commands/case_memory.hpp"
#include "commands/choose.hpp"
#include "commands/verify_record.hpp"
#include "kernels/forward.hpp"
#include "memory.hpp"
#include "parallel.hpp"
#include "terminal/progress.hpp"
#include "verify/spot_check.hpp"

namespace swa::commands {

std::string kernel_words(const VerifyRun& options, const std::string& kernel) {
  std::string line;
  const TileShape usual;
  if (options.tile.BM != usual.BM) line += fmt::format(" --BM {}", options.tile.BM);
  if (options.tile.BN != usual.BN) line += fmt::format(" --BN {}", options.tile.BN);
  line += options.check_words + " --kernel " + cli::shell_word(kernel);
  if (is_plugin(kernel) && options.timeout != kPluginTimeout) {
    line += fmt::format(" --timeout {}", options.timeout);
  }
  return line;
}

std::string repro_line(const VerifyRun& options, const Case& c, const std::string& kernel) {
  if (options.files.repro) return options.files.repro(c);
  return fmt::format("swa verify {}{}{}", swa::options(c.problem), kernel_words(options, kernel),
                     options.files.input_words);
}

bool wants_gpu_oracle(const Problem& p) {
  constexpr double kMost = 1e11;  // FLOP
  const auto dims = static_cast<double>(p.head_dim + p.value_dim());
  return gpu_absence().empty() && 4 * dims * visible_pairs_of(p) > kMost;
}

Oracle expected_of(const Problem& p, const Inputs& inputs) {
  if (wants_gpu_oracle(p)) {
    if (std::optional<Oracle> oracle = gpu_oracle(p, inputs)) {
      check_sampled_rows(p, inputs, *oracle);
      return std::move(*oracle);
    }
  }
  return oracle(p, inputs);
}

namespace {

// With the checks that each can stand.
std::vector<FileKernel> kernels_of(const VerifyRun& options, const Case& c) {
  if (options.files.kernel) return {options.files.kernel(c)};
  std::vector<FileKernel> all;
  for (const Kernel& kernel : options.kernels) all.push_back({kernel, options.checks});
  return all;
}

CaseResult run_case(const VerifyRun& options, std::size_t index, const ProblemColumns& columns) {
  CaseResult result;
  const Case& c = options.cases[index];
  const Inputs inputs =
      options.files.inputs ? options.files.inputs(c.problem) : make_inputs(c.problem);
  const Oracle expected = expected_of(c.problem, inputs);
  for (const auto& [kernel, checks, left_out] : kernels_of(options, c)) {
    Attention got;
    Verdict verdict =
        judge(options.dump ? keep_first(kernel, got) : kernel, c.problem, inputs, expected, checks);
    verdict.left_out.insert(verdict.left_out.end(), left_out.begin(), left_out.end());
    const std::string repro = repro_line(options, c, kernel.name);
    result.statuses.push_back(verdict.status);
    if (verdict.is_no() || !options.seed) {
      result.records.push_back(record_of(c, verdict, columns, expected,
                                         Tolerance(c.problem, kernel.sums).formula(), repro));
    }
    const std::vector<std::string> said = facts(c.problem, verdict);
    result.facts.insert(result.facts.end(), said.begin(), said.end());
    if (options.figure) result.figure = figure_of(c.problem, verdict);
    result.passed += verdict.status == Status::pass;
    result.unsupported += verdict.status == Status::unsupported;
    result.incomplete += !verdict.left_out.empty();
    if (verdict.status == Status::unsupported) result.why_unsupported.push_back(verdict.reason);
    if (!verdict.is_no()) continue;
    ++result.failed;
    result.failed_kernels.push_back({kernel.name, suspects_of(verdict)});
    result.failures.push_back("  " + repro);
    if (!verdict.reason.empty()) {
      result.failures.push_back(fmt::format("    {}: {}", name(verdict.status), verdict.reason));
    }
    for (const std::string& line : findings(c.problem, verdict)) {
      result.failures.push_back("    " + line);
    }
    if (options.dump) options.dump->add(c, index, inputs, expected, kernel.name, got);
  }
  return result;
}

}  // namespace

Results run_cases(const VerifyRun& options) {
  std::vector<Problem> problems;
  for (const Case& c : options.cases) problems.push_back(c.problem);
  // Random problems have a bit of everything, which no line holds.
  const ProblemColumns columns(options.seed ? std::vector<Problem>() : problems);
  // Of other kernels nobody knows whether two may run at once.
  const bool only_cpu = !options.files.kernel &&
                        std::all_of(options.kernels.begin(), options.kernels.end(),
                                    [](const Kernel& k) { return k.name.starts_with("cpu-"); });
  const auto bytes = [&](const Problem& p) { return bytes_of(p, options.tile); };
  const std::vector<CaseGroup> groups = group_cases(
      options.cases, bytes, only_cpu && !options.dump ? spare_bytes() : 0, thread_count());

  std::vector<std::optional<CaseResult>> slots(options.cases.size());
  terminal::Progress progress("verify", options.cases.size());
  progress.update(0, swa::options(problems.front()));
  // Cases that run side by side may end in any order: those before a failed one still count.
  std::atomic<std::size_t> last = options.cases.size() - 1;
  run_groups(groups, [&](std::size_t i) {
    if (i > last) return;
    slots[i] = run_case(options, i, columns);
    progress.finish_one(swa::options(problems[i]));
    if (!options.fail_fast || slots[i]->failed == 0) return;
    std::size_t known = last;
    while (i < known && !last.compare_exchange_weak(known, i)) {
    }
  });
  Results results;
  for (std::size_t i = 0; i <= last && slots[i]; ++i) {
    results.cases.push_back(std::move(*slots[i]));
  }
  results.failed_fast =
      options.fail_fast && results.cases.size() == last + 1 && results.cases.back().failed > 0;
  return results;
}

}  // namespace swa::commands
