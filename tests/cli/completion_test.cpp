// bash completes, from the script that swa prints; every option and every word that it offers is
// one that swa takes.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "cli/program.hpp"
#include "process.hpp"
#include "scratch.hpp"

using namespace swa::test;
using nlohmann::json;
using std::string;
using std::vector;

namespace {

// A bash that sources the script of completion, and answers what it offers for the last word.
class Bash {
 public:
  explicit Bash(const string& bash)
      : bash_(bash), script_(scratch_.write("swa.bash", output("--completion bash"))) {}

  // `typed` are the words after "swa" as bash cuts them, the last one perhaps empty.
  vector<string> offers(Words typed, const Setup& setup = {},
                        const string& program = SWA_BINARY) const {
    typed.insert(typed.begin(), program);
    const string ask =
        "source \"$0\"; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); "
        "_swa; printf '%s\\n' \"${COMPREPLY[@]}\"";
    Words arguments{"--norc", "--noprofile", "-c", ask, script_};
    arguments.insert(arguments.end(), typed.begin(), typed.end());
    const Finished run = swa::test::run(bash_, arguments, setup);
    CHECK(run.err.empty());
    CHECK(run.status == 0);
    vector<string> offered = lines(run.out);
    std::erase(offered, string());
    return offered;
  }

 private:
  Scratch scratch_;
  string bash_, script_;
};

bool brings_cases(const string& option) {
  return option == "--suite" || option == "--cases" || option == "--match";
}

// What makes a command complete besides the option that is tried.
string rest_of(const string& command, const string& option) {
  const bool takes_cases = command == "verify" || command == "bench";
  const bool needs_problem = command == "tile-map" || (takes_cases && !brings_cases(option));
  if (option == "--arch") return "--plan --nq 8";
  if (needs_problem && option == "--cache") return "--nq 8 --W 4";  // a ring wants a window
  if (needs_problem) return "--nq 8";
  if (option == "--solve") return "--under 80GiB";
  return command == "trap-demo" ? "nan" : "";
}

// "choose from a, b, c" as a list; empty for any other remedy.
vector<string> choices_named_by(const Finished& refused) {
  const string words = "choose from ";
  const vector<string> said = lines(refused.err);
  vector<string> named;
  if (said.size() != 2 || !contains(said[1], words)) return named;
  string list = said[1].substr(said[1].find(words) + words.size());
  list = list.substr(0, list.find(';'));
  for (std::size_t at = list.find(", "); !list.empty(); at = list.find(", ")) {
    named.push_back(list.substr(0, at));
    list = at == string::npos ? "" : list.substr(at + 2);
  }
  return named;
}

// The words that a remedy leaves to `swa COMMAND --list`: the models of which enough is known, or
// the names of traps, then their classes.
vector<string> listed_words(const string& command, const vector<string>& named) {
  vector<string> names, classes;
  const json listed = json::parse(output(command + " --list --format json"));
  if (command == "kv-budget") {
    for (const json& row : listed["records"]) {
      if (row["unknown"].empty()) names.push_back(row["model"]);
    }
    return names;
  }
  for (const json& row : listed["records"]) {
    const string name = row["trap"], of_class = "all-" + row["class"].get<string>();
    const bool known = std::find(named.begin(), named.end(), name) != named.end();
    if (known) continue;
    names.push_back(name);
    if (std::find(classes.begin(), classes.end(), of_class) == classes.end()) {
      classes.push_back(of_class);
    }
  }
  names.insert(names.end(), classes.begin(), classes.end());
  names.emplace_back("all-faults");
  return names;
}

}  // namespace

