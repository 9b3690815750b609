// A recovered mask beside the one that was asked for, pair by pair.
#include <fmt/format.h>

#include "figures/figures.hpp"
#include "figures/grid.hpp"

namespace swa::figures {
namespace {

using report::Fill;
using report::Ink;
using report::Style;
using report::Svg;

// What became of a pair.
enum class Pair : std::uint8_t { hidden, seen, missing, extra, repeated, unknown };

struct Kind {
  Pair pair;
  const char* name;
  const char* meaning;
  Style style;
};

std::vector<Kind> kinds(const Grid& grid) {
  const Ink edge = grid.has_lines() ? Ink::light : Ink::none;
  const bool patterns = grid.has_patterns();
  return {
      {Pair::seen, "seen", "as it should be", {Fill::grey, edge, 1, {}}},
      {Pair::extra, "too many", "attended and should not be", {Fill::dark, edge, 1, {}}},
      {Pair::missing,
       "missing",
       "should be attended",
       {patterns ? Fill::hatched : Fill::light, Ink::dark, 1, {}}},
      {Pair::repeated,
       "repeated",
       "counted more than once",
       {patterns ? Fill::crossed : Fill::dark, Ink::dark, 1, {}}},
      {Pair::unknown,
       "unknown",
       "the row is NaN, not written, or was not probed",
       {Fill::light, Ink::none, 1, {}}},
  };
}

Pair pair_at(const Mask& mask, const RecoveredRow* row, Index r, Index key) {
  if (row == nullptr || !row->known) return Pair::unknown;
  Index times = 0;
  for (const KeyRun& run : row->keys) {
    if (key >= run.begin && key < run.end) times = run.times;
  }
  const bool right = sees(mask, r, key);
  if (times == 0) return right ? Pair::missing : Pair::hidden;
  if (!right) return Pair::extra;
  return times > 1 ? Pair::repeated : Pair::seen;
}

}  // namespace

void require_readable_mask(const Mask& mask) {
  require_readable(Grid{mask.n_q, mask.n_k}, "pairs", "ask for a shorter sequence");
}

std::string recovered_mask(const Mask& mask, const std::vector<RecoveredRow>& rows,
                           const std::string& kernel) {
  const Grid grid{mask.n_q, mask.n_k};
  require_readable_mask(mask);
  std::vector<const RecoveredRow*> by_row(static_cast<std::size_t>(mask.n_q));
  for (const RecoveredRow& row : rows) by_row[static_cast<std::size_t>(row.row)] = &row;

  const std::vector<Kind> all = kinds(grid);
  std::vector<std::vector<report::Box>> boxes(all.size());
  std::vector<Index> counts(all.size());
  for (Index r = 0; r < mask.n_q; ++r) {
    const RecoveredRow* row = by_row[static_cast<std::size_t>(r)];
    for (Index key = 0; key < mask.n_k;) {
      const Index begin = key;
      const Pair pair = pair_at(mask, row, r, key);
      while (key < mask.n_k && pair_at(mask, row, r, key) == pair) ++key;
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].pair != pair) continue;
        counts[i] += key - begin;
        boxes[i].push_back(grid.box(r, begin, key - begin));
      }
    }
  }

  Notes notes;
  notes.title = fmt::format("Mask of {}, recovered from {}", mask_title(mask), kernel);
  notes.row_label = "query rows";
  notes.column_label = "keys";
  notes.description =
      fmt::format("A grid of {} query rows down by {} keys across.", mask.n_q, mask.n_k);
  for (std::size_t i = 0; i < all.size(); ++i) {
    notes.description += fmt::format(" {}: {}.", all[i].name, counts[i]);
    if (counts[i] == 0) continue;
    Style swatch = all[i].style;
    swatch.ink = Ink::dark;
    notes.legend.push_back(
        {swatch,
         fmt::format("{}: {} {}", all[i].name, counts[i], counts[i] == 1 ? "pair" : "pairs"),
         all[i].meaning});
  }
  notes.lines = mask_lines(mask);
  Svg svg = begin_grid(grid, notes);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (boxes[i].empty()) continue;
    svg.open(fmt::format("pairs-{}", i), all[i].style);
    for (const report::Box& box : boxes[i]) svg.rect(box);
    svg.close();
  }
  draw_frame(svg, grid);
  return svg.document();
}

}  // namespace swa::figures
