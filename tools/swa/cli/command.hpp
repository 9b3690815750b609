// A subcommand: its options as the table of words names them, and what it returns.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/export.hpp"
#include "report/report.hpp"

// CLI11 is slow to compile, so only the files that call it include it.
namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace swa::cli {

// What was typed for one option. Values are parsed by cli/values.hpp, so that every complaint
// reads alike.
struct Option {
  std::string name;  // as shown in complaints: "--W", or "trap" for a positional
  std::string text;  // the default where nothing was typed
  CLI::Option* handle = nullptr;

  bool given() const;
};

// What a command found, and its exit status: 0 yes, 1 no.
struct Outcome {
  report::Report report;
  int status = 0;
  std::string figure = {};  // an SVG document; empty: none was asked for
};

class Command {
 public:
  // `example` is a command line that works as written; it closes the help text.
  Command(CLI::App& app, const std::string& name, const std::string& summary,
          const std::string& example);

  // An option with a value, spelled and explained by the table of words. An empty `usual` shows no
  // default in the help.
  const Option& add(std::string_view key, const std::string& usual = {});
  // The same with a meaning of its own.
  const Option& add(std::string_view key, const std::string& usual, const std::string& meaning);
  // An option that is no quantity of the table.
  const Option& add_other(const std::string& name, const std::string& usual,
                          const std::string& meaning);
  const Option& add_flag(const std::string& name, const std::string& meaning);
  // A word without an option before it; the manual shows one that is not `needed` in brackets.
  const Option& add_positional(const std::string& name, const std::string& meaning,
                               bool needed = true);

  // Lets --export take .svg; the help says what it shows. on_run then sets Outcome::figure where
  // wants_figure().
  void add_figure(const std::string& meaning);
  bool wants_figure() const;
  // Says how the records' verdicts read, which makes --format junit available.
  void judge(report::Verdicts verdicts);

  // Those that were added until now.
  std::vector<const Option*> options() const;
  // Throws UsageError where another option than these was given beside `mode`, --format and
  // --export aside: "--list runs nothing, so --kernel has no say".
  void refuse_beside(const Option& mode, const std::string& why,
                     const std::vector<const Option*>& allowed) const;

  // Called once the options were read.
  void on_run(std::function<Outcome()> run) { run_ = std::move(run); }

  CLI::App& app() const { return app_; }
  report::Format format() const;
  std::vector<ExportFile> exports() const;
  Outcome run() const;

 private:
  const Option& keep(const std::string& name, const std::string& usual);

  CLI::App& app_;
  std::vector<std::unique_ptr<Option>> options_;  // CLI11 keeps references to their texts
  const Option* format_ = nullptr;
  const Option* export_ = nullptr;
  bool has_figure_ = false;
  report::Verdicts verdicts_;
  std::function<Outcome()> run_;
};

}  // namespace swa::cli
