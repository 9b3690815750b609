// swa kv-budget: how many bytes of KV cache a model needs, under whose layout, and what fits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/values.hpp"
#include "commands/budget_layouts.hpp"
#include "commands/budget_records.hpp"
#include "commands/budget_solve.hpp"
#include "commands/commands.hpp"
#include "error.hpp"
#include "figures/figures.hpp"

namespace swa::commands {
namespace {

class BudgetOptions {
 public:
  explicit BudgetOptions(cli::Command& command)
      : command_(command),
        models_(command),
        context_(command.add("context", "8Ki,32Ki,128Ki")),
        batch_(command.add("batch", "1")),
        layout_(command.add_other("--layout", "logical",
                                  "whose rules, with settings such as vllm:block-size=32; several "
                                  "separated by commas, or all; --layouts names them")),
        dtype_(command.add("dtype", "bf16",
                           "type of the cache: fp32, bf16, fp16, fp8, int8, int4, q8_0, q4_0 ...")),
        dtype_k_(command.add_other("--dtype-k", "", "type of K, where it is another")),
        dtype_v_(command.add_other("--dtype-v", "", "type of V, where it is another")),
        tp_(command.add_other("--tp", "1", "ranks of tensor parallelism; bytes are one GPU's")),
        pp_(command.add_other("--pp", "1", "stages of pipeline parallelism")),
        memory_(command.add_other("--memory", "", "of one GPU, such as 80GiB: what fits there")),
        weights_(command.add_other("--weights", "", "bytes of it that the weights take")),
        reserve_(command.add_other("--reserve", "", "share of it that stays free, such as 10%")),
        bandwidth_(command.add_other("--bandwidth", "",
                                     "such as 4.8TB/s: the time in which a step reads the cache")),
        solve_(command.add_other("--solve", "",
                                 "ratio, window, context or batch: the most that --under holds")),
        under_(command.add_other("--under", "", "bytes of the budget of --solve, such as 10GiB")),
        breakdown_(command.add_flag("--breakdown", "what the bytes are spent on")),
        explain_(command.add_flag("--explain", "layer plans, and where each figure comes from")),
        plot_(command.add_flag("--plot", "bars in the terminal")),
        list_(command.add_flag("--list", "names the models of the catalogue")),
        layouts_(command.add_flag("--layouts", "names the layouts and their settings")) {}

  cli::Outcome run() const;

 private:
  CacheType type(const cli::Option& option) const {
    return *parse_cache_type(cli::parse_choice(option.name, option.text, cache_type_words()));
  }
  BudgetRequest read() const;
  std::optional<Index> room() const;
  std::string common_words() const;
  cli::Outcome answer(const BudgetRequest& request) const;

