#include "cli/choices.hpp"

#include <algorithm>
#include <filesystem>

#include "budget/layout.hpp"
#include "cli/data.hpp"
#include "cli/values.hpp"
#include "kernels/forward.hpp"
#include "kernels/launch/plan.hpp"
#include "kernels/resources.hpp"
#include "model/model.hpp"
#include "problem/stated.hpp"
#include "report/report.hpp"
#include "tiles/rules.hpp"
#include "verify/faults.hpp"
#include "verify/kernel.hpp"
#include "verify/timed_kernel.hpp"

namespace swa::cli {
namespace {

using List = std::vector<std::string>;

struct Row {
  std::string command;  // empty: every command that has the option
  std::string option;
  Choices choices;
};

// The kernels whose launches are planned without a GPU.
List planned_words() {
  Problem any;
  any.n_q = any.n_k = 1;
  List names;
  for (const LaunchPlan& plan : launch_plans(any, kHopper)) {
    if (!plan.keeps_band) names.push_back(plan.kernel);
  }
  names.push_back(cpu_kernels({}).front().name);
  return names;
}

List rule_words() {
  List words;
  for (const Rule rule : kRules) words.emplace_back(name(rule));
  return words;
}

List timed_words() {
  List words;
  for (const TimedKernel& kernel : timed_kernels({})) words.push_back(kernel.name);
  return words;
}

List compiled_words() {
  List words;
  for (const Resources& r : kernel_resources()) {
    if (words.empty() || words.back() != r.kernel) words.push_back(r.kernel);
  }
  return words;
}

List arch_words() {
  List words;
  for (const GpuModel& gpu : kGpuModels) words.emplace_back(gpu.arch);
  return words;
}

List trap_words() {
  List words{"nan", "off-by-one", "alignment", "rope-slot", "all"};
  for (const Fault& f : faults()) words.emplace_back(f.name);
  for (const std::string& of : fault_classes()) words.push_back("all-" + of);
  words.push_back("all-faults");
  return words;
}

List layout_words() {
  List words{"all"};
  for (const KvLayout& layout : layouts()) words.emplace_back(layout.name);
  return words;
}

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows{
      {"", "--anchor", {{"bottom-right", "top-left"}}},
      {"", "--cache", {cache_words()}},
      {"", "--cases", {{}, "", true}},
      {"verify", "task", {{"export", "check"}}},
      {"verify", "folder", {{}, "", true}},
      {"verify", "--out", {{}, "", true}},
      {"verify", "--output", {{}, "", true}},
      {"verify", "--lse", {{}, "", true}},
      {"verify", "--q", {{}, "", true}},
      {"verify", "--k", {{}, "", true}},
      {"verify", "--v", {{}, "", true}},
      {"verify", "--dump", {{}, "", true}},
      {"", "--export", {{}, "", true}},
      {"bench", "--kernel", {timed_words()}},
      {"bench", "--regime", {{"interleaved", "alone", "sustained"}}},
      {"bench", "--figure", {{"times", "roofline"}}},
      {"bench", "--arch", {arch_words()}},
      {"bench", "--baseline", {{}, "", true}},
      {"bench", "--from", {{}, "", true}},
      {"kernels", "--kernel", {compiled_words()}},
      {"", "--inputs", {recipe_words()}},
      {"tile-map", "--kernel", {planned_words()}},
      {"", "--kernel", {{}, "kernels"}},
      {"", "--model", {{}, "models"}},
      {"", "--suite", {{}, "suites"}},
      {"kv-budget", "--dtype", {cache_type_words()}},
      {"kv-budget", "--dtype-k", {cache_type_words()}},
      {"kv-budget", "--dtype-v", {cache_type_words()}},
      {"kv-budget", "--layout", {layout_words()}},
      {"kv-budget", "--solve", {{"ratio", "window", "context", "batch"}}},
      {"kv-budget", "--config", {{}, "", true}},
      {"kv-budget", "--gguf", {{}, "", true}},
      {"tile-map", "--dtype", {{"fp64", "fp32", "tf32", "bf16", "fp16", "fp8_e4m3", "fp8_e5m2"}}},
      {"", "--stream", {stream_words()}},
      {"verify", "--dtype", {element_words()}},
      {"bench", "--dtype", {element_words()}},
      {"tile-map", "--rule", {rule_words()}},
      {"reproduce", "--format", {report::format_words(true)}},
      {"trap-demo", "--format", {report::format_words(true)}},
      {"verify", "--format", {report::format_words(true)}},
      {"", "--format", {report::format_words()}},
      {"trap-demo", "trap", {trap_words()}},
      {"trap-demo", "--guard", {{"on", "off"}}},
      {"trap-demo", "--order", {{"forward", "reverse"}}},
      {"swa", "--completion", {{"bash", "zsh"}}},
      {"swa", "--manual", {{}, "commands"}},
      {"swa", "--words", {word_kinds()}},
  };
  return kRows;
}

List models() {
  List names;
  for (const Model& model : read_catalogue(data_path("models"))) {
    if (model.unknown.empty()) names.push_back(model.id);
  }
  return names;
}

List suites() {
  List names;
  for (const auto& entry : std::filesystem::directory_iterator(data_path("cases"))) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() == ".toml" && is_plain_word(name)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

List kernels() {
  List names;
  for (const Kernel& kernel : cpu_kernels({})) names.push_back(kernel.name);
  for (const Kernel& kernel : gpu_kernels()) names.push_back(kernel.name);
  return names;
}

}  // namespace

Choices choices(std::string_view command, std::string_view option) {
  for (const Row& row : rows()) {
    if ((row.command.empty() || row.command == command) && row.option == option) return row.choices;
  }
  return {};
}

const std::vector<std::string>& word_kinds() {
  static const List kKinds{"commands", "models", "suites", "kernels"};
  return kKinds;
}

std::vector<std::string> words_of(std::string_view kind, const OptionTable& table) {
  const std::string word = parse_choice("--words", kind, word_kinds());
  if (word == "models") return models();
  if (word == "suites") return suites();
  if (word == "kernels") return kernels();
  List names;
  for (const CommandRow& command : table.commands) names.push_back(command.name);
  return names;
}

}  // namespace swa::cli
