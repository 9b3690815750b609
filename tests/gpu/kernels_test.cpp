// What holds for the GPU kernels beyond their numbers. Needs a GPU; says where there is none.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <span>
#include <vector>

#include "gpu/here.hpp"
#include "kernels/device/call.hpp"
#include "kernels/device/device.hpp"
#include "kernels/device/tensors.hpp"
#include "kernels/forward.hpp"
#include "kernels/gpu_kernel.hpp"
#include "verify/comparison.hpp"
#include "verify/elements.hpp"

using namespace swa;
using swa::test::has_gpu;

namespace {

Problem layer(Window window, Index n_q = 1000) {
  Problem p;
  p.n_q = n_q;
  p.n_k = 1000;
  p.window = window;
  p.heads_q = 8;
  p.heads_kv = 2;
  p.head_dim = 128;
  p.dtype = Dtype::bf16;
  return p;
}

// Every kernel that supports the problem, with what it returns.
template <class Use>
void for_each_kernel(const Problem& p, Use use) {
  for (const Kernel& kernel : gpu_kernels()) {
    if (kernel.unsupported(p)) continue;
    CAPTURE(kernel.name);
    use(kernel, run_poisoned(kernel, p, make_inputs(p)));
  }
}

bool same(const Attention& a, const Attention& b) {
  return same_bits(a.out, b.out) && same_bits(a.lse, b.lse);
}

// `count` elements of a device tensor from element `first` on.
std::vector<double> read_elements(const void* from, Index first, Index count, Dtype dtype) {
  const auto size = static_cast<std::size_t>(bytes(dtype));
  std::vector<std::byte> packed(static_cast<std::size_t>(count) * size);
  SWA_CUDA(cudaMemcpy(packed.data(),
                      static_cast<const std::byte*>(from) + static_cast<std::size_t>(first) * size,
                      packed.size(), cudaMemcpyDeviceToHost));
  std::vector<double> values(static_cast<std::size_t>(count));
  unpack(dtype, packed.data(), values);
  return values;
}

}  // namespace

TEST_CASE("gpu: a window of all keys, a wider one and none agree bit for bit") {
  if (!has_gpu()) return;
  for (const Index n_q : {1000, 4}) {
    const Problem none = layer(Window::global(), n_q);
    for_each_kernel(none, [&](const Kernel& kernel, const Attention& expected) {
      for (const Index window : {1000, 10'000}) {
        const Problem wide = layer(Window::causal(window), n_q);
        CHECK(same(run_poisoned(kernel, wide, make_inputs(wide)), expected));
      }
    });
  }
}

TEST_CASE("gpu: two runs agree bit for bit") {
  if (!has_gpu()) return;
  for (const Index n_q : {1000, 1}) {
    const Problem p = layer(Window::causal(300), n_q);
    for_each_kernel(p, [&](const Kernel& kernel, const Attention& first) {
      CHECK(same(run_poisoned(kernel, p, make_inputs(p)), first));
    });
  }
}

TEST_CASE("gpu: a stack of five local layers and a global one is one plan and six launches") {
  if (!has_gpu()) return;
  // The layers share tensors and workspace; only the window of a launch differs.
  const Problem first = layer(Window::causal(100));
  const Inputs inputs = make_inputs(first);
  for (const GpuKernel& kernel : all_gpu_kernels()) {
    if (kernel.unsupported(first)) continue;
    CAPTURE(kernel.name);
    Workspace workspace;
    GpuLaunch launch = kernel.prepare(first, workspace);
    const device::Tensors tensors(first, inputs, first.dtype);
    const bool one_window = kernel.name == "sm90-band";  // its ring is made for the planned one
    for (int i = 0; i < 6; ++i) {
      const Window window = i < 5 ? Window::causal(100 + i) : Window::causal(first.n_k);
      const Problem one = layer(window);
      if (one_window && i > 0) {
        ForwardParams other = tensors.params();
        other.window = window;
        CHECK(launch(other, nullptr) == cudaErrorInvalidValue);
        if (kernel.unsupported(one)) continue;
        launch = kernel.prepare(one, workspace);
      }
      ForwardParams params = tensors.params();
      params.window = window;
      SWA_CUDA(launch(params, nullptr));
      SWA_CUDA(cudaDeviceSynchronize());
      Attention got = poisoned_outputs(one);
      tensors.read(got);
      const Oracle expected = oracle(one, inputs);
      CHECK(compare_output(expected, Tolerance(one, kernel.sums), got.out).pass());
      CHECK(compare_lse(expected, Tolerance(one, kernel.sums), got.lse).pass());
    }
  }
}

TEST_CASE("gpu: the last sequence of tensors with more than 2^32 elements") {
  if (!has_gpu()) return;
  Problem p;
  p.batch = 129;
  p.heads_q = 64;
  p.heads_kv = 8;
  p.n_q = p.n_k = 4096;
  p.head_dim = 128;
  p.window = Window::causal(128);
  p.dtype = Dtype::bf16;
  REQUIRE(p.query_shape(p.head_dim).size() > Index{1} << 32);
  if (device::tensor_bytes(p, p.dtype) > static_cast<double>(device::spare_bytes())) {
    std::printf("swa test skipped: the GPU's memory does not hold 2^32 elements twice\n");
    return;
  }
  Problem last = p;
  last.batch = 1;
  device::Tensors tensors(p);
  const ForwardParams params = tensors.params();
  const auto of_last = [&](const void* from, const Shape& shape) {
    // [tokens, heads, dim] there.
    const std::vector<double> read =
        read_elements(from, (p.batch - 1) * shape.size(), shape.size(), p.dtype);
    Tensor<double> tensor(shape);
    for (Index i = 0; i < shape.tokens * shape.heads; ++i) {
      std::copy_n(read.begin() + i * shape.dim, shape.dim,
                  tensor.row(0, i % shape.heads, i / shape.heads));
    }
    return tensor;
  };
  Inputs inputs;
  inputs.q = of_last(params.q, last.query_shape(p.head_dim));
  inputs.k = of_last(params.k, last.key_shape(p.head_dim));
  inputs.v = of_last(params.v, last.key_shape(p.head_dim));
  const std::optional<Oracle> expected = gpu_oracle(last, inputs);
  REQUIRE(expected);
  for (const GpuKernel& kernel : all_gpu_kernels()) {
    if (kernel.unsupported(p)) continue;
    CAPTURE(kernel.name);
    tensors.poison_again();
    Workspace workspace;
    SWA_CUDA(kernel.prepare(p, workspace)(params, nullptr));
    SWA_CUDA(cudaDeviceSynchronize());
    const Tensor<double> out = of_last(params.out, last.query_shape(p.head_dim));
    CHECK(compare_output(*expected, Tolerance(last, kernel.sums), out).pass());
  }
}
