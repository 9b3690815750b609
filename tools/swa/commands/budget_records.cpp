#include "commands/budget_records.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "error.hpp"

namespace swa::commands {
namespace {

using report::Show;
using report::Value;

Value gib(Index bytes) {
  return static_cast<double>(bytes) / kGiB;
}

// Where the answer is beyond any use, the null of people reads "no end".
Value or_no_end(Index most) {
  return most >= kUnbounded ? Value() : Value(most);
}

Budget answer(const ChosenModel& model, const ChosenLayout& layout, const Demand& demand) {
  Budget budget{&model, &layout, demand, {}, 0, {}};
  require_known(model.model());
  budget.all_global = all_global_bytes(model.model(), demand);
  budget.allocation = allocate(layout, model.model(), demand);
  return budget;
}

std::string note_of(const Budget& budget) {
  const Model& model = budget.model->model();
  if (!budget.allocation) return budget.refusal;
  if (model.hypothetical) return "arithmetic: a hypothetical model";
  if (model.encoder) return "arithmetic: an encoder caches nothing between calls";
  if (model.supports(budget.demand.context)) return "";
  return fmt::format("arithmetic: above the model's {}", *model.max_positions);
}

bool has_states(const Model& model) {
  return std::any_of(model.layers.begin(), model.layers.end(),
                     [](const Layer& layer) { return !layer.has_cache(); });
}

report::Words assumptions_of(const Budget& budget) {
  const Model& model = budget.model->model();
  report::Words words = budget.model->reading.warnings;
  const bool compresses = std::any_of(model.layers.begin(), model.layers.end(),
                                      [](const Layer& layer) { return layer.compress > 0; });
  if (compresses) words.push_back("the keys of the indexer that picks rows are not counted");
  if (has_states(model)) words.push_back("the state of layers without a cache is not counted");
  if (budget.demand.pipeline_parallel > 1) {
    words.push_back("layers divided among the stages as evenly as can be, the fullest GPU");
  }
  for (const CacheType& type : {budget.demand.k, budget.demand.v}) {
    if (type.scale_bytes == 0 || type.group > 0) continue;
    words.push_back(fmt::format("{} has a scale of {} bytes for each token and head", type.name,
                                type.scale_bytes));
    break;
  }
  if (!budget.allocation) return words;
  const auto& more = budget.allocation->assumptions;
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string repro(const BudgetRequest& request, const Budget& budget) {
  const std::string layout =
      request.names_layouts ? fmt::format(" --layout {}", budget.layout->text) : "";
  return fmt::format("swa kv-budget {} --ctx {}{}{}", budget.model->words, budget.demand.context,
                     layout, request.words);
}

void add_bytes(report::Record& record, const Budget& budget) {
  Value all, used, local, global, all_gib, used_gib, saving;
  if (budget.allocation) {
    const Index bytes = budget.allocation->bytes();
    used = bytes;
    local = budget.allocation->local();
    global = budget.allocation->global();
    used_gib = gib(bytes);
    all = budget.all_global;
    all_gib = gib(budget.all_global);
    if (bytes > 0) saving = static_cast<double>(budget.all_global) / static_cast<double>(bytes);
  }
  record.hide("bytes_all_global", all)
      .hide("bytes", used)
      .hide("bytes_global", global)
      .hide("bytes_local", local)
      .add({"gib_all_global", "all-global GiB", ".2f"}, all_gib)
      .add({"gib", "hybrid GiB", ".2f"}, used_gib)
      .add({"saving", "saving", ".1f", Show::everywhere, "x"}, saving);
}

void add_room(report::Record& record, const BudgetRequest& request, const Budget& budget) {
  if (!request.room) return;
  Value fits, sequences, context;
  if (budget.allocation) {
    const Model& model = budget.model->model();
    fits = budget.fits(request);
    sequences = or_no_end(most_sequences(*budget.layout, model, budget.demand, *request.room));
    context = or_no_end(most_context(*budget.layout, model, budget.demand, *request.room));
  }
  record.hide("room_bytes", *request.room)
      .add({"fits", "fits"}, fits)
      .add({"most_sequences", "most sequences", "", Show::everywhere, "", "no end"}, sequences)
      .add({"most_context", "most ctx", "", Show::everywhere, "", "no end"}, context);
}

void add_reads(report::Record& record, const BudgetRequest& request, const Budget& budget) {
  if (!request.bandwidth) return;
  Value bytes, gibs, ms, all_ms;
  if (budget.allocation) {
    const Model& model = budget.model->model();
    const auto milliseconds = [&](Index read) {
      return 1e3 * static_cast<double>(read) / static_cast<double>(*request.bandwidth);
    };
    const Index read = bytes_read_per_step(model, budget.demand);
    bytes = read;
    gibs = gib(read);
    ms = milliseconds(read);
    all_ms = milliseconds(bytes_read_all_global(model, budget.demand));
  }
  record.hide("bandwidth", *request.bandwidth)
      .hide("bytes_read", bytes)
      .add({"gib_read", "GiB a step", ".3f"}, gibs)
      .add({"ms_read", "ms a step", ".3f"}, ms)
      .add({"ms_read_all_global", "all-global ms", ".3f"}, all_ms);
}

report::Record budget_record(const BudgetRequest& request, const Budget& budget) {
  const Model& model = budget.model->model();
  const Demand& demand = budget.demand;
  report::Record record;
  record.hide("model", model.id)
      .add({"title", "model"}, model.title)
      .hide("layers_local", model.local_layers())
      .hide("layers_global", model.global_layers())
      .add({"local_global", "L/G"},
           fmt::format("{}/{}", model.local_layers(), model.global_layers()))
      .add({"context", "ctx"}, demand.context)
      .add({"layout", "layout", "", request.names_layouts ? Show::everywhere : Show::machine},
           budget.layout->text)
      .hide("batch", demand.batch)
      .hide("dtype", type_name(demand))
      .hide("dtype_k", std::string(demand.k.name))
      .hide("dtype_v", std::string(demand.v.name))
      .hide("tp", demand.tensor_parallel)
      .hide("pp", demand.pipeline_parallel);
  add_bytes(record, budget);
  record.add({"window", "W", "", Show::everywhere, "", "none"}, windows_of(model));
  add_room(record, request, budget);
  add_reads(record, request, budget);
  record.hide("supported", budget.allocation && model.supports(demand.context))
      .hide("max_positions", report::or_null(model.max_positions))
      .add({"note", "note"}, note_of(budget))
      .hide("assumptions", assumptions_of(budget))
      .hide("stacked_reach", report::or_null(stacked_reach(model)))
      .hide("source", model.source)
      .hide("sure", model.sure)
      .hide("remark", model.note)
      .hide("repro", repro(request, budget));
  return record;
}

}  // namespace

void require_known(const Model& model) {
  if (model.unknown.empty()) return;
  throw UsageError(
      fmt::format("no source is known for the {} of {}", fmt::join(model.unknown, ", "), model.id),
      "give its own file with --config");
}

bool Budget::fits(const BudgetRequest& request) const {
  return allocation && request.room && swa::fits(*layout, model->model(), demand, *request.room);
}

std::vector<Budget> budgets(const BudgetRequest& request) {
  std::vector<Budget> result;
  std::optional<UsageError> first;
  bool any = false;
  for (const ChosenModel& model : request.models) {
    for (const Index context : request.contexts) {
      for (const ChosenLayout& layout : request.layouts) {
        Demand demand = request.demand;
        demand.context = context;
        try {
          result.push_back(answer(model, layout, demand));
          any = true;
        } catch (const UsageError& refusal) {
          if (!first) first = refusal;
          result.push_back({&model, &layout, demand, {}, 0, refusal.what()});
        }
      }
    }
  }
  if (!any && first) throw *first;
  return result;
}

report::Table budget_table(const BudgetRequest& request, const std::vector<Budget>& budgets) {
  report::Table table;
  for (const Budget& budget : budgets) append(table, budget_record(request, budget));
  return table;
}

}  // namespace swa::commands
