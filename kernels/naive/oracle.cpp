#include <span>
#include <vector>

#include "kernels/device/call.hpp"
#include "kernels/device/device.hpp"
#include "kernels/device/tensors.hpp"
#include "kernels/forward.hpp"
#include "kernels/naive/naive.hpp"

namespace swa {
namespace {

template <class Number>
device::Buffer zeros(std::size_t count) {
  device::Buffer buffer(count * sizeof(Number));
  SWA_CUDA(cudaMemset(buffer.get(), 0, buffer.bytes()));
  return buffer;
}

template <class Number>
std::vector<Number> read(const device::Buffer& buffer) {
  std::vector<Number> numbers(buffer.bytes() / sizeof(Number));
  buffer.download(std::as_writable_bytes(std::span(numbers)));
  return numbers;
}

// The facts of all rows on the device.
struct Facts {
  explicit Facts(const Problem& p)
      : rows(static_cast<std::size_t>(p.query_shape(1).size())),
        keys(zeros<Index>(rows)),
        score_bound(zeros<double>(rows)),
        largest_v(zeros<double>(rows)),
        denominator(zeros<double>(rows)),
        abs_output(zeros<double>(static_cast<std::size_t>(p.query_shape(p.value_dim()).size()))) {}

  NaiveFacts pointers() const {
    return {static_cast<Index*>(keys.get()), static_cast<double*>(score_bound.get()),
            static_cast<double*>(largest_v.get()), static_cast<double*>(denominator.get()),
            static_cast<double*>(abs_output.get())};
  }

  std::size_t rows;
  device::Buffer keys, score_bound, largest_v, denominator, abs_output;
};

double bytes_of(const Problem& p) {
  const double rows = static_cast<double>(p.query_shape(1).size());
  return device::tensor_bytes(p, Dtype::fp64) +
         rows * (4 + static_cast<double>(p.value_dim())) * sizeof(double);
}

}  // namespace

std::optional<Oracle> gpu_oracle(const Problem& p, const Inputs& inputs) {
  if (!gpu_absence().empty()) return std::nullopt;
  const double warps =
      static_cast<double>(p.batch) * static_cast<double>(p.heads_q) * static_cast<double>(p.n_q);
  if (warps > largest_naive()) return std::nullopt;
  if (bytes_of(p) > static_cast<double>(device::spare_bytes())) return std::nullopt;

  Problem logical = p;  // the oracle reads keys as they are, whatever the cache
  logical.cache = {};
  const device::Tensors tensors(logical, inputs, Dtype::fp64);
  const Facts on_device(p);
  device::require(launch_naive_oracle(tensors.params(), on_device.pointers(), nullptr),
                  "the oracle's launch");
  SWA_CUDA(cudaDeviceSynchronize());

  Oracle oracle = empty_oracle(p);
  tensors.read(oracle);
  oracle.abs_output.data = read<double>(on_device.abs_output);
  const auto keys = read<Index>(on_device.keys);
  const auto score_bound = read<double>(on_device.score_bound);
  const auto largest_v = read<double>(on_device.largest_v);
  const auto denominator = read<double>(on_device.denominator);
  for (std::size_t i = 0; i < oracle.rows.size(); ++i) {
    RowFacts& facts = oracle.rows[i];
    if (!facts.padding) facts = {keys[i], score_bound[i], largest_v[i], denominator[i], false};
  }
  return oracle;
}

}  // namespace swa
