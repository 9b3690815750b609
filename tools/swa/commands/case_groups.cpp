#include "commands/case_groups.hpp"

#include "parallel.hpp"
#include "reference/oracle.hpp"

namespace swa::commands {
namespace {

constexpr double kManyPairs = 1 << 24;  // some tenths of a second of the dense oracle on a thread

}  // namespace

std::vector<CaseGroup> group_cases(const std::vector<Case>& cases,
                                   const std::function<double(const Problem&)>& bytes_of,
                                   double spare_bytes, Index threads) {
  std::vector<CaseGroup> groups;
  bool open = false;  // the last group takes further cases
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Problem& p = cases[i].problem;
    const bool shares = dense_oracle_pairs(p) < kManyPairs &&
                        bytes_of(p) * static_cast<double>(threads) <= spare_bytes;
    if (!shares || !open) groups.push_back({i, i});
    groups.back().end = i + 1;
    open = shares;
  }
  return groups;
}

void run_groups(const std::vector<CaseGroup>& groups,
                const std::function<void(std::size_t)>& body) {
  try {
    for (const CaseGroup& group : groups) {
      if (stop_requested()) return;
      if (group.size() == 1) {
        body(group.begin);
      } else {
        parallel_for(static_cast<Index>(group.size()),
                     [&](Index i) { body(group.begin + static_cast<std::size_t>(i)); });
      }
    }
  } catch (const Stopped&) {
    // Whoever called sees which cases were left out.
  }
}

}  // namespace swa::commands
