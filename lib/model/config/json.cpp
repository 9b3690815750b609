#include "model/config/json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "error.hpp"
#include "tensor/source.hpp"

namespace swa {
namespace {

using Json = nlohmann::json;

constexpr int kMaxDepth = 32;  // values within one another

const std::string kRemedy = "give the config.json that the publisher wrote";

// Follows the parser: a document holds a key once in each object, and is not nested without end.
class Watch {
 public:
  explicit Watch(const std::string& path) : path_(path) {}

  bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
    if (depth >= kMaxDepth) {
      throw UsageError(fmt::format("{} nests more than {} values", path_, kMaxDepth), kRemedy);
    }
    if (event == Json::parse_event_t::object_start) {
      keys_.emplace_back();
    } else if (event == Json::parse_event_t::object_end) {
      keys_.pop_back();
    } else if (event == Json::parse_event_t::key) {
      const std::string& key = parsed.get_ref<const std::string&>();
      if (!keys_.back().insert(key).second) {
        throw UsageError(fmt::format("{} has the key {} twice", path_, quote(key)),
                         "keep the one that holds");
      }
    }
    return true;
  }

 private:
  const std::string& path_;
  std::vector<std::set<std::string>> keys_;  // of each object that is open
};

}  // namespace

nlohmann::json parse_config(const std::string& text, const std::string& path) {
  // To the parser a zero byte is the end.
  if (text.find('\0') != std::string::npos) {
    throw UsageError(fmt::format("{} is not JSON: it holds a zero byte", path), kRemedy);
  }
  Json config;
  try {
    config = Json::parse(text, Watch(path));
  } catch (const Json::parse_error& error) {
    // The parser's own sentence may quote all of a file that is large.
    throw UsageError(fmt::format("{} is not JSON, at byte {} of {}", path, error.byte, text.size()),
                     kRemedy);
  } catch (const Json::exception&) {
    throw UsageError(fmt::format("{} holds a number that no double can hold", path), kRemedy);
  }
  if (!config.is_object()) {
    throw UsageError(fmt::format("{} is not a JSON object", path), kRemedy);
  }
  return config;
}

}  // namespace swa
