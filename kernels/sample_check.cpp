#include "kernels/sample_check.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <vector>

#include "kernels/device/buffer.hpp"
#include "kernels/device/call.hpp"
#include "kernels/device/random.hpp"
#include "reference/oracle.hpp"
#include "verify/elements.hpp"
#include "verify/probe.hpp"

namespace swa {
namespace {

constexpr Index kSequences = 8, kHeads = 3;
// Of each head: where the window begins to cut and neighbours, and some from the first to the last.
constexpr Index kNeighbours = 16, kSpread = 32;

// The first, the last and some between, ascending.
std::set<Index> spread(Index count, Index wanted) {
  std::set<Index> chosen;
  const Index many = std::min(count, wanted);
  for (Index i = 0; i < many; ++i) chosen.insert(many == 1 ? 0 : i * (count - 1) / (many - 1));
  return chosen;
}

// Tokens [first, first + count) of one head, [count, dim].
std::vector<double> read_tokens(const void* from, Dtype dtype, const Strides& strides, Index entry,
                                Index head, Index first, Index count, Index dim) {
  std::vector<double> values(static_cast<std::size_t>(count * dim));
  if (values.empty()) return values;
  const auto size = static_cast<std::size_t>(bytes(dtype));
  std::vector<std::byte> packed(values.size() * size);
  const auto* const begin = static_cast<const std::byte*>(from) +
                            static_cast<std::size_t>(offset(strides, entry, head, first)) * size;
  const std::size_t row = static_cast<std::size_t>(dim) * size;
  if (strides.token == dim) {
    SWA_CUDA(cudaMemcpy(packed.data(), begin, packed.size(), cudaMemcpyDeviceToHost));
    unpack(dtype, packed.data(), values);
    return values;
  }
  SWA_CUDA(cudaMemcpy2D(packed.data(), row, begin, static_cast<std::size_t>(strides.token) * size,
                        row, static_cast<std::size_t>(count), cudaMemcpyDeviceToHost));
  unpack(dtype, packed.data(), values);
  return values;
}

// One head of one sequence, as a problem of its own.
struct OneHead {
  Problem problem;
  Inputs inputs;
  Tensor<double> out, lse;  // lse is empty where none was returned
};

OneHead read_head(const Problem& p, const ForwardParams& on_device, const Sequence& s, Index head) {
  OneHead one;
  Problem& its = one.problem;
  its = p;
  its.batch = its.heads_q = its.heads_kv = 1;
  its.n_q = s.mask.n_q;
  its.n_k = s.mask.n_k;
  its.lengths_q = its.lengths_k = {};
  its.layout = Layout::padded;
  its.scale = p.score_scale();
  const Index kv_head = head / p.group();
  const auto read = [&](const void* from, const Strides& strides, Index of_head, Index first,
                        Index count, Index dim, Dtype dtype) {
    Tensor<double> tensor(Shape{1, 1, count, dim});
    tensor.data = read_tokens(from, dtype, strides, s.batch, of_head, first, count, dim);
    return tensor;
  };
  const ForwardParams& d = on_device;
  one.inputs.q = read(d.q, d.q_strides, head, s.q_row, its.n_q, p.head_dim, p.dtype);
  one.inputs.k = read(d.k, d.k_strides, kv_head, s.k_row, its.n_k, p.head_dim, p.dtype);
  one.inputs.v = read(d.v, d.v_strides, kv_head, s.k_row, its.n_k, p.value_dim(), p.dtype);
  one.out = read(d.out, d.out_strides, head, s.q_row, its.n_q, p.value_dim(), p.dtype);
  const Dtype lse_dtype = p.dtype == Dtype::fp64 ? Dtype::fp64 : Dtype::fp32;
  if (d.lse != nullptr) {
    // Its dim has no stride: a row's lse is one element of one token.
    one.lse = read(d.lse, d.lse_strides, head, s.q_row, its.n_q, 1, lse_dtype);
  }
  if (d.sink_logits != nullptr) {
    one.inputs.sink_logits = read_tokens(d.sink_logits, lse_dtype, {0, 0, 1}, 0, 0, head, 1, 1);
  }
  return one;
}

// Adds what a row's elements show.
void compare_row(const OneHead& one, const Tolerance& bounds, const OracleRow& expected,
                 std::array<Index, 4> at, Index row, SampleCheck& check) {
  Comparison& c = check.output;
  for (std::size_t d = 0; d < expected.out.size(); ++d) {
    const double got = one.out.row(0, 0, row)[d];
    const double bound = bounds.of_output(expected.facts, expected.abs_output[d], expected.out[d]);
    const double error = std::abs(got - expected.out[d]);
    const bool wrong = !(error <= bound);
    c.mismatches += wrong;
    ++c.elements;
    // NaN before all, then what takes the largest share of its bound.
    const bool worse = !std::isnan(c.error) && !(error * c.bound <= c.error * bound);
    if (c.elements > 1 && !worse) continue;
    at[3] = static_cast<Index>(d);
    c.worst = at;
    c.expected = expected.out[d];
    c.got = got;
    c.error = error;
    c.bound = bound;
  }
  if (one.lse.data.empty()) return;
  const double got = one.lse.row(0, 0, row)[0];
  const bool right = got == expected.lse ||
                     std::abs(got - expected.lse) <= bounds.of_lse(expected.facts, expected.lse);
  check.lse_mismatches += !right;
}

// Whether the output is one piece of memory without padding, so that all of it has to be finite.
bool is_whole(const Problem& p, const Strides& strides) {
  if (p.layout == Layout::padded && p.has_lengths()) return false;
  const Shape shape = p.query_shape(p.value_dim());
  const Index last = (shape.batch - 1) * strides.batch + (shape.heads - 1) * strides.head +
                     (shape.tokens - 1) * strides.token + shape.dim;
  return last == shape.size();
}

Index count_nonfinite(const Problem& p, const ForwardParams& on_device) {
  if (!is_whole(p, on_device.out_strides)) return 0;
  unsigned long long count = 0;
  device::Buffer total(std::as_bytes(std::span(&count, 1)));
  SWA_CUDA(device::count_nonfinite(on_device.out, p.dtype, p.query_shape(p.value_dim()).size(),
                                   static_cast<unsigned long long*>(total.get())));
  total.download(std::as_writable_bytes(std::span(&count, 1)));
  return static_cast<Index>(count);
}

}  // namespace

SampleCheck check_samples(const Problem& p, const ForwardParams& on_device, SumRuns sums) {
  SampleCheck check;
  SWA_CUDA(cudaDeviceSynchronize());
  check.nonfinite = count_nonfinite(p, on_device);
  const std::vector<Sequence> all = sequences(p);
  for (const Index s : spread(static_cast<Index>(all.size()), kSequences)) {
    const Sequence& sequence = all[static_cast<std::size_t>(s)];
    if (sequence.mask.n_q == 0) continue;
    for (const Index head : spread(p.heads_q, kHeads)) {
      const OneHead one = read_head(p, on_device, sequence, head);
      const Tolerance bounds(one.problem, sums);
      const Sequence alone{0, 0, 0, sequence.mask};
      std::set<Index> rows = spread(sequence.mask.n_q, kSpread);
      const std::vector<Index> neighbours = sampled_rows(one.problem, kNeighbours);
      rows.insert(neighbours.begin(), neighbours.end());
      for (const Index row : rows) {
        const OracleRow expected = dense_oracle_row(one.problem, one.inputs, alone, 0, row);
        compare_row(one, bounds, expected, {s, head, row, 0}, row, check);
        ++check.rows;
      }
    }
  }
  return check;
}

}  // namespace swa
