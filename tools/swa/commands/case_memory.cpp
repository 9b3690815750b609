#include "commands/case_memory.hpp"

#include <fmt/format.h>

#include "memory.hpp"
#include "problem/cache_layout.hpp"
#include "reference/oracle.hpp"
#include "reference/tiled.hpp"

namespace swa::commands {

double bytes_of(const Problem& problem, TileShape tile) {
  return oracle_bytes(problem) + tiled_bytes(problem, tile) + cached_bytes(problem);
}

void require_memory_of(const Problem& problem, TileShape tile, double further) {
  require_memory(bytes_of(problem, tile) + further,
                 fmt::format("the problem '{}'", swa::options(problem)));
}

}  // namespace swa::commands
