#include "commands/budget_models.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "cli/data.hpp"
#include "cli/suggest.hpp"
#include "cli/values.hpp"
#include "error.hpp"
#include "model/names.hpp"

namespace swa::commands {
namespace {

ChosenModel from_catalogue(const Model& model) {
  ChosenModel chosen{{model, {}, {}, {}}, fmt::format("--model {}", model.id)};
  if (!model.caveat.empty()) chosen.reading.warnings.push_back(model.caveat);
  const auto origin = [&](const char* quantity, std::string value) {
    chosen.reading.origins.push_back({quantity, std::move(value), "catalogue"});
  };
  if (model.max_positions) origin("largest context", fmt::format("{}", *model.max_positions));
  if (!model.architecture.empty()) origin("architecture", model.architecture);
  if (model.rope_theta_local)
    origin("RoPE theta, local", fmt::format("{}", *model.rope_theta_local));
  if (model.rope_theta_global) {
    origin("RoPE theta, global", fmt::format("{}", *model.rope_theta_global));
  }
  if (model.softcap_attention)
    origin("softcap of scores", fmt::format("{}", *model.softcap_attention));
  if (model.softcap_final) {
    origin("softcap of final logits", fmt::format("{}", *model.softcap_final));
  }
  if (!model.sinks.empty()) origin("sinks", model.sinks);
  if (!model.nope.empty()) origin("no RoPE", model.nope);
  return chosen;
}

std::vector<ChosenModel> from_names(const cli::Option& option) {
  const std::vector<Model> catalogue = read_catalogue(cli::data_path("models"));
  std::vector<std::string> names;
  if (option.given()) {
    names = cli::split(option.name, option.text);
  } else {
    // A catalogue of the user's own may lack them.
    for (const std::string_view name : kChapterModels) {
      if (find_model(catalogue, name) != nullptr) names.emplace_back(name);
    }
  }
  if (names.empty() || names == std::vector<std::string>{"all"}) {
    names.clear();
    for (const Model& model : catalogue) names.push_back(model.id);
  }
  std::vector<ChosenModel> chosen;
  for (const std::string& name : names) {
    const Model* model = find_model(catalogue, name);
    if (model == nullptr) {
      std::vector<std::string> known;
      for (const Model& one : catalogue) {
        known.push_back(one.id);
        known.insert(known.end(), one.aliases.begin(), one.aliases.end());
      }
      throw UsageError(fmt::format("unknown model '{}'", cli::quoted(name)),
                       cli::did_you_mean(name, known,
                                         "swa kv-budget --list names those there are; "
                                         "--config reads any model's config.json"));
    }
    chosen.push_back(from_catalogue(*model));
  }
  return chosen;
}

// "LLLLLG repeated" for a plan that begins anew every few layers; else the plan.
std::string short_plan(const std::string& plan) {
  for (std::size_t period = 1; period <= plan.size() / 2 && period <= 12; ++period) {
    bool repeats = true;
    for (std::size_t i = period; i < plan.size() && repeats; ++i) {
      repeats = plan[i] == plan[i - period];
    }
    if (repeats) return fmt::format("{} repeated", plan.substr(0, period));
  }
  return plan;
}

// Shapes of rows that some layers have, such as "16 x 128".
std::string shapes(const Model& model, bool local) {
  std::set<std::string> shapes;
  for (const Layer& layer : model.layers) {
    if (!layer.has_cache() || layer.is_local() != local) continue;
    std::string shape = layer.latent ? fmt::format("latent {}", layer.head_dim_k)
                                     : fmt::format("{} x {}", layer.kv_heads, layer.head_dim_k);
    if (!layer.latent && layer.head_dim_v != layer.head_dim_k) {
      shape += fmt::format("/{}", layer.head_dim_v);
    }
    shapes.insert(shape);
  }
  return fmt::format("{}", fmt::join(shapes, ", "));
}

report::Table origin_table(const ChosenModel& chosen) {
  report::Table table;
  for (const Origin& origin : chosen.reading.origins) {
    report::Record record;
    record.hide("model", chosen.model().id)
        .add({"quantity", "quantity"}, origin.quantity)
        .add({"value", "value"}, origin.value)
        .add({"from", "from"}, origin.from);
    append(table, record);
  }
  table.name = "origin";
  return table;
}

report::Table ignored_table(const ChosenModel& chosen) {
  report::Table table;
  for (const Ignored& ignored : chosen.reading.ignored) {
    report::Record record;
    record.hide("model", chosen.model().id)
        .add({"key", "key without a say"}, ignored.key)
        .add({"value", "value"}, ignored.value)
        .add({"reason", "reason"}, ignored.reason);
    append(table, record);
  }
  table.name = "ignored";
  return table;
}

report::Lines plan_lines(const ChosenModel& chosen) {
  const Model& model = chosen.model();
  report::Lines lines;
  lines.lines.push_back(
      fmt::format("{}, {} layers: {}", model.title, model.layers.size(), layer_plan(model)));
  lines.lines.push_back(
      "L sliding, C chunked, G global, S without a cache; lower case: the cache "
      "is another layer's");
  const std::string local = shapes(model, true), global = shapes(model, false);
  if (!local.empty()) lines.lines.push_back("kv heads x head_dim of local layers: " + local);
  if (!global.empty()) lines.lines.push_back("kv heads x head_dim of global layers: " + global);
  for (const std::string& warning : chosen.reading.warnings) {
    lines.lines.push_back("assumed: " + warning);
  }
  if (!model.source.empty()) {
    lines.lines.push_back(fmt::format("source ({}): {}", model.sure, model.source));
  }
  if (!model.note.empty()) lines.lines.push_back("note: " + model.note);
  return lines;
}

}  // namespace

report::Value windows_of(const Model& model) {
  std::set<Index> widths;
  for (const Layer& layer : model.layers) {
    if (layer.is_local()) widths.insert(stated_width(layer.window).value_or(0));
  }
  if (widths.empty()) return {};
  if (widths.size() == 1) return *widths.begin();
  return report::Numbers(widths.begin(), widths.end());
}

ModelOptions::ModelOptions(cli::Command& command)
    : model_(command.add("model", "",
                         "models by name, separated by commas; all for the whole catalogue "
                         "(default: the chapter's four)")),
      config_(command.add_other("--config", "", "a model's config.json, as Hugging Face has it")),
      gguf_(command.add_other("--gguf", "", "a GGUF file, of which the header is read")) {}

std::vector<ChosenModel> ModelOptions::read() const {
  std::vector<ChosenModel> chosen;
  if (config_.given()) {
    chosen.push_back({read_config(config_.text), "--config " + cli::shell_word(config_.text)});
  }
  if (gguf_.given()) {
    chosen.push_back({read_gguf(gguf_.text), "--gguf " + cli::shell_word(gguf_.text)});
  }
  if (model_.given() || chosen.empty()) {
    for (ChosenModel& model : from_names(model_)) chosen.push_back(std::move(model));
  }
  return chosen;
}

report::Report model_list() {
  report::Report report;
  report.schema = "swa.kv-budget.list/1";
  report::Table table;
  for (const Model& model : read_catalogue(cli::data_path("models"))) {
    report::Record record;
    record.add({"model", "model"}, model.id)
        .hide("title", model.title)
        .hide("hf_id", model.hf_id)
        .hide("architecture", model.architecture)
        .hide("aliases", report::Words(model.aliases))
        .add({"layers", "layers", "", report::Show::everywhere, "", "?"},
             model.layers.empty() ? report::Value()
                                  : report::Value(static_cast<Index>(model.layers.size())))
        .add({"plan", "plan"}, model.unknown.empty()
                                   ? short_plan(layer_plan(model))
                                   : fmt::format("not known: {}", fmt::join(model.unknown, ", ")))
        .hide("layer_plan", layer_plan(model))
        .add({"window", "W", "", report::Show::everywhere, "", "none"},
             model.unknown.empty() ? windows_of(model) : report::Value(std::string("?")))
        .hide("kv_local", shapes(model, true))
        .hide("kv_global", shapes(model, false))
        .hide("max_positions", report::or_null(model.max_positions))
        .hide("unknown", report::Words(model.unknown))
        .hide("encoder", model.encoder)
        .hide("hypothetical", model.hypothetical)
        .add({"sure", "source"}, model.sure)
        .hide("source", model.source)
        .hide("note", model.note);
    append(table, record);
  }
  report.blocks.push_back(table);
  return report;
}

void append_explanation(report::Report& report, const std::vector<ChosenModel>& models) {
  for (const ChosenModel& chosen : models) {
    report.blocks.push_back(plan_lines(chosen));
    if (!chosen.reading.origins.empty()) report.blocks.push_back(origin_table(chosen));
    if (!chosen.reading.ignored.empty()) report.blocks.push_back(ignored_table(chosen));
  }
}

}  // namespace swa::commands
