#include "cli/suggest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace swa::cli {
namespace {

// Levenshtein's distance: insertions, deletions and replacements.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> nearest(std::string_view typed, const std::vector<std::string>& words) {
  if (typed.size() > 64) return std::nullopt;
  for (const std::string& word : words) {
    if (typed.size() >= 3 && word.starts_with(typed)) return word;
  }
  std::optional<std::string> best;
  std::size_t allowed = std::min<std::size_t>(2, typed.size() / 3);
  for (const std::string& word : words) {
    const std::size_t distance = edits(typed, word);
    if (distance > allowed || (best && distance == allowed)) continue;
    allowed = distance;
    best = word;
  }
  return best;
}

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& words) {
  return did_you_mean(typed, words, fmt::format("choose from {}", fmt::join(words, ", ")));
}

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& words,
                         const std::string& otherwise) {
  const std::optional<std::string> word = nearest(typed, words);
  return word ? fmt::format("did you mean '{}'?", *word) : otherwise;
}

}  // namespace swa::cli
