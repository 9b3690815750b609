#include "commands/regressions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "cli/values.hpp"
#include "error.hpp"

namespace swa::commands {
namespace {

using report::ReadRecord;
using report::Value;

// What makes records those of one thing; the first three, people always see. Not among them: seed,
// inputs and stream, which choose numbers that no kernel's time should depend on.
constexpr std::size_t kAlwaysShown = 3;
constexpr std::array kProblemKeys = {
    "n_q",        "n_k",       "window",   "left",   "right", "chunk",   "mask",     "sinks",
    "lengths_q",  "lengths_k", "layout",   "anchor", "batch", "heads_q", "heads_kv", "head_dim",
    "head_dim_v", "cache",     "capacity", "page",   "dtype", "scale",   "softcap",  "sink_logits",
    "regime",     "threads",   "replay",   "BM",     "BN"};
constexpr std::array kMeasures = {"cycles", "seconds"};

// The same for a value of a run and for what JSON made of it: whole numbers may have been doubles,
// and large ones are strings there.
std::string words_of(const Value* value) {
  if (value == nullptr) return "none";
  if (const auto* yes = std::get_if<bool>(value)) return *yes ? "yes" : "no";
  if (const auto* number = std::get_if<double>(value)) {
    return std::isfinite(*number) ? fmt::format("{}", *number) : "none";
  }
  if (const auto* whole = std::get_if<std::int64_t>(value)) {
    constexpr std::int64_t kLargestExact = std::int64_t{1} << 53;
    const bool exact = *whole <= kLargestExact && *whole >= -kLargestExact;
    return exact ? fmt::format("{}", static_cast<double>(*whole)) : fmt::format("{}", *whole);
  }
  if (const auto* word = std::get_if<std::string>(value)) return *word;
  if (const auto* list = std::get_if<report::Numbers>(value)) {
    return fmt::format("{}", fmt::join(*list, ","));
  }
  if (const auto* list = std::get_if<report::Words>(value)) {
    return fmt::format("{}", fmt::join(*list, ","));
  }
  return "none";
}

// The kernel, then the words of kProblemKeys.
using Key = std::vector<std::string>;

Key key_of(const ReadRecord& record) {
  Key key{words_of(record.find("kernel"))};
  for (const char* const name : kProblemKeys) key.push_back(words_of(record.find(name)));
  return key;
}

std::optional<double> measure(const ReadRecord& record, const char* name) {
  const std::optional<double> number = record.find_number(name);
  return number && std::isfinite(*number) && *number > 0 ? number : std::nullopt;
}

struct Pair {
  const char* by;
  double before, now;
};

std::optional<Pair> measured(const ReadRecord& before, const ReadRecord& now) {
  for (const char* const by : kMeasures) {
    const auto a = measure(before, by), b = measure(now, by);
    if (a && b) return Pair{by, *a, *b};
  }
  return std::nullopt;
}

// A record that was not timed, such as of a problem that a kernel does not support, is no baseline.
std::map<Key, const ReadRecord*> timed(const std::vector<ReadRecord>& baseline) {
  std::map<Key, const ReadRecord*> found;
  for (const ReadRecord& record : baseline) {
    const bool has_time = std::any_of(kMeasures.begin(), kMeasures.end(), [&](const char* by) {
      return measure(record, by).has_value();
    });
    if (!has_time) continue;
    const auto [twin, is_new] = found.try_emplace(key_of(record), &record);
    if (is_new) continue;
    throw UsageError(
        fmt::format("{} is of the same kernel and problem as record {}: neither is the baseline",
                    record.origin(), twin->second->number),
        "write a baseline that measures each problem once");
  }
  return found;
}

// Of each problem, what tells it from the others.
class ProblemWords {
 public:
  explicit ProblemWords(const std::vector<Key>& keys) {
    for (std::size_t i = 0; i < kProblemKeys.size(); ++i) {
      std::set<std::string> words;
      for (const Key& key : keys) words.insert(key[i + 1]);
      if (i < kAlwaysShown || words.size() > 1) shown_.push_back(i);
    }
  }
  std::string of(const Key& key) const {
    std::vector<std::string> words;
    for (const std::size_t i : shown_) {
      words.push_back(fmt::format("{} {}", kProblemKeys[i], key[i + 1]));
    }
    return fmt::format("{}", fmt::join(words, ", "));
  }

 private:
  std::vector<std::size_t> shown_;
};

}  // namespace

Regressions compare(const std::vector<ReadRecord>& current, const std::vector<ReadRecord>& baseline,
                    double max_regression) {
  const std::string file = baseline.empty() ? "the baseline" : baseline.front().file;
  const std::map<Key, const ReadRecord*> before = timed(baseline);
  std::vector<Key> keys;
  for (const ReadRecord& record : current) keys.push_back(key_of(record));
  const ProblemWords words(keys);
  Regressions result;
  std::set<Key> met;
  for (std::size_t i = 0; i < current.size(); ++i) {
    const auto found = before.find(keys[i]);
    if (found == before.end()) {
      ++result.added;
      continue;
    }
    met.insert(keys[i]);
    const std::optional<Pair> pair = measured(*found->second, current[i]);
    if (!pair) {
      ++result.unmeasured;
      continue;
    }
    const bool slower = pair->now > pair->before * (1 + max_regression);
    const bool faster = pair->before > pair->now * (1 + max_regression);
    ++(slower ? result.slower : faster ? result.faster : result.same);
    append(result.table,
           report::Record()
               .add({"kernel", "kernel"}, keys[i].front())
               .add({"problem", "problem"}, words.of(keys[i]))
               .add({"by", "by"}, std::string(pair->by))
               .add({"before", "before", ".7g"}, pair->before)
               .add({"now", "now", ".7g"}, pair->now)
               .add({"change_percent", "change", "+.1f", report::Show::everywhere, "%"},
                    100 * (pair->now / pair->before - 1))
               .add({"verdict", "verdict"}, std::string(slower   ? "slower"
                                                        : faster ? "faster"
                                                                 : "same")));
  }
  if (result.table.rows.empty()) {
    throw UsageError(result.unmeasured > 0
                         ? fmt::format("{} has no cycles or seconds to compare with", file)
                         : fmt::format("{} holds none of these problems", file),
                     "write a baseline with the same options, and --export");
  }
  result.missing = before.size() - met.size();
  result.counts.lines.push_back(fmt::format(
      "against {}, by more than {:.6g}%: {} slower, {} faster, {} the same; {} new, {} "
      "missing{}",
      file, 100 * max_regression, result.slower, result.faster, result.same, result.added,
      result.missing,
      result.unmeasured > 0 ? fmt::format(", {} without a measure in common", result.unmeasured)
                            : ""));
  return result;
}

double parse_percent(std::string_view option, std::string_view text) {
  const std::string_view digits = text.ends_with('%') ? text.substr(0, text.size() - 1) : text;
  const char* const end = digits.data() + digits.size();
  double number = 0;
  const auto [rest, trouble] =
      std::from_chars(digits.data(), end, number, std::chars_format::fixed);
  if (trouble != std::errc{} || rest != end || !std::isfinite(number) || number < 0) {
    throw UsageError(text.empty() ? fmt::format("{} has no value", option)
                                  : fmt::format("{} {} is not a percentage from 0% on", option,
                                                cli::quoted(text)),
                     "write one such as 5%");
  }
  return number / 100;
}

}  // namespace swa::commands
