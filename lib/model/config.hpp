// A model as its config.json or GGUF header describes it.
#pragma once

#include <string>
#include <vector>

#include "model/model.hpp"

namespace swa {

// Where a figure of the model comes from.
struct Origin {
  std::string quantity;  // such as "kv heads of global layers"
  std::string value;     // as it is used
  std::string from;  // the key, "default of gemma3_text", or "hidden_size / num_attention_heads"
};

// A key that looks as if it mattered, and why it does not.
struct Ignored {
  std::string key, value, reason;
};

struct ConfigReading {
  Model model;
  std::vector<Origin> origins;
  std::vector<Ignored> ignored;
  std::vector<std::string> warnings;  // what was assumed, and which reading of a dispute is used
};

// Reads a config.json of Hugging Face. Throws UsageError with the file and, where there is one, the
// key, for what cannot be read, contradicts itself, is out of range or does not suffice.
ConfigReading read_config(const std::string& path);
// The same of a text that is in memory already; `path` names it.
ConfigReading read_config_text(const std::string& json, const std::string& path);

// Reads the header of a GGUF file (versions 2 and 3), no tensor. Throws as read_config() does.
ConfigReading read_gguf(const std::string& path);

}  // namespace swa
