#include "cli/option_table.hpp"

#include <CLI/CLI.hpp>

namespace swa::cli {
namespace {

OptionRow option_row(const CLI::Option& option) {
  OptionRow row;
  for (const std::string& name : option.get_lnames()) row.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) row.names.push_back("-" + name);
  row.positional = row.names.empty();
  if (row.positional) row.names.push_back(option.get_name());
  row.meaning = option.get_description();
  row.usual = option.get_default_str();
  row.takes_value = option.get_expected_max() > 0;
  row.optional = row.positional && !option.get_configurable();
  return row;
}

CommandRow command_row(const CLI::App& app) {
  CommandRow row{app.get_name(), app.get_description(), app.get_footer(), {}};
  for (const CLI::Option* option : app.get_options()) row.options.push_back(option_row(*option));
  return row;
}

}  // namespace

OptionTable option_table(const CLI::App& app) {
  OptionTable table{command_row(app), {}};
  // The filter keeps all, and picks the overload for a constant App.
  const auto all = [](const CLI::App*) { return true; };
  for (const CLI::App* command : app.get_subcommands(all)) {
    table.commands.push_back(command_row(*command));
  }
  return table;
}

}  // namespace swa::cli
