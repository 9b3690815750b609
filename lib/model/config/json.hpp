// What the readers of config.json and of GGUF headers share: the step from an object to a model.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "model/config.hpp"

namespace swa {

// A key of config.json, and the name that origins and complaints show for it, such as
// num_hidden_layers and "gemma3.block_count". A key without one is shown as it is.
using KeyNames = std::map<std::string, std::string>;

// Parses the text of a config.json. Throws UsageError for what is no JSON object, has a key twice,
// or nests deeper than 32 values.
nlohmann::json parse_config(const std::string& text, const std::string& path);

// The model that an object with the keys of Hugging Face describes. A number of key-value heads may
// be a list with one entry for each layer, 0 for a layer without a cache. `path` names the file in
// complaints, and the model where the object does not. Throws UsageError as read_config() does.
ConfigReading model_from_config(const nlohmann::json& config, const std::string& path,
                                const KeyNames& names = {});

}  // namespace swa
