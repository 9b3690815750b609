#include "verify/recovered.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "verify/plan.hpp"

namespace swa {
namespace {

// The keys of a row of the output, as rows of the tensor k.
KeyRuns expected_keys(const Sequence& s, Index row) {
  KeyRuns expected;
  // Each key is decided by sees(); the ranges only say where there is something to decide.
  const RowKeys where = keys_of_row(s.mask, row - s.q_row);
  Index decided = 0;
  for (const KeyRange& range : {where.sinks, where.band}) {
    const Index end = smaller(range.end + 1, s.mask.n_k);
    for (Index key = larger(decided, range.begin - 1); key < end; ++key) {
      if (sees(s.mask, row - s.q_row, key)) {
        append(expected, {s.k_row + key, s.k_row + key + 1});
      }
    }
    decided = larger(decided, end);
  }
  return expected;
}

// Calls what(begin, end, expected times, got times) for pieces of keys where the two differ.
template <class What>
void for_each_difference(const KeyRuns& expected, const KeyRuns& got, What what) {
  std::vector<Index> borders;
  for (const KeyRuns* runs : {&expected, &got}) {
    for (const KeyRun& run : *runs) {
      borders.push_back(run.begin);
      borders.push_back(run.end);
    }
  }
  std::sort(borders.begin(), borders.end());
  const auto times_at = [](const KeyRuns& runs, Index key) {
    for (const KeyRun& run : runs) {
      if (key >= run.begin && key < run.end) return run.times;
    }
    return Index{0};
  };
  for (std::size_t i = 0; i + 1 < borders.size(); ++i) {
    if (borders[i] == borders[i + 1]) continue;
    const Index e = times_at(expected, borders[i]), g = times_at(got, borders[i]);
    if (e != g) what(borders[i], borders[i + 1], e, g);
  }
}

// Whether the weight of each of a row's keys is 1 / n in the dtype, and its lse ln(n): n counts
// them, and the sink logit of 0.
bool has_right_weight(const Problem& p, const ProbedRow& row) {
  // A rounding of the stored output, and 64 of the few numbers that a weight passes through.
  const double few = 64 * unit_roundoff(Dtype::fp32);
  double n = p.sink_logits ? 1 : 0;
  for (const KeyRun& run : row.keys) n += static_cast<double>((run.end - run.begin) * run.times);
  const bool lse_is_right =
      !row.lse || (n == 0 ? *row.lse == -std::numeric_limits<double>::infinity()
                          : std::abs(*row.lse - std::log(n)) <= few * (1 + std::log(n)));
  const bool weight_is_right =
      row.keys.empty() || std::abs(row.weight * n - 1) <= 2 * unit_roundoff(p.dtype) + few;
  return lse_is_right && weight_is_right && !row.uneven;
}

bool has_right_sources(const Problem& p, const ProbedHead& head) {
  return std::all_of(head.sources.begin(), head.sources.end(), [&](const auto& source) {
    return source == std::pair(head.batch, head.head / p.group());
  });
}

// A bound of a run of keys along neighbouring rows: fixed, or moving with the row.
struct Bound {
  Index at = 0;        // at the first row
  bool moves = false;  // by one key a row
};

struct RowClass {
  Index first = 0, last = 0;
  std::vector<Bound> bounds;  // begin and end of each run
  KeyRuns runs;               // of the first row
  std::string state;          // of rows that hold no keys that anybody can tell
};

std::string state_of(const ProbedRow& row) {
  if (row.unwritten) return "never written";
  if (row.nan) return "NaN or infinite";
  if (row.from_k) return "elements of k in place of v";
  return row.keys.empty() ? "no key" : "";
}

std::vector<Index> bounds_of(const KeyRuns& runs) {
  std::vector<Index> bounds;
  for (const KeyRun& run : runs) {
    bounds.push_back(run.begin);
    bounds.push_back(run.end);
  }
  return bounds;
}

// Whether the row goes on where the class ends; a class of one row learns how its bounds move.
bool joins(RowClass& c, const ProbedRow& row) {
  if (row.row != c.last + 1 || state_of(row) != c.state) return false;
  if (row.keys.size() != c.runs.size()) return false;
  for (std::size_t i = 0; i < row.keys.size(); ++i) {
    if (row.keys[i].times != c.runs[i].times) return false;
  }
  const std::vector<Index> bounds = bounds_of(row.keys);
  std::vector<Bound> moved = c.bounds;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (c.first == c.last) moved[i].moves = bounds[i] != moved[i].at;
    if (bounds[i] != moved[i].at + (moved[i].moves ? row.row - c.first : 0)) return false;
  }
  c.bounds = moved;
  c.last = row.row;
  return true;
}

std::vector<RowClass> classes_of(const std::vector<const ProbedRow*>& rows) {
  std::vector<RowClass> classes;
  for (const ProbedRow* row : rows) {
    if (!classes.empty() && joins(classes.back(), *row)) continue;
    RowClass next{row->row, row->row, {}, row->keys, state_of(*row)};
    for (const Index at : bounds_of(row->keys)) next.bounds.push_back({at, false});
    classes.push_back(next);
  }
  return classes;
}

// "r", "r + 3", "r - 2" for a bound that moves; a number for one that does not.
std::string at(const Bound& bound, Index first_row, Index shift) {
  const Index value = bound.at + shift;
  if (!bound.moves) return fmt::format("{}", value);
  const Index offset = value - first_row;
  if (offset == 0) return "r";
  return fmt::format("r {} {}", offset > 0 ? '+' : '-', std::abs(offset));
}

std::string describe(const RowClass& c) {
  std::string line = c.first == c.last ? fmt::format("row {}: ", c.first)
                                       : fmt::format("rows {}..{}: ", c.first, c.last);
  if (!c.state.empty()) return line + c.state;
  for (std::size_t i = 0; i < c.runs.size(); ++i) {
    const Bound begin = c.bounds[2 * i], end = c.bounds[2 * i + 1];
    const Index count = end.at - begin.at;
    if (i > 0) line += " and ";
    if (begin.moves && end.moves) {
      line += fmt::format("{} {} ending at {}", count, count == 1 ? "key" : "keys",
                          at(end, c.first, -1));
    } else if (count == 1 && !begin.moves && !end.moves) {
      line += fmt::format("key {}", begin.at);
    } else {
      line += fmt::format("keys {}..{}", at(begin, c.first, 0), at(end, c.first, -1));
    }
    if (c.runs[i].times > 1) line += fmt::format(" ({} times)", c.runs[i].times);
  }
  return line;
}

}  // namespace

