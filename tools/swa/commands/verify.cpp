// swa verify: is a kernel right?
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "cli/values.hpp"
#include "commands/choose.hpp"
#include "commands/commands.hpp"
#include "commands/verify_checks.hpp"
#include "commands/verify_export.hpp"
#include "commands/verify_faults.hpp"
#include "commands/verify_run.hpp"
#include "error.hpp"
#include "figures/figures.hpp"
#include "kernels/forward.hpp"

namespace swa::commands {
namespace {

// Those of this build, and those that the option's items name.
std::vector<Kernel> all_kernels(const cli::Option& option, const VerifyRun& options) {
  std::vector<Kernel> all = cpu_kernels(options.tile);
  for (const std::vector<Kernel>& more :
       {gpu_kernels(), planted_gpu_kernels_of(option), planted_kernels(option, options.tile),
        plugin_kernels(option, options.timeout)}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

double parse_timeout(const cli::Option& option) {
  const double seconds = cli::parse_real(option.name, option.text);
  if (seconds > 0) return seconds;
  throw UsageError(fmt::format("{} {} is not above 0", option.name, option.text),
                   "give the seconds that one call of a plug-in may take");
}

// Throws UsageError for the first that is asked for: none of them has a figure.
void require_drawing(const std::vector<std::pair<std::string, bool>>& others) {
  for (const auto& [what, asked] : others) {
    if (!asked) continue;
    throw UsageError(fmt::format("{} has no figure, so --export takes no .svg", what),
                     "leave the .svg out, other kinds of file hold the table");
  }
}

}  // namespace

std::unique_ptr<cli::Command> verify(CLI::App& app) {
  auto command = std::make_unique<cli::Command>(
      app, "verify", "compare kernels with the reference, element by element",
      "swa verify --W 100 --nq 96 --nk 600");
  command->judge({"status", {"case", "repro"}, "reason", {"pass"}, {"unsupported"}, {"error"}});
  const auto cases = std::make_shared<CaseOptions>(*command, "chapter", true);
  const std::vector<const cli::Option*> say_which = command->options();
  const auto files = std::make_shared<FileOptions>(*command);
  const cli::Option& fail_fast =
      command->add_flag("--fail-fast", "stop at the first case that does not pass");
  const cli::Option& kernel = command->add("kernel", "*",
                                           "kernels by name, where * and ? are wildcards; "
                                           "plugin:PATH is one of yours, planted:FAULT one "
                                           "with a known fault");
  const auto checks = std::make_shared<CheckOptions>(*command);
  const cli::Option& BM = command->add("BM", "64", "query rows of a tile of cpu-tiled");
  const cli::Option& BN = command->add("BN", "64", "keys of a tile of cpu-tiled");
  const cli::Option& timeout = command->add_other("--timeout", fmt::format("{}", kPluginTimeout),
                                                  "seconds that one call of a plug-in may take");
  const cli::Option& matrix =
      command->add_flag("--kill-matrix", "plant every known fault: which case sees which one?");
  const cli::Option& catalogue = command->add_flag("--list-faults", "print the known faults");
  command->add_figure("the recovered mask against the one that was asked for");
  command->on_run(
      [=, self = command.get(), &fail_fast, &kernel, &BM, &BN, &timeout, &matrix, &catalogue] {
        if (self->wants_figure()) {
          require_drawing({{catalogue.name, catalogue.given()},
                           {matrix.name, matrix.given()},
                           {cases->list().name, cases->list().given()},
                           {"export", files->exports()},
                           {"an output in files", files->brings_kernel()}});
        }
        if (catalogue.given()) {
          self->refuse_beside(catalogue, "runs nothing", {});
          return list_faults();
        }
        if (matrix.given()) {
          std::vector<const cli::Option*> allowed = say_which;
          std::erase(allowed, &cases->list());
          allowed.insert(allowed.end(), {&BM, &BN});
          std::erase(allowed, &cases->random());
          self->refuse_beside(matrix, "runs planted kernels only", allowed);
          const TileShape usual{32, 32};  // small cases have several of them
          return run_kill_matrix(cases->read(),
                                 {BM.given() ? cli::parse_count(BM.name, BM.text) : usual.BM,
                                  BN.given() ? cli::parse_count(BN.name, BN.text) : usual.BN});
        }
        std::vector<const cli::Option*> of_kernels{&kernel, &BM, &BN, &timeout};
        const std::vector<const cli::Option*> of_checks = checks->options();
        of_kernels.insert(of_kernels.end(), of_checks.begin(), of_checks.end());
        files->require_sense(*cases, of_kernels, fail_fast);
        if (files->exports()) return export_cases(files->cases(*cases), files->out());
        if (cases->list().given()) {
          std::vector<const cli::Option*> allowed = say_which;
          const std::vector<const cli::Option*> folder = files->names_folder();
          allowed.insert(allowed.end(), folder.begin(), folder.end());
          self->refuse_beside(cases->list(), "runs nothing", allowed);
          return list_cases(files->cases(*cases), "swa.verify.cases/1");
        }
        VerifyRun options;
        options.fail_fast = fail_fast.given();
        options.tile = {cli::parse_count(BM.name, BM.text), cli::parse_count(BN.name, BN.text)};
        options.timeout = parse_timeout(timeout);
        // Random problems are many: the comparison alone, unless more is asked for.
        options.checks =
            checks->read(cases->random().given() ? Checks::When::never : Checks::When::if_small);
        options.check_words = checks->repeated();
        if (!files->brings_kernel()) {
          options.kernels = choose(kernel, all_kernels(kernel, options), gpu_absence(),
                                   "the CPU check still runs: --kernel cpu-tiled");
        }
        std::optional<DrawnCases> drawn;
        if (!files->brings_kernel()) drawn = cases->draw();
        if (drawn) {
          options.cases = std::move(drawn->cases);
          options.seed = drawn->seed;
          options.checks.diagnose = false;  // see outcome_of_random
        } else {
          options.cases = files->cases(*cases);
        }
        options.files = files->read(options.cases);
        options.dump = files->dump();
        options.figure = self->wants_figure();
        if (options.figure) {
          if (options.cases.size() * options.kernels.size() != 1) {
            throw UsageError("--export .svg draws one kernel on one problem",
                             "name one with --kernel, and give one problem");
          }
          figures::require_readable_mask(options.cases.front().problem.mask());
          options.checks.probe = Checks::When::always;
        }
        return run(options);
      });
  return command;
}

}  // namespace swa::commands
