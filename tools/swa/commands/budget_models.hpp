// The models that kv-budget is asked about: from the catalogue, a config.json or a GGUF header.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "model/config.hpp"

namespace swa::commands {

struct ChosenModel {
  ConfigReading reading;
  std::string words;  // that ask for it again: "--model gemma-2-27b" or "--config PATH"
  const Model& model() const { return reading.model; }
};

class ModelOptions {
 public:
  explicit ModelOptions(cli::Command& command);

  // Those that were asked for, in that order; the chapter's four where nothing was.
  std::vector<ChosenModel> read() const;

 private:
  const cli::Option& model_;
  const cli::Option& config_;
  const cli::Option& gguf_;
};

// W or C of the local layers, a list where they differ; null where all are global.
report::Value windows_of(const Model& model);

// The catalogue: a record for each model.
report::Report model_list();

// Layer plans, the origin of each figure, and the keys that have no say.
void append_explanation(report::Report& report, const std::vector<ChosenModel>& models);

}  // namespace swa::commands
