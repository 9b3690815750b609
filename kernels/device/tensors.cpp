#include "kernels/device/tensors.hpp"

#include <span>
#include <vector>

#include "verify/elements.hpp"

namespace swa::device {
namespace {

std::size_t count_of(const Shape& shape) {
  return static_cast<std::size_t>(shape.size());
}

std::size_t bytes_of(const Shape& shape, Dtype dtype) {
  return count_of(shape) * static_cast<std::size_t>(bytes(dtype));
}

Buffer elements(Dtype dtype, const std::vector<double>& values) {
  std::vector<std::byte> packed(values.size() * static_cast<std::size_t>(bytes(dtype)));
  pack(dtype, values, packed.data());
  return Buffer(packed);
}

Buffer poisoned(Dtype dtype, const Shape& shape) {
  std::vector<std::byte> packed(bytes_of(shape, dtype));
  poison(dtype, packed.data(), count_of(shape));
  return Buffer(packed);
}

void read_elements(Dtype dtype, const Buffer& from, std::vector<double>& values) {
  std::vector<std::byte> packed(from.bytes());
  from.download(packed);
  unpack(dtype, packed.data(), values);
}

Buffer numbers(const std::vector<Index>& values) {
  return values.empty() ? Buffer() : Buffer(std::as_bytes(std::span(values)));
}

Strides strides_of(const Shape& shape) {
  return {shape.heads * shape.tokens * shape.dim, shape.tokens * shape.dim, shape.dim};
}

}  // namespace

Tensors::Tensors(const Problem& p, const Inputs& inputs, Dtype dtype)
    : dtype_(dtype),
      lse_dtype_(dtype == Dtype::fp64 ? Dtype::fp64 : Dtype::fp32),
      q_(elements(dtype, inputs.q.data)),
      k_(elements(dtype, inputs.k.data)),
      v_(elements(dtype, inputs.v.data)),
      out_(poisoned(dtype, p.query_shape(p.value_dim()))),
      lse_(poisoned(lse_dtype_, p.query_shape(1))) {
  if (!inputs.sink_logits.empty()) sink_logits_ = elements(lse_dtype_, inputs.sink_logits);
  lengths_q_ = numbers(p.lengths_q);
  lengths_k_ = numbers(p.lengths_k);
  if (p.layout == Layout::packed) {
    std::vector<Index> first_q, first_k;
    for (const Sequence& s : sequences(p)) {
      first_q.push_back(s.q_row);
      first_k.push_back(s.k_row);
    }
    first_q_ = numbers(first_q);
    first_k_ = numbers(first_k);
  }
  params_.q = q_.get();
  params_.k = k_.get();
  params_.v = v_.get();
  params_.sink_logits = sink_logits_.get();
  params_.out = out_.get();
  params_.lse = lse_.get();
  params_.q_strides = strides_of(p.query_shape(p.head_dim));
  params_.k_strides = strides_of(p.key_shape(p.head_dim));
  params_.v_strides = strides_of(p.key_shape(p.value_dim()));
  params_.out_strides = strides_of(p.query_shape(p.value_dim()));
  params_.lse_strides = strides_of(p.query_shape(1));
  params_.batch = p.batch;
  params_.heads_q = p.heads_q;
  params_.heads_kv = p.heads_kv;
  params_.n_q = p.n_q;
  params_.n_k = p.n_k;
  params_.head_dim = p.head_dim;
  params_.head_dim_v = p.value_dim();
  params_.lengths_q = static_cast<const Index*>(lengths_q_.get());
  params_.lengths_k = static_cast<const Index*>(lengths_k_.get());
  params_.first_q = static_cast<const Index*>(first_q_.get());
  params_.first_k = static_cast<const Index*>(first_k_.get());
  params_.window = p.window;
  params_.sinks = p.sinks;
  params_.anchor = p.anchor;
  params_.scale = p.score_scale();
  params_.softcap = p.softcap;
}

void Tensors::read(Attention& outputs) const {
  read_elements(dtype_, out_, outputs.out.data);
  read_elements(lse_dtype_, lse_, outputs.lse.data);
}

double tensor_bytes(const Problem& p, Dtype dtype) {
  const auto tensor = [](const Shape& s, int element) {
    return static_cast<double>(s.batch) * static_cast<double>(s.heads) *
           static_cast<double>(s.tokens) * static_cast<double>(s.dim) * element;
  };
  const int element = bytes(dtype);
  return tensor(p.query_shape(p.head_dim), element) + tensor(p.key_shape(p.head_dim), element) +
         tensor(p.key_shape(p.value_dim()), element) +
         tensor(p.query_shape(p.value_dim()), element) +
         tensor(p.query_shape(1), dtype == Dtype::fp64 ? 8 : 4);
}

}  // namespace swa::device
