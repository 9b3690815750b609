#include "cli/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/choices.hpp"
#include "cli/values.hpp"

namespace swa::cli {
namespace {

using Words = std::vector<std::string>;

std::string joined(const Words& words, const char* between = " ") {
  return fmt::format("{}", fmt::join(words, between));
}

Words command_names(const OptionTable& table) {
  Words names;
  for (const CommandRow& command : table.commands) names.push_back(command.name);
  return names;
}

Words option_names(const CommandRow& command) {
  Words names;
  for (const OptionRow& option : command.options) {
    if (!option.positional) names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

// --- bash ------------------------------------------------------------------------------------

constexpr const char* kBashHead = R"(# bash completion for swa, printed by `swa --completion bash`
_swa() {
  local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}
  local command=${COMP_WORDS[1]} program=${COMP_WORDS[0]/#\~/$HOME} words= prefix= word
  local -a list
  COMPREPLY=()
  # bash makes three words of --format=json.
  if [[ $current == = ]]; then
    current=
  elif [[ $option == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if ((COMP_CWORD == 1)); then command=; fi
  case $command:$option in
)";

constexpr const char* kBashTail = R"(  esac
  # The last item of a list such as bf16,fp16.
  if [[ $current == *,* ]]; then
    prefix=${current%,*},
    current=${current##*,}
  fi
  # compgen -W would expand the words, and run what stands in $(...).
  IFS=$' \t\n' read -r -d '' -a list <<< "$words"
  for word in "${list[@]}"; do
    if [[ $word == "$current"* ]]; then COMPREPLY+=("$prefix$word"); fi
  done
}
complete -F _swa swa
)";

std::string bash_case(const std::string& pattern, const std::string& action) {
  return fmt::format("    {}) {} ;;\n", pattern, action);
}

std::string bash_words(const Words& words) {
  return fmt::format("words='{}'", joined(words));
}

std::string bash_values(const Choices& values) {
  if (values.files) return "compopt -o default 2>/dev/null; return";
  if (!values.kind.empty()) {
    return fmt::format("words=$(\"$program\" --words {} 2>/dev/null)", values.kind);
  }
  return values.words.empty() ? "return" : bash_words(values.words);  // nothing for a number
}

// The cursor stands after the name of an option that takes a value.
std::string bash_option_cases(const CommandRow& command, const std::string& scope) {
  std::string cases;
  for (const OptionRow& option : command.options) {
    if (!option.takes_value || option.positional) continue;
    Words patterns;
    for (const std::string& name : option.names) patterns.push_back(scope + ':' + name);
    cases += bash_case(joined(patterns, " | "),
                       bash_values(choices(command.name, option.names.front())));
  }
  return cases;
}

// Anywhere else after a command: the words of its positionals, and its options.
std::string bash_command_case(const CommandRow& command) {
  Words words;
  std::string files;  // where none of the words fits
  for (const OptionRow& option : command.options) {
    if (!option.positional) continue;
    const Choices values = choices(command.name, option.names.front());
    append(words, values.words);
    if (values.files) files = "compopt -o default 2>/dev/null; ";
  }
  append(words, option_names(command));
  return bash_case(command.name + ":*", files + bash_words(words));
}

// --- zsh -------------------------------------------------------------------------------------

constexpr const char* kZshHead = R"zsh(#compdef swa
# zsh completion for swa, printed by `swa --completion zsh`

# Items of a list such as bf16,fp16.
_swa_list() {
  compset -P '*,'
  compadd -- "$@"
}
_swa_ask() {
  _swa_list ${(f)"$(${~swa_program} --words $1 2>/dev/null)"}
}
_swa() {
  local swa_program=$words[1] swa_command=$words[2]
  local -a swa_commands swa_options
)zsh";

constexpr const char* kZshMiddle = R"zsh(  if ((CURRENT == 2)); then
    _describe -t commands command swa_commands
    _describe -o -t options option swa_options
    return
  fi
  shift words
  ((CURRENT--))
  case $swa_command in
    help) _swa_ask commands ;;
)zsh";

constexpr const char* kZshTail = R"zsh(  esac
}
if [[ $funcstack[1] == _swa ]]; then
  _swa "$@"
else
  compdef _swa swa
fi
)zsh";

// A meaning within the brackets of _arguments.
std::string zsh_meaning(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\' || c == '[' || c == ']') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string zsh_action(const Choices& values) {
  if (values.files) return "_files";
  if (!values.kind.empty()) return fmt::format("{{_swa_ask {}}}", values.kind);
  if (values.words.empty()) return " ";  // a number: nothing to offer
  return fmt::format("{{_swa_list {}}}", joined(values.words));
}

// An option as _arguments takes it: a line for each name, which excludes the others.
std::string zsh_option(const CommandRow& command, const OptionRow& option) {
  const std::string value =
      option.takes_value ? ":value:" + zsh_action(choices(command.name, option.names.front())) : "";
  if (option.positional) return " \\\n        " + shell_quoted(value);
  std::string lines;
  for (const std::string& name : option.names) {
    const char* sign = !option.takes_value ? "" : name.starts_with("--") ? "=" : "+";
    lines +=
        " \\\n        " + shell_quoted(fmt::format("({}){}{}[{}]{}", joined(option.names), name,
                                                   sign, zsh_meaning(option.meaning), value));
  }
  return lines;
}

std::string zsh_command_case(const CommandRow& command) {
  std::string text = fmt::format("    {})\n      _arguments -s", command.name);
  for (const OptionRow& option : command.options) text += zsh_option(command, option);
  return text + "\n      ;;\n";
}

// The program's own options: one that takes a word of its own, and --format after the others.
std::string zsh_program_cases(const CommandRow& program) {
  std::string cases, format;
  for (const OptionRow& option : program.options) {
    const std::string& name = option.names.front();
    if (!option.takes_value) continue;
    if (name == "--format") {
      format = fmt::format("    -*)\n      _arguments{}\n      ;;\n", zsh_option(program, option));
    } else {
      std::string action = zsh_action(choices(program.name, name));
      cases += fmt::format("    {}) {} ;;\n", name, action.substr(1, action.size() - 2));
    }
  }
  return cases + format;
}

std::string zsh_list(const char* name, const std::string& items) {
  return fmt::format("  {}=(\n{}  )\n", name, items);
}

std::string zsh_item(const std::string& word, const std::string& meaning) {
  return fmt::format("    {}\n", shell_quoted(word + ':' + meaning));
}

}  // namespace

std::string bash_completion(const OptionTable& table) {
  std::string script = kBashHead;
  for (const CommandRow& command : table.commands) {
    script += bash_option_cases(command, command.name);
  }
  script += bash_option_cases(table.program, "-*");
  Words first = command_names(table);
  script += bash_case("help:help", bash_words(first));
  first.push_back("help");
  append(first, option_names(table.program));
  script += bash_case(":*", bash_words(first));
  for (const CommandRow& command : table.commands) script += bash_command_case(command);
  script += bash_case("-*:*", bash_words({"--format"}));
  return script + kBashTail;
}

std::string zsh_completion(const OptionTable& table) {
  std::string commands, options, cases;
  for (const CommandRow& command : table.commands) {
    commands += zsh_item(command.name, command.meaning);
    cases += zsh_command_case(command);
  }
  commands += zsh_item("help", "print the help of a command");
  for (const OptionRow& option : table.program.options) {
    for (const std::string& name : option.names) options += zsh_item(name, option.meaning);
  }
  return kZshHead + zsh_list("swa_commands", commands) + zsh_list("swa_options", options) +
         kZshMiddle + cases + zsh_program_cases(table.program) + kZshTail;
}

}  // namespace swa::cli
