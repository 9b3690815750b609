#include "tensor/random.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>

namespace swa {
namespace {

__extension__ typedef unsigned __int128 Uint128;

Uint128 join(std::uint64_t high, std::uint64_t low) {
  return (Uint128{high} << 64) | low;
}

std::uint64_t high_half(Uint128 value) {
  return static_cast<std::uint64_t>(value >> 64);
}

std::uint64_t low_half(Uint128 value) {
  return static_cast<std::uint64_t>(value);
}

// ---- SeedSequence ----

// A multiplicative hash whose constant changes with every word it takes.
class WordHash {
 public:
  WordHash(std::uint32_t start, std::uint32_t factor) : constant_(start), factor_(factor) {}

  std::uint32_t operator()(std::uint32_t word) {
    word ^= constant_;
    constant_ *= factor_;
    word *= constant_;
    return word ^ (word >> 16);
  }

 private:
  std::uint32_t constant_;
  std::uint32_t factor_;
};

std::uint32_t mix(std::uint32_t into, std::uint32_t word) {
  std::uint32_t mixed = 0xca01f9ddU * into - 0x4973f715U * word;
  return mixed ^ (mixed >> 16);
}

// SeedSequence(seed).generate_state(4, uint64).
std::array<std::uint64_t, 4> spread_seed(std::uint64_t seed) {
  // A pool word without entropy counts as 0, so a seed below 2^32 needs no case of its own.
  std::array<std::uint32_t, 4> pool = {static_cast<std::uint32_t>(seed),
                                       static_cast<std::uint32_t>(seed >> 32), 0, 0};
  WordHash absorb(0x43b0d7e5U, 0x931e8875U);
  for (std::uint32_t& word : pool) word = absorb(word);
  for (std::size_t source = 0; source < pool.size(); ++source) {
    for (std::size_t target = 0; target < pool.size(); ++target) {
      if (source != target) pool[target] = mix(pool[target], absorb(pool[source]));
    }
  }

  WordHash squeeze(0x8b51f9ddU, 0x58f38dedU);
  std::array<std::uint64_t, 4> words{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::uint64_t low = squeeze(pool[2 * i % pool.size()]);
    std::uint64_t high = squeeze(pool[(2 * i + 1) % pool.size()]);
    words[i] = (high << 32) | low;
  }
  return words;
}

// ---- PCG64 ----

Uint128 advance(Uint128 state, Uint128 increment) {
  return state * join(0x2360ed051fc65da4U, 0x4385df649fccf645U) + increment;
}

// ---- Ziggurat ----

constexpr std::size_t kStrips = 256;
constexpr double kTailStart = 3.6541528853610088;
constexpr double kStripArea = 0.004928673233974652;

// Strip i > 0 reaches from 0 to edge[i], and from the height of the density there up to its height
// at the next strip's edge (i - 1; for strip 1 the peak). Strip 0 is the bottom one: everything
// below the density at edge[255], where the tail starts, seen as a rectangle of the same area.
struct Strips {
  std::array<double, kStrips> scale;          // edge * 2^-52: 52 random bits to an abscissa
  std::array<std::uint64_t, kStrips> inside;  // fewer bits than this: under the curve for sure
  std::array<double, kStrips> density;
};

// exp(-x^2/2). Through long double, so that the tables do not depend on the last bit of a
// platform's double functions (the logarithm below likewise).
double density_at(double x) {
  return static_cast<double>(std::exp(-0.5L * (x * x)));
}

Strips make_strips() {
  // The exponential that made NumPy's tables was one unit in the last place high here, and what
  // follows from it down the recursion has to be reproduced.
  constexpr std::size_t kOneUlpHigh = 38;

  std::array<double, kStrips> edge{};
  Strips strips{};
  edge[255] = kTailStart;
  strips.density[255] = density_at(kTailStart);
  edge[0] = kStripArea / strips.density[255];
  strips.density[0] = 1.0;
  for (std::size_t i = kStrips - 2; i > 0; --i) {
    // Each strip has the same area, which gives the height of its top and so the next edge.
    long double top = kStripArea / edge[i + 1] + strips.density[i + 1];
    edge[i] = std::sqrt(-2.0 * static_cast<double>(std::log(top)));
    strips.density[i] = density_at(edge[i]);
    if (i == kOneUlpHigh) strips.density[i] = std::nextafter(strips.density[i], 1.0);
  }

  for (std::size_t i = 0; i < kStrips; ++i) {
    strips.scale[i] = edge[i] * 0x1p-52;
    // A strip is under the curve as far as the curve's abscissa at its top: nowhere at the peak.
    double reach = edge[(i + kStrips - 1) % kStrips];
    if (i == 1) reach = 0.0;
    // NumPy's bounds are rounded to the nearest integer, ties to even, not cut off.
    strips.inside[i] = static_cast<std::uint64_t>(std::nearbyint(reach / edge[i] * 0x1p52));
  }
  return strips;
}

const Strips& strips() {
  // Local, so that it exists whenever another static object may ask for deviates.
  static const Strips kTables = make_strips();
  return kTables;
}

}  // namespace

NormalStream::NormalStream(std::uint64_t seed) {
  std::array<std::uint64_t, 4> words = spread_seed(seed);
  // The increment must be odd; a step, the start added, and a step more is PCG's way to begin.
  Uint128 increment = (join(words[2], words[3]) << 1) | 1;
  Uint128 state = advance(increment + join(words[0], words[1]), increment);
  state_high_ = high_half(state);
  state_low_ = low_half(state);
  increment_high_ = high_half(increment);
  increment_low_ = low_half(increment);
}

std::uint64_t NormalStream::next_word() {
  // NumPy's PCG64 puts out the state after the step.
  Uint128 state = advance(join(state_high_, state_low_), join(increment_high_, increment_low_));
  state_high_ = high_half(state);
  state_low_ = low_half(state);
  return std::rotr(state_high_ ^ state_low_, static_cast<int>(state_high_ >> 58));
}

double NormalStream::next_uniform() {
  return static_cast<double>(next_word() >> 11) * 0x1p-53;
}

double NormalStream::next() {
  const Strips& table = strips();
  while (true) {
    // From the lowest bit: 8 of the strip, 1 of the sign, 52 of the abscissa.
    std::uint64_t word = next_word();
    std::size_t strip = word & 0xff;
    std::uint64_t position = (word >> 9) & 0x000f'ffff'ffff'ffff;
    double magnitude = static_cast<double>(position) * table.scale[strip];
    double deviate = (word >> 8) & 1 ? -magnitude : magnitude;
    if (position < table.inside[strip]) return deviate;

    if (strip == 0) {
      // Marsaglia's tail: an exponential beyond the tail's start, accepted by a second one.
      // The sign comes from a bit of the position, not from the sign bit, as in NumPy.
      bool negative = (position >> 8) & 1;
      while (true) {
        // NumPy multiplies by this reciprocal; a division would differ in the last bit.
        double beyond = -0.27366123732975828 * std::log1p(-next_uniform());
        double height = -std::log1p(-next_uniform());
        if (height + height > beyond * beyond) {
          return negative ? -(kTailStart + beyond) : kTailStart + beyond;
        }
      }
    }

    // The wedge: a uniform height within the strip, accepted when under the curve.
    double bottom = table.density[strip];
    double height = (table.density[strip - 1] - bottom) * next_uniform() + bottom;
    if (height < std::exp(-0.5 * deviate * deviate)) return deviate;
  }
}

void NormalStream::fill(std::span<double> values) {
  for (double& value : values) value = next();
}

void NormalStream::fill_uniform(std::span<double> values) {
  for (double& value : values) value = next_uniform();
}

}  // namespace swa
