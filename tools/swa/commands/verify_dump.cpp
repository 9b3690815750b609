#include "commands/verify_dump.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "error.hpp"
#include "tensor/npy.hpp"
#include "verify/call_files.hpp"

namespace swa::commands {

Kernel keep_first(const Kernel& kernel, Attention& first) {
  Kernel keeping = kernel;
  keeping.run = [run = kernel.run, &first, called = false](
                    const Problem& problem, const Inputs& inputs, Attention& outputs) mutable {
    run(problem, inputs, outputs);
    if (!called) first = outputs;
    called = true;
  };
  return keeping;
}

Dump::Dump(const std::string& folder) : target_("--dump " + folder, folder) {}

void Dump::add(const Case& one, std::size_t index, const Inputs& inputs, const Oracle& expected,
               const std::string& kernel, const Attention& got) {
  if (!trouble_.empty()) return;
  const std::size_t before = target_.made();
  const bool is_new = last_ != index;
  if (is_new) {
    // The names stay apart from those of earlier cases.
    std::vector<Case> all = cases_;
    all.push_back(one);
    cases_.push_back(name_folders(all).back());
  }
  const std::string folder = fmt::format("{}/{}", target_.path(), cases_.back().name);
  try {
    if (cases_.size() == 1 && is_new) target_.make(target_.path());
    if (is_new) write(folder, one, inputs, expected);
    if (!got.out.data.empty()) {
      const std::string into = fmt::format("{}/{}", folder, free_name(folder, kernel));
      target_.make(into);
      write_outputs(into, one.problem, got);
    }
    last_ = index;
  } catch (const Error& error) {
    trouble_ = error.what();
    target_.remove_from(before);
    if (is_new) cases_.pop_back();
  }
}

void Dump::write(const std::string& folder, const Case& one, const Inputs& inputs,
                 const Oracle& expected) {
  target_.make(folder);
  write_call(folder, one.problem, inputs);
  const Shape& o = expected.out.shape;
  write_npy(folder + "/expected.npy",
            {{o.batch, o.heads, o.tokens, o.dim}, Dtype::fp64, expected.out.data});
  write_npy(folder + "/expected_lse.npy",
            {{o.batch, o.heads, o.tokens}, Dtype::fp64, expected.lse.data});
}

std::string Dump::free_name(const std::string& folder, const std::string& kernel) const {
  const std::string name = name_folders({{kernel, {}}}).front().name;
  std::string free = name;
  for (int i = 2; std::filesystem::exists(fmt::format("{}/{}", folder, free)); ++i) {
    free = fmt::format("{}-{}", name, i);
  }
  return free;
}

std::string Dump::finish() {
  if (!cases_.empty()) {
    try {
      target_.write_cases(
          "# Cases that did not pass; docs/files.md says what lies beside this file.\n", cases_);
      target_.keep();
    } catch (const Error& error) {
      trouble_ = error.what();
      cases_.clear();
    }
  }
  const std::string& path = target_.path();
  std::string said =
      cases_.empty()
          ? fmt::format("--dump: nothing was written to {}", path)
          : fmt::format(
                "--dump: {} in {}; swa verify --cases {}/{} "
                "runs {} again",
                cases_.size() == 1 ? "1 case is" : fmt::format("{} cases are", cases_.size()), path,
                path, kCaseFile, cases_.size() == 1 ? "it" : "them");
  if (!trouble_.empty()) said += "; " + trouble_;
  return said;
}

}  // namespace swa::commands
