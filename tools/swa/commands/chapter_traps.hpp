// The chapter's traps: four mistakes, each with an experiment of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "reference/tiled.hpp"
#include "report/report.hpp"

namespace swa::commands {

inline constexpr const char* kAsPredicted = "as predicted";
inline constexpr const char* kUnexpected = "UNEXPECTED";

// What a trap runs on. Defaults are the chapter's.
struct Setting {
  Index n = 0, head_dim = 64;
  std::vector<Window> windows;
  Index chunk = 0;  // 0: none
  std::uint64_t seed = 0;
  TiledOptions tiled;
};

struct Trap {
  std::string name;
  std::string what;                  // one sentence
  std::vector<std::string> options;  // those that mean something to it
  Setting usual;
  // Appends its findings; returns whether the trap behaved as predicted and its cure held.
  bool (*show)(const Setting&, report::Report&);
};

const std::vector<Trap>& chapter_traps();

// What their experiments share.
std::string window_text(const Window& window);  // "128", or "none"
// What closes every record.
void finish(report::Record& record, const Setting& setting, const std::string& trap,
            const Window& window, bool ok);
// Throws CannotRun where the sequence does not fit into memory.
void require_room(const Setting& setting);

// The trap "nan" on kernels of this build that exist without the guard too, each beside itself, on
// the problems of the suite `chapter` in bf16; `kernel` chooses them by name. Throws CannotRun
// where they need a GPU that is not here.
bool show_nan_of_kernels(const cli::Option& kernel, report::Report& report);

bool show_nan(const Setting& setting, report::Report& report);

}  // namespace swa::commands
