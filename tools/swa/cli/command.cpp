#include "cli/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/values.hpp"
#include "error.hpp"
#include "problem/words.hpp"

namespace swa::cli {
namespace {

const std::string kExport = "files that hold the report too, by suffix ";

}  // namespace

bool Option::given() const {
  return handle->count() > 0;
}

Command::Command(CLI::App& app, const std::string& name, const std::string& summary,
                 const std::string& example)
    : app_(*app.add_subcommand(name, summary)) {
  app_.footer("Example:\n  " + example);
  app_.set_help_flag("-h,--help", "print this help");
  format_ = &add_other("--format", "text", report::format_names());
  export_ = &add_other("--export", "", kExport + export_kinds(false));
}

const Option& Command::keep(const std::string& name, const std::string& usual) {
  options_.push_back(std::make_unique<Option>(Option{name, usual, nullptr}));
  return *options_.back();
}

const Option& Command::add(std::string_view key, const std::string& usual) {
  return add(key, usual, std::string(word(key).meaning));
}

const Option& Command::add(std::string_view key, const std::string& usual,
                           const std::string& meaning) {
  const Word& w = word(key);
  keep(std::string(w.option), usual);
  Option& option = *options_.back();
  const std::string names =
      w.aliases.empty() ? std::string(w.option) : fmt::format("{},{}", w.option, w.aliases);
  option.handle = app_.add_option(names, option.text, meaning)->type_name("");
  if (!usual.empty()) option.handle->default_str(usual);
  return option;
}

const Option& Command::add_other(const std::string& name, const std::string& usual,
                                 const std::string& meaning) {
  keep(name, usual);
  Option& option = *options_.back();
  option.handle = app_.add_option(name, option.text, meaning)->type_name("");
  if (!usual.empty()) option.handle->default_str(usual);
  return option;
}

const Option& Command::add_flag(const std::string& name, const std::string& meaning) {
  keep(name, {});
  Option& option = *options_.back();
  option.handle = app_.add_flag(name, meaning);
  return option;
}

const Option& Command::add_positional(const std::string& name, const std::string& meaning,
                                      bool needed) {
  keep(name, {});
  Option& option = *options_.back();
  option.handle = app_.add_option(name, option.text, meaning)->type_name("");
  // CLI11 has no such mark for words that it does not demand itself; no file configures options.
  option.handle->configurable(needed);
  return option;
}

void Command::add_figure(const std::string& meaning) {
  has_figure_ = true;
  export_->handle->description(kExport + export_kinds(true) + "; .svg draws " + meaning);
}

std::vector<ExportFile> Command::exports() const {
  if (!export_->given()) return {};
  return parse_exports(export_->name, export_->text, has_figure_);
}

std::vector<const Option*> Command::options() const {
  std::vector<const Option*> all;
  for (const std::unique_ptr<Option>& option : options_) all.push_back(option.get());
  return all;
}

void Command::refuse_beside(const Option& mode, const std::string& why,
                            const std::vector<const Option*>& allowed) const {
  for (const std::unique_ptr<Option>& option : options_) {
    const Option* const other = option.get();
    const bool may = other == &mode || other == format_ || other == export_ ||
                     std::find(allowed.begin(), allowed.end(), other) != allowed.end();
    if (may || !other->given()) continue;
    throw UsageError(fmt::format("{} {}, so {} has no say", mode.name, why, other->name),
                     fmt::format("leave {} out, or {}", mode.name, other->name));
  }
}

bool Command::wants_figure() const {
  const std::vector<ExportFile> files = exports();
  return std::any_of(files.begin(), files.end(),
                     [](const ExportFile& file) { return file.is_figure(); });
}

void Command::judge(report::Verdicts verdicts) {
  verdicts_ = std::move(verdicts);
  format_->handle->description(report::format_names(true));
}

report::Format Command::format() const {
  const bool judges = !verdicts_.key.empty();
  if (format_->text == "junit" && !judges) {
    throw UsageError(
        fmt::format("--format junit needs verdicts, and {} gives none", app_.get_name()),
        fmt::format("choose from {}", report::format_names()));
  }
  return *report::parse_format(
      parse_choice(format_->name, format_->text, report::format_words(judges)));
}

Outcome Command::run() const {
  Outcome outcome = run_();
  outcome.report.verdicts = verdicts_;
  return outcome;
}

}  // namespace swa::cli
