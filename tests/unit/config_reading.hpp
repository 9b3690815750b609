// Small configs, written with ' for ", and what is read from them.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "budget/demand.hpp"
#include "error.hpp"
#include "model/config.hpp"

namespace swa::test {

inline std::string json(std::string text) {
  std::replace(text.begin(), text.end(), '\'', '"');
  return text;
}

inline ConfigReading reading_of(const std::string& text) {
  return read_config_text(json(text), "config.json");
}

// A config of 8 query heads of 64 elements.
inline std::string eight_heads(const std::string& model_type, Index layers,
                               const std::string& keys) {
  return "{'model_type': '" + model_type +
         "', 'hidden_size': 512, 'num_attention_heads': 8, "
         "'num_hidden_layers': " +
         std::to_string(layers) + ", " + keys + "}";
}

// The sentence that refuses a config; empty where it is taken.
inline std::string refusal(const std::string& text) {
  try {
    reading_of(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

// The pattern over and over, `count` letters of it.
inline std::string over(const std::string& pattern, std::size_t count) {
  std::string letters;
  while (letters.size() < count) letters += pattern;
  return letters.substr(0, count);
}

// 'key': ["sliding_attention", ...] for the letters of a plan.
inline std::string layer_types(const std::string& plan) {
  std::string list;
  for (const char letter : plan) {
    const std::string type = letter == 'L'   ? "sliding_attention"
                             : letter == 'C' ? "chunked_attention"
                             : letter == 'S' ? "linear_attention"
                                             : "full_attention";
    list += (list.empty() ? "'" : ", '") + type + "'";
  }
  return "'layer_types': [" + list + "]";
}

// The layers of each kind in the order of their first: "L4096 8x128, G 8x128/64".
inline std::string kinds(const Model& model) {
  std::vector<std::string> seen;
  for (const Layer& layer : model.layers) {
    if (!layer.has_cache()) continue;
    const Window& window = layer.window;
    std::string kind = "G ";
    if (window.kind == Window::Kind::causal) kind = "L" + std::to_string(window.width) + " ";
    if (window.kind == Window::Kind::chunked) kind = "C" + std::to_string(window.width) + " ";
    if (window.kind == Window::Kind::band) {
      kind =
          "B" + std::to_string(window.left.reach) + "+" + std::to_string(window.right.reach) + " ";
    }
    if (layer.compress > 0) kind += "1/" + std::to_string(layer.compress) + " ";
    kind += std::to_string(layer.kv_heads) + "x" + std::to_string(layer.head_dim_k);
    if (layer.latent) kind += " latent";
    if (layer.head_dim_v != layer.head_dim_k) kind += "/" + std::to_string(layer.head_dim_v);
    if (std::find(seen.begin(), seen.end(), kind) == seen.end()) seen.push_back(kind);
  }
  std::string all;
  for (const std::string& kind : seen) all += (all.empty() ? "" : ", ") + kind;
  return all;
}

inline bool has_part(const std::vector<std::string>& sentences, const std::string& part) {
  return std::any_of(sentences.begin(), sentences.end(), [&](const std::string& sentence) {
    return sentence.find(part) != std::string::npos;
  });
}

// The reason why a key is ignored; empty where it is not.
inline std::string reason(const ConfigReading& reading, const std::string& key) {
  for (const Ignored& ignored : reading.ignored) {
    if (ignored.key == key) return ignored.reason;
  }
  return {};
}

// "value from where" of a quantity; empty where there is none.
inline std::string origin(const ConfigReading& reading, const std::string& quantity) {
  for (const Origin& origin : reading.origins) {
    if (origin.quantity == quantity) return origin.value + " from " + origin.from;
  }
  return {};
}

}  // namespace swa::test
