// swa trap-demo: what the classic mistakes look like, in numbers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/problem_options.hpp"
#include "cli/values.hpp"
#include "commands/commands.hpp"
#include "commands/problem_record.hpp"
#include "error.hpp"
#include "memory.hpp"
#include "verify/ring_trial.hpp"
#include "verify/traps.hpp"

namespace swa::commands {
namespace {

using report::Value;

// What a trap runs on. Defaults are the chapter's.
struct Setting {
  Index n = 0, head_dim = 64;
  std::vector<Window> windows;
  Index chunk = 0;  // 0: none
  std::uint64_t seed = 0;
  TiledOptions tiled;
};

struct Trap {
  std::string name;
  std::string what;                  // one sentence
  std::vector<std::string> options;  // those that mean something to it
  Setting usual;
  // Appends its findings; returns whether the trap behaved as predicted and its cure held.
  bool (*show)(const Setting&, report::Report&);
};

constexpr const char* kAsPredicted = "as predicted";
constexpr const char* kUnexpected = "UNEXPECTED";

std::string window_text(const Window& window) {
  return window.kind == Window::Kind::causal ? fmt::format("{}", window.width) : "none";
}

// The command that shows one row again.
std::string repro(const Setting& s, const std::string& trap, const Window& window) {
  std::string line = fmt::format("swa trap-demo {} --W {} --n {} --head-dim {} --seed {}", trap,
                                 window_text(window), s.n, s.head_dim, s.seed);
  if (s.chunk > 0) line += fmt::format(" --chunk {}", s.chunk);
  if (trap == "nan") {
    line += fmt::format(" --BM {} --BN {} --order {} --guard {}", s.tiled.tile.BM, s.tiled.tile.BN,
                        s.tiled.walk == Walk::forward ? "forward" : "reverse",
                        s.tiled.guard ? "on" : "off");
  }
  return line;
}

// What closes every record.
void finish(report::Record& record, const Setting& s, const std::string& trap, const Window& window,
            bool ok) {
  record.hide("head_dim", s.head_dim)
      .hide("seed", seed_cell(s.seed))
      .add({"verdict", "verdict"}, std::string(ok ? kAsPredicted : kUnexpected))
      .hide("repro", repro(s, trap, window));
}

void require_room(const Setting& s) {
  Problem p;
  p.n_q = p.n_k = s.n;
  p.head_dim = s.head_dim;
  p.dtype = Dtype::fp64;
  require_memory(3 * oracle_bytes(p) + tiled_bytes(p, s.tiled.tile),
                 fmt::format("a sequence of {} tokens", s.n));
}

bool show_nan(const Setting& s, report::Report& report) {
  require_room(s);
  report::Table table;
  table.name = "nan";
  const std::string walked = s.tiled.walk == Walk::forward ? "forward" : "reverse";
  table.title =
      fmt::format("nan: tiled forward in fp64, {} x {} tiles walked {}, {}; {} queries on {} keys",
                  s.tiled.tile.BM, s.tiled.tile.BN, walked, s.tiled.guard ? "guard on" : "no guard",
                  s.chunk > 0 ? s.chunk : s.n, s.n);
  bool all = true, reverse_is_safe = true;
  std::vector<std::string> lost;  // windows at which rows are
  for (const Window& window : s.windows) {
    Problem p;
    p.n_q = s.chunk > 0 ? s.chunk : s.n;
    p.n_k = s.n;
    p.head_dim = s.head_dim;
    p.window = window;
    p.dtype = Dtype::fp64;
    p.seed = s.seed;
    const Inputs inputs = make_inputs(p);
    const Oracle expected = oracle(p, inputs);
    const auto run = [&](Walk walk, bool guard) {
      return run_nan_trial(p, inputs, expected, {s.tiled.tile, walk, guard});
    };
    const NanTrial found = run(s.tiled.walk, s.tiled.guard);
    const NanTrial guarded = run(s.tiled.walk, true), reversed = run(Walk::reverse, false);
    const bool ok = found.same_rows && found.others_within_bound && guarded.nan_rows == 0 &&
                    guarded.others_within_bound && reversed.same_rows;
    all = all && ok;
    reverse_is_safe = reverse_is_safe && reversed.nan_rows == 0;
    if (found.nan_rows > 0) lost.push_back(window_text(window));
    // With every row lost there is no other row to measure.
    const bool some_left = found.nan_rows < p.n_q;
    report::Record record;
    record.add({"window", "W", "", report::Show::everywhere, "", "none"}, window_cell(window))
        .add({"nan_rows", "NaN rows"}, found.nan_rows)
        .add({"predicted_nan_rows", "predicted"}, found.predicted_nan_rows)
        .add({"first_nan_row", "first"}, report::or_null(found.first_nan_row))
        .add({"max_err_other_rows", "max err on other rows", ".2e"},
             some_left ? Value(found.max_err_other_rows) : Value())
        .add({"guarded_nan_rows", "guarded: NaN rows"}, guarded.nan_rows)
        .add({"guarded_max_err", "guarded: max err", ".2e"}, guarded.max_err_other_rows)
        .add({"reverse_nan_rows", "reverse: NaN rows"}, reversed.nan_rows)
        .add({"reverse_predicted_nan_rows", "reverse: predicted"}, reversed.predicted_nan_rows)
        .hide("n_q", p.n_q)
        .hide("n_k", p.n_k);
    finish(record, s, "nan", window, ok);
    append(table, record);
  }
  report.blocks.push_back(table);
  report.blocks.push_back(report::Lines{{
      "A row is predicted to be lost when the first tile that it visits holds none of its keys:",
      "its running maximum stays -inf, and exp(-inf - -inf) is NaN.",
      "Cure 1, the guard: subtract 0 where the running maximum is -inf.",
      std::string("Cure 2, the reverse walk, right to left from the diagonal: ") +
          (reverse_is_safe
               ? "safe here, the tile that it visits first holds a key of every row."
               : "NOT safe here, the tile that it visits first misses some row's keys."),
      fmt::format("This walk, {}: {}", s.tiled.guard ? "guarded" : "unguarded",
                  lost.empty() ? std::string("no row is lost")
                               : fmt::format("rows are lost at W = {}", fmt::join(lost, ", "))),
  }});
  return all;
}

bool show_off_by_one(const Setting& s, report::Report& report) {
  require_room(s);
  report::Table table;
  table.name = "off-by-one";
  table.title = fmt::format(
      "off-by-one: W passed as FlashAttention's left count sees W + 1 keys; {} tokens in fp64",
      s.n);
  bool all = true;
  for (const Window& window : s.windows) {
    const Index W = window.width;
    const OffByOneTrial trial = run_off_by_one_trial(s.n, s.head_dim, W, s.seed);
    const bool ok = trial.rows_affected == trial.rows_predicted && trial.max_err_converted == 0;
    all = all && ok;
    report::Record record;
    record.add({"window", "W"}, W)
        .add({"max_err", "max err of (W, 0)", ".3e"}, trial.max_err)
        .add({"rows_affected", "rows affected"}, trial.rows_affected)
        .add({"rows_predicted", "predicted"}, trial.rows_predicted)
        .add({"n", "of"}, s.n)
        .add({"max_err_converted", "max err of (W - 1, 0)", ".3e"}, trial.max_err_converted);
    finish(record, s, "off-by-one", window, ok);
    append(table, record);
  }
  report.blocks.push_back(table);
  report.blocks.push_back(
      report::Lines{{"Only rows at position W and later have one more key to see; a test with N <= "
                     "W sees nothing.",
                     "Cure: convert once, at the call: left = W - 1."}});
  return all;
}

bool show_alignment(const Setting& s, report::Report& report) {
  require_room(s);
  report::Table table;
  table.name = "alignment";
  table.title = fmt::format(
      "alignment: the last {} of {} tokens as queries, masked as if they were the first", s.chunk,
      s.n);
  bool all = true;
  for (const Window& window : s.windows) {
    const Index W = window.width;
    const AlignmentTrial trial = run_alignment_trial(s.n, s.head_dim, W, s.chunk, s.seed);
    // One key alone gets weight 1 wherever it sits, but it is another key.
    const bool shows = (trial.max_err_top_left > 0) == (s.chunk < s.n);
    const bool ok = shows && trial.max_err_bottom_right == 0;
    all = all && ok;
    report::Record record;
    record.add({"window", "W"}, W)
        .add({"chunk", "chunk"}, s.chunk)
        .hide("n", s.n)
        .add({"max_err_top_left", "max err top-left", ".3e"}, trial.max_err_top_left)
        .add({"max_err_bottom_right", "max err bottom-right", ".3e"}, trial.max_err_bottom_right)
        .add({"keys_seen_top_left", "decode keys top-left"}, trial.keys_seen_top_left)
        .add({"keys_seen_bottom_right", "decode keys bottom-right"}, trial.keys_seen_bottom_right);
    finish(record, s, "alignment", window, ok);
    append(table, record);
  }
  report.blocks.push_back(table);
  report.blocks.push_back(report::Lines{
      {"A decode step that is aligned top-left sits at position 0 and sees key 0 only.",
       "Cure: take the absolute position of each query, q_offset = n_k - n_q."}});
  return all;
}

bool show_rope_slot(const Setting& s, report::Report& report) {
  report::Table table;
  table.name = "rope-slot";
  table.title = fmt::format(
      "rope-slot: {} decode steps through a ring of W slots, keys rotated at read by slot", s.n);
  bool all = true;
  for (const Window& window : s.windows) {
    RingTrialOptions options;
    options.W = window.width;
    options.steps = s.n;
    options.head_dim = s.head_dim;
    options.seed = s.seed;
    require_memory(ring_trial_bytes(options), fmt::format("a ring of {} slots", options.W));
    const RingTrial trial = run_ring_trial(options, {});
    // A ring of one slot holds one key, and one key alone has weight 1 however it is rotated.
    std::optional<Index> predicted;
    if (options.W > 1 && options.W < s.n) predicted = options.W;
    const bool ok = trial.first_wrong_step == predicted && trial.ring_is_right;
    all = all && ok;
    report::Record record;
    record.add({"window", "W"}, options.W)
        .add({"steps", "steps"}, s.n)
        .add({"max_err_slot_rope", "max err by slot", ".2e"}, trial.max_err_slot_rope)
        .add({"first_wrong_step", "first wrong step"}, report::or_null(trial.first_wrong_step))
        .add({"predicted_first_wrong_step", "predicted"}, report::or_null(predicted))
        .add({"max_err_ring", "max err by position", ".2e"}, trial.max_err_ring);
    finish(record, s, "rope-slot", window, ok);
    append(table, record);
  }
  report.blocks.push_back(table);
  report.blocks.push_back(report::Lines{
      {"Slot and position agree until the ring wraps at step W; decoding up to W tokens hides it.",
       "Cure: rotate a key once, by its position, before it is cached."}});
  return all;
}

Setting setting(Index n, Index head_dim, std::vector<Window> windows, Index chunk,
                std::uint64_t seed) {
  Setting s{n, head_dim, std::move(windows), chunk, seed, {}};
  s.tiled.guard = false;
  return s;
}

const std::vector<Trap>& traps() {
  static const std::vector<Trap> kTraps{
      {"nan",
       "a row's first visited tile holds none of its keys, and nothing guards -inf - -inf",
       {"--n", "--head-dim", "--W", "--mask", "--chunk", "--seed", "--order", "--BM", "--BN",
        "--guard"},
       setting(1000, 64,
               {Window::global(), Window::causal(100), Window::causal(128), Window::causal(300)}, 0,
               1),
       show_nan},
      {"off-by-one",
       "W passed as a count of keys besides the query",
       {"--n", "--head-dim", "--W", "--mask", "--seed"},
       setting(1024, 64, {Window::causal(128)}, 0, 2),
       show_off_by_one},
      {"alignment",
       "fewer queries than keys, masked from the wrong corner",
       {"--n", "--head-dim", "--W", "--mask", "--chunk", "--seed"},
       setting(1024, 64, {Window::causal(128)}, 256, 2),
       show_alignment},
      {"rope-slot",
       "RoPE applied at read, by ring slot instead of position",
       {"--n", "--head-dim", "--W", "--mask", "--seed"},
       setting(40, 16, {Window::causal(8)}, 0, 3),
       show_rope_slot}};
  return kTraps;
}

struct TrapOptions {
  const cli::Option &name, &n, &head_dim, &window, &mask, &chunk, &seed, &order, &BM, &BN, &guard;

