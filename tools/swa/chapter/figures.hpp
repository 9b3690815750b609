// Every table and figure of the chapter, computed. Nothing here reads data/chapter: what the
// chapter printed is only met in compare.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "mask/count.hpp"

namespace swa::chapter {

enum class Class : std::uint8_t {
  exact,         // printed text must be equal: integers, masks, GiB, data-dependent digits, zeros
  bounded,       // a rounding error: the chapter's and ours must both be within the derived bound
  measured,      // on a GPU: the word that our number earns must be the chapter's
  other_kernel,  // describes the chapter's own kernel: ours stands beside it and is not judged
  waiting,       // needs a GPU kernel that is not here
};

struct Figure {
  std::string table;  // of the chapter, such as "kv-budget"
  std::string row;    // unique within its table
  Class kind = Class::exact;
  std::string ours;         // as the chapter prints it; for a waiting figure, what it waits for
  double bound = 0;         // of a bounded figure, and of a measured error; 0: none
  std::string number = {};  // of a measured figure, in words: what earned the word in `ours`
  std::string note = {};    // of another kernel: why the figures differ
};

// A figure list under construction.
class Figures {
 public:
  explicit Figures(std::string table) : table_(std::move(table)) {}

  void exact(const std::string& row, const std::string& ours);
  void exact(const std::string& row, Count ours);
  // Printed as the chapter prints errors: two decimals, scientific.
  void bounded(const std::string& row, double ours, double bound);
  void measured(const std::string& row, const std::string& word, const std::string& number,
                double bound);
  void other_kernel(const std::string& row, const std::string& ours, const std::string& note);
  void waiting(const std::string& row, const std::string& for_what);

  const std::vector<Figure>& list() const { return list_; }

 private:
  std::string table_;
  std::vector<Figure> list_;
};

struct Gpu;  // chapter/gpu_figures.hpp

// In the order of the chapter's sections.
Figures kv_budget_figures();               // section 1
Figures reference_figures();               // section 2
Figures tile_grid_figures();               // section 2, the drawing's left half
Figures tiled_figures();                   // case 1
Figures flex_figures();                    // case 2
Figures kernel_figures(const Gpu& gpu);    // case 3
Figures ring_figures();                    // case 4
Figures nan_trap_figures();                // section 4, trap A
Figures alignment_figures();               // section 4, traps B and C
Figures gpu_plan_figures(const Gpu& gpu);  // section 6
Figures exercise_figures(const Gpu& gpu);  // "try this"

// on_section is told how many of the sections are done, before each.
std::vector<Figure> all_figures(
    const Gpu& gpu,
    const std::function<void(std::size_t done, std::size_t total)>& on_section = {});

}  // namespace swa::chapter
