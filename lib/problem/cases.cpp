#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "error.hpp"
#include "problem/sweep.hpp"

namespace swa {
namespace {

// Reads one [[case]] table; every complaint names file, line and key.
class CaseReader {
 public:
  CaseReader(const std::string& path, const toml::table& table) : path_(path), table_(table) {}

  Case read() {
    refuse_unknown_keys();
    Case result;
    result.name = text("name", "");
    if (result.name.empty()) fail(table_.source(), "a [[case]] has no name");
    Problem& p = result.problem;
    p.n_q = count("n_q", 0, 1);
    if (p.n_q == 0) fail(table_.source(), fmt::format("case '{}' has no n_q", result.name));
    p.n_k = count("n_k", p.n_q, 1);
    p.window = window();
    p.sinks = count("sinks", 0, 0);
    p.batch = count("batch", 1, 1);
    p.heads_q = count("heads_q", 1, 1);
    p.heads_kv = count("heads_kv", p.heads_q, 1);
    p.head_dim = count("head_dim", p.head_dim, 1);
    p.seed = static_cast<std::uint64_t>(count("seed", 0, 0));
    try {
      validate(p);
    } catch (const UsageError& error) {
      fail(table_.source(), fmt::format("case '{}': {}", result.name, error.what()));
    }
    return result;
  }

 private:
  [[noreturn]] void fail(const toml::source_region& where, const std::string& what) const {
    throw UsageError(fmt::format("{}:{}: {}", path_, where.begin.line, what));
  }

  void refuse_unknown_keys() const {
    static constexpr std::array<std::string_view, 11> kKnown{
        "name",    "n_q",      "n_k",      "window", "sinks", "batch",
        "heads_q", "heads_kv", "head_dim", "seed",   "note"};
    for (const auto& [key, node] : table_) {
      if (std::find(kKnown.begin(), kKnown.end(), key.str()) == kKnown.end()) {
        fail(node.source(), fmt::format("unknown key '{}' in [[case]]", key.str()));
      }
    }
  }

  std::string text(std::string_view key, const char* usual) const {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return usual;
    const auto value = node->value_exact<std::string>();
    if (!value) fail(node->source(), fmt::format("'{}' is not a string", key));
    return *value;
  }

  Index count(std::string_view key, Index usual, Index least) const {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return usual;
    const auto value = node->value_exact<std::int64_t>();
    if (!value) fail(node->source(), fmt::format("'{}' is not a whole number", key));
    if (*value < least || *value > kMaxIndex) {
      fail(node->source(), fmt::format("'{}' = {} is not within {} .. 2^60", key, *value, least));
    }
    return *value;
  }

  Window window() const {
    const toml::node* node = table_.get("window");
    if (node == nullptr || (node->is_string() && text("window", "") == "none")) {
      return Window::global();
    }
    return Window::causal(count("window", 0, 1));
  }

  const std::string& path_;
  const toml::table& table_;
};

}  // namespace

std::vector<Case> read_cases(const std::string& path) {
  toml::table file;
  try {
    file = toml::parse_file(path);
  } catch (const toml::parse_error& error) {
    throw UsageError(fmt::format("{}:{}: {}", path, error.source().begin.line,
                                 std::string(error.description())));
  }
  const toml::array* tables = file["case"].as_array();
  if (tables == nullptr || tables->empty())
    throw UsageError(fmt::format("{} has no [[case]]", path));
  std::vector<Case> cases;
  for (const toml::node& node : *tables) {
    const toml::table* table = node.as_table();
    if (table == nullptr) throw UsageError(fmt::format("{}: 'case' is not a table", path));
    cases.push_back(CaseReader(path, *table).read());
  }
  return cases;
}

}  // namespace swa
