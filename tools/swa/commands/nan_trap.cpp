// The trap "nan": rows whose first visited tile holds none of their keys.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "commands/chapter_traps.hpp"
#include "commands/problem_record.hpp"
#include "reference/oracle.hpp"
#include "verify/traps.hpp"

namespace swa::commands {

using report::Value;

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

}  // namespace swa::commands
