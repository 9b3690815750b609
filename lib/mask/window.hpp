// Who may see whom.
//
// Positions and counts are Index. Ranges are half-open. A query row r of a call sits at the
// absolute position q_offset + r; keys sit at 0 .. n_k - 1. Everything here is constexpr and
// callable from device code, and needs no other header of the project.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define SWA_HD __host__ __device__
#else
#define SWA_HD
#endif

namespace swa {

using Index = std::int64_t;

// Largest count, window or position that is accepted anywhere: sums of a few stay inside Index.
inline constexpr Index kMaxIndex = Index{1} << 60;

SWA_HD constexpr Index smaller(Index a, Index b) {
  return a < b ? a : b;
}
SWA_HD constexpr Index larger(Index a, Index b) {
  return a < b ? b : a;
}
SWA_HD constexpr Index clamp(Index x, Index low, Index high) {
  return smaller(larger(x, low), high);
}

SWA_HD constexpr Index ceil_div(Index a, Index b) {
  return a / b + (a % b != 0);
}

// Where row 0 sits when n_q != n_k.
enum class Anchor : std::uint8_t {
  bottom_right,  // the last query row sits at the last key: q_offset = n_k - n_q
  top_left,      // the first query row sits at the first key: q_offset = 0
};

// How far a band reaches to one side of the query, itself not counted.
struct Side {
  bool bounded = false;
  Index reach = 0;  // >= 0; read only where bounded

  static SWA_HD constexpr Side of(Index reach) { return {true, reach}; }
  static SWA_HD constexpr Side unbounded() { return {}; }
  friend SWA_HD constexpr bool operator==(const Side& a, const Side& b) {
    return a.bounded == b.bounded && (!a.bounded || a.reach == b.reach);
  }
};

// The shape of the mask relative to the query's own position. "No window" is a kind of its own and
// never a big number; a causal window stores W, the keys that a query sees with itself included.
struct Window {
  enum class Kind : std::uint8_t {
    global,   // k <= q
    causal,   // q - W < k <= q
    band,     // q - left <= k <= q + right
    chunked,  // k <= q in the same chunk of C positions: floor(k / C) = floor(q / C)
  };

  Kind kind = Kind::global;
  Index width = 0;   // W >= 1 where kind == causal, C >= 1 where kind == chunked; else not read
  Side left, right;  // read only where kind == band

  static SWA_HD constexpr Window global() { return {}; }
  static SWA_HD constexpr Window causal(Index width) { return {Kind::causal, width, {}, {}}; }
  static SWA_HD constexpr Window band(Side left, Side right) {
    return {Kind::band, 0, left, right};
  }
  static SWA_HD constexpr Window chunked(Index chunk) { return {Kind::chunked, chunk, {}, {}}; }

  // Keys besides the query's own, to its left and to its right. A chunked window has no reach to
  // the left: its first key depends on the position, see band_begin().
  SWA_HD constexpr Side reach_left() const {
    if (kind == Kind::band) return left;
    return kind == Kind::causal ? Side::of(width - 1) : Side::unbounded();
  }
  SWA_HD constexpr Side reach_right() const { return kind == Kind::band ? right : Side::of(0); }

  friend SWA_HD constexpr bool operator==(const Window& a, const Window& b) {
    if (a.kind != b.kind) return false;
    if (a.kind == Kind::causal || a.kind == Kind::chunked) return a.width == b.width;
    return a.kind == Kind::global || (a.left == b.left && a.right == b.right);
  }
};

// Everything that decides whether a query row of one head sees a key.
struct Mask {
  Window window;
  Index sinks = 0;  // the first `sinks` keys stay visible to every row that sits at or after them
  Index n_q = 0, n_k = 0;
  Index q_offset = 0;