  explicit TrapOptions(cli::Command& command)
      : name(command.add_positional("trap", "nan, off-by-one, alignment, rope-slot or all")),
        n(command.add_other("--n", "",
                            "tokens (nan 1000, off-by-one and alignment 1024, rope-slot 40)")),
        head_dim(command.add("head_dim", "", "elements of a head (64; rope-slot 16)")),
        window(
            command.add("window", "", "windows (nan none,100,128,300; rope-slot 8; others 128)")),
        mask(command.add("mask")),
        chunk(command.add("chunk", "", "last tokens that are queries (nan all; alignment 256)")),
        seed(command.add("seed", "",
                         "seed of NumPy's default_rng (nan 1, off-by-one and alignment 2, "
                         "rope-slot 3)")),
        order(command.add_other("--order", "forward",
                                "walk over key tiles: forward (left to right) or reverse")),
        BM(command.add("BM", "64")),
        BN(command.add("BN", "64")),
        guard(command.add_other("--guard", "off", "the -inf guard: on or off")) {}

  std::vector<const Trap*> chosen() const {
    std::vector<std::string> names;
    std::vector<const Trap*> all;
    for (const Trap& trap : traps()) {
      names.push_back(trap.name);
      all.push_back(&trap);
    }
    names.push_back("all");
    if (!name.given()) {
      throw UsageError("no trap was named", fmt::format("choose from {}", fmt::join(names, ", ")));
    }
    const std::string word = cli::parse_choice("trap", name.text, names);
    if (word == "all") return all;
    return {
        all[static_cast<std::size_t>(std::find(names.begin(), names.end(), word) - names.begin())]};
  }

