#include "chapter/figures.hpp"

#include <fmt/format.h>

#include "chapter/gpu_figures.hpp"

namespace swa::chapter {

void Figures::exact(const std::string& row, const std::string& ours) {
  list_.push_back({table_, row, Class::exact, ours, 0});
}

void Figures::exact(const std::string& row, Count ours) {
  exact(row, fmt::format("{}", ours));
}

void Figures::bounded(const std::string& row, double ours, double bound) {
  list_.push_back({table_, row, Class::bounded, fmt::format("{:.2e}", ours), bound});
}

void Figures::measured(const std::string& row, const std::string& word, const std::string& number,
                       double bound) {
  list_.push_back({table_, row, Class::measured, word, bound, number});
}

void Figures::other_kernel(const std::string& row, const std::string& ours,
                           const std::string& note) {
  list_.push_back({table_, row, Class::other_kernel, ours, 0, {}, note});
}

void Figures::waiting(const std::string& row, const std::string& for_what) {
  list_.push_back({table_, row, Class::waiting, for_what, 0});
}

std::vector<Figure> all_figures(
    const Gpu& gpu, const std::function<void(std::size_t done, std::size_t total)>& on_section) {
  const std::vector<std::function<Figures()>> sections{kv_budget_figures,
                                                       reference_figures,
                                                       tile_grid_figures,
                                                       tiled_figures,
                                                       flex_figures,
                                                       [&] { return kernel_figures(gpu); },
                                                       ring_figures,
                                                       nan_trap_figures,
                                                       alignment_figures,
                                                       [&] { return gpu_plan_figures(gpu); },
                                                       [&] { return exercise_figures(gpu); }};
  std::vector<Figure> all;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (on_section) on_section(i, sections.size());
    const Figures figures = sections[i]();
    all.insert(all.end(), figures.list().begin(), figures.list().end());
  }
  return all;
}

}  // namespace swa::chapter
