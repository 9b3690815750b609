// The JSON of a config.json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace swa {

// Parses the text of a config.json; `path` names it. Throws UsageError for what is no JSON object,
// has a key twice, or nests deeper than 32 values.
nlohmann::json parse_config(const std::string& text, const std::string& path);

}  // namespace swa
