#include "commands/verify_checks.hpp"

#include <fmt/format.h>

#include "cli/values.hpp"
#include "error.hpp"

namespace swa::commands {
namespace {

Checks::When when(const cli::Option& yes, const cli::Option& no, Checks::When usual) {
  if (yes.given() && no.given()) {
    throw UsageError(fmt::format("{} and {} contradict each other", yes.name, no.name),
                     "give one of them");
  }
  if (yes.given()) return Checks::When::always;
  return no.given() ? Checks::When::never : usual;
}

}  // namespace

CheckOptions::CheckOptions(cli::Command& command)
    : probe_(command.add_flag("--probe", "recover the mask, however many calls that takes")),
      no_probe_(command.add_flag("--no-probe", "do not recover the mask")),
      rows_(command.add_other("--rows", "", "rows that the probe samples (default: all)")),
      poison_(command.add_flag("--poison", "run the poison tests, however long they take")),
      no_poison_(command.add_flag("--no-poison", "do not run the poison tests")) {}

Checks CheckOptions::read(Checks::When usual) const {
  Checks checks;
  checks.probe = when(probe_, no_probe_, usual);
  checks.poison = when(poison_, no_poison_, usual);
  if (!rows_.given()) return checks;
  if (no_probe_.given()) {
    throw UsageError("--rows samples the rows of the probe, so --no-probe contradicts it",
                     "leave one of them out");
  }
  checks.rows = cli::parse_count(rows_.name, rows_.text);
  checks.probe = Checks::When::always;
  return checks;
}

std::string CheckOptions::repeated() const {
  std::string line;
  for (const cli::Option* flag : {&probe_, &no_probe_, &poison_, &no_poison_}) {
    if (flag->given()) line += " " + flag->name;
  }
  return rows_.given() ? line + " --rows " + rows_.text : line;
}

}  // namespace swa::commands
