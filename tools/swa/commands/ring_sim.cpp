// swa ring-sim: what a ring cache and a paged cache hold, step by step.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "cache/pages.hpp"
#include "cli/problem_options.hpp"
#include "cli/values.hpp"
#include "commands/commands.hpp"
#include "commands/problem_record.hpp"
#include "error.hpp"
#include "figures/figures.hpp"
#include "memory.hpp"
#include "parallel.hpp"
#include "terminal/interrupt.hpp"
#include "terminal/progress.hpp"
#include "verify/ring_trial.hpp"

namespace swa::commands {
namespace {

using report::Value;

struct Options {
  RingTrialOptions trial;
  Index page = 16;
  bool figure = false;
};

// Around the first wrap, the end of the prefill, and the end.
std::vector<Index> chosen_steps(const RingTrialOptions& o) {
  std::set<Index> steps;
  for (const Index t : {o.W - 3, o.W - 1, o.W, o.W + 1, o.prefill - 1, o.steps - 1}) {
    if (t >= 0 && t < o.steps) steps.insert(t);
  }
  return {steps.begin(), steps.end()};
}

std::string short_list(const std::vector<Index>& positions) {
  constexpr std::size_t kMost = 16;
  if (positions.size() <= kMost) return fmt::format("[{}]", fmt::join(positions, ", "));
  return fmt::format("[{}, ... {} in all]",
                     fmt::join(positions.begin(), positions.begin() + kMost, ", "),
                     positions.size());
}

report::Table slot_table(const RingTrial& trial, const Options& options) {
  report::Table table;
  table.name = "slots";
  for (const RingSnapshot& snapshot : trial.snapshots) {
    report::Record record;
    record.add({"step", "step"}, snapshot.step)
        .add({"slot", "slot"}, snapshot.slot)
        .hide("positions", snapshot.positions)
        .add({"held", "ring holds positions"}, short_list(snapshot.positions))
        .add({"live_pages", "live pages"},
             live_pages(snapshot.step + 1, options.trial.W, options.page));
    append(table, record);
  }
  return table;
}

std::string repro(const Options& options) {
  const RingTrialOptions &o = options.trial, usual;
  std::string line = fmt::format("swa ring-sim --W {} --steps {} --page {} --seed {}", o.W, o.steps,
                                 options.page, o.seed);
  if (o.head_dim != usual.head_dim) line += fmt::format(" --head-dim {}", o.head_dim);
  if (o.prefill > 0) line += fmt::format(" --prefill {} --chunk {}", o.prefill, o.chunk);
  return line;
}

report::Table trial_table(const RingTrial& trial, const Options& options) {
  const RingTrialOptions& o = options.trial;
  const auto if_prefilled = [&](const Value& value) { return o.prefill > 0 ? value : Value(); };
  const Index pages = max_live_pages(o.steps, o.W, options.page);
  report::Record record;
  record.hide("window", o.W)
      .hide("steps", o.steps)
      .hide("prefill", o.prefill)
      .hide("chunk", if_prefilled(o.chunk))
      .hide("page", options.page)
      .hide("head_dim", o.head_dim)
      .hide("seed", seed_cell(o.seed))
      .hide("max_err_ring", trial.max_err_ring)
      .hide("ring_is_right", trial.ring_is_right)
      .hide("max_err_slot_rope", trial.max_err_slot_rope)
      .hide("first_wrong_step", report::or_null(trial.first_wrong_step))
      .hide("max_err_write_after", if_prefilled(trial.max_err_write_after))
      .hide("wrong_rows_write_after", if_prefilled(trial.wrong_rows_write_after))
      .hide("wrong_rows_write_first", if_prefilled(trial.wrong_rows_write_first))
      .hide("blind_rows_write_first", if_prefilled(trial.blind_rows_write_first))
      .hide("max_live_pages", pages)
      .hide("most_live_pages_bound", most_live_pages(o.W, options.page))
      .hide("live_slots", pages * options.page)
      .hide("repro", repro(options));
  report::Table table;
  table.name = "trial";
  append(table, record);
  return table;
}

report::Lines findings(const RingTrial& trial, const Options& options) {
  const RingTrialOptions& o = options.trial;
  report::Lines lines;
  auto& out = lines.lines;
  if (o.prefill > 0) {
    out.push_back(
        fmt::format("prefill of {} in chunks of {} into a ring of {}:", o.prefill, o.chunk, o.W));
    out.push_back(fmt::format("  written after the chunk's attention:  max err = {:.2e}",
                              trial.max_err_write_after));
    out.push_back(fmt::format(
        "  written before the chunk's attention: {} of {} rows are wrong, {} see nothing of their "
        "window",
        trial.wrong_rows_write_first, o.prefill, trial.blind_rows_write_first));
    out.push_back(
        fmt::format("  {} slots are enough where a chunk is attended before it is written; the "
                    "other way W - 1 + chunk = {} are needed",
                    o.W, o.W - 1 + o.chunk));
  }
  if (o.steps > o.prefill) {
    out.push_back(
        fmt::format("ring cache vs full history:           max err = {:.2e}", trial.max_err_ring));
    out.push_back(fmt::format(
        "RoPE applied at read with slot index: max err = {:.2e}, {}", trial.max_err_slot_rope,
        trial.first_wrong_step
            ? fmt::format("wrong from step {} on", *trial.first_wrong_step)
            : std::string("right so far: no slot differs from its position, or one key alone")));
  }
  const Index pages = max_live_pages(o.steps, o.W, options.page),
              tight = most_live_pages(o.W, options.page);
  const Index loose = ceil_div(o.W, options.page) + 1;
  out.push_back(fmt::format(
      "pages of {}, freed outside the window: at most {} live ({} token slots for a window of {})",
      options.page, pages, pages * options.page, o.W));
  out.push_back(fmt::format("  bounds: ceil((W - 1) / page) + 1 = {}, ceil(W / page) + 1 = {}{}",
                            tight, loose, loose > tight ? ", one too many here" : ""));
  return lines;
}

// One window: a ring has so many slots.
Index window_of(const cli::Option& window, const cli::Option& mask) {
  if (!mask.given()) return cli::parse_count(window.name, window.text);
  const Window spelled = cli::causal_windows(window, mask, {}).front();
  if (spelled.kind == Window::Kind::causal) return spelled.width;
  throw UsageError(fmt::format("{} {} has no window, and a ring needs one", mask.name, mask.text),
                   "give a number of keys, such as --mask hf:128");
}

RingTrial run_with_progress(const RingTrialOptions& options) {
  terminal::Progress progress("ring-sim", static_cast<std::size_t>(options.steps));
  return run_ring_trial(options, chosen_steps(options), [&](Index step) {
    if (stop_requested()) throw Stopped();
    progress.update(static_cast<std::size_t>(step), "");
  });
}

cli::Outcome run(const Options& options) {
  if (options.figure) figures::require_readable_ring(options.trial.W, options.trial.steps);
  require_memory(
      ring_trial_bytes(options.trial),
      fmt::format("a ring of {} slots over {} tokens", options.trial.W, options.trial.steps));
  const terminal::StopOnInterrupt stop;
  cli::Outcome outcome;
  outcome.report.schema = "swa.ring-sim/1";
  try {
    const RingTrial trial = run_with_progress(options.trial);
    outcome.report.blocks = {slot_table(trial, options), trial_table(trial, options),
                             findings(trial, options)};
    if (options.figure) outcome.figure = figures::ring(options.trial.W, trial.snapshots.back());
    outcome.status = trial.ring_is_right && trial.wrong_rows_write_after == 0 ? 0 : 1;
  } catch (const Stopped&) {  // half a trial tells nothing
    outcome.report.summary = {{"interrupted", true}};
    outcome.report.blocks = {report::Lines{{"interrupted: the trial has no result"}}};
    outcome.status = terminal::kInterrupted;
    terminal::say_interrupted("the trial has no result");
  }
  return outcome;
}

}  // namespace

std::unique_ptr<cli::Command> ring_sim(CLI::App& app) {
  auto command = std::make_unique<cli::Command>(
      app, "ring-sim", "what a ring cache and a paged cache hold, step by step",
      "swa ring-sim --W 8 --steps 40 --prefill 20");
  const cli::Option& window = command->add("window", "8", "window, and slots of the ring");
  const cli::Option& mask = command->add("mask");
  const cli::Option& steps = command->add("steps", "40");
  const cli::Option& prefill = command->add("prefill", "0");
  const cli::Option& chunk =
      command->add("chunk", "", "tokens of a prefill chunk (default: all of the prefill)");
  const cli::Option& page = command->add("page", "16");
  const cli::Option& head_dim = command->add("head_dim", "16");
  const cli::Option& seed = command->add("seed", "3");
  command->add_figure("what the caches hold at the end");
  command->on_run([&, figure = command.get()] {
    Options options;
    RingTrialOptions& o = options.trial;
    o.W = window_of(window, mask);
    o.steps = cli::parse_count(steps.name, steps.text);
    o.prefill = cli::parse_count(prefill.name, prefill.text, {0, kMaxIndex});
    o.chunk = chunk.given() ? cli::parse_count(chunk.name, chunk.text) : o.prefill;
    if (chunk.given() && o.chunk > o.prefill) {
      throw UsageError(
          fmt::format("--chunk {} is longer than the prefill of {}", o.chunk, o.prefill),
          "give a smaller --chunk, or a longer --prefill");
    }
    o.head_dim = cli::parse_count(head_dim.name, head_dim.text, {1, 1 << 16});
    if (o.head_dim % 2 != 0) {
      throw UsageError(fmt::format("--head-dim {} is odd, and RoPE turns pairs", o.head_dim),
                       "give an even head_dim");
    }
    o.seed = cli::parse_seed(seed.name, seed.text);
    options.page = cli::parse_count(page.name, page.text);
    options.figure = figure->wants_figure();
    return run(options);
  });
  return command;
}

}  // namespace swa::commands