  // The trap's own setting, changed by what was given. No option is silently ignored.
  Setting read(const Trap& trap) const {
    for (const cli::Option* option :
         {&n, &head_dim, &window, &mask, &chunk, &seed, &order, &BM, &BN, &guard}) {
      const auto& known = trap.options;
      if (option->given() && std::find(known.begin(), known.end(), option->name) == known.end()) {
        throw UsageError(fmt::format("{} means nothing to the trap '{}'", option->name, trap.name),
                         fmt::format("it takes {}", fmt::join(known, ", ")));
      }
    }
    Setting s = trap.usual;
    if (n.given()) s.n = cli::parse_count(n.name, n.text);
    if (head_dim.given()) s.head_dim = cli::parse_count(head_dim.name, head_dim.text, {1, 1 << 16});
    s.windows = cli::causal_windows(window, mask, s.windows);
    for (const Window& w : s.windows) {
      if (w.kind != Window::Kind::causal && trap.name != "nan") {
        throw UsageError(
            fmt::format("the trap '{}' needs a window, so --W none has no meaning", trap.name),
            "give a number of keys, such as --W 128");
      }
    }
    if (chunk.given()) s.chunk = cli::parse_count(chunk.name, chunk.text);
    if (s.chunk > s.n) {
      throw UsageError(fmt::format("{} {} is longer than the {} tokens in all",
                                   chunk.given() ? "--chunk" : "the chunk of", s.chunk, s.n),
                       "give a larger --n, or a smaller --chunk");
    }
    if (seed.given()) s.seed = cli::parse_seed(seed.name, seed.text);
    s.tiled.tile = {cli::parse_count(BM.name, BM.text), cli::parse_count(BN.name, BN.text)};
    if (cli::parse_choice(order.name, order.text, {"forward", "reverse"}) == "reverse") {
      s.tiled.walk = Walk::reverse;
    }
    s.tiled.guard = cli::parse_choice(guard.name, guard.text, {"on", "off"}) == "on";
    if (s.head_dim % 2 != 0 && trap.name == "rope-slot") {
      throw UsageError(fmt::format("--head-dim {} is odd, and RoPE turns pairs", s.head_dim),
                       "give an even head_dim");
    }
    return s;
  }
};

cli::Outcome run(const TrapOptions& options) {
  cli::Outcome outcome;
  outcome.report.schema = "swa.trap-demo/1";
  std::vector<std::pair<const Trap*, Setting>> runs;
  for (const Trap* trap : options.chosen()) runs.emplace_back(trap, options.read(*trap));
  bool all = true;
  for (const auto& [trap, setting] : runs) {
    const bool ok = trap->show(setting, outcome.report);
    outcome.report.summary.emplace_back(trap->name, std::string(ok ? kAsPredicted : kUnexpected));
    all = all && ok;
  }
  outcome.status = all ? 0 : 1;
  return outcome;
}

}  // namespace

std::unique_ptr<cli::Command> trap_demo(CLI::App& app) {
  auto command = std::make_unique<cli::Command>(
      app, "trap-demo", "what the classic mistakes look like, in numbers", "swa trap-demo nan");
  command->judge({"verdict", {"repro"}, "", {kAsPredicted}});
  const auto options = std::make_shared<TrapOptions>(*command);
  command->on_run([options] { return run(*options); });
  return command;
}

}  // namespace swa::commands
