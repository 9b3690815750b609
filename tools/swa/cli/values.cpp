#include "cli/values.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <system_error>

#include "cli/suggest.hpp"
#include "error.hpp"

namespace swa::cli {
namespace {

constexpr std::size_t kMaxValues = 100'000;
constexpr const char* kCountForm = "write a whole number such as 4096 or 4Ki";
constexpr const char* kListForms =
    "write a whole number such as 4096 or 4Ki, a list such as 128,512, or a range such as "
    "64:256:64 or 1Ki:8Ki:*2";

// 1 for no suffix, 0 for one that is not known.
Index factor_of(std::string_view suffix) {
  if (suffix.empty()) return 1;
  if (suffix == "Ki") return Index{1} << 10;
  if (suffix == "Mi") return Index{1} << 20;
  if (suffix == "Gi") return Index{1} << 30;
  if (suffix == "Ti") return Index{1} << 40;
  return 0;
}

std::string power_or_number(Index limit) {
  return limit == kMaxIndex ? std::string("2^60") : fmt::format("{}", limit);
}

Index parse_one(std::string_view option, std::string_view text, Limits limits, const char* remedy) {
  Index number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, trouble] = std::from_chars(text.data(), end, number);
  const Index factor = factor_of({rest, static_cast<std::size_t>(end - rest)});
  if (trouble == std::errc::invalid_argument || factor == 0) {
    throw UsageError(text.empty()
                         ? fmt::format("{} has no value", option)
                         : fmt::format("{} {} is not a whole number", option, quoted(text)),
                     remedy);
  }
  const bool overflow = trouble == std::errc::result_out_of_range;
  const bool negative = text.starts_with('-') && (overflow || number != 0);
  if (negative || (!overflow && number < (limits.least + factor - 1) / factor)) {
    throw UsageError(fmt::format("{} {} is less than {}", option, quoted(text), limits.least),
                     fmt::format("the smallest value is {}", limits.least));
  }
  if (overflow || number > limits.most / factor) {
    throw UsageError(fmt::format("{} {} is too large", option, quoted(text)),
                     fmt::format("the largest value is {}", power_or_number(limits.most)));
  }
  return number * factor;
}

// 0 for a unit that is not known.
long double unit_of(std::string_view unit) {
  constexpr std::string_view kPrefixes = "KMGTP";
  if (unit.empty() || unit == "B") return 1;
  const std::size_t power = kPrefixes.find(unit.front()) + 1;  // npos + 1 is 0
  const std::string_view rest = unit.substr(1);
  if (power == 0 || (rest != "B" && rest != "iB")) return 0;
  return std::pow(rest == "B" ? 1000.0L : 1024.0L, static_cast<long double>(power));
}

// The begin, end or step of a range; a complaint names the whole range.
Index range_part(std::string_view option, std::string_view range, const char* part,
                 std::string_view text, Limits limits) {
  try {
    return parse_count(option, text, limits);
  } catch (const UsageError&) {
    throw UsageError(
        fmt::format("{} {}: the {} of the range is not a whole number within {} .. {}", option,
                    quoted(range), part, limits.least, power_or_number(limits.most)),
        kListForms);
  }
}

void append_range(std::string_view option, std::string_view text, Limits limits,
                  std::vector<Index>& values) {
  const std::size_t first = text.find(':'), second = text.find(':', first + 1);
  if (second == std::string_view::npos || text.find(':', second + 1) != std::string_view::npos) {
    throw UsageError(fmt::format("{} {} is not a range", option, quoted(text)), kListForms);
  }
  std::string_view step_text = text.substr(second + 1);
  const bool multiplies = step_text.starts_with('*');
  if (multiplies) step_text.remove_prefix(1);
  const Index begin = range_part(option, text, "begin", text.substr(0, first), limits);
  const Index end =
      range_part(option, text, "end", text.substr(first + 1, second - first - 1), limits);
  const Index step = range_part(option, text, "step", step_text, {multiplies ? 2 : 1, kMaxIndex});
  if (end < begin || (multiplies && begin == 0)) {
    throw UsageError(fmt::format("{} {} never reaches its end", option, quoted(text)),
                     "write begin:end:step with begin <= end");
  }
  for (Index value = begin; value <= end;) {
    if (values.size() >= kMaxValues) {
      throw UsageError(
          fmt::format("{} {} has more than {} values", option, quoted(text), kMaxValues),
          "take larger steps");
    }
    values.push_back(value);
    if (multiplies && value > end / step) break;
    value = multiplies ? value * step : value + step;
  }
}

}  // namespace