TEST_CASE("bash completes commands and options and values") {
  const string found = tool_or_skip("bash");
  if (found.empty()) return;
  const Bash bash(found);
  using List = vector<string>;
  CHECK(bash.offers({"ver"}) == List{"verify"});
  CHECK(bash.offers({"--ver"}) == List{"--version"});
  CHECK(bash.offers({"verify", "--he"}) == List{"--help", "--heads", "--head-dim", "--head-dim-v"});
  CHECK(bash.offers({"verify", "--sup"}).empty());
  CHECK(bash.offers({"verify", "ch"}) == List{"check"});
  CHECK(bash.offers({"trap-demo", "na"}) == List{"nan", "nan-after-masked-tile"});
  CHECK(bash.offers({"trap-demo", "all-s"}) ==
        List{"all-strides", "all-scores", "all-sink-logits", "all-sink-tokens"});
  CHECK(bash.offers({"trap-demo", "nan", "--guard", ""}) == List{"on", "off"});
  CHECK(bash.offers({"verify", "--format", ""}) ==
        List{"text", "json", "jsonl", "csv", "md", "junit"});
  CHECK(bash.offers({"kv-budget", "--format", "js"}) == List{"json", "jsonl"});
  CHECK(bash.offers({"kv-budget", "--format", "=", "cs"}) == List{"csv"});
  CHECK(bash.offers({"kv-budget", "--format", "="}).size() == 5);
  CHECK(bash.offers({"kv-budget", "--format", "ju"}).empty());
  CHECK(bash.offers({"verify", "--dtype", "bf16,fp1"}) == List{"bf16,fp16"});
  CHECK(bash.offers({"verify", "--nq", ""}).empty());  // a number
  CHECK(bash.offers({"kv-budget", "--model", "mistral-7b-v0.1"}) == List{"mistral-7b-v0.1"});
  CHECK(bash.offers({"kv-budget", "-m", "gpt-oss-120b,mistral-7b-v0.1"}) ==
        List{"gpt-oss-120b,mistral-7b-v0.1"});
  CHECK(bash.offers({"verify", "--suite", ""}) ==
        List{"band", "cache", "chapter", "full", "gpu", "peers", "perf", "section6"});
  CHECK(bash.offers({"help", "tr"}) == List{"trap-demo"});
  CHECK(bash.offers({"--completion", ""}) == List{"bash", "zsh"});
  CHECK(bash.offers({"--manual", "ring"}) == List{"ring-sim"});
  CHECK(bash.offers({"--version", "--"}) == List{"--format"});
  CHECK(bash.offers({"--version", "--format", "m"}) == List{"md"});
}

TEST_CASE("bash offers the models of one's own data folder and none where there is no data") {
  const string found = tool_or_skip("bash");
  if (found.empty()) return;
  const Bash bash(found);
  const DataCopy data;
  data.write("models/mine.toml",
             "[[model]]\nid = \"mine\"\ntitle = \"Mine\"\nsource = \"me\"\nlayers = 3\n"
             "pattern = \"LLG\"\nwindow = 4\nkv_heads = 2\nhead_dim = 8\n");
  CHECK(bash.offers({"kv-budget", "--model", "mine"}, data.setup()) == vector<string>{"mine"});
  CHECK(bash.offers({"kv-budget", "--model", ""}, {{{"SWA_DATA_DIR", "/nonexistent"}}}).empty());
}

