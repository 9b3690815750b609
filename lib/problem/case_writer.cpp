#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <limits>
#include <string_view>

#include "problem/cases.hpp"
#include "problem/stated.hpp"

namespace swa {
namespace {

// A basic string of TOML.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      fmt::format_to(std::back_inserter(out), "\\u{:04X}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

// Lines "key = value", each unless the value is the usual one.
class Table {
 public:
  void add(std::string_view key, const std::string& value) {
    text_ += fmt::format("{} = {}\n", key, value);
  }
  template <class T>
  void add_unless(std::string_view key, const T& value, const T& usual) {
    if (!(value == usual)) add(key, fmt::format("{}", value));
  }
  void add_word(std::string_view key, std::string_view value, std::string_view usual) {
    if (value != usual) add(key, quoted(value));
  }
  std::string text() const { return text_; }

 private:
  std::string text_ = "[[case]]\n";
};

std::string side_text(const Side& side) {
  return side.bounded ? fmt::format("{}", side.reach) : quoted("none");
}

void add_window(Table& table, const Window& window) {
  switch (window.kind) {
    case Window::Kind::global:
      return;
    case Window::Kind::causal:
      return table.add("window", fmt::format("{}", window.width));
    case Window::Kind::band:
      table.add("left", side_text(window.left));
      return table.add("right", side_text(window.right));
    case Window::Kind::chunked:
      return table.add("mask", quoted(fmt::format("chunked:{}", window.width)));
  }
}

// Packed sequences have lengths and no n_q or n_k.
void add_sizes(Table& table, const Problem& p) {
  if (p.layout == Layout::padded) {
    table.add("n_q", fmt::format("{}", p.n_q));
    if (p.n_k != p.n_q || p.has_lengths()) table.add("n_k", fmt::format("{}", p.n_k));
  }
  if (!p.lengths_q.empty()) table.add("lengths_q", fmt::format("{}", p.lengths_q));
  if (!p.lengths_k.empty()) table.add("lengths_k", fmt::format("{}", p.lengths_k));
  if (!p.has_lengths()) table.add_unless("batch", p.batch, Index{1});
}

void add_cache(Table& table, const CacheLayout& cache) {
  const CacheLayout usual;
  table.add_word("cache", name(cache.kind), name(usual.kind));
  if (cache.kind == CacheKind::ring && cache.capacity) {
    table.add("capacity", fmt::format("{}", *cache.capacity));
  }
  if (cache.kind == CacheKind::paged) table.add_unless("page", cache.page, usual.page);
}

}  // namespace

std::string to_toml(const Case& one) {
  const Problem& p = one.problem;
  const Problem usual;
  Table table;
  table.add("name", quoted(one.name));
  if (!one.note.empty()) table.add("note", quoted(one.note));
  add_sizes(table, p);
  add_window(table, p.window);
  table.add_unless("sinks", p.sinks, usual.sinks);
  table.add_unless("sink_logits", p.sink_logits, usual.sink_logits);
  table.add_word("anchor", name(p.anchor), name(usual.anchor));
  add_cache(table, p.cache);
  table.add_unless("heads_q", p.heads_q, usual.heads_q);
  table.add_unless("heads_kv", p.heads_kv, p.heads_q);
  table.add_unless("head_dim", p.head_dim, usual.head_dim);
  if (p.head_dim_v) table.add("head_dim_v", fmt::format("{}", *p.head_dim_v));
  table.add_word("dtype", name(p.dtype), name(usual.dtype));
  table.add_unless("softcap", p.softcap, usual.softcap);
  if (p.scale) table.add("scale", fmt::format("{}", *p.scale));
  if (p.seed <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    table.add_unless("seed", p.seed, usual.seed);
  } else {
    table.add("seed", quoted(fmt::format("{}", p.seed)));  // past TOML's whole numbers
  }
  table.add_word("inputs", name(p.inputs), name(usual.inputs));
  if (states_stream(p)) table.add("stream", quoted(std::string(name(p.drawn_from()))));
  return table.text();
}

}  // namespace swa
