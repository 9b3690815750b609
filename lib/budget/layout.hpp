// What a serving engine sets aside for a model's cache, by the engine's own rules.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "budget/demand.hpp"

namespace swa {

// What bytes are spent on.
enum class Share : std::uint8_t {
  rows,      // tokens that the layers have to hold
  slack,     // further tokens, of a chunk in flight or of a window's granularity
  rounding,  // whole blocks and pages
  padding,   // layers that do not exist, and pages as large as the largest
  idle,      // what a pool of fixed size leaves unused
};
inline constexpr std::array<std::string_view, 5> kShareNames{"rows", "slack", "rounding", "padding",
                                                             "idle"};

// Bytes on one rank.
class Allocation {
 public:
  void add(bool local, Share share, Index bytes);
  // Rows of a layer over all sequences: as it needs them, as the engine wants them, as it gets.
  // `bytes` has a row of as many layers as there are.
  void add_rows(const Layer& layer, Index bytes, Index needed, Index wanted, Index allocated);

  Index of(bool local, Share share) const {
    return bytes_[local ? 1 : 0][static_cast<std::size_t>(share)];
  }
  Index local() const;
  Index global() const;
  Index bytes() const { return plus(local(), global()); }
  Index with_reserved() const { return plus(bytes(), reserved); }

  // Bytes that the engine keeps for itself once, whatever it holds: they count for what fits.
  Index reserved = 0;
  // Of a pool of blocks: those that a request of the context may hold, and the bytes of each.
  Index blocks_per_request = 0, bytes_per_block = 0;
  std::vector<std::string> assumptions;

 private:
  std::array<std::array<Index, kShareNames.size()>, 2> bytes_{};
};

// A setting of a layout, by the engine's own name for it.
struct Setting {
  enum class Kind : std::uint8_t { count, positive, flag, real, word };
  std::string_view name;
  Kind kind;
  std::string_view usual;  // what holds where it is not given; may be a word such as "batch"
  std::string_view meaning;
  std::vector<std::string_view> words = {};  // of a word
};

// The settings that were given, by name; those of the layout's table, with values of their kind.
class Settings {
 public:
  using Value = std::variant<Index, double, std::string>;  // a flag that is given is 1

  void set(std::string_view name, Value value) { values_.emplace(name, std::move(value)); }
  bool given(std::string_view name) const { return values_.count(name) == 1; }
  Index count(std::string_view name, Index usual) const { return get(name, usual); }
  double real(std::string_view name, double usual) const { return get(name, usual); }
  bool flag(std::string_view name) const { return given(name); }
  std::string word(std::string_view name, std::string_view usual) const {
    return get(name, std::string(usual));
  }

 private:
  template <class T>
  T get(std::string_view name, T usual) const {
    const auto found = values_.find(name);
    return found == values_.end() ? usual : std::get<T>(found->second);
  }

  std::map<std::string, Value, std::less<>> values_;
};

struct KvLayout {
  std::string_view name;
  std::string_view summary;
  std::string_view source;  // what was read, and when
  std::vector<Setting> settings = {};
  std::vector<std::string_view> types = {};  // of the cache, that it has; empty: all
  bool one_type = false;                     // for K and V
  Allocation (*allocate)(const Stage& stage, const Demand& demand, const Settings& settings);
  bool for_encoders = false;  // has an answer for models that cache nothing between calls
};

// In the order in which they are listed.
const std::vector<KvLayout>& layouts();

struct ChosenLayout {
  const KvLayout* layout;
  Settings settings;
  std::string text;  // as it was asked for, such as "vllm:block-size=32"
};

// On the rank with the most bytes. Throws UsageError where the engine does not have the type or
// what it does with the model is not known, and NotServed.
Allocation allocate(const ChosenLayout& chosen, const std::vector<Stage>& stages,
                    const Demand& demand);
Allocation allocate(const ChosenLayout& chosen, const Model& model, const Demand& demand);

}  // namespace swa