TEST_CASE("bash runs nothing that stands in a word") {
  const string found = tool_or_skip("bash");
  if (found.empty()) return;
  const Bash bash(found);
  const Scratch scratch;
  const string made = scratch.folder() + "/made";
  // In the place of swa: no catalogue would let such words through.
  const string program =
      scratch.write("other-swa", "#!" + found + "\nprintf '%s\\n' 'm$(touch${IFS}" + made +
                                     ")' 'm`>" + made + "`' 'm*' 'plain'\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  CHECK(bash.offers({"kv-budget", "--model", "pl"}, {}, program) == vector<string>{"plain"});
  CHECK(bash.offers({"kv-budget", "--model", "m"}, {}, program) ==
        vector<string>{"m$(touch${IFS}" + made + ")", "m`>" + made + "`", "m*"});
  CHECK_FALSE(std::filesystem::exists(made));
}

TEST_CASE("bash offers no suite whose name a shell would run") {
  const DataCopy data;
  data.write("cases/$(true).toml", "");
  data.write("cases/mine.toml", "");
  CHECK(run_swa("--words suites", data.setup()).out ==
        "band\ncache\nchapter\nfull\ngpu\nmine\npeers\nperf\nsection6\n");
}

TEST_CASE("bash offers every option of every command") {
  const string found = tool_or_skip("bash");
  if (found.empty()) return;
  const Bash bash(found);
  for (const swa::cli::CommandRow& command : swa::cli::Program().table().commands) {
    const vector<string> offered = bash.offers({command.name, "-"});
    std::size_t options = 0;
    for (const swa::cli::OptionRow& option : command.options) {
      if (option.positional) continue;
      for (const string& name : option.names) {
        ++options;
        CAPTURE(name);
        CHECK(std::count(offered.begin(), offered.end(), name) == 1);
      }
    }
    CHECK(offered.size() == options);
  }
}

// The lists of cli/choices.cpp are those that the commands read by: an option that refuses a word
// with a list has the same list offered, and each word of it is taken.
TEST_CASE("bash offers exactly the words that an option takes") {
  const string found = tool_or_skip("bash");
  if (found.empty()) return;
  const Bash bash(found);
  std::set<string> lists;
  for (const swa::cli::CommandRow& command : swa::cli::Program().table().commands) {
    for (const swa::cli::OptionRow& option : command.options) {
      if (!option.takes_value) continue;
      const string& name = option.names.front();
      Words before{command.name};
      if (!option.positional) {
        for (const string& word : words(rest_of(command.name, name))) before.push_back(word);
        before.push_back(name);
      }
      const auto with = [&](const string& word) {
        Words all = before;
        all.push_back(word);
        return all;
      };
      CAPTURE(command.name);
      CAPTURE(name);
      const Finished refused = run_swa(with("surely-not"));
      vector<string> wanted = choices_named_by(refused);
      const bool lists_more = contains(refused.err, "swa " + command.name + " --list");
      if (lists_more) {
        const vector<string> more = listed_words(command.name, wanted);
        wanted.insert(wanted.end(), more.begin(), more.end());
      }
      vector<string> offered = bash.offers(with(""));
      std::erase_if(offered, [](const string& word) { return word.starts_with('-'); });
      CHECK(offered == wanted);
      for (const string& word : offered) {
        CAPTURE(word);
        Words line = with(word);
        // Known, and nothing to wait for.
        const bool runs_long = lists_more && command.name != "kv-budget";
        if (runs_long || name == "--suite") line.emplace_back("--list");
        // What a word of verify needs besides, and what bench or this build lacks, is complained
        // of, not the word.
        const Finished run = run_swa(line);
        CHECK((run.status == 0 || contains(run.err, word + " has no folder") ||
               contains(run.err, "--cache " + word + ": bench times") ||
               contains(run.err, "add --export FILE.svg") ||
               contains(run.err, "is for GPU kernels, and none is timed") ||
               contains(run.err, "swa kernels: this build has no CUDA kernels")));
      }
      if (!wanted.empty()) lists.insert(command.name + ' ' + name);
    }
  }
  for (const string list :
       {"kv-budget --model", "verify --suite", "verify --kernel", "tile-map --anchor",
        "trap-demo trap", "verify task", "reproduce --format"}) {
    CHECK(lists.contains(list));
  }
}

TEST_CASE("bash finds no fault in its script") {
  const string bash = tool_or_skip("bash");
  if (bash.empty()) return;
  const Scratch scratch;
  const string script = scratch.write("swa.bash", output("--completion bash"));
  const Finished checked = run(bash, {"-n", script});
  CHECK(checked.status == 0);
  CHECK(checked.err.empty());
}

TEST_CASE("zsh finds no fault in its script") {
  const string zsh = tool_or_skip("zsh");
  if (zsh.empty()) return;
  const Scratch scratch;
  const string script = scratch.write("_swa", output("--completion zsh"));
  const Finished checked = run(zsh, {"-f", "-n", script});
  CHECK(checked.status == 0);
  CHECK(checked.err.empty());
}

TEST_CASE("the script of zsh names every command and option") {
  const string script = output("--completion zsh");
  CHECK(script.starts_with("#compdef swa\n"));
  for (const swa::cli::CommandRow& command : swa::cli::Program().table().commands) {
    CAPTURE(command.name);
    CHECK(contains(script, "'" + command.name + ":"));
    const std::size_t begin = script.find("\n    " + command.name + ")\n");
    REQUIRE(begin != string::npos);
    const string part = script.substr(begin, script.find(";;", begin) - begin);
    for (const swa::cli::OptionRow& option : command.options) {
      for (const string& name : option.names) {
        CAPTURE(name);
        const string end = option.takes_value ? (name.starts_with("--") ? "=[" : "+[") : "[";
        CHECK((option.positional || contains(part, ")" + name + end)));
      }
    }
  }
}
