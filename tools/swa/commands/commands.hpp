// Every subcommand: one file each, one function that adds it to the program.
#pragma once

#include <memory>
#include <vector>

#include "cli/command.hpp"

namespace swa::commands {

std::unique_ptr<cli::Command> kv_budget(CLI::App& app);
std::unique_ptr<cli::Command> tile_map(CLI::App& app);
std::unique_ptr<cli::Command> verify(CLI::App& app);
std::unique_ptr<cli::Command> trap_demo(CLI::App& app);
std::unique_ptr<cli::Command> ring_sim(CLI::App& app);
std::unique_ptr<cli::Command> bench(CLI::App& app);
std::unique_ptr<cli::Command> reproduce(CLI::App& app);
std::unique_ptr<cli::Command> kernels(CLI::App& app);

}  // namespace swa::commands
