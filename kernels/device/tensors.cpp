#include "kernels/device/tensors.hpp"

#include <span>
#include <vector>

#include "kernels/device/call.hpp"
#include "kernels/device/random.hpp"
#include "problem/cache_layout.hpp"
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

void upload_poison(Dtype dtype, Buffer& to) {
  std::vector<std::byte> packed(to.bytes());
  poison(dtype, packed.data(), to.bytes() / static_cast<std::size_t>(bytes(dtype)));
  to.upload(packed);
}

void read_elements(Dtype dtype, const Buffer& from, std::vector<double>& values) {
  std::vector<std::byte> packed(from.bytes());
  from.download(packed);
  unpack(dtype, packed.data(), values);
}

Buffer numbers(const std::vector<Index>& values) {
  return values.empty() ? Buffer() : Buffer(std::as_bytes(std::span(values)));
}

Strides heads_first(const Shape& shape) {
  return {shape.heads * shape.tokens * shape.dim, shape.tokens * shape.dim, shape.dim};
}
Strides tokens_first(const Shape& shape) {
  return {shape.tokens * shape.heads * shape.dim, shape.dim, shape.heads * shape.dim};
}

}  // namespace

ForwardParams sizes_of(const Problem& p) {
  ForwardParams params;
  params.batch = p.batch;
  params.heads_q = p.heads_q;
  params.heads_kv = p.heads_kv;
  params.n_q = p.n_q;
  params.n_k = p.n_k;
  params.head_dim = p.head_dim;
  params.head_dim_v = p.value_dim();
  params.window = p.window;
  params.sinks = p.sinks;
  params.anchor = p.anchor;
  params.scale = p.score_scale();
  params.softcap = p.softcap;
  return params;
}

SequenceTables::SequenceTables(const Problem& p)
    : lengths_q_(numbers(p.lengths_q)), lengths_k_(numbers(p.lengths_k)) {
  if (p.layout != Layout::packed) return;
  std::vector<Index> first_q, first_k;
  for (const Sequence& s : sequences(p)) {
    first_q.push_back(s.q_row);
    first_k.push_back(s.k_row);
  }
  first_q_ = numbers(first_q);
  first_k_ = numbers(first_k);
}

void SequenceTables::point(ForwardParams& params) const {
  params.lengths_q = static_cast<const Index*>(lengths_q_.get());
  params.lengths_k = static_cast<const Index*>(lengths_k_.get());
  params.first_q = static_cast<const Index*>(first_q_.get());
  params.first_k = static_cast<const Index*>(first_k_.get());
}

Tensors::Tensors(const Problem& p, Dtype dtype)
    : dtype_(dtype),
      lse_dtype_(dtype == Dtype::fp64 ? Dtype::fp64 : Dtype::fp32),
      out_(bytes_of(p.query_shape(p.value_dim()), dtype)),
      lse_(bytes_of(p.query_shape(1), lse_dtype_)),
      sequences_(p),
      k_shape_(p.key_shape(p.head_dim)),
      v_shape_(p.key_shape(p.value_dim())) {}

Tensors::Tensors(const Problem& p, const Inputs& inputs, Dtype dtype) : Tensors(p, dtype) {
  q_ = elements(dtype, inputs.q.data);
  if (p.cache.kind == CacheKind::contiguous) {
    k_ = elements(dtype, inputs.k.data);
    v_ = elements(dtype, inputs.v.data);
  } else {
    const CachedKeys k = lay_out(p, inputs.k), v = lay_out(p, inputs.v);
    k_ = elements(dtype, k.slots.data);
    v_ = elements(dtype, v.slots.data);
    k_shape_ = k.slots.shape;
    v_shape_ = v.slots.shape;
    if (!k.table.empty()) table_ = Buffer(std::as_bytes(std::span(k.table)));
    table_stride_ = k.table_stride;
  }
  if (!inputs.sink_logits.empty()) sink_logits_ = elements(lse_dtype_, inputs.sink_logits);
  upload_poison(dtype_, out_);
  upload_poison(lse_dtype_, lse_);
  point(p, heads_first);
}

Tensors::Tensors(const Problem& p) : Tensors(p, p.dtype) {
  std::uint32_t stream = 0;
  const auto normal = [&](Dtype dtype, Index count) {
    Buffer buffer(static_cast<std::size_t>(count) * static_cast<std::size_t>(bytes(dtype)));
    SWA_CUDA(fill_normal(buffer.get(), dtype, count, p.seed, stream++));
    return buffer;
  };
  q_ = normal(dtype_, p.query_shape(p.head_dim).size());
  k_ = normal(dtype_, p.key_shape(p.head_dim).size());
  v_ = normal(dtype_, p.key_shape(p.value_dim()).size());
  if (p.sink_logits) sink_logits_ = normal(lse_dtype_, p.heads_q);
  poison_again();
  point(p, tokens_first);
}

void Tensors::poison_again() {
  constexpr int kNaN = 0xff;  // a NaN in every type, if not one that a kernel never makes
  SWA_CUDA(cudaMemset(out_.get(), kNaN, out_.bytes()));
  SWA_CUDA(cudaMemset(lse_.get(), kNaN, lse_.bytes()));
}

void Tensors::point(const Problem& p, StridesOf strides_of) {
  params_ = sizes_of(p);
  params_.q = q_.get();
  params_.k = k_.get();
  params_.v = v_.get();
  params_.sink_logits = sink_logits_.get();
  params_.out = out_.get();
  params_.lse = lse_.get();
  params_.q_strides = strides_of(p.query_shape(p.head_dim));
  params_.k_strides = strides_of(k_shape_);
  params_.v_strides = strides_of(v_shape_);
  params_.out_strides = strides_of(p.query_shape(p.value_dim()));
  params_.lse_strides = heads_first(p.query_shape(1));
  params_.cache = {p.cache.kind, p.cache.kind == CacheKind::ring ? k_shape_.tokens : 0,
                   p.cache.page, static_cast<const std::int32_t*>(table_.get()), table_stride_};
  sequences_.point(params_);
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
         tensor(p.query_shape(1), dtype == Dtype::fp64 ? 8 : 4) + cached_bytes(p);
}

}  // namespace swa::device
