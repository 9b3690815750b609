#include "commands/verify_files.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "cli/suggest.hpp"
#include "cli/values.hpp"
#include "commands/choose.hpp"
#include "error.hpp"
#include "memory.hpp"
#include "reference/oracle.hpp"
#include "verify/call_files.hpp"

namespace swa::commands {
namespace {

using Options = std::vector<const cli::Option*>;

void refuse_given(const Options& options, const std::string& why) {
  for (const cli::Option* option : options) {
    if (!option->given()) continue;
    throw UsageError(fmt::format("{}, so {} has no say", why, option->name),
                     fmt::format("leave {} out", option->name));
  }
}

std::string value_of(const cli::Option& option, const char* remedy) {
  if (option.text.empty()) throw UsageError(option.name + " has no value", remedy);
  return option.text;
}

Options joined(Options all, const Options& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

FileOptions::FileOptions(cli::Command& command)
    : task_(command.add_positional("task",
                                   "export writes the inputs of the cases to --out, for a kernel "
                                   "that runs elsewhere; check judges its outputs",
                                   false)),
      folder_(command.add_positional("folder", "of check: the folder that export wrote", false)),
      out_(command.add_other("--out", "", "of export: a new folder")),
      output_(command.add_other(
          "--output", "", "judge this output of one problem, a .npy file, and run no kernel")),
      lse_(command.add("lse", "", "the log-sum-exp that goes with --output, a .npy file")),
      q_(command.add_other("--q", "", "with --k and --v: inputs from .npy files, not drawn")),
      k_(command.add_other("--k", "", "see --q")),
      v_(command.add_other("--v", "", "see --q")),
      dump_(command.add_other("--dump", "",
                              "a new folder for the tensors of the cases that do not pass")) {}

void FileOptions::require_task() const {
  if (!task_.given() || task_.text == "export" || task_.text == "check") return;
  throw UsageError(fmt::format("unexpected word '{}'", task_.text),
                   cli::did_you_mean(task_.text, {"export", "check"}));
}

bool FileOptions::exports() const {
  return task_.given() && task_.text == "export";
}

bool FileOptions::checks() const {
  return task_.given() && task_.text == "check";
}

std::string FileOptions::out() const {
  if (!out_.given()) {
    throw UsageError("export has no folder to write to", "name a new one with --out");
  }
  return value_of(out_, "name a new folder");
}

std::string FileOptions::folder() const {
  if (!folder_.given()) {
    throw UsageError("check has no folder", "write it after check: the one that export wrote");
  }
  return value_of(folder_, "name the folder that export wrote");
}

void FileOptions::require_sense(const CaseOptions& cases, const Options& of_kernels,
                                const cli::Option& fail_fast) const {
  require_task();
  const Options inputs{&q_, &k_, &v_};
  if (cases.list().given())
    refuse_given(joined(inputs, {&output_, &lse_, &dump_}), "--list runs nothing");
  if (exports()) {
    if (folder_.given()) {
      throw UsageError(fmt::format("export takes no word, and '{}' is one", folder_.text),
                       "name the folder with --out");
    }
    refuse_given(joined(joined(of_kernels, inputs), {&fail_fast, &output_, &lse_, &dump_}),
                 "export runs no kernel");
    if (cases.list().given())
      throw UsageError("--list prints cases, and export writes them", "ask for one of them");
    out();
    return;
  }
  refuse_given({&out_}, "nothing is exported");
  if (checks()) {
    refuse_given(joined(joined(of_kernels, inputs), {&output_, &lse_}),
                 "check judges the outputs of its folder");
    folder();
    return;
  }
  if (output_.given()) {
    refuse_given(of_kernels, "--output runs no kernel");
    if (!cases.is_stated()) {
      throw UsageError("--output holds the output of one problem, and none is stated",
                       "state it, such as --nq 96 --nk 600 --W 100; for several take swa verify "
                       "export and check");
    }
    value_of(output_, "name a .npy file");
  } else {
    refuse_given({&lse_}, "no --output is given");
  }
  for (const cli::Option* some : inputs) {
    for (const cli::Option* other : inputs) {
      if (!some->given() || other->given()) continue;
      throw UsageError(fmt::format("{} is given without {}", some->name, other->name),
                       "give --q, --k and --v, or none of them");
    }
  }
  if (q_.given() && !cases.is_stated()) {
    throw UsageError("--q, --k and --v are the inputs of one problem, and none is stated",
                     "state it, such as --nq 96 --nk 600 --W 100");
  }
  if (q_.given() && dump_.given()) {
    throw UsageError("--dump writes cases that run again, and the inputs of --q are not drawn",
                     "leave --dump out");
  }
}

std::vector<Case> FileOptions::cases(const CaseOptions& cases) const {
  if (!checks()) return cases.read();
  const std::string file = fmt::format("{}/{}", folder(), kCaseFile);
  std::error_code trouble;
  if (!std::filesystem::is_directory(folder(), trouble)) {
    throw UsageError(fmt::format("{} is not a folder", folder()),
                     "name the folder that swa verify export wrote");
  }
  if (!std::filesystem::exists(file, trouble)) {
    throw UsageError(fmt::format("{} is not there", file),
                     "name the folder that swa verify export wrote to its end");
  }
  std::vector<Case> found = cases.read_folder(file);
  for (const Case& c : found) {
    if (is_folder_name(c.name)) continue;
    throw UsageError(fmt::format("{}: '{}' is not the name of a folder", file, c.name),
                     "leave cases.toml as swa verify export wrote it");
  }
  return found;
}

FromFiles FileOptions::read(const std::vector<Case>& cases) const {
  FromFiles files;
  if (checks()) {
    const std::string root = folder();
    files.kernel = [root, name = "files:" + root](const Case& c) {
      return kernel_of_folder(name, fmt::format("{}/{}", root, c.name), c.problem);
    };
    files.repro = [root](const Case& c) {
      return fmt::format("swa verify check {} --match {}", cli::shell_word(root), c.name);
    };
    return files;
  }
  if (!output_.given() && !q_.given()) return files;
  const Problem& problem = cases.front().problem;
  if (cases.size() > 1) {
    throw UsageError(fmt::format("{} belongs to one problem, and {} are stated",
                                 output_.given() ? "--output" : "--q", cases.size()),
                     "state one; for several take swa verify export and check");
  }
  require_memory(oracle_bytes(problem) + file_memory(problem),
                 fmt::format("the problem '{}'", options(problem)));
  if (q_.given()) {
    if (problem.sink_logits || problem.seed != 0 || problem.inputs != Recipe::normal) {
      throw UsageError(
          fmt::format("{} is drawn, and the inputs of --q, --k and --v are not",
                      problem.sink_logits ? "--sink-logits" : "what --seed and --inputs state"),
          "leave it out; swa verify export writes sink logits, and check takes the output");
    }
    if (problem.drawn_from() != usual_stream(problem)) {
      throw UsageError(fmt::format("--stream {} draws inputs, and --q, --k and --v bring them",
                                   name(problem.drawn_from())),
                       "leave it out");
    }
    // Read once before anything runs, and held: a repro is one call.
    const auto inputs = std::make_shared<const Inputs>(
        read_inputs(value_of(q_, "name a .npy file"), value_of(k_, "name a .npy file"),
                    value_of(v_, "name a .npy file"), problem));
    files.inputs = [inputs](const Problem&) { return *inputs; };
    files.input_words = fmt::format(" --q {} --k {} --v {}", cli::shell_word(q_.text),
                                    cli::shell_word(k_.text), cli::shell_word(v_.text));
  }
  if (!output_.given()) return files;
  const auto lse = lse_.given() ? std::optional(value_of(lse_, "name a .npy file")) : std::nullopt;
  const auto outputs = std::make_shared<const Attention>(read_outputs(output_.text, lse, problem));
  files.kernel = [outputs, name = "file:" + output_.text](const Case&) {
    return kernel_of_outputs(name, *outputs);
  };
  std::string words = " --output " + cli::shell_word(output_.text);
  if (lse) words += " --lse " + cli::shell_word(*lse);
  files.repro = [words = words + files.input_words](const Case& c) {
    return fmt::format("swa verify {}{}", options(c.problem), words);
  };
  return files;
}

std::shared_ptr<Dump> FileOptions::dump() const {
  if (!dump_.given()) return nullptr;
  return std::make_shared<Dump>(value_of(dump_, "name a new folder"));
}

}  // namespace swa::commands
