// The references give the same bits on any number of threads, each time they run.
#include <doctest/doctest.h>

#include "parallel.hpp"
#include "problem/problem.hpp"
#include "reference/oracle.hpp"
#include "reference/tiled.hpp"

using namespace swa;

namespace {

Problem large_enough() {
  Problem p;  // several blocks, the last of them short, and several runs of keys
  p.heads_q = 2;
  p.n_q = 300;
  p.n_k = 1700;
  p.head_dim = 24;
  p.window = Window::causal(1300);
  p.sinks = 5;
  return p;
}

}  // namespace

TEST_CASE("the references do not depend on the number of threads") {
  const Problem p = large_enough();
  const Inputs inputs = make_inputs(p);
  const Index before = thread_count();
  set_thread_count(1);
  const Oracle band = band_oracle(p, inputs), dense = dense_oracle(p, inputs);
  const TiledResult tiled = tiled_forward<float>(p, inputs, {});
  for (const Index threads : {1, 2, 3, 8}) {
    CAPTURE(threads);
    set_thread_count(threads);
    const Oracle band_again = band_oracle(p, inputs), dense_again = dense_oracle(p, inputs);
    const TiledResult tiled_again = tiled_forward<float>(p, inputs, {});
    CHECK(band_again.out.data == band.out.data);
    CHECK(band_again.lse.data == band.lse.data);
    CHECK(band_again.abs_output.data == band.abs_output.data);
    CHECK(dense_again.out.data == dense.out.data);
    CHECK(tiled_again.out.data == tiled.out.data);
    CHECK(tiled_again.lse.data == tiled.lse.data);
  }
  set_thread_count(before);
}
