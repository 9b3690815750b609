#include <string_view>

#include "error.hpp"
#include "problem/sweep.hpp"
#include "problem/toml_table.hpp"

namespace swa {
namespace {

Window read_window(const TomlTable& table) {
  constexpr std::string_view kKey = "window";
  if (!table.has(kKey)) return Window::global();
  return Window::causal(table.count(kKey, 1, kMaxIndex));
}

Case read_case(const TomlTable& table) {
  table.refuse_other_keys({"name", "n_q", "n_k", "window", "sinks", "batch", "heads_q", "heads_kv",
                           "head_dim", "seed", "note"});
  const auto count = [&](std::string_view key, Index usual, Index least) {
    return table.has(key) ? table.count(key, least, kMaxIndex) : usual;
  };
  Case result;
  result.name = table.text("name");
  Problem& p = result.problem;
  p.n_q = table.count("n_q", 1, kMaxIndex);
  p.n_k = count("n_k", p.n_q, 1);
  p.window = read_window(table);
  p.sinks = count("sinks", 0, 0);
  p.batch = count("batch", 1, 1);
  p.heads_q = count("heads_q", 1, 1);
  p.heads_kv = count("heads_kv", p.heads_q, 1);
  p.head_dim = count("head_dim", p.head_dim, 1);
  p.seed = static_cast<std::uint64_t>(count("seed", 0, 0));
  try {
    validate(p);
  } catch (const UsageError& error) {
    table.fail("name", "= " + result.name + ": " + error.what());
  }
  return result;
}

}  // namespace

std::vector<Case> read_cases(const std::string& path) {
  std::vector<Case> cases;
  for_each_table(path, "case", [&](const TomlTable& table) { cases.push_back(read_case(table)); });
  return cases;
}

}  // namespace swa
