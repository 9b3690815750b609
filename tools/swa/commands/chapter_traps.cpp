#include "commands/chapter_traps.hpp"

#include <fmt/format.h>

#include <optional>

#include "commands/problem_record.hpp"
#include "memory.hpp"
#include "reference/oracle.hpp"
#include "verify/ring_trial.hpp"
#include "verify/traps.hpp"

namespace swa::commands {
namespace {

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

}  // namespace

std::string window_text(const Window& window) {
  return window.kind == Window::Kind::causal ? fmt::format("{}", window.width) : "none";
}

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

const std::vector<Trap>& chapter_traps() {
  static const std::vector<Trap> kTraps{
      {"nan",
       "a row's first visited tile holds none of its keys, and nothing guards -inf - -inf",
       {"--n", "--head-dim", "--W", "--mask", "--chunk", "--seed", "--order", "--BM", "--BN",
        "--guard", "--kernel"},
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

}  // namespace swa::commands