MaskComparison compare_mask(const Problem& p, const Probe& probe) {
  MaskComparison found;
  const std::vector<Sequence> all = sequences(p);
  for (const ProbedRow& row : probe.rows) {
    const Sequence* const sequence = sequence_of_row(all, row.batch, row.row);
    if (sequence == nullptr) continue;
    const KeyRuns expected = expected_keys(*sequence, row.row);
    ++found.rows;
    found.nan_rows += row.nan && !row.unwritten;
    found.unwritten_rows += row.unwritten;
    found.rows_from_k += row.from_k;
    for (const KeyRun& run : expected) found.pairs += run.end - run.begin;
    if (row.is_odd()) continue;  // its keys are not to be told
    found.rows_with_other_weights += !has_right_weight(p, row);
    for_each_difference(expected, row.keys, [&](Index begin, Index end, Index e, Index g) {
      (e == 0 ? found.extra : g == 0 ? found.missing : found.repeated) += end - begin;
      for (Index key = begin; key < end && found.first.size() < kMostNamed; ++key) {
        found.first.push_back({row.batch, row.head, row.row, key, e, g});
      }
    });
  }
  for (const ProbedHead& head : probe.heads) found.wrong_heads += !has_right_sources(p, head);
  return found;
}

std::vector<std::string> describe_mask(const Problem& p, const Probe& probe, std::size_t most) {
  const std::vector<Sequence> all = sequences(p);
  std::map<std::pair<Index, Index>, std::vector<const ProbedRow*>> by_head;
  for (const ProbedRow& row : probe.rows) {
    if (sequence_of_row(all, row.batch, row.row) == nullptr) continue;
    by_head[{row.batch, row.head}].push_back(&row);
  }
  // Heads with the same words, in the order of the first of them.
  std::vector<std::pair<std::vector<std::string>, std::vector<std::pair<Index, Index>>>> groups;
  for (const auto& [head, rows] : by_head) {
    std::vector<std::string> lines;
    for (const RowClass& c : classes_of(rows)) lines.push_back(describe(c));
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const auto& group) { return group.first == lines; });
    if (same == groups.end()) {
      groups.push_back({lines, {head}});
    } else {
      same->second.push_back(head);
    }
  }
  std::vector<std::string> text;
  for (const auto& [lines, heads] : groups) {
    if (groups.size() > 1) {
      std::string title = fmt::format("batch {}, head {}", heads[0].first, heads[0].second);
      if (heads.size() > 1) title += fmt::format(", and {} more alike", heads.size() - 1);
      text.push_back(title + ":");
    }
    text.insert(text.end(), lines.begin(), lines.end());
  }
  if (text.size() > most) {
    const std::size_t left_out = text.size() - most;
    text.resize(most);
    text.push_back(fmt::format("... and {} more lines", left_out));
  }
  return text;
}

std::string describe(const WrongPair& pair, const Problem& p) {
  const std::string where =
      fmt::format("{}, key {}", describe_row(p, pair.batch, pair.head, pair.row), pair.key);
  if (pair.expected == 0) return where + ": attended and should not be";
  if (pair.got == 0) return where + ": not attended and should be";
  return where + fmt::format(": counted {} times", pair.got);
}

}  // namespace swa
