#include "verify/timed_kernel.hpp"

#include "reference/oracle.hpp"
#include "tiles/counts.hpp"
#include "verify/kernel.hpp"

namespace swa {
namespace {

// Over all sequences, of one head.
double sum_over_sequences(const Problem& p, const std::function<double(const Mask&)>& count) {
  double sum = 0;
  for (const SharedMask& s : shared_masks(p)) {
    sum += count(s.mask) * static_cast<double>(s.sequences);
  }
  return sum;
}

double visible(const Problem& p) {
  return sum_over_sequences(
      p, [](const Mask& mask) { return static_cast<double>(visible_pairs(mask)); });
}

// Pairs of the tiles that an exact kernel visits, edge tiles cut to the problem.
double visited_pairs(const Mask& mask, TileShape tile) {
  double pairs = 0;
  for (Index i = 0; i < query_tiles(mask, tile); ++i) {
    const TileWalk walk = tiles_of_query_tile(mask, tile, i);
    Index keys = 0;
    for (const TileRange& range : {walk.sinks, walk.band}) {
      if (range.size() > 0) keys += smaller(range.end * tile.BN, mask.n_k) - range.begin * tile.BN;
    }
    pairs += static_cast<double>(rows_of_tile(mask, tile, i).size()) * static_cast<double>(keys);
  }
  return pairs;
}

TimedKernel tiled(TileShape tile) {
  const Kernel kernel = cpu_kernels(tile).front();
  TimedKernel timed;
  timed.name = kernel.name;
  timed.issued_means = "pairs of the visited tiles";
  timed.products_with_v = 1;
  timed.in_double = [](const Problem& p) { return p.dtype == Dtype::fp64; };
  timed.issued_pairs = [tile](const Problem& p) {
    return sum_over_sequences(p, [tile](const Mask& mask) { return visited_pairs(mask, tile); });
  };
  timed.block = [tile](const Problem& p) {
    return GemmShape{smaller(tile.BM, p.n_q), smaller(tile.BN, p.n_k), p.head_dim};
  };
  timed.run = kernel.run;
  return timed;
}

TimedKernel oracle_kernel(const std::string& name,
                          Oracle (*compute)(const Problem&, const Inputs&)) {
  TimedKernel timed;
  timed.name = name;
  timed.products_with_v = 2;
  timed.in_double = [](const Problem&) { return true; };
  timed.block = [](const Problem& p) {
    return GemmShape{band_oracle_rows(p), larger(1, band_oracle_keys(p)), p.head_dim};
  };
  timed.run = [compute](const Problem& p, const Inputs& inputs, Attention& outputs) {
    outputs = Attention(compute(p, inputs));
  };
  return timed;
}

}  // namespace

double TimedKernel::useful_flops(const Problem& p) const {
  const double dims = static_cast<double>(p.head_dim) + static_cast<double>(p.value_dim());
  return static_cast<double>(p.heads_q) * 2 * dims * visible(p);
}

double TimedKernel::issued_flops(const Problem& p) const {
  const double dims = static_cast<double>(p.head_dim) +
                      static_cast<double>(products_with_v) * static_cast<double>(p.value_dim());
  return static_cast<double>(p.heads_q) * 2 * dims * issued_pairs(p);
}

std::vector<TimedKernel> timed_kernels(TileShape tile) {
  TimedKernel band = oracle_kernel("oracle-band", band_oracle);
  band.issued_means = "rows times keys of each block";
  band.issued_pairs = band_oracle_pairs;
  TimedKernel dense = oracle_kernel("oracle-dense", dense_oracle);
  dense.issued_means = "visible pairs";  // it decides n_q n_k of them
  dense.issued_pairs = visible;
  return {tiled(tile), band, dense};
}

}  // namespace swa
