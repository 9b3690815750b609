#include "tensor/counter_stream.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "parallel.hpp"
#include "problem/problem.hpp"

namespace swa {
namespace {

using Words = std::array<std::uint32_t, 4>;

std::uint64_t bits(double value) {
  return std::bit_cast<std::uint64_t>(value);
}

Problem small(Stream stream) {
  Problem p;
  p.n_q = 3;
  p.n_k = 5;
  p.head_dim = 2;
  p.dtype = Dtype::fp64;
  p.stream = stream;
  return p;
}

}  // namespace

TEST_CASE("Philox4x32-10 gives the known answers of its authors") {
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  const std::uint32_t ones = 0xffffffff;
  CHECK(philox({ones, ones, ones, ones}, {ones, ones}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  // Of the digits of pi.
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

// The Python of docs/numerics.md printed these.
TEST_CASE("normal numbers of the counter stream have the bits of its recipe") {
  struct Row {
    std::uint64_t seed;
    std::uint32_t tensor;
    std::array<std::uint64_t, 8> first;
    std::uint64_t far;  // element 2^34 + 1
  };
  const std::array<Row, 4> rows{
      {{0,
        0,
        {0x3fefb7665dc75752, 0xbfed96d5ff1f1a43, 0xbfe3c373dd837701, 0xbfdeda3633efbfb3,
         0xbfc3aa6ae2fd028f, 0x3fc7254d92db8bea, 0x3fea9d92f0307a5f, 0x3fc945b4687c2316},
        0xbfe5a0d56c40009e},
       {0,
        2,
        {0xbfe41241c6fa6286, 0xc00526989269c659, 0xbffe8120e4f7ea1c, 0x3fdaa8b67150a13c,
         0x3fea02bd62c54922, 0x3fed8fe1129aa9bc, 0xbfe088ab12173c36, 0x3fd0c8d42a0dca21},
        0x4006c00e0529db62},
       {0xffffffffffffffff,
        3,
        {0x3fcf5df87f75d95f, 0xc00081fba4f68c4e, 0xbff4525b15b548c6, 0xbfecdaf4e3c24dc2,
         0xbfe4d6bb549191b8, 0xc003528ac3f9e0bb, 0x3ffada3cc15d1983, 0x3fd1ee99881100ba},
        0xbff3df33909f7aaa},
       {0x123456789abcdef0,
        1,
        {0x3fefeb68ea4586be, 0x3ff6a490f717da5f, 0xbfe3ad9575a2b2cd, 0x3ff17672c7ef4b69,
         0xbfcc35f63afc20b9, 0xbfd68f784a338c59, 0xbfe99b1eef4a5868, 0xbfe497459f3c51aa},
        0xbfe600492c2a54b7}}};
  for (const Row& row : rows) {
    CAPTURE(row.seed);
    const CounterStream stream{row.seed, row.tensor};
    std::vector<double> values(8), far(2);
    stream.fill(values, 0);
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(bits(values[i]) == row.first[i]);
    stream.fill(far, Index{1} << 34);
    CHECK(bits(far[1]) == row.far);
  }
  std::vector<double> many(100'000);
  CounterStream{7, 1}.fill(many, 0);
  std::uint64_t hash = 1469598103934665603;
  for (const double value : many) hash = (hash ^ bits(value)) * 1099511628211;
  CHECK(hash == 0xd57aa0763c16ec39);
}

TEST_CASE("normal numbers of the counter stream are those of Box and Muller") {
  constexpr std::size_t kCount = 400'000;
  constexpr double kTurn = 6.283185307179586;
  std::vector<double> values(kCount);
  CounterStream{3, 0}.fill(values, 0);
  double sum = 0, squares = 0, fourth = 0, worst = 0;
  for (std::size_t i = 0; i < kCount; i += 2) {
    const Words words = philox({static_cast<std::uint32_t>(i / 4), 0, 0, 0}, {3, 0});
    const double radius = std::sqrt(-2 * std::log((words[i % 4] + 0.5) * 0x1p-32));
    const double angle = words[i % 4 + 1] * 0x1p-32 * kTurn;
    worst = std::fmax(worst, std::fabs(values[i] - radius * std::cos(angle)));
    worst = std::fmax(worst, std::fabs(values[i + 1] - radius * std::sin(angle)));
  }
  CHECK(worst < 0x1p-47);  // an angle below 2 pi and a radius below 8 have so many bits
  for (const double x : values) {
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  // Five standard deviations of each mean.
  const double width = 5 / std::sqrt(double{kCount});
  CHECK(std::fabs(sum / kCount) < width);
  CHECK(std::fabs(squares / kCount - 1) < width * std::sqrt(2));
  CHECK(std::fabs(fourth / kCount - 3) < width * std::sqrt(96));
}

TEST_CASE("an element of the counter stream depends on its place alone") {
  const CounterStream stream{5, 1};
  std::vector<double> whole(1003), part(7), uniform(1003);
  stream.fill(whole, 0);
  stream.fill(part, 40);
  for (std::size_t i = 0; i < part.size(); ++i) CHECK(part[i] == whole[40 + i]);
  stream.fill_uniform(uniform, 0);
  CHECK(uniform[4] == philox({1, 0, 1, 0}, {5, 0})[0] * 0x1p-32);

  Problem p = small(Stream::counter);
  p.n_q = 40'000;  // more than one part of a thread
  const Inputs inputs = make_inputs(p);
  const Index usual = thread_count();
  set_thread_count(1);
  CHECK(make_inputs(p).q.data == inputs.q.data);
  set_thread_count(3);
  CHECK(make_inputs(p).q.data == inputs.q.data);
  set_thread_count(usual);
  std::vector<double> q(inputs.q.data.size());
  CounterStream{p.seed, 0}.fill(q, 0);
  CHECK(q == inputs.q.data);
}

TEST_CASE("inputs of the counter stream: a tensor each and rounded") {
  Problem p = small(Stream::counter);
  p.sink_logits = true;
  const auto drawn = [&](std::uint32_t tensor, std::size_t count) {
    std::vector<double> values(count);
    CounterStream{p.seed, tensor}.fill(values, 0);
    return values;
  };
  const Inputs inputs = make_inputs(p);
  CHECK(inputs.q.data == drawn(0, 6));
  CHECK(inputs.k.data == drawn(1, 10));
  CHECK(inputs.v.data == drawn(2, 10));
  CHECK(inputs.sink_logits == drawn(3, 1));
  CHECK(make_inputs(small(Stream::numpy)).q.data != inputs.q.data);

  p.dtype = Dtype::bf16;
  p.inputs = Recipe::large;
  const Inputs large = make_inputs(p);
  CHECK(large.k.data[3] == 64 * round_to(Dtype::bf16, inputs.k.data[3]));
  CHECK(large.v.data[3] == round_to(Dtype::bf16, inputs.v.data[3]));
  p.inputs = Recipe::uniform;
  for (const double x : make_inputs(p).q.data) CHECK((x >= 0 && x <= 1));
  CHECK(make_inputs(p).sink_logits[0] == round_to(Dtype::bf16, inputs.sink_logits[0]));
}

TEST_CASE("a problem above 2^28 elements is drawn by place and says so") {
  Problem p;
  p.head_dim = 64;
  p.n_q = 1;
  p.n_k = kMostOfNumpy / 64;
  CHECK(p.drawn_from() == Stream::numpy);
  CHECK(options(p) == "--nq 1 --nk 4194304");
  p.stream = Stream::counter;
  CHECK(options(p) == "--nq 1 --nk 4194304 --stream counter");
  p.stream = {};
  p.n_k += 1;
  CHECK(p.drawn_from() == Stream::counter);
  CHECK(options(p) == "--nq 1 --nk 4194305 --stream counter");
  p.stream = Stream::numpy;
  CHECK(options(p) == "--nq 1 --nk 4194305 --stream numpy");
  p = {};
  p.batch = p.n_q = Index{1} << 60;  // no product wraps around
  CHECK(p.drawn_from() == Stream::counter);
}

}  // namespace swa
