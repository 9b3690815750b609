#include "commands/gpu_kill_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/forward.hpp"

namespace swa::commands {

std::vector<Case> cases_for_gpu(const std::vector<Case>& cases) {
  std::vector<Case> changed = cases;
  for (Case& c : changed) {
    c.problem.dtype = Dtype::bf16;
    c.problem.head_dim = c.problem.head_dim == 128 ? 128 : 64;
    c.problem.head_dim_v.reset();
  }
  return changed;
}

std::vector<KillRow> gpu_kill_rows(const std::vector<Kernel>& kernels,
                                   const std::vector<Case>& cases) {
  const std::vector<Case> changed = cases_for_gpu(cases);
  std::vector<KillRow> rows;
  for (const Kernel& kernel : kernels) {
    rows.push_back(kill_row(kernel, fault(kernel.name.substr(kPlantedGpu.size())), changed));
  }
  return rows;
}

bool is_explained(const KillRow& row) {
  return row.named() || std::find(row.equivalent_to.begin(), row.equivalent_to.end(),
                                  row.planted->name) != row.equivalent_to.end();
}

void add_gpu_cells(report::Record& record, const Fault& fault, const std::vector<KillRow>& rows,
                   const std::vector<Case>& cases) {
  using report::Value;
  Value killed_by, signs, diagnosed_as;
  for (const KillRow& row : rows) {
    if (row.planted != &fault) continue;
    report::Words names;
    std::string text(cases.size(), '.');
    for (const std::size_t i : row.left_out) text[i] = ' ';
    for (const std::size_t i : row.killed_by) {
      text[i] = 'x';
      names.push_back(cases[i].name);
    }
    killed_by = names;
    signs = text;
    if (!row.diagnosed_as.empty()) diagnosed_as = row.diagnosed_as;
  }
  record.hide("gpu_killed_by", killed_by)
      .add({"gpu_cases", "on the GPU"}, signs)
      .add({"gpu_diagnosed_as", "GPU: diagnosed as"}, diagnosed_as);
}

std::vector<std::string> gpu_lines(const std::vector<KillRow>& rows) {
  const auto killed =
      std::count_if(rows.begin(), rows.end(), [](const KillRow& row) { return !row.survives(); });
  const auto named = std::count_if(rows.begin(), rows.end(), is_explained);
  std::vector<std::string> lines{fmt::format(
      "GPU: {} of {} planted kernels are killed, {} of these are named; on the cases in bf16 with "
      "head_dim 64 or 128, a blank: not supported",
      killed, rows.size(), named)};
  for (const KillRow& row : rows) {
    if (row.survives()) {
      lines.push_back(fmt::format("  survives: {}{}", kPlantedGpu, row.planted->name));
    } else if (!is_explained(row)) {
      lines.push_back(
          fmt::format("  misnamed: {}{} as {}", kPlantedGpu, row.planted->name,
                      row.diagnosed_as.empty() ? "none of the catalogue" : row.diagnosed_as));
    }
  }
  return lines;
}

}  // namespace swa::commands
