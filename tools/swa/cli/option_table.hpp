// The options of the whole program as a table: what completion and the manual are made from.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace swa::cli {

struct OptionRow {
  std::vector<std::string> names;  // long ones first; of a positional, its one name
  std::string meaning;
  std::string usual;  // the default; empty where none is shown
  bool takes_value = false;
  bool positional = false;
  bool optional = false;  // of a positional: may be left out
};

struct CommandRow {
  std::string name;
  std::string meaning;
  std::string footer;  // the lines after the options of its help
  std::vector<OptionRow> options;
};

struct OptionTable {
  CommandRow program;
  std::vector<CommandRow> commands;
};

OptionTable option_table(const CLI::App& app);

}  // namespace swa::cli
