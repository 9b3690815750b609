#include "commands/budget_layouts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/suggest.hpp"
#include "cli/values.hpp"
#include "error.hpp"

namespace swa::commands {
namespace {

const KvLayout& find_layout(const std::string& name) {
  const auto& all = layouts();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const KvLayout& layout) { return layout.name == name; });
  if (found != all.end()) return *found;
  std::vector<std::string> names{"all"};
  for (const KvLayout& layout : all) names.emplace_back(layout.name);
  throw UsageError(fmt::format("unknown layout '{}'", cli::quoted(name)),
                   cli::did_you_mean(name, names));
}

const Setting& find_setting(const KvLayout& layout, const std::string& name) {
  const auto& all = layout.settings;
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Setting& setting) { return setting.name == name; });
  if (found != all.end()) return *found;
  std::vector<std::string> names;
  for (const Setting& setting : all) names.emplace_back(setting.name);
  throw UsageError(fmt::format("layout {} has no setting '{}'", layout.name, cli::quoted(name)),
                   names.empty() ? "it has none at all" : cli::did_you_mean(name, names));
}

Settings::Value parse_value(const KvLayout& layout, const Setting& setting,
                            const std::string* text) {
  const std::string name = fmt::format("--layout {}:{}", layout.name, setting.name);
  if (setting.kind == Setting::Kind::flag) {
    if (text == nullptr) return Index{1};
    throw UsageError(fmt::format("{} takes no value", name), "leave out the = and what follows it");
  }
  if (text == nullptr) {
    throw UsageError(fmt::format("{} has no value", name),
                     fmt::format("write {}={}", setting.name,
                                 setting.words.empty() ? "and a number" : setting.words.front()));
  }
  switch (setting.kind) {
    case Setting::Kind::count:
      return cli::parse_count(name, *text, {0, kMaxIndex});
    case Setting::Kind::real: {
      const double number = cli::parse_real(name, *text);
      if (number > 0 && number <= 1) return number;
      throw UsageError(fmt::format("{} {} is not above 0 and at most 1", name, cli::quoted(*text)),
                       "write a ratio such as 0.8");
    }
    case Setting::Kind::word:
      return cli::parse_choice(name, *text, {setting.words.begin(), setting.words.end()});
    default:
      return cli::parse_count(name, *text);
  }
}

ChosenLayout parse_layout(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  ChosenLayout chosen{&find_layout(text.substr(0, colon)), {}, text};
  for (std::size_t begin = colon; begin < text.size();) {
    const std::size_t end = std::min(text.find(':', begin + 1), text.size());
    const std::string word = text.substr(begin + 1, end - begin - 1);
    const std::size_t equals = word.find('=');
    const Setting& setting = find_setting(*chosen.layout, word.substr(0, equals));
    if (chosen.settings.given(setting.name)) {
      throw UsageError(
          fmt::format("--layout {}:{} stands twice", chosen.layout->name, setting.name),
          "leave one out");
    }
    const std::string value = equals == word.npos ? "" : word.substr(equals + 1);
    chosen.settings.set(
        setting.name, parse_value(*chosen.layout, setting, equals == word.npos ? nullptr : &value));
    begin = end;
  }
  return chosen;
}

}  // namespace

std::vector<ChosenLayout> parse_layouts(const std::string& option, const std::string& text) {
  std::vector<ChosenLayout> chosen;
  if (text == "all") {
    for (const KvLayout& layout : layouts())
      chosen.push_back({&layout, {}, std::string(layout.name)});
    return chosen;
  }
  for (const std::string& one : cli::split(option, text)) chosen.push_back(parse_layout(one));
  return chosen;
}

report::Report layout_list() {
  report::Report report;
  report.schema = "swa.kv-budget.layouts/1";
  report::Table about, settings;
  for (const KvLayout& layout : layouts()) {
    report::Record record;
    record.add({"layout", "layout"}, std::string(layout.name))
        .add({"summary", "summary"}, std::string(layout.summary))
        .add({"source", "source"}, std::string(layout.source));
    append(about, record);
    for (const Setting& setting : layout.settings) {
      report::Record row;
      row.add({"layout", "layout"}, std::string(layout.name))
          .add({"setting", "setting"}, std::string(setting.name))
          .add({"default", "default"}, std::string(setting.usual))
          .add({"meaning", "meaning"}, std::string(setting.meaning));
      append(settings, row);
    }
  }
  about.name = "layout";
  settings.name = "setting";
  report.blocks.push_back(about);
  report.blocks.push_back(settings);
  return report;
}

}  // namespace swa::commands
