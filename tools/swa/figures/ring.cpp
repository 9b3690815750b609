// The caches of a hybrid model: a ring in each local layer, a growing row in the global one.
#include <fmt/format.h>

#include <algorithm>

#include "error.hpp"
#include "figures/figures.hpp"
#include "report/svg.hpp"

namespace swa::figures {
namespace {

using report::Align;
using report::Box;
using report::Fill;
using report::Ink;
using report::Style;
using report::Svg;

constexpr Index kLocalLayers = 5, kMostSlots = 16, kMostSteps = 48;
constexpr double kWidth = 860, kLeft = 118, kRight = 24, kRow = 34, kStep = 42, kTop = 106;

const Style kHeld{Fill::white, Ink::dark, 1, {}}, kNewest{Fill::dark, Ink::dark, 1, {}},
    kFree{Fill::white, Ink::dark, 1, "3 3"}, kGone{Fill::light, Ink::dark, 1, {}};
const Style kNextMark{Fill::none, Ink::dark, 3, {}};

// By slot: the position it holds, if any.
struct Ring {
  std::vector<Index> held;
  std::size_t newest = 0, next = 0;  // slots; next: written by the next token
  bool next_overwrites = false;

  Ring(Index W, const RingSnapshot& snapshot)
      : held(snapshot.positions), newest(static_cast<std::size_t>(snapshot.slot)) {
    // Slots fill in order, so a free one is the next; else the oldest position makes room.
    next_overwrites = static_cast<Index>(held.size()) == W;
    next = next_overwrites
               ? static_cast<std::size_t>(std::min_element(held.begin(), held.end()) - held.begin())
               : held.size();
  }
  bool holds(Index position) const {
    return std::find(held.begin(), held.end(), position) != held.end();
  }
};

// One width for all cells that share a row of the page.
double cell_width(Index cells) {
  return std::min(44.0, (kWidth - kLeft - kRight) / static_cast<double>(cells));
}

void draw_cell(Svg& svg, const Box& box, const Style& style, const std::string& label) {
  svg.rect(box, style);
  const double size = box.width < 20 ? 10 : 13;
  svg.text({box.x + box.width / 2, box.y + box.height / 2 + size * 0.36}, label,
           {.size = size,
            .align = Align::middle,
            .bold = style.fill == Fill::dark && box.width >= 20,
            .white = style.fill == Fill::dark});
}

void draw_name(Svg& svg, double y, const std::string& name) {
  svg.text({kLeft - 14, y + kRow / 2 + 4.5}, name, {.align = Align::end});
}

// A thick frame inside the cell that the next token takes.
void draw_next(Svg& svg, Box box) {
  box = {box.x + 2.5, box.y + 2.5, box.width - 5, box.height - 5};
  svg.rect(box, kNextMark);
}

void draw_local(Svg& svg, Index W, const Ring& ring) {
  const double width = cell_width(W);
  svg.open("slot-numbers");
  for (Index slot = 0; slot < W; ++slot) {
    svg.text({kLeft + (static_cast<double>(slot) + 0.5) * width, kTop - 8}, fmt::format("{}", slot),
             {.size = 12, .align = Align::middle});
  }
  svg.close();
  svg.text({kLeft - 14, kTop - 8}, "slot", {.size = 12, .align = Align::end});
  for (Index layer = 0; layer < kLocalLayers; ++layer) {
    const double y = kTop + static_cast<double>(layer) * kStep;
    draw_name(svg, y, fmt::format("local {}", layer + 1));
    svg.open("local");
    for (std::size_t slot = 0; slot < static_cast<std::size_t>(W); ++slot) {
      const Box box{kLeft + static_cast<double>(slot) * width, y, width, kRow};
      const bool free = slot >= ring.held.size();
      draw_cell(svg, box,
                free                  ? kFree
                : slot == ring.newest ? kNewest
                                      : kHeld,
                free ? "" : fmt::format("{}", ring.held[slot]));
      if (slot == ring.next) draw_next(svg, box);
    }
    svg.close();
  }
}

void draw_global(Svg& svg, double y, Index tokens, const Ring& ring) {
  const double width = cell_width(tokens + 1);
  draw_name(svg, y, "global");
  svg.open("global");
  for (Index position = 0; position < tokens; ++position) {
    const bool newest = position == ring.held[ring.newest];
    draw_cell(svg, {kLeft + static_cast<double>(position) * width, y, width, kRow},
              newest                 ? kNewest
              : ring.holds(position) ? kHeld
                                     : kGone,
              fmt::format("{}", position));
  }
  svg.close();
  svg.rect({kLeft + static_cast<double>(tokens) * width, y, width, kRow}, kFree);
}

struct Entry {
  Style style;
  bool is_next;
  std::string text;
};

std::vector<Entry> legend_of(const Ring& ring, Index tokens) {
  std::vector<Entry> entries{{kNewest, false, "newest"}};
  entries.push_back(ring.next_overwrites ? Entry{kHeld, true, "next to be overwritten"}
                                         : Entry{kFree, true, "next to be written"});
  if (static_cast<Index>(ring.held.size()) < tokens) {
    entries.push_back({kGone, false, "in the global layer alone"});
  }
  entries.push_back({kFree, false, "free"});
  return entries;
}

double entry_width(const Entry& entry) {
  return 34 + report::text_width(entry.text, 12) + 12;
}

double legend_width(const std::vector<Entry>& entries) {
  double width = 0;
  for (const Entry& entry : entries) width += entry_width(entry);
  return width;
}

void draw_legend(Svg& svg, double y, const std::vector<Entry>& entries) {
  double x = kLeft;
  svg.open("legend");
  for (const Entry& entry : entries) {
    const Box box{x, y, 26, 26};
    svg.rect(box, entry.style);
    if (entry.is_next) draw_next(svg, box);
    svg.text({x + 34, y + 17.5}, entry.text, {.size = 12});
    x += entry_width(entry);
  }
  svg.close();
}

}  // namespace

void require_readable_ring(Index W, Index steps) {
  if (W <= kMostSlots && steps <= kMostSteps) return;
  throw UsageError(
      fmt::format("a figure of {} slots and {} tokens would not be readable: it holds at most {} "
                  "slots and {} tokens",
                  W, steps, kMostSlots, kMostSteps),
      "give a smaller --W or fewer --steps, or leave the .svg out");
}

std::string ring(Index W, const RingSnapshot& snapshot) {
  const Index tokens = snapshot.step + 1;
  require_readable_ring(W, tokens);
  const Ring state(W, snapshot);
  const std::vector<Entry> entries = legend_of(state, tokens);
  const double global_y = kTop + static_cast<double>(kLocalLayers) * kStep + 30;
  const double legend_y = global_y + kRow + 30;
  const double cells = static_cast<double>(tokens + 1) * cell_width(tokens + 1);
  const std::string title = fmt::format("KV cache after {} {}: five local layers, one global",
                                        tokens, tokens == 1 ? "token" : "tokens");
  Svg svg(kLeft + std::max({cells, legend_width(entries), 420.0}) + kRight, legend_y + 26 + 24,
          title,
          fmt::format("Each local layer keeps {} slots, and position p lies in slot p mod {}. They "
                      "hold {} of the {} positions; the global layer holds all.",
                      W, W, state.held.size(), tokens));
  svg.text({24, 30}, title, {.size = 15, .bold = true});
  svg.text(
      {kLeft, kTop - 34},
      fmt::format("each local layer: a ring of W = {} slots, position p in slot p mod {}", W, W));
  draw_local(svg, W, state);
  svg.text({kLeft, global_y - 10}, "the global layer: every position, and room for more");
  draw_global(svg, global_y, tokens, state);
  draw_legend(svg, legend_y, entries);
  return svg.document();
}

}  // namespace swa::figures
