// No input breaks the band kernel for speed. Needs a Hopper GPU; says where there is none.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "gpu/here.hpp"
#include "kernels/forward.hpp"
#include "verify/comparison.hpp"

using namespace swa;
using swa::test::has_gpu;

namespace {

Problem layer(Index window, Index head_dim, Dtype dtype) {
  Problem p;
  p.n_q = p.n_k = 700;
  p.window = Window::causal(window);
  p.heads_q = 16;
  p.heads_kv = 2;
  p.head_dim = head_dim;
  p.dtype = dtype;
  return p;
}

const Kernel* band_kernel() {
  static const std::vector<Kernel> kAll = gpu_kernels();
  const auto found =
      std::find_if(kAll.begin(), kAll.end(), [](const Kernel& k) { return k.name == "sm90-band"; });
  if (found == kAll.end() || found->unsupported(layer(128, 64, Dtype::bf16))) {
    std::printf("swa test skipped: the band kernel needs a Hopper GPU\n");
    return nullptr;
  }
  return &*found;
}

// Calls `use` for one instance of each kind: merged and general, one pass and several.
template <class Use>
void for_each_layer(Use use) {
  for (const Index head_dim : {64, 128}) {
    for (const Index window : {16, 100, 128, 200}) {
      for (const Dtype dtype : {Dtype::bf16, Dtype::fp16}) {
        const Problem p = layer(window, head_dim, dtype);
        CAPTURE(options(p));
        use(p);
      }
    }
  }
}

void check_right(const Kernel& kernel, const Problem& p, const Inputs& inputs) {
  const Attention got = run_poisoned(kernel, p, inputs);
  const Oracle expected = oracle(p, inputs);
  CHECK(compare_output(expected, Tolerance(p, kernel.sums), got.out).pass());
  CHECK(compare_lse(expected, Tolerance(p, kernel.sums), got.lse).pass());
  // Whatever the scores are, an output is a mean of values.
  double largest = 0, most = 0;
  for (const double v : inputs.v.data) largest = std::max(largest, std::abs(v));
  for (const double o : got.out.data) most = std::isfinite(o) ? std::max(most, std::abs(o)) : 1e99;
  CHECK(most <= largest * (1 + 0x1p-6));
}

}  // namespace

TEST_CASE("gpu: band: one huge outlier in otherwise flat rows") {
  const Kernel* const kernel = has_gpu() ? band_kernel() : nullptr;
  if (kernel == nullptr) return;
  for_each_layer([&](const Problem& p) {
    Inputs inputs = make_inputs(p);
    std::fill(inputs.q.data.begin(), inputs.q.data.end(), 1);
    std::fill(inputs.k.data.begin(), inputs.k.data.end(), 0.0078125);
    for (Index d = 0; d < p.head_dim; ++d) inputs.k.row(0, 1, 300)[d] = 8192;
    check_right(*kernel, p, inputs);
  });
}

TEST_CASE("gpu: band: rows whose scores are all the same, of any size") {
  const Kernel* const kernel = has_gpu() ? band_kernel() : nullptr;
  if (kernel == nullptr) return;
  for_each_layer([&](const Problem& p) {
    for (const double size : {0.0, 1.0, -1.0, 64.0, 2048.0, -16384.0}) {
      Inputs inputs = make_inputs(p);
      std::fill(inputs.q.data.begin(), inputs.q.data.end(), 1);
      std::fill(inputs.k.data.begin(), inputs.k.data.end(), size);
      check_right(*kernel, p, inputs);
    }
  });
}

TEST_CASE("gpu: band: the largest and the smallest numbers of bf16") {
  const Kernel* const kernel = has_gpu() ? band_kernel() : nullptr;
  if (kernel == nullptr) return;
  for (const Index head_dim : {64, 128}) {
    for (const Index window : {16, 100, 128, 200}) {
      const Problem p = layer(window, head_dim, Dtype::bf16);
      CAPTURE(options(p));
      // Factors and values. The scores stay finite in fp32, and so do sums of 200 values: weights
      // are normalised after they have been added up.
      for (const auto& [q, k, v] : {std::array{0x1p59, 0x1p58, 1.0},
                                    {0x1p-133, 0x1p-126, 1.0},
                                    {0x1.FEp127, 0x1p-127, 0x1p119},
                                    {1.0, 1.0, 0x1p-133}}) {
        Inputs inputs = make_inputs(p);
        for (Index i = 0; i < p.n_q; ++i) {
          for (Index h = 0; h < p.heads_q; ++h) {
            for (Index d = 0; d < head_dim; ++d) inputs.q.row(0, h, i)[d] = (i + d) % 3 ? q : -q;
          }
          for (Index h = 0; h < p.heads_kv; ++h) {
            for (Index d = 0; d < head_dim; ++d) {
              inputs.k.row(0, h, i)[d] = (i * 7 + d) % 5 ? k : -k;
              inputs.v.row(0, h, i)[d] = (i + d) % 2 ? v : -v;
            }
          }
        }
        check_right(*kernel, p, inputs);
      }
    }
  }
}

TEST_CASE("gpu: band: two runs are equal bit by bit") {
  const Kernel* const kernel = has_gpu() ? band_kernel() : nullptr;
  if (kernel == nullptr) return;
  for_each_layer([&](const Problem& p) {
    const Inputs inputs = make_inputs(p);
    const Attention first = run_poisoned(*kernel, p, inputs);
    const Attention second = run_poisoned(*kernel, p, inputs);
    CHECK(same_bits(first.out, second.out));
    CHECK(same_bits(first.lse, second.lse));
  });
}
