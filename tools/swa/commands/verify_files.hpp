// The options of verify that take tensors from files, or give them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "commands/case_options.hpp"
#include "commands/verify_dump.hpp"
#include "verify/file_kernel.hpp"

namespace swa::commands {

// What verify does otherwise where tensors come from files. An empty function, or an empty text,
// leaves it at the usual.
struct FromFiles {
  std::function<FileKernel(const Case&)> kernel;  // in place of those of --kernel
  std::function<std::string(const Case&)> repro;  // the command that runs a case again
  std::function<Inputs(const Problem&)> inputs;   // in place of those drawn from the seed
  std::string input_words;                        // the options of a repro that name them
};

class FileOptions {
 public:
  explicit FileOptions(cli::Command& command);

  // Throws UsageError where options contradict each other. `of_kernels` choose kernels or say how
  // they run; `fail_fast` says how a list of cases does.
  void require_sense(const CaseOptions& cases, const std::vector<const cli::Option*>& of_kernels,
                     const cli::Option& fail_fast) const;

  bool exports() const;
  // Those that name a folder of cases.
  std::vector<const cli::Option*> names_folder() const { return {&task_, &folder_}; }
  // Whether outputs of files are judged, so that no kernel runs.
  bool brings_kernel() const { return checks() || output_.given(); }
  std::string out() const;  // of export
  // Those of the folder that is to be checked, or of the other options.
  std::vector<Case> cases(const CaseOptions& cases) const;
  // Reads the files of --output and of the inputs. `cases` are the problems of the run.
  FromFiles read(const std::vector<Case>& cases) const;
  std::shared_ptr<Dump> dump() const;  // none where it was not asked for

 private:
  bool checks() const;
  void require_task() const;
  std::string folder() const;

  const cli::Option &task_, &folder_, &out_, &output_, &lse_, &q_, &k_, &v_, &dump_;
};

}  // namespace swa::commands
