#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace swa::cli {

// The word nearest to what was typed, if it is near enough to have been meant: at most two edits,
// or one is the beginning of the other.
std::optional<std::string> nearest(std::string_view typed, const std::vector<std::string>& words);

// "did you mean 'verify'?" or, where nothing is near, "choose from a, b, c".
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& words);

}  // namespace swa::cli
