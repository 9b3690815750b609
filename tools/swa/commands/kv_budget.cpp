// swa kv-budget: how many bytes of KV cache a model needs.
#include <fmt/format.h>

#include <algorithm>

#include "cache/bytes.hpp"
#include "cli/data.hpp"
#include "cli/suggest.hpp"
#include "cli/values.hpp"
#include "commands/commands.hpp"
#include "error.hpp"
#include "figures/figures.hpp"
#include "model/model.hpp"
#include "tensor/dtype.hpp"

namespace swa::commands {
namespace {

struct Options {
  std::vector<Model> models;
  std::vector<Index> contexts;
  Index batch = 1;
  Dtype dtype = Dtype::bf16;
  bool figure = false;
};

std::vector<Model> choose(const std::vector<Model>& catalogue, const cli::Option& option) {
  if (!option.given()) return catalogue;
  std::vector<Model> chosen;
  for (const std::string& name : cli::split(option.name, option.text)) {
    const auto found = std::find_if(catalogue.begin(), catalogue.end(),
                                    [&](const Model& model) { return model.id == name; });
    if (found == catalogue.end()) {
      std::vector<std::string> names;
      for (const Model& model : catalogue) names.push_back(model.id);
      throw UsageError(fmt::format("unknown model '{}'", name), cli::did_you_mean(name, names));
    }
    chosen.push_back(*found);
  }
  return chosen;
}

// W of the local layers, which the catalogue gives one for a model; null where all are global.
report::Value local_window(const Model& model) {
  for (const Layer& layer : model.layers) {
    if (layer.is_local()) return layer.window.width;
  }
  return {};
}

report::Record budget_record(const Model& model, Index context, const Options& options) {
  const Index width = bytes(options.dtype);
  const Index hybrid = kv_bytes(model, context, options.batch, width);
  const Index full = kv_bytes_all_global(model, context, options.batch, width);
  const bool supported = model.supports(context);
  const std::string dtype(name(options.dtype));
  const std::string note =
      supported            ? ""
      : model.hypothetical ? "arithmetic: a hypothetical model"
                           : fmt::format("arithmetic: above the model's {}", *model.max_positions);
  report::Record record;
  record.hide("model", model.id)
      .add({"title", "model"}, model.title)
      .hide("layers_local", model.local_layers())
      .hide("layers_global", model.global_layers())
      .add({"local_global", "L/G"},
           fmt::format("{}/{}", model.local_layers(), model.global_layers()))
      .add({"context", "ctx"}, context)
      .hide("batch", options.batch)
      .hide("dtype", dtype)
      .hide("bytes_all_global", full)
      .hide("bytes", hybrid)
      .add({"gib_all_global", "all-global GiB", ".2f"}, static_cast<double>(full) / kGiB)
      .add({"gib", "hybrid GiB", ".2f"}, static_cast<double>(hybrid) / kGiB)
      .add({"saving", "saving", ".1f", report::Show::everywhere, "x"},
           static_cast<double>(full) / static_cast<double>(hybrid))
      .add({"window", "W", "", report::Show::everywhere, "", "none"}, local_window(model))
      .hide("supported", supported)
      .hide("max_positions", report::or_null(model.max_positions))
      .add({"note", "note"}, note)
      .hide("stacked_reach", report::or_null(stacked_reach(model)))
      .hide("source", model.source)
      .hide("repro", fmt::format("swa kv-budget --model {} --ctx {} --dtype {} --batch {}",
                                 model.id, context, dtype, options.batch));
  return record;
}

report::Table budget_table(const Options& options) {
  report::Table table;
  for (const Model& model : options.models) {
    for (const Index context : options.contexts) {
      append(table, budget_record(model, context, options));
    }
  }
  return table;
}

// For models without a global layer, how far information travels through the stack.
report::Lines reach_lines(const std::vector<Model>& models) {
  report::Lines lines;
  for (const Model& model : models) {
    if (const std::optional<Index> reach = stacked_reach(model)) {
      lines.lines.push_back(
          fmt::format("{}: stacked reach after {} layers: {} tokens back (W - 1 "
                      "per layer)",
                      model.title, model.layers.size(), *reach));
    }
  }
  return lines;
}

cli::Outcome run(const Options& options) {
  cli::Outcome outcome;
  if (options.figure) {
    outcome.figure =
        figures::kv_chart(options.models, options.contexts, options.batch, options.dtype);
  }
  outcome.report.schema = "swa.kv-budget/1";
  std::string how = fmt::format("K and V of all layers, {}, ", name(options.dtype));
  how += options.batch == 1 ? "one sequence" : fmt::format("{} sequences", options.batch);
  outcome.report.blocks.push_back(
      report::Lines{{how + "; a local layer keeps min(ctx, W) tokens"}});
  outcome.report.blocks.push_back(budget_table(options));
  const report::Lines reach = reach_lines(options.models);
  if (!reach.lines.empty()) outcome.report.blocks.push_back(reach);
  return outcome;
}

}  // namespace

std::unique_ptr<cli::Command> kv_budget(CLI::App& app) {
  auto command = std::make_unique<cli::Command>(app, "kv-budget",
                                                "bytes of KV cache that a hybrid model needs",
                                                "swa kv-budget --model gemma2-27b --ctx 8Ki,128Ki");
  const cli::Option& model =
      command->add("model", "", "models by name, separated by commas (default: all)");
  const cli::Option& context = command->add("context", "8Ki,32Ki,128Ki");
  const cli::Option& dtype = command->add(
      "dtype", "bf16", "type of the cache: fp32, bf16, fp16 or fp8 (fp8_e4m3, fp8_e5m2)");
  const cli::Option& batch = command->add("batch", "1");
  command->add_figure("bytes against context");
  command->on_run([&, figure = command.get()] {
    Options options;
    options.models = choose(read_catalogue(cli::data_path("models")), model);
    options.contexts = cli::parse_counts(context.name, context.text);
    options.batch = cli::parse_count(batch.name, batch.text);
    const std::string type = cli::parse_choice(
        dtype.name, dtype.text, {"fp32", "bf16", "fp16", "fp8", "fp8_e4m3", "fp8_e5m2"});
    // Either fp8 takes one byte.
    options.dtype = *parse_dtype(type == "fp8" ? "fp8_e4m3" : type);
    options.figure = figure->wants_figure();
    return run(options);
  });
  return command;
}

}  // namespace swa::commands
