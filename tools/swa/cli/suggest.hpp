#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace swa::cli {

// The word that was probably meant: one that begins with what was typed (three letters at least),
// or the nearest one, within one edit for each three letters and two in all.
std::optional<std::string> nearest(std::string_view typed, const std::vector<std::string>& words);

// "did you mean 'verify'?" or, where nothing is near, "choose from a, b, c".
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& words);
// The same with another text where nothing is near: for lists too long to print.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& words,
                         const std::string& otherwise);

}  // namespace swa::cli
