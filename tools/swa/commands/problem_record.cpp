#include "commands/problem_record.hpp"

#include <fmt/format.h>

#include <limits>

#include "mask/conventions.hpp"
#include "problem/stated.hpp"

namespace swa::commands {
namespace {

report::Show when(bool visible) {
  return visible ? report::Show::everywhere : report::Show::machine;
}

report::Value lengths_cell(const std::vector<Index>& lengths) {
  return lengths.empty() ? report::Value() : report::Value(lengths);
}

report::Value side_cell(const Side& side) {
  return side.bounded ? report::Value(side.reach) : report::Value();
}

}  // namespace

ProblemColumns::ProblemColumns(const std::vector<Problem>& problems) {
  const Problem usual;
  for (const Problem& p : problems) {
    band = band || p.window.kind == Window::Kind::band;
    chunked = chunked || p.window.kind == Window::Kind::chunked;
    lengths = lengths || p.has_lengths();
    head_dim_v = head_dim_v || p.value_dim() != p.head_dim;
    sinks = sinks || p.sinks != usual.sinks;
    anchor = anchor || p.anchor != usual.anchor;
    batch = batch || (p.batch != usual.batch && !p.has_lengths());
    heads = heads || p.heads_q != usual.heads_q || p.heads_kv != usual.heads_kv;
    head_dim = head_dim || p.head_dim != usual.head_dim;
    ring = ring || p.cache.kind == CacheKind::ring;
    paged = paged || p.cache.kind == CacheKind::paged;
    cache = ring || paged;
    dtype = dtype || p.dtype != usual.dtype;
    inputs = inputs || p.inputs != usual.inputs;
    stream = stream || states_stream(p);
  }
}

report::Lines describe_problem(const Problem& problem, int indent) {
  Mask mask = problem.mask();
  // The first sequence that is not aligned bottom-right, if there is one, has the fewest words.
  for (const SharedMask& s : shared_masks(problem)) {
    if (s.mask.q_offset != s.mask.n_k - s.mask.n_q) mask = s.mask;
  }
  const std::string blanks(static_cast<std::size_t>(indent), ' ');
  report::Lines lines{{fmt::format("mask: {}{}", blanks, describe(mask))}};
  if (problem.has_lengths()) lines.lines.push_back("batch: " + describe_batch(problem));
  return lines;
}

report::Value window_cell(const Window& window) {
  return window.kind == Window::Kind::causal ? report::Value(window.width) : report::Value();
}

report::Value count_cell(Count count) {
  if (count <= std::numeric_limits<Index>::max()) return static_cast<Index>(count);
  return fmt::format("{}", count);
}

report::Value seed_cell(std::uint64_t seed) {
  if (seed <= static_cast<std::uint64_t>(kMaxIndex)) return static_cast<Index>(seed);
  return fmt::format("{}", seed);
}

void add_mask(report::Record& record, const Problem& p, const ProblemColumns& columns) {
  record.add({"n_q", "n_q"}, p.n_q)
      .add({"n_k", "n_k"}, p.n_k)
      .add({"lengths_q", "lengths q", "", when(columns.lengths)}, lengths_cell(p.lengths_q))
      .add({"lengths_k", "lengths k", "", when(columns.lengths)}, lengths_cell(p.lengths_k))
      .hide("layout", std::string(p.layout == Layout::packed ? "packed" : "padded"))
      .add({"window", "W", "", when(!columns.band && !columns.chunked), "", "none"},
           window_cell(p.window))
      .add({"chunk", "C", "", when(columns.chunked), "", "none"},
           p.window.kind == Window::Kind::chunked ? report::Value(p.window.width) : report::Value())
      .add({"left", "left", "", when(columns.band), "", "none"}, side_cell(p.window.reach_left()))
      .add({"right", "right", "", when(columns.band), "", "none"},
           side_cell(p.window.reach_right()))
      .add({"sinks", "sinks", "", when(columns.sinks)}, p.sinks)
      .add({"anchor", "anchor", "", when(columns.anchor)}, std::string(name(p.anchor)));
}

void add_rest(report::Record& record, const Problem& p, const ProblemColumns& columns) {
  record.add({"batch", "batch", "", when(columns.batch)}, p.batch)
      .add({"heads_q", "heads", "", when(columns.heads)}, p.heads_q)
      .add({"heads_kv", "kv heads", "", when(columns.heads)}, p.heads_kv)
      .add({"head_dim", "head_dim", "", when(columns.head_dim)}, p.head_dim)
      .add({"head_dim_v", "head_dim_v", "", when(columns.head_dim_v)}, p.value_dim())
      .add({"cache", "cache", "", when(columns.cache)}, std::string(name(p.cache.kind)))
      .add({"capacity", "capacity", "", when(columns.ring)},
           p.cache.kind == CacheKind::ring ? report::Value(p.ring_capacity()) : report::Value())
      .add({"page", "page", "", when(columns.paged)},
           p.cache.kind == CacheKind::paged ? report::Value(p.cache.page) : report::Value())
      .add({"dtype", "dtype", "", when(columns.dtype)}, std::string(name(p.dtype)))
      .hide("scale", p.score_scale())
      .hide("softcap", p.softcap > 0 ? report::Value(p.softcap) : report::Value())
      .hide("sink_logits", p.sink_logits)
      .hide("seed", seed_cell(p.seed))
      .add({"inputs", "inputs", "", when(columns.inputs)}, std::string(name(p.inputs)))
      .add({"stream", "stream", "", when(columns.stream)}, std::string(name(p.drawn_from())));
}

void add_case(report::Record& record, const Case& one) {
  record.add({"case", "case", "", when(!one.name.empty())}, one.name);
}

void hide_problem(report::Record& record, const Problem& problem) {
  const ProblemColumns columns({problem});
  report::Record cells;
  add_mask(cells, problem, columns);
  add_rest(cells, problem, columns);
  record.hide(cells);
}

}  // namespace swa::commands
