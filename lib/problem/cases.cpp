#include "problem/cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <set>

#include "error.hpp"
#include "problem/stated.hpp"
#include "problem/toml_table.hpp"
#include "problem/words.hpp"

namespace swa {
namespace {

constexpr std::size_t kMaxCases = 100'000;  // as many as a sweep may have

// A count, or "none".
std::optional<Index> count_or_none(const TomlTable& table, std::string_view key, Index least) {
  if (!table.is_text(key)) return table.count(key, least, kMaxIndex);
  if (table.text(key) != "none") table.fail(key, "is neither a whole number nor \"none\"");
  return std::nullopt;
}

std::optional<Side> read_side(const TomlTable& table, std::string_view key) {
  if (!table.has(key)) return std::nullopt;
  const std::optional<Index> reach = count_or_none(table, key, 0);
  return reach ? Side::of(*reach) : Side::unbounded();
}

StatedMask read_mask(const TomlTable& table) {
  StatedMask stated;
  if (table.has("window")) {
    const std::optional<Index> W = count_or_none(table, "window", 1);
    stated.windows = {W ? Window::causal(*W) : Window::global()};
  }
  stated.left = read_side(table, "left");
  stated.right = read_side(table, "right");
  if (table.has("mask")) stated.mask = table.text("mask");
  if (table.has("causal")) stated.causal = table.flag("causal", true);
  if (table.has("anchor")) {
    stated.anchor = table.choice("anchor", {"bottom-right", "top-left"}) == "top-left"
                        ? Anchor::top_left
                        : Anchor::bottom_right;
  }
  return stated;
}

StatedSizes read_sizes(const TomlTable& table) {
  StatedSizes stated;
  if (table.has("n_q")) stated.n_q = table.count("n_q", 1, kMaxIndex);
  if (table.has("n_k")) stated.n_k = table.count("n_k", 1, kMaxIndex);
  if (table.has("lengths_q")) stated.lengths_q = table.counts("lengths_q", 0, kMaxIndex);
  if (table.has("lengths_k")) stated.lengths_k = table.counts("lengths_k", 0, kMaxIndex);
  return stated;
}

StatedCache read_cache(const TomlTable& table) {
  StatedCache stated;
  if (table.has("cache")) stated.kinds = {*parse_cache(table.choice("cache", cache_words()))};
  if (table.has("capacity")) stated.capacities = {table.count("capacity", 1, kMaxIndex)};
  if (table.has("page")) stated.pages = {table.count("page", 1, kMaxIndex)};
  return stated;
}

// TOML's whole numbers end at 2^63 - 1: a larger seed is a string of its digits.
std::uint64_t read_seed(const TomlTable& table) {
  constexpr Index kMost = std::numeric_limits<Index>::max();
  if (!table.is_text("seed")) return static_cast<std::uint64_t>(table.count("seed", 0, kMost));
  const std::string digits = table.text("seed");
  std::uint64_t seed = 0;
  const char* const end = digits.data() + digits.size();
  const auto [rest, trouble] = std::from_chars(digits.data(), end, seed);
  if (trouble != std::errc{} || rest != end) {
    table.fail("seed", "is not a whole number from 0 to 2^64 - 1");
  }
  return seed;
}

Problem read_problem(const TomlTable& table) {
  Problem p;
  const auto count = [&](std::string_view key, Index usual, Index least, Index most = kMaxIndex) {
    return table.has(key) ? table.count(key, least, most) : usual;
  };
  const auto words = [&](std::string_view key, std::string_view usual,
                         const std::vector<std::string>& known) {
    return table.has(key) ? table.choice(key, known) : std::string(usual);
  };
  set_sizes(p, read_sizes(table));
  if (table.has("batch")) set_batch(p, table.count("batch", 1, kMaxIndex));
  const StatedMask mask = read_mask(table);
  p.window = decide_windows(mask).front();
  p.anchor = decide_anchor(mask);
  p.sinks = count("sinks", 0, 0);
  p.sink_logits = table.flag("sink_logits", false);
  p.heads_q = count("heads_q", 1, 1);
  p.heads_kv = count("heads_kv", p.heads_q, 1);
  p.head_dim = count("head_dim", p.head_dim, 1, kMaxHeadDim);
  if (table.has("head_dim_v")) p.head_dim_v = table.count("head_dim_v", 1, kMaxHeadDim);
  p.cache = decide_caches(read_cache(table)).front();
  p.dtype = *parse_dtype(words("dtype", name(p.dtype), element_words()));
  if (table.has("softcap")) {
    set_softcap(p, table.real("softcap"), fmt::format("{}", table.real("softcap")));
  }
  if (table.has("scale")) {
    set_scale(p, table.real("scale"), fmt::format("{}", table.real("scale")));
  }
  if (table.has("seed")) p.seed = read_seed(table);
  p.inputs = *parse_recipe(words("inputs", name(p.inputs), recipe_words()));
  if (table.has("stream")) p.stream = parse_stream(table.choice("stream", stream_words()));
  validate(p);
  return p;
}

// A rule's sentence, with the keys of a file in place of the options that it names.
struct Reworded {
  std::string text;
  std::string_view key;  // the first of them that the table holds; empty where it holds none
};

Reworded reworded(std::string_view sentence, const TomlTable& table) {
  Reworded result;
  while (!sentence.empty()) {
    const std::size_t begin = std::min(sentence.find("--"), sentence.size());
    const std::size_t end = std::min(
        sentence.find_first_not_of("-abcdefghijklmnopqrstuvwxyzW", begin), sentence.size());
    const std::string_view option = sentence.substr(begin, end - begin);
    std::string_view key = option == "--no-causal" ? "causal" : "";
    for (const Word& word : kWords) {
      if (word.option == option) key = word.key;
    }
    result.text += sentence.substr(0, begin);
    result.text += option == "--no-causal" ? "causal = false" : key.empty() ? option : key;
    if (result.key.empty() && table.has(key)) result.key = key;
    sentence.remove_prefix(end);
  }
  return result;
}

Case read_case(const TomlTable& table) {
  table.refuse_other_keys(
      {"name",        "note",     "n_q",        "n_k",    "lengths_q", "lengths_k", "mask",
       "window",      "left",     "right",      "causal", "sinks",     "anchor",    "batch",
       "heads_q",     "heads_kv", "head_dim",   "dtype",  "softcap",   "scale",     "seed",
       "sink_logits", "inputs",   "head_dim_v", "cache",  "capacity",  "page",      "stream"});
  Case result;
  result.name = table.text("name");
  if (table.has("note")) result.note = table.text("note");
  try {
    result.problem = read_problem(table);
  } catch (const TomlError&) {
    throw;
  } catch (const UsageError& error) {
    const Reworded what = reworded(error.what(), table);
    table.fail(what.key.empty() ? "name" : what.key,
               fmt::format("in case {}: {}", result.name, what.text),
               reworded(error.remedy(), table).text);
  }
  return result;
}

}  // namespace

std::vector<Case> read_cases(const std::string& path) {
  std::vector<Case> cases;
  std::set<std::string> names;
  for_each_table(path, "case", [&](const TomlTable& table) {
    cases.push_back(read_case(table));
    if (!names.insert(cases.back().name).second) {
      table.fail("name", fmt::format("= {} is the name of an earlier case", cases.back().name));
    }
    if (cases.size() > kMaxCases) {
      table.fail("name", fmt::format("makes more than {} cases", kMaxCases), "split the file");
    }
  });
  return cases;
}

}  // namespace swa
