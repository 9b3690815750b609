// From the words of the command line to values. Each parser names the option in its complaint,
// and throws UsageError.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mask/window.hpp"

namespace swa::cli {

// What was typed, short enough for a sentence.
std::string quoted(std::string_view text);

// In single quotes, as a shell reads it back.
std::string shell_quoted(std::string_view text);
// The same, without quotes where a shell needs none.
std::string shell_word(std::string_view text);

struct Limits {
  Index least = 1;
  Index most = kMaxIndex;
};

// A whole number with an optional suffix Ki, Mi, Gi or Ti.
Index parse_count(std::string_view option, std::string_view text, Limits limits = {});
// Numbers and ranges, separated by commas: "128,512", "64:256:64" (inclusive, adding),
// "1024:8192:*2" (inclusive, multiplying). At most 100,000 values.
std::vector<Index> parse_counts(std::string_view option, std::string_view text, Limits limits = {});
// A finite number.
double parse_real(std::string_view option, std::string_view text);
// Bytes, such as 80GiB, 1.5TB or 4096: KB, MB, GB, TB are powers of 1000, KiB, MiB, GiB, TiB of
// 1024. Rounded to a whole byte, at least 1 and at most 2^60.
Index parse_bytes(std::string_view option, std::string_view text);
// Bytes a second, such as 4.8TB/s.
Index parse_bandwidth(std::string_view option, std::string_view text);
// A share such as 10%, from 0% to below 100%, as a fraction.
double parse_percent(std::string_view option, std::string_view text);
std::uint64_t parse_seed(std::string_view option, std::string_view text);
// One of the words, or a complaint that lists them.
std::string parse_choice(std::string_view option, std::string_view text,
                         const std::vector<std::string>& words);
// The items of a comma-separated list; none of them may be empty.
std::vector<std::string> split(std::string_view option, std::string_view text);

}  // namespace swa::cli
