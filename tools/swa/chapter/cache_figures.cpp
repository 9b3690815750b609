// Section 1 (the KV bill) and Case 4 (the ring).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "budget/demand.hpp"
#include "cache/pages.hpp"
#include "chapter/figures.hpp"
#include "cli/data.hpp"
#include "model/names.hpp"
#include "verify/ring_trial.hpp"
#include "verify/tolerance.hpp"

namespace swa::chapter {

Figures kv_budget_figures() {
  Figures figures("kv-budget");
  const std::vector<Model> catalogue = read_catalogue(cli::data_path("models"));
  for (const std::string_view name : kChapterModels) {
    const Model& model = *find_model(catalogue, name);
    for (const Index context : {8'192, 32'768, 131'072}) {
      const Demand demand{context, 1};
      const double full = static_cast<double>(all_global_bytes(model, demand));
      const double hybrid = static_cast<double>(logical_bytes(model, demand));
      const std::string row = fmt::format("{} {}", name, context);
      figures.exact(row + " L/G",
                    fmt::format("{}/{}", model.local_layers(), model.global_layers()));
      figures.exact(row + " all-global GiB", fmt::format("{:.2f}", full / kGiB));
      figures.exact(row + " hybrid GiB", fmt::format("{:.2f}", hybrid / kGiB));
      figures.exact(row + " saving", fmt::format("{:.1f}x", full / hybrid));
    }
    if (const auto reach = stacked_reach(model)) {
      figures.exact(fmt::format("{} stacked reach", name), *reach);
    }
  }
  return figures;
}

Figures ring_figures() {
  Figures figures("ring");
  const RingTrialOptions options;  // the chapter's: W 8, 40 steps, head_dim 16, seed 3
  const RingTrial trial = run_ring_trial(options, {5, 7, 8, 9, 39});
  for (const RingSnapshot& snapshot : trial.snapshots) {
    figures.exact(fmt::format("t={} slot", snapshot.step), snapshot.slot);
    figures.exact(fmt::format("t={} positions", snapshot.step),
                  fmt::format("[{}]", fmt::join(snapshot.positions, ", ")));
  }
  figures.bounded("ring cache vs full history", trial.max_err_ring, trial.largest_bound);
  figures.exact("RoPE by slot", fmt::format("{:.2e}", trial.max_err_slot_rope));
  const Index most = max_live_pages(4096, 128, 16);
  figures.exact("live blocks of 16, W=128", most);
  figures.exact("live token slots, W=128", most * 16);
  return figures;
}

}  // namespace swa::chapter
