#include "cli/manual.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>
#include <utility>

#include "cli/suggest.hpp"
#include "error.hpp"

namespace swa::cli {
namespace {

// Text in which troff finds no requests, no escapes, and no dash that it may turn into another.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (out.empty() && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else if (c == '`') {
      out += "\\(ga";
    } else if (c == '^') {
      out += "\\(ha";
    } else if (c == '~') {
      out += "\\(ti";
    } else {
      out += c;
    }
  }
  return out;
}

std::string upper(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

std::string head(const std::string& page, const std::string& meaning, const std::string& version) {
  return fmt::format(
      ".TH {} 1 \"\" \"swa {}\" \"User Commands\"\n"
      ".SH NAME\n{} \\- {}\n",
      escaped(upper(page)), escaped(version), escaped(page), escaped(meaning));
}

std::string bold(const std::string& text) {
  return "\\fB" + escaped(text) + "\\fR";
}

// "-W5" and "--W 5" differ, but one form for all reads best: the names, then VALUE.
std::string option_entry(const OptionRow& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) names.push_back(bold(name));
  std::string entry = fmt::format(".TP\n{}", fmt::join(names, ", "));
  if (option.takes_value && !option.positional) entry += " \\fIVALUE\\fR";
  entry += '\n' + escaped(option.meaning);
  if (!option.usual.empty()) entry += escaped(fmt::format(" (default: {})", option.usual));
  return entry + '\n';
}

std::string options_section(const CommandRow& command) {
  std::string text = ".SH OPTIONS\n";
  for (const OptionRow& option : command.options) text += option_entry(option);
  return text;
}

// The footer of a command's help: "Example:" and command lines, indented.
std::string example_section(const std::string& footer) {
  std::string text = ".SH EXAMPLES\n.nf\n";
  std::istringstream stream(footer);
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with("  ")) continue;
    text += escaped(line.substr(2)) + '\n';
  }
  return text + ".fi\n";
}

std::string exit_section() {
  std::string text = ".SH EXIT STATUS\n";
  constexpr std::pair<int, const char*> kMeanings[] = {
      {0, "yes: done, or everything that was judged is right"},
      {1, "no: something that was judged is not right"},
      {2, "asked wrongly: a command, an option, a value or a data file"},
      {3,
       "cannot run here: no such GPU, not enough memory, data not found, or no place for the "
       "output"},
      {4, "a defect of swa"},
      {130, "interrupted: the report holds what was known by then, and no file was exported"},
  };
  for (const auto& [status, meaning] : kMeanings) {
    text += fmt::format(".TP\n.B {}\n{}\n", status, escaped(meaning));
  }
  return text;
}

std::string environment_section() {
  return ".SH ENVIRONMENT\n.TP\n.B SWA_DATA_DIR\n"
         "the folder of models, cases and figures, in place of the one that was installed\n";
}

std::string program_page(const OptionTable& table, const std::string& version) {
  std::string meaning = table.program.meaning;
  if (meaning.starts_with("swa: ")) meaning.erase(0, 5);
  std::string text = head("swa", meaning, version);
  text +=
      ".SH SYNOPSIS\n.B swa\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.br\n"
      ".B swa help\n[\\fICOMMAND\\fR]\n"
      ".SH COMMANDS\n";
  std::vector<std::string> pages;
  for (const CommandRow& command : table.commands) {
    text += fmt::format(".TP\n.B {}\n{}\n", escaped(command.name), escaped(command.meaning));
    pages.push_back(fmt::format(".BR swa\\-{} (1)", escaped(command.name)));
  }
  text += options_section(table.program) + exit_section() + environment_section();
  return text + fmt::format(".SH SEE ALSO\n{}\n", fmt::join(pages, ",\n"));
}

std::string command_page(const CommandRow& command, const std::string& version) {
  std::string text = head("swa-" + command.name, command.meaning, version);
  std::string positionals;
  for (const OptionRow& option : command.options) {
    if (!option.positional) continue;
    const std::string name = fmt::format("\\fI{}\\fR", escaped(upper(option.names[0])));
    positionals += option.optional ? fmt::format(" [{}]", name) : " " + name;
  }
  text += fmt::format(".SH SYNOPSIS\n.B swa {}{}\n[\\fIOPTIONS\\fR]\n", escaped(command.name),
                      positionals);
  text += options_section(command) + example_section(command.footer) + exit_section() +
          environment_section();
  return text + ".SH SEE ALSO\n.BR swa (1)\n";
}

}  // namespace

std::string manual_page(const OptionTable& table, const std::string& command,
                        const std::string& version) {
  std::vector<std::string> names{"swa"};
  for (const CommandRow& row : table.commands) {
    if (row.name == command) return command_page(row, version);
    names.push_back(row.name);
  }
  if (command.empty() || command == "swa") return program_page(table, version);
  throw UsageError(fmt::format("there is no manual page of '{}'", command),
                   did_you_mean(command, names));
}

}  // namespace swa::cli
