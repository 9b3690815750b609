// What a plug-in is given: the struct, the elements, the guard bands.
#include "verify/plugin.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "verify/elements.hpp"
#include "verify/plugin_memory.hpp"
#include "verify/plugin_problem.hpp"
#include "verify/plugin_tensors.hpp"

using namespace swa;

namespace {

std::uint16_t bits_of(Dtype dtype, double x) {
  std::uint16_t bits = 0;
  pack(dtype, std::span(&x, 1), reinterpret_cast<std::byte*>(&bits));
  return bits;
}

double value_of(Dtype dtype, std::uint16_t bits) {
  double x = 0;
  unpack(dtype, reinterpret_cast<const std::byte*>(&bits), std::span(&x, 1));
  return x;
}

}  // namespace

TEST_CASE("every 16-bit pattern survives and is a number of its dtype") {
  for (const Dtype dtype : {Dtype::bf16, Dtype::fp16}) {
    CAPTURE(name(dtype));
    double before = 0;
    for (int i = 0; i < 1 << 16; ++i) {
      const auto bits = static_cast<std::uint16_t>(i);
      const double x = value_of(dtype, bits);
      if (std::isnan(x)) continue;
      REQUIRE(bits_of(dtype, x) == bits);
      REQUIRE(round_to(dtype, x) == x);
      if (i > 0 && i < 0x8000) REQUIRE(x > before);
      before = x;
    }
  }
  CHECK(bits_of(Dtype::fp16, 1) == 0x3c00);
  CHECK(bits_of(Dtype::fp16, -65504) == 0xfbff);
  CHECK(bits_of(Dtype::fp16, 0x1p-24) == 0x0001);
  CHECK(bits_of(Dtype::bf16, 1) == 0x3f80);
  CHECK(bits_of(Dtype::bf16, -std::numeric_limits<double>::infinity()) == 0xff80);
  CHECK(bits_of(Dtype::bf16, -0.0) == 0x8000);
}

TEST_CASE("an element that is not written is told from a computed NaN in every dtype") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Dtype dtype : {Dtype::fp64, Dtype::fp32, Dtype::bf16, Dtype::fp16}) {
    CAPTURE(name(dtype));
    alignas(8) std::array<std::byte, 24> bytes_of{};
    poison(dtype, bytes_of.data(), 3);
    pack(dtype, std::span(&nan, 1), bytes_of.data() + bytes(dtype));
    std::array<double, 3> values{};
    unpack(dtype, bytes_of.data(), values);
    CHECK(is_unwritten(values[0]));
    CHECK(std::isnan(values[1]));
    CHECK_FALSE(is_unwritten(values[1]));
    CHECK(is_unwritten(values[2]));
  }
  CHECK(is_unwritten(poisoned_outputs(Problem()).out.data[63]));
}

TEST_CASE("the struct states each kind of mask") {
  struct Row {
    Window window;
    swa_int left, right, chunk, W;
  };
  for (const Row& row :
       {Row{Window::global(), -1, 0, 0, 0}, Row{Window::causal(100), 99, 0, 0, 100},
        Row{Window::causal(kMaxIndex), kMaxIndex - 1, 0, 0, kMaxIndex},
        Row{Window::band(Side::of(3), Side::of(5)), 3, 5, 0, 0},
        Row{Window::band(Side::unbounded(), Side::of(5)), -1, 5, 0, 0},
        Row{Window::band(Side::of(3), Side::unbounded()), 3, -1, 0, 0},
        Row{Window::chunked(16), -1, 0, 16, 0}}) {
    Problem p;
    p.window = row.window;
    const swa_attention a = attention_of(p, SWA_DESCRIBE);
    CAPTURE(options(row.window));
    CHECK(a.left == row.left);
    CHECK(a.right == row.right);
    CHECK(a.chunk == row.chunk);
    CHECK(a.window == row.W);
  }
}

TEST_CASE("the struct states sizes strides and sequences") {
  Problem p;
  p.heads_q = 4;
  p.heads_kv = 2;
  p.head_dim = 8;
  p.head_dim_v = 16;
  p.batch = 3;
  p.lengths_q = {5, 0, 9};
  p.lengths_k = {12, 3, 9};
  p.n_q = 9;
  p.n_k = 12;
  p.layout = Layout::packed;
  p.dtype = Dtype::bf16;
  p.sink_logits = true;
  const swa_attention a = attention_of(p, SWA_FORWARD);
  CHECK(a.version == SWA_PLUGIN_VERSION);
  CHECK(a.struct_size == sizeof a);
  CHECK(a.task == SWA_FORWARD);
  CHECK(a.dtype == SWA_BF16);
  CHECK(a.layout == SWA_PACKED);
  CHECK(a.has_sink_logits == 1);
  CHECK(a.scale == doctest::Approx(1 / std::sqrt(8)));
  CHECK(a.q_strides[0] == 4 * 14 * 8);
  CHECK(a.k_strides[1] == 24 * 8);
  CHECK(a.v_strides[2] == 16);
  CHECK(a.out_strides[1] == 14 * 16);
  CHECK(a.lse_strides[1] == 14);
  CHECK(a.lse_strides[2] == 1);
  const SequenceArrays arrays = sequence_arrays(p);
  CHECK(arrays.lengths_q == std::vector<swa_int>{5, 0, 9});
  CHECK(arrays.offsets_q == std::vector<swa_int>{0, 5, 5, 14});
  CHECK(arrays.offsets_k == std::vector<swa_int>{0, 12, 15, 24});
  p.layout = Layout::padded;
  CHECK(sequence_arrays(p).offsets_q.empty());
  CHECK(sequence_arrays(Problem()).lengths_q.empty());
}

TEST_CASE("a guard band says how far a write went") {
  SharedMemory shared;
  GuardedRegions regions;
  const std::size_t first = regions.add("q", 10, 2), second = regions.add("out", 4096, 4);
  shared.grow(regions.end());
  const auto overrun_of = [&](std::size_t at) {
    regions.fill_guards(shared.data());
    shared.data()[at] = std::byte{1};
    return regions.overrun(shared.data()).value_or("");
  };
  CHECK(first % kGuardBytes == 4096);
  CHECK(overrun_of(second) == "");
  CHECK(overrun_of(second + 4095) == "");
  CHECK(overrun_of(second + 4096) == "out, as far as 1 element past its end");
  CHECK(overrun_of(second + 4096 + 41) == "out, as far as 11 elements past its end");
  CHECK(overrun_of(second - 5) == "out, as far as 2 elements before its beginning");
  CHECK(overrun_of(first + 10) == "q, as far as 1 element past its end");
  CHECK(overrun_of(second + 4096 + kGuardBytes - 1) ==
        "out, as far as 16384 elements or more past its end");
}

TEST_CASE("a write into any input is found, and where") {
  Problem p;
  p.n_q = p.n_k = 700;
  p.heads_q = p.heads_kv = 2;
  const Inputs inputs = make_inputs(p);
  SharedMemory shared;
  const PluginTensors tensors(shared, p, &inputs, true);
  CHECK_NOTHROW(tensors.check());
  const Request request = tensors.request(attention_of(p, SWA_FORWARD));
  // Element [0, 1, 699, 63] of v: beyond the first few thousand, the last byte of all.
  const std::size_t v = request.offsets[static_cast<std::size_t>(Slot::v)];
  shared.data()[v + 2 * 700 * 64 * 4 - 1] ^= std::byte{1};
  CHECK_THROWS_WITH_AS(tensors.check(),
                       "the plug-in wrote into its input v, first at [0, 1, 699, 63]", PluginError);
}
