// The mask and the tile ranges compile for the device and are constant expressions there.
#include "mask/window.hpp"
#include "tiles/tiles.hpp"

using namespace swa;

constexpr Mask kMask = Mask::make(Window::causal(100), 4, 96, 600, Anchor::bottom_right);
static_assert(kMask.q_offset == 504);
static_assert(sees(kMask, 0, 405) && !sees(kMask, 0, 404) && sees(kMask, 0, 3));
static_assert(keys_of_row(kMask, 0).size() == 104);
static_assert(tiles_of_query_tile(kMask, {64, 64}, 0).band.begin == 6);
static_assert(classify(kMask, {64, 64}, 0, 6) == TileClass::partial);

__global__ void count_keys(Mask mask, TileShape tile, Index* keys, Index* visited) {
  const Index row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= mask.n_q) return;
  Index count = 0;
  for (Index key = 0; key < mask.n_k; ++key) count += sees(mask, row, key);
  keys[row] = count - keys_of_row(mask, row).size();  // 0
  visited[row] = tiles_of_query_tile(mask, tile, row / tile.BM).size();
}
