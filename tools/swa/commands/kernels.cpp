// swa kernels: the GPU kernels of this build, with what each instance needs of a GPU.
#include <algorithm>

#include "commands/choose.hpp"
#include "commands/commands.hpp"
#include "commands/kernels_check.hpp"
#include "error.hpp"

namespace swa::commands {
namespace {

report::Value or_null(int number) {
  return number > 0 ? report::Value(Index{number}) : report::Value();
}

report::Record record_of(const Resources& r) {
  report::Words shapes;
  for (const std::string& mma : r.mma) shapes.push_back(mma_shape(mma));
  report::Record record;
  record.add({"kernel", "kernel"}, r.kernel)
      .add({"variant", "variant"}, r.variant)
      .add({"arch", "arch"}, r.arch)
      .add({"dtype", "dtype"}, std::string(name(r.dtype)))
      .add({"head_dim", "head_dim"}, or_null(r.head_dim))
      .add({"head_dim_v", "head_dim_v"}, or_null(r.head_dim_v))
      .add({"BM", "BM"}, or_null(r.BM))
      .add({"BN", "BN"}, or_null(r.BN))
      .add({"warps", "warps"}, Index{r.threads / 32})
      .hide("threads", Index{r.threads})
      .add({"registers", "registers"}, Index{r.registers})
      .add({"spill_bytes", "spill B"}, Index{r.spill_bytes()})
      .hide("spill_store_bytes", Index{r.spill_stores})
      .hide("spill_load_bytes", Index{r.spill_loads})
      .add({"smem_bytes", "shared memory B"}, Index{r.smem_bytes})
      .add({"mma_shapes", "MMA"}, shapes)
      .hide("mma", r.mma)
      .hide("mma_scores", Index{r.mma_scores})
      .hide("mma_values", Index{r.mma_values})
      .hide("copies", r.copies)
      .hide("repro", "swa kernels --kernel " + r.kernel);
  return record;
}

// Names of the kernels, each once: the instances of one stand together.
std::vector<std::string> names_of(const std::vector<Resources>& instances) {
  std::vector<std::string> names;
  for (const Resources& r : instances) names.push_back(r.kernel);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

cli::Outcome list(const std::vector<Resources>& instances, const std::vector<std::string>& chosen) {
  report::Table table;
  for (const Resources& r : instances) {
    if (std::find(chosen.begin(), chosen.end(), r.kernel) == chosen.end()) continue;
    append(table, record_of(r));
  }
  cli::Outcome outcome;
  outcome.report.schema = "swa.kernels/1";
  outcome.report.summary = {{"instances", static_cast<std::int64_t>(table.rows.size())}};
  outcome.report.blocks = {table};
  return outcome;
}

}  // namespace

std::unique_ptr<cli::Command> kernels(CLI::App& app) {
  auto command = std::make_unique<cli::Command>(
      app, "kernels", "the GPU kernels of this build: tiles, registers, shared memory, MMA shapes",
      "swa kernels --check");
  const cli::Option& kernel = command->add("kernel", "*");
  const cli::Option& check = command->add_flag(
      "--check",
      "exit with status 1 where the window costs shared memory or instructions, or a "
      "product does not add up in fp32");
  command->on_run([&, command = command.get()] {
    if (check.given()) {
      command->refuse_beside(check, "looks at every instance", {});
    }
    const std::vector<Resources> instances = kernel_resources();
    if (instances.empty()) {
      throw CannotRun("this build has no CUDA kernels",
                      "configure with -DSWA_ARCHS=90a, or all, and build again: it takes nvcc, and "
                      "no GPU");
    }
    if (check.given()) return check_kernels(instances);
    const std::vector<std::string> names = names_of(instances);
    std::vector<std::string> chosen;
    for (const std::size_t i : choose_names(kernel, names, "this build has none of them",
                                            "leave --kernel out to see those that it has")) {
      chosen.push_back(names[i]);
    }
    return list(instances, chosen);
  });
  return command;
}

}  // namespace swa::commands
