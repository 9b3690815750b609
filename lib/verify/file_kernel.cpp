#include "verify/file_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "error.hpp"
#include "parallel.hpp"
#include "tensor/source.hpp"
#include "verify/call_files.hpp"

namespace swa {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUnsupported = "unsupported.txt";
constexpr const char* kNoPoison = "the poison tests: they have to call the kernel";

std::string launch_folder(const std::string& folder, Index launch) {
  return fmt::format("{}/probe-{:03}", folder, launch);
}

// The first line of a file, which is somebody else's: short, and without control characters.
std::string first_line(const std::string& path) {
  constexpr Index kMost = 200;
  const Source source(path);
  std::string line = source.text(0, smaller(source.size(), kMost));
  line.erase(std::min(line.find('\n'), line.size()));
  std::replace_if(
      line.begin(), line.end(), [](char c) { return std::iscntrl(static_cast<unsigned char>(c)); },
      '?');
  return line.empty() ? "no reason was written" : line;
}

// Why the kernel does not do the case of a folder.
std::optional<std::string> reason_of(const std::string& folder) {
  const std::string path = fmt::format("{}/{}", folder, kUnsupported);
  std::error_code trouble;
  // A link that leads nowhere is there too: it is not to be taken for a kernel that does the case.
  if (!fs::exists(fs::symlink_status(path, trouble))) return std::nullopt;
  if (has_output(folder)) throw FileError(path + " is there, and an output too");
  try {
    return first_line(path);
  } catch (const Error& error) {
    throw FileError(error.what());
  }
}

// Whether a launch has an output.
bool any_answer(const std::string& folder, Index launches) {
  for (Index i = 0; i < launches; ++i) {
    if (has_output(launch_folder(folder, i))) return true;
  }
  return false;
}

Kernel kernel_named(const std::string& name) {
  Kernel kernel;
  kernel.name = name;
  kernel.unsupported = needs_contiguous;
  return kernel;
}

}  // namespace

Index exported_launches(const Problem& problem) {
  constexpr double kMostBytes = 256.0 * 1024 * 1024;
  if (static_cast<double>(problem.key_shape(1).tokens) > largest_probe(problem.dtype)) return 0;
  const Index launches = probe_launches(problem, {}, true);
  return call_bytes(problem) * static_cast<double>(launches) > kMostBytes ? 0 : launches;
}

double export_bytes(const Problem& problem) {
  return call_bytes(problem) * static_cast<double>(1 + exported_launches(problem));
}

void export_case(const std::string& folder, const Problem& problem, const Inputs& inputs,
                 const std::function<void(const std::string&)>& make_folder) {
  make_folder(folder);
  write_call(folder, problem, inputs);
  if (exported_launches(problem) == 0) return;
  Index launch = 0;
  Kernel recorder = kernel_named("recorder");
  recorder.run = [&](const Problem& p, const Inputs& level, Attention& outputs) {
    if (stop_requested()) throw Stopped();
    const std::string into = launch_folder(folder, launch++);
    make_folder(into);
    write_call(into, p, level);
    std::fill(outputs.out.data.begin(), outputs.out.data.end(), 0.0);
    outputs.lse = {};
  };
  probe(recorder, problem, {}, true);
}

double file_memory(const Problem& p) {
  const Shape rows = p.query_shape(1);
  const double count = static_cast<double>(rows.batch) * static_cast<double>(rows.heads) *
                       static_cast<double>(rows.tokens);
  const double of_probe = sizeof(ProbedRow) + 128;  // and some runs of keys
  return call_memory(p) + (exported_launches(p) > 0 ? count * of_probe : 0);
}

FileKernel kernel_of_folder(const std::string& name, const std::string& folder,
                            const Problem& problem) {
  FileKernel result{kernel_named(name)};
  result.kernel.unsupported = [folder](const Problem& p) {
    const std::optional<std::string> reason = needs_contiguous(p);
    return reason ? reason : reason_of(folder);
  };
  const auto calls = std::make_shared<Index>(0);
  result.kernel.run = [folder, calls](const Problem& p, const Inputs& inputs, Attention& outputs) {
    const Index call = (*calls)++;
    const std::string from = call == 0 ? folder : launch_folder(folder, call - 1);
    try {
      outputs = read_outputs(from, p);
      require_inputs(from, p, inputs);
    } catch (const Error& error) {
      throw FileError(error.what());
    }
  };
  result.checks.diagnose = true;
  const Index launches = exported_launches(problem);
  if (launches == 0) {
    result.left_out.emplace_back("the probe: none is exported for so many keys");
  } else if (!any_answer(folder, launches)) {
    result.left_out.push_back(
        fmt::format("the probe: no output in {} ...", launch_folder(folder, 0)));
  } else {
    result.checks.probe = Checks::When::always;
    result.checks.every_key = true;
  }
  result.left_out.emplace_back(kNoPoison);
  return result;
}

FileKernel kernel_of_outputs(const std::string& name, const Attention& outputs) {
  FileKernel result{kernel_named(name)};
  result.kernel.run = [outputs](const Problem&, const Inputs&, Attention& into) { into = outputs; };
  result.checks.diagnose = true;
  result.left_out = {"the probe: it has inputs of its own, which swa verify export writes",
                     kNoPoison};
  return result;
}

}  // namespace swa
