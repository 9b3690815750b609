#include "kernels/resources/describe.hpp"

#include <cxxabi.h>

#include <charconv>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

#include "kernels/launch/band.hpp"
#include "kernels/launch/decode.hpp"
#include "kernels/launch/naive.hpp"
#include "kernels/launch/prefill_call.hpp"

namespace swa {
namespace {

using Arguments = std::vector<std::string>;

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : name;
}

// Of the template that is opened by `opening`, such as "::naive<"; none of them is a template.
Arguments arguments_of(const std::string& name, std::string_view opening) {
  Arguments arguments;
  std::size_t begin = name.find(opening);
  if (begin == std::string::npos) return arguments;
  begin += opening.size();
  const std::size_t end = name.find('>', begin);
  while (begin < end && end != std::string::npos) {
    const std::size_t comma = std::min(name.find(", ", begin), end);
    arguments.push_back(name.substr(begin, comma - begin));
    begin = comma + 2;
  }
  return arguments;
}

std::optional<Dtype> element(const std::string& type) {
  if (type == "double") return Dtype::fp64;
  if (type == "float") return Dtype::fp32;
  if (type == "__nv_bfloat16") return Dtype::bf16;
  if (type == "__half") return Dtype::fp16;
  return std::nullopt;
}

// Of "128", or of an enumerator "(swa::TileLoop)1" where `prefix` is "(swa::TileLoop)".
std::optional<int> number(std::string_view text, std::string_view prefix = {}) {
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string word(Scores scores) {
  return scores == Scores::plain ? "plain" : "general";
}

// Element, head_dim, head_dim_v and Scores, with which the portable kernels begin.
bool describe_portable(Resources& r, const Arguments& arguments) {
  const auto dtype = element(arguments[0]);
  const auto head_dim = number(arguments[1]), head_dim_v = number(arguments[2]);
  const auto scores = number(arguments[3], "(swa::Scores)");
  if (!dtype || !head_dim || !head_dim_v || !scores) return false;
  r.dtype = *dtype;
  r.head_dim = *head_dim;
  r.head_dim_v = *head_dim_v;
  r.variant = word(static_cast<Scores>(*scores));
  return true;
}

bool describe_prefill(Resources& r, const Arguments& arguments) {
  if (arguments.size() != 6 || !describe_portable(r, arguments)) return false;
  const auto walk = number(arguments[4], "(swa::TileLoop)");
  const auto planted = number(arguments[5], "(swa::Planted)");
  const PrefillTile tile = prefill_tile(r.head_dim, r.head_dim_v);
  if (!walk || !planted || tile.BM == 0) return false;
  const bool bounded = static_cast<TileLoop>(*walk) == TileLoop::window;
  r.kernel = bounded ? "portable-prefill" : "portable-mask-only";
  for (const PlantedFault& one : kPlantedFaults) {
    if (static_cast<Planted>(*planted) == one.planted) r.variant = std::string(one.fault);
  }
  r.BM = tile.BM;
  r.BN = tile.BN;
  r.threads = tile.threads();
  r.smem_bytes += tile.smem_bytes();
  return true;
}

// One instance for both loops.
bool describe_prefill_fp32(Resources& r, const Arguments& arguments) {
  if (arguments.size() != 2) return false;
  const auto dtype = number(arguments[0], "(swa::Dtype)"), dim = number(arguments[1]);
  const Fp32Tile tile = dim ? fp32_tile(*dim) : Fp32Tile();
  if (!dtype || tile.BM == 0) return false;
  r.kernel = "portable-prefill";
  r.variant = word(Scores::general);
  r.dtype = static_cast<Dtype>(*dtype);
  r.head_dim = r.head_dim_v = tile.dim;
  r.BM = tile.BM;
  r.BN = tile.BN;
  r.threads = tile.threads();
  r.smem_bytes += tile.smem_bytes();
  return true;
}

bool describe_decode(Resources& r, const Arguments& arguments) {
  if (arguments.size() != 4 || !describe_portable(r, arguments)) return false;
  const DecodeTile tile = decode_tile(r.head_dim, r.head_dim_v);
  if (tile.warps == 0) return false;
  r.kernel = "portable-decode";
  r.BM = DecodeTile::kRows;
  r.BN = DecodeTile::kKeys;
  r.threads = tile.threads();
  r.smem_bytes += tile.smem_bytes();
  return true;
}

bool describe_band(Resources& r, const Arguments& arguments) {
  if (arguments.size() != 2) return false;
  const auto dtype = element(arguments[0]);
  const auto instance = number(arguments[1]);
  if (!dtype || !instance || *instance >= static_cast<int>(kBandTiles.size())) return false;
  const BandTile& tile = kBandTiles[static_cast<std::size_t>(*instance)];
  r.kernel = "sm90-band";
  r.variant = tile.merged ? "merged" : "general";
  r.dtype = *dtype;
  r.head_dim = r.head_dim_v = tile.head_dim;
  r.BM = BandTile::kRows;
  r.BN = 8 * tile.blocks;
  r.threads = tile.threads();
  r.smem_bytes += kHopper.shared_per_block;  // the ring takes what there is
  return true;
}

bool describe_naive(Resources& r, const Arguments& arguments) {
  if (arguments.size() != 3) return false;
  const auto dtype = element(arguments[0]);
  if (!dtype) return false;
  r.kernel = "naive";
  r.variant = arguments[2] == "true" ? "oracle" : word(Scores::general);
  r.dtype = *dtype;
  r.threads = 32 * kNaiveWarps;
  return true;
}

}  // namespace

Resources describe(const CompiledKernel& compiled) {
  Resources r;
  r.arch = compiled.arch;
  r.registers = compiled.registers;
  r.spill_stores = compiled.spill_stores;
  r.spill_loads = compiled.spill_loads;
  r.smem_bytes = compiled.static_smem;
  r.one_by_one = compiled.one_by_one;
  r.mma = compiled.mma;
  r.copies = compiled.copies;
  r.mma_scores = compiled.mma_plain;
  r.mma_values = compiled.mma_transposed;
  r.mma_unknown = compiled.mma_other;
  Resources described = r;
  const std::string name = demangled(compiled.entry);
  if (describe_prefill(described, arguments_of(name, "swa::portable::Prefill<")) ||
      describe_prefill_fp32(described, arguments_of(name, "swa::portable::PrefillFp32<")) ||
      describe_decode(described, arguments_of(name, "swa::portable::Decode<")) ||
      describe_band(described, arguments_of(name, "swa::sm90::Band<")) ||
      describe_naive(described, arguments_of(name, "::naive<"))) {
    return described;
  }
  r.kernel = name;
  return r;
}

}  // namespace swa
