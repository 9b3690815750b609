#include "commands/fault_records.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "commands/chapter_traps.hpp"

namespace swa::commands {
namespace {

using report::Value;

Value place_cell(const FaultTrial& trial) {
  if (!trial.first_wrong) return {};
  return report::Numbers(trial.first_wrong->begin(), trial.first_wrong->end());
}

// The remedy has the numbers of the case that shows the fault.
std::string remedy_of(const FaultDemo& demo) {
  return swa::remedy_of(*demo.planted, demo.exposing ? demo.exposing->of->problem : Problem{});
}

// `shown` is none where no case shows the fault.
report::Record record_of(const FaultDemo& demo, const std::optional<ShownCase>& shown, bool shows) {
  const Fault& fault = *demo.planted;
  const auto number = [&](Index FaultTrial::*member) {
    return shown ? Value(shown->trial.*member) : Value();
  };
  const bool ok = shows ? demo.exposed_as_predicted() : demo.hidden_as_predicted();
  report::Record record;
  record.add({"role", ""}, std::string(shows ? "shows" : "hides"))
      .add({"case", "case"}, shown ? Value(shown->of->name) : Value())
      .add({"options", "problem"}, shown ? Value(options(shown->of->problem)) : Value())
      .add({"rows", "rows"}, number(&FaultTrial::rows))
      .add({"wrong_rows", "wrong rows"}, number(&FaultTrial::wrong_rows))
      .add({"predicted_rows", "predicted"},
           shown ? report::or_null(shown->trial.other_keys) : Value())
      .add({"max_err_in_bounds", "max err / bound", ".2e"},
           shown ? Value(shown->trial.error) : Value())
      .add({"verdict", "verdict"}, std::string(ok ? kAsPredicted : kUnexpected))
      .hide("first_wrong_row", shown ? place_cell(shown->trial) : Value())
      .hide("first_wrong_row_in_words", shows && shown ? Value(demo.first_wrong_row) : Value())
      .hide("same_bits", shown ? Value(shown->trial.same_bits) : Value())
      .hide("reasons", shows ? Value() : Value(report::Words(demo.reasons)))
      .hide("class", class_of(fault))
      .hide("meaning", std::string(fault.meaning))
      .hide("cause", std::string(fault.cause))
      .hide("remedy", remedy_of(demo))
      .hide("usual_cases", demo.usual)
      .hide("usual_cases_that_fail", demo.seen_by)
      .hide("diagnosis", demo.diagnosed_as.empty() ? Value() : Value(demo.diagnosed_as))
      .hide("diagnosed_by", report::Words(demo.told_by))
      .hide("repro", fmt::format("swa trap-demo {}", fault.name));
  return record;
}

std::string who_sees_it(const FaultDemo& demo) {
  if (demo.seen_by == demo.usual) {
    return fmt::format("No usual input hides it: all {} cases of the usual checklist fail.",
                       demo.usual);
  }
  return fmt::format("Of the {} cases of the usual checklist {} {}.", demo.usual,
                     demo.seen_by == 0 ? std::string("none") : fmt::format("{}", demo.seen_by),
                     demo.seen_by == 1 || demo.seen_by == 0 ? "fails" : "fail");
}

std::string diagnosis_of(const FaultDemo& demo) {
  if (demo.diagnosed_as.empty()) return "The diagnosis has no name for it.";
  return fmt::format("The diagnosis says {}, from {} {}.", demo.diagnosed_as,
                     demo.told_by.size() == 1 ? "the case" : "the cases",
                     fmt::join(demo.told_by, ", "));
}

}  // namespace

void append_demo(report::Report& report, const FaultDemo& demo) {
  report::Table table;
  table.name = demo.planted->name;
  table.title = fmt::format("{}: {}", demo.planted->name, demo.planted->meaning);
  append(table, record_of(demo, demo.exposing, true));
  if (demo.hiding) append(table, record_of(demo, demo.hiding, false));
  report.blocks.push_back(table);

  report::Lines lines;
  if (demo.exposing) {
    lines.lines.push_back(fmt::format("In {}, {}.", demo.exposing->of->name, demo.first_wrong_row));
  } else {
    lines.lines.emplace_back("No case shows it.");
  }
  lines.lines.push_back(who_sees_it(demo));
  if (demo.hiding) {
    lines.lines.push_back(fmt::format("Hidden in {}{}: {}.", demo.hiding->of->name,
                                      demo.hiding->trial.same_bits ? ", to the last bit" : "",
                                      demo.reasons.empty()
                                          ? std::string("no reason found")
                                          : fmt::format("{}", fmt::join(demo.reasons, "; or "))));
  }
  lines.lines.push_back(fmt::format("How it comes about: {}.", demo.planted->cause));
  lines.lines.push_back(fmt::format("Cure: {}.", remedy_of(demo)));
  lines.lines.push_back(diagnosis_of(demo));
  report.blocks.push_back(lines);
}

}  // namespace swa::commands
