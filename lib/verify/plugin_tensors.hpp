// The tensors of one call in shared memory, and what a plug-in may not do to them. Private to this
// room.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "problem/problem.hpp"
#include "verify/plugin_memory.hpp"
#include "verify/plugin_problem.hpp"
#include "verify/plugin_wire.hpp"

namespace swa {

class PluginTensors {
 public:
  // Fills the memory: the lengths, and with `inputs` all tensors, outputs poisoned. All arguments
  // outlive it, and the memory is its own meanwhile.
  PluginTensors(SharedMemory& shared, const Problem& problem, const Inputs* inputs, bool with_lse);

  Request request(const swa_attention& attention) const;
  // After the call. Throws PluginError where an input was changed, or a guard band.
  void check() const;
  // Elements that were not written become kUnwritten; lse is cleared where there is none.
  void read(Attention& outputs) const;

 private:
  struct Input {
    std::string_view name;
    std::size_t begin, element;  // place in the memory, and bytes of one element
    Shape shape;
    // Writes elements first .. first + count - 1 as the plug-in is to find them.
    std::function<void(std::size_t first, std::size_t count, std::byte* to)> write;
  };

  void add_array(Slot slot, std::string_view name, const std::vector<swa_int>& values);
  void add_values(Slot slot, std::string_view name, const std::vector<double>& values,
                  const Shape& shape);
  void add_output(Slot slot, std::string_view name, Dtype dtype, const Shape& shape);
  void add(Slot slot, Input input);
  void check_input(const Input& input) const;
  std::size_t& offset(Slot slot) { return offsets_[static_cast<std::size_t>(slot)]; }
  std::size_t offset(Slot slot) const { return offsets_[static_cast<std::size_t>(slot)]; }

  struct Output {
    Slot slot;
    Dtype dtype;
    std::size_t count;
  };

  SharedMemory& shared_;
  Dtype dtype_, lse_dtype_;
  SequenceArrays arrays_;
  GuardedRegions regions_;
  std::array<std::size_t, kSlots> offsets_{};
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
};

}  // namespace swa