  cli::Command& command_;
  ModelOptions models_;
  const cli::Option &context_, &batch_, &layout_, &dtype_, &dtype_k_, &dtype_v_, &tp_, &pp_,
      &memory_, &weights_, &reserve_, &bandwidth_, &solve_, &under_, &breakdown_, &explain_, &plot_,
      &list_, &layouts_;
};

// Bytes that weights and reserve leave of the memory.
std::optional<Index> BudgetOptions::room() const {
  for (const cli::Option* option : {&weights_, &reserve_}) {
    if (option->given() && !memory_.given()) {
      throw UsageError(fmt::format("{} without --memory has no meaning", option->name),
                       "add --memory, such as --memory 80GiB");
    }
  }
  if (!memory_.given()) return std::nullopt;
  const Index memory = cli::parse_bytes(memory_.name, memory_.text);
  const double free = reserve_.given() ? cli::parse_percent(reserve_.name, reserve_.text) : 0;
  const Index weights = weights_.given() ? cli::parse_bytes(weights_.name, weights_.text) : 0;
  const auto reserved = std::llround(static_cast<long double>(memory) * free);
  const Index room = memory - reserved - weights;
  if (room > 0) return room;
  throw UsageError(fmt::format("--memory {} leaves no room for a cache beside the weights and the "
                               "reserve",
                               memory_.text),
                   "give more memory, or smaller weights");
}

std::string BudgetOptions::common_words() const {
  std::string words = fmt::format(" --dtype {}", type(dtype_).name);
  for (const cli::Option* option :
       {&dtype_k_, &dtype_v_, &tp_, &pp_, &memory_, &weights_, &reserve_, &bandwidth_}) {
    if (option->given()) words += fmt::format(" {} {}", option->name, option->text);
  }
  return words + fmt::format(" --batch {}", cli::parse_count(batch_.name, batch_.text));
}

BudgetRequest BudgetOptions::read() const {
  BudgetRequest request;
  request.models = models_.read();
  request.layouts = parse_layouts(layout_.name, layout_.text);
  request.names_layouts = layout_.given();
  request.contexts = cli::parse_counts(context_.name, context_.text);
  request.demand.batch = cli::parse_count(batch_.name, batch_.text);
  request.demand.k = type(dtype_k_.given() ? dtype_k_ : dtype_);
  request.demand.v = type(dtype_v_.given() ? dtype_v_ : dtype_);
  request.demand.tensor_parallel = cli::parse_count(tp_.name, tp_.text, {1, 1 << 20});
  request.demand.pipeline_parallel = cli::parse_count(pp_.name, pp_.text, {1, 1 << 20});
  constexpr std::size_t kMostRecords = 100'000;
  if (request.models.size() * request.layouts.size() * request.contexts.size() > kMostRecords) {
    throw UsageError(fmt::format("{} models, {} layouts and {} contexts make more than {} records",
                                 request.models.size(), request.layouts.size(),
                                 request.contexts.size(), kMostRecords),
                     "ask for fewer of them");
  }
  request.room = room();
  if (bandwidth_.given())
    request.bandwidth = cli::parse_bandwidth(bandwidth_.name, bandwidth_.text);
  request.words = common_words();
  return request;
}

// For models of sliding layers alone, how far information travels through the stack.
report::Lines reach_lines(const std::vector<ChosenModel>& models) {
  report::Lines lines;
  for (const ChosenModel& chosen : models) {
    const std::optional<Index> reach = stacked_reach(chosen.model());
    if (!reach || chosen.model().layers.empty()) continue;
    lines.lines.push_back(
        fmt::format("{}: stacked reach after {} layers: {} tokens back (W - 1 per layer)",
                    chosen.model().title, chosen.model().layers.size(), *reach));
  }
  return lines;
}

std::string heading(const BudgetRequest& request) {
  const Demand& demand = request.demand;
  std::string text = fmt::format("K and V of all layers, {}, ", type_name(demand));
  text += demand.batch == 1 ? "one sequence" : fmt::format("{} sequences", demand.batch);
  const Index gpus = demand.tensor_parallel * demand.pipeline_parallel;
  if (gpus > 1) text += fmt::format(", on the fullest of {} GPUs", gpus);
  if (!request.names_layouts) text += "; a local layer keeps min(ctx, W) tokens";
  if (request.room) {
    text += fmt::format("; room for {:.3f} GiB", static_cast<double>(*request.room) / kGiB);
  }
  return text;
}

cli::Outcome BudgetOptions::answer(const BudgetRequest& request) const {
  cli::Outcome outcome;
  if (command_.wants_figure()) {
    std::vector<Model> models;
    for (const ChosenModel& chosen : request.models) {
      require_known(chosen.model());
      models.push_back(chosen.model());
    }
    outcome.figure = figures::kv_chart(models, request.layouts, request.contexts, request.demand);
  }
  outcome.report.schema = "swa.kv-budget/1";
  const std::vector<Budget> found = budgets(request);
  outcome.report.blocks.push_back(report::Lines{{heading(request)}});
  outcome.report.blocks.push_back(budget_table(request, found));
  if (breakdown_.given()) outcome.report.blocks.push_back(breakdown_table(found));
  const report::Lines logged = vllm_lines(request, found);
  if (!logged.lines.empty()) outcome.report.blocks.push_back(logged);
  if (plot_.given()) outcome.report.blocks.push_back(budget_bars(found, request.names_layouts));
  const report::Lines reach = reach_lines(request.models);
  if (!reach.lines.empty()) outcome.report.blocks.push_back(reach);
  if (explain_.given()) append_explanation(outcome.report, request.models);
  const bool all_fit = std::all_of(found.begin(), found.end(),
                                   [&](const Budget& budget) { return budget.fits(request); });
  if (request.room && !all_fit) outcome.status = 1;
  return outcome;
}

cli::Outcome BudgetOptions::run() const {
  if (list_.given()) {
    command_.refuse_beside(list_, "computes nothing", {});
    return {model_list()};
  }
  if (layouts_.given()) {
    command_.refuse_beside(layouts_, "computes nothing", {});
    return {layout_list()};
  }
  if (under_.given() != solve_.given()) {
    throw UsageError(fmt::format("{} needs {}", (under_.given() ? under_ : solve_).name,
                                 (under_.given() ? solve_ : under_).name),
                     "such as --solve context --under 10GiB");
  }
  BudgetRequest request = read();
  if (!solve_.given()) return answer(request);
  const std::string quantity = cli::parse_choice(solve_.name, solve_.text, solve_words());
  for (const auto& [word, option] : {std::pair{"context", &context_}, {"batch", &batch_}}) {
    if (quantity != word || !option->given()) continue;
    throw UsageError(fmt::format("--solve {} finds what {} would say", word, option->name),
                     fmt::format("leave {} out", option->name));
  }
  if (quantity == "context") request.contexts = {1};
  if (quantity == "ratio" && pp_.given()) {
    throw UsageError("--solve ratio counts layers, not where they stand, so --pp has no say",
                     "leave --pp out");
  }
  for (const cli::Option* option : {&memory_, &bandwidth_, &breakdown_, &plot_, &explain_}) {
    if (!option->given()) continue;
    throw UsageError(fmt::format("--solve has its own table, so {} has no say", option->name),
                     fmt::format("leave {} out", option->name));
  }
  if (command_.wants_figure()) {
    throw UsageError("--solve draws nothing", "leave the .svg out");
  }
  return solve(request, quantity, cli::parse_bytes(under_.name, under_.text));
}

}  // namespace

std::unique_ptr<cli::Command> kv_budget(CLI::App& app) {
  auto command = std::make_unique<cli::Command>(app, "kv-budget",
                                                "bytes of KV cache that a hybrid model needs",
                                                "swa kv-budget --model gemma2-27b --ctx 8Ki,128Ki");
  const auto options = std::make_shared<BudgetOptions>(*command);
  command->add_figure("bytes against context");
  command->on_run([options] { return options->run(); });
  return command;
}

}  // namespace swa::commands