  static SWA_HD constexpr Mask make(Window window, Index sinks, Index n_q, Index n_k,
                                    Anchor anchor) {
    return {window, sinks, n_q, n_k, anchor == Anchor::bottom_right ? n_k - n_q : 0};
  }
};

// The definition. Kept apart from the ranges below on purpose: they are proved against it.
SWA_HD constexpr bool sees(const Mask& mask, Index row, Index key) {
  if (row < 0 || row >= mask.n_q || key < 0 || key >= mask.n_k) return false;
  const Index query = mask.q_offset + row;
  switch (mask.window.kind) {
    case Window::Kind::global:
      return key <= query;
    case Window::Kind::causal:
      return key <= query && (query - key < mask.window.width || key < mask.sinks);
    case Window::Kind::band: {
      const Side left = mask.window.left, right = mask.window.right;
      const bool in_right = !right.bounded || key <= query + right.reach;
      const bool in_left = !left.bounded || key >= query - left.reach;
      return in_right && (in_left || key < mask.sinks);
    }
    case Window::Kind::chunked: {
      const bool same_chunk = key / mask.window.width == query / mask.window.width;
      return key <= query && (same_chunk || key < mask.sinks);  // so 0 <= key <= query
    }
  }
  return false;
}

struct KeyRange {
  Index begin = 0, end = 0;
  SWA_HD constexpr Index size() const { return end - begin; }
  SWA_HD constexpr bool empty() const { return end <= begin; }
};

// The keys of one row: two disjoint ranges, sinks.end <= band.begin.
struct RowKeys {
  KeyRange sinks;  // sink tokens that the band does not hold already
  KeyRange band;
  SWA_HD constexpr Index size() const { return sinks.size() + band.size(); }
};

// First key inside the left bound of a row, and one past the last inside its right bound, both
// clamped to [0, n_k]. Both never decrease from row to row, and band_begin <= band_end.
SWA_HD constexpr Index band_begin(const Mask& mask, Index row) {
  if (mask.window.kind == Window::Kind::chunked) {
    const Index query = larger(0, mask.q_offset + row);
    return smaller(query / mask.window.width * mask.window.width, mask.n_k);
  }
  const Side left = mask.window.reach_left();
  return left.bounded ? clamp(mask.q_offset + row - left.reach, 0, mask.n_k) : 0;
}
SWA_HD constexpr Index band_end(const Mask& mask, Index row) {
  const Side right = mask.window.reach_right();
  return right.bounded ? clamp(mask.q_offset + row + right.reach + 1, 0, mask.n_k) : mask.n_k;
}

// The keys that `row` sees: exactly those for which sees(mask, row, key) holds. A sink token obeys
// the right bound as any other key does; since band_begin <= band_end, min(sinks, band_begin) of
// them lie before the band.
SWA_HD constexpr RowKeys keys_of_row(const Mask& mask, Index row) {
  const KeyRange band{band_begin(mask, row), band_end(mask, row)};
  return {{0, smaller(mask.sinks, band.begin)}, band};
}

// The keys that some row sees, in the same form: the bands of neighbouring rows overlap or touch,
// so that together they are one range.
SWA_HD constexpr RowKeys keys_seen(const Mask& mask) {
  if (mask.n_q == 0) return {};
  const KeyRange band{band_begin(mask, 0), band_end(mask, mask.n_q - 1)};
  return {{0, smaller(mask.sinks, band.begin)}, band};
}

// Rows that see no key: those before the first key's right bound, and those whose left bound is
// past the last key, unless sink tokens remain to them.
SWA_HD constexpr Index rows_without_keys(const Mask& mask) {
  if (mask.n_k == 0) return mask.n_q;
  const Side left = mask.window.reach_left(), right = mask.window.reach_right();
  const Index before =
      right.bounded ? clamp(-(mask.q_offset + right.reach), 0, mask.n_q) : Index{0};
  const bool chunked = mask.window.kind == Window::Kind::chunked;
  if (mask.sinks > 0 || !(left.bounded || chunked)) return before;
  const Index first_past =  // the first position whose left bound is n_k or more
      chunked ? ceil_div(mask.n_k, mask.window.width) * mask.window.width : mask.n_k + left.reach;
  return before + clamp(mask.n_q - (first_past - mask.q_offset), 0, mask.n_q);
}

}  // namespace swa