std::string quoted(std::string_view text) {
  constexpr std::size_t kMost = 40;
  return text.size() <= kMost ? std::string(text) : std::string(text.substr(0, kMost)) + "...";
}

std::string shell_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + '\'';
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./:+@%";
  const bool is_plain = !text.empty() && text.find_first_not_of(kPlain) == text.npos;
  return is_plain ? std::string(text) : shell_quoted(text);
}

Index parse_count(std::string_view option, std::string_view text, Limits limits) {
  return parse_one(option, text, limits, kCountForm);
}

std::vector<Index> parse_counts(std::string_view option, std::string_view text, Limits limits) {
  std::vector<Index> values;
  for (const std::string& item : split(option, text)) {
    if (item.find(':') != std::string::npos) {
      append_range(option, item, limits, values);
    } else {
      values.push_back(parse_one(option, item, limits, kListForms));
    }
  }
  return values;
}

double parse_real(std::string_view option, std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, trouble] = std::from_chars(text.data(), end, number);
  if (trouble != std::errc{} || rest != end || !std::isfinite(number)) {
    throw UsageError(text.empty()
                         ? fmt::format("{} has no value", option)
                         : fmt::format("{} {} is not a finite number", option, quoted(text)),
                     "write a number such as 50, 0.125 or 1e-3");
  }
  return number;
}

Index parse_bytes(std::string_view option, std::string_view text) {
  long double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, trouble] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  const long double unit = unit_of({rest, static_cast<std::size_t>(end - rest)});
  if (trouble != std::errc{} || unit == 0 || !std::isfinite(number)) {
    throw UsageError(text.empty()
                         ? fmt::format("{} has no value", option)
                         : fmt::format("{} {} is not a number of bytes", option, quoted(text)),
                     "write a number and a unit, such as 80GiB, 1.5TB or 4096B");
  }
  const long double bytes = number * unit;
  if (!(bytes >= 1) || bytes > static_cast<long double>(kMaxIndex)) {
    throw UsageError(fmt::format("{} {} is not within 1 byte .. 2^60 bytes", option, quoted(text)),
                     "write a number and a unit, such as 80GiB");
  }
  return std::llround(bytes);
}

Index parse_bandwidth(std::string_view option, std::string_view text) {
  if (!text.ends_with("/s")) {
    throw UsageError(text.empty() ? fmt::format("{} has no value", option)
                                  : fmt::format("{} {} is not a bandwidth", option, quoted(text)),
                     "write bytes a second, such as 4.8TB/s");
  }
  return parse_bytes(option, text.substr(0, text.size() - 2));
}

double parse_percent(std::string_view option, std::string_view text) {
  double number = -1;
  if (text.ends_with('%')) {
    const char* const end = text.data() + text.size() - 1;
    const auto [rest, trouble] =
        std::from_chars(text.data(), end, number, std::chars_format::fixed);
    if (trouble != std::errc{} || rest != end) number = -1;
  }
  if (!(number >= 0 && number < 100)) {
    throw UsageError(text.empty()
                         ? fmt::format("{} has no value", option)
                         : fmt::format("{} {} is not a share below 100%", option, quoted(text)),
                     "write a share such as 10%");
  }
  return number / 100;
}

std::uint64_t parse_seed(std::string_view option, std::string_view text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, trouble] = std::from_chars(text.data(), end, number);
  if (trouble != std::errc{} || rest != end) {
    throw UsageError(text.empty() ? fmt::format("{} has no value", option)
                                  : fmt::format("{} {} is not a seed", option, quoted(text)),
                     "a seed is a whole number from 0 to 2^64 - 1");
  }
  return number;
}

std::string parse_choice(std::string_view option, std::string_view text,
                         const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == text) return word;
  }
  throw UsageError(text.empty() ? fmt::format("{} has no value", option)
                                : fmt::format("{} {} is not known", option, quoted(text)),
                   did_you_mean(text, words));
}

std::vector<std::string> split(std::string_view option, std::string_view text) {
  std::vector<std::string> items;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    items.emplace_back(text.substr(begin, end - begin));
    if (items.back().empty()) {
      throw UsageError(text.empty() ? fmt::format("{} has no value", option)
                                    : fmt::format("{} {} has an empty item", option, quoted(text)),
                       "separate values by single commas, without blanks");
    }
    begin = end + 1;
  }
  return items;
}

}  // namespace swa::cli
