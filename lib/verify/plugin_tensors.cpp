#include "verify/plugin_tensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "verify/elements.hpp"
#include "verify/plugin.hpp"

namespace swa {
namespace {

std::size_t size_of(Dtype dtype) {
  return static_cast<std::size_t>(bytes(dtype));
}

Shape row_of(std::size_t elements) {
  return {1, 1, 1, static_cast<Index>(elements)};
}

// "[batch, head, token, element]", or "[element]" of an array.
std::string position(const Shape& shape, std::size_t element) {
  const auto i = static_cast<Index>(element);
  if (shape == row_of(static_cast<std::size_t>(shape.dim))) return fmt::format("[{}]", i);
  const Index token = i / shape.dim, head = token / shape.tokens;
  return fmt::format("[{}, {}, {}, {}]", head / shape.heads, head % shape.heads,
                     token % shape.tokens, i % shape.dim);
}

Dtype lse_dtype(Dtype dtype) {
  return dtype == Dtype::fp64 ? Dtype::fp64 : Dtype::fp32;
}

}  // namespace

PluginTensors::PluginTensors(SharedMemory& shared, const Problem& p, const Inputs* inputs,
                             bool with_lse)
    : shared_(shared),
      dtype_(p.dtype),
      lse_dtype_(lse_dtype(p.dtype)),
      arrays_(sequence_arrays(p)) {
  add_array(Slot::lengths_q, "lengths_q", arrays_.lengths_q);
  add_array(Slot::lengths_k, "lengths_k", arrays_.lengths_k);
  add_array(Slot::offsets_q, "offsets_q", arrays_.offsets_q);
  add_array(Slot::offsets_k, "offsets_k", arrays_.offsets_k);
  if (inputs != nullptr) {
    add_values(Slot::q, "q", inputs->q.data, inputs->q.shape);
    add_values(Slot::k, "k", inputs->k.data, inputs->k.shape);
    add_values(Slot::v, "v", inputs->v.data, inputs->v.shape);
    const std::vector<double>& logits = inputs->sink_logits;
    if (!logits.empty()) {
      add_values(Slot::sink_logits, "sink_logits", logits, row_of(logits.size()));
    }
    add_output(Slot::out, "out", dtype_, p.query_shape(p.value_dim()));
    if (with_lse) add_output(Slot::lse, "lse", lse_dtype_, p.query_shape(1));
  }
  shared_.grow(regions_.end());
  regions_.fill_guards(shared_.data());
  for (const Input& input : inputs_) {
    input.write(0, static_cast<std::size_t>(input.shape.size()), shared_.data() + input.begin);
  }
  for (const Output& output : outputs_) {
    poison(output.dtype, shared_.data() + offset(output.slot), output.count);
  }
}

void PluginTensors::add(Slot slot, Input input) {
  const auto count = static_cast<std::size_t>(input.shape.size());
  input.begin = regions_.add(input.name, count * input.element, input.element);
  offset(slot) = input.begin;
  inputs_.push_back(std::move(input));
}

void PluginTensors::add_array(Slot slot, std::string_view name,
                              const std::vector<swa_int>& values) {
  if (values.empty()) return;
  add(slot, {name, 0, sizeof(swa_int), row_of(values.size()),
             [&values](std::size_t first, std::size_t count, std::byte* to) {
               std::memcpy(to, values.data() + first, count * sizeof(swa_int));
             }});
}

void PluginTensors::add_values(Slot slot, std::string_view name, const std::vector<double>& values,
                               const Shape& shape) {
  add(slot, {name, 0, size_of(dtype_), shape,
             [this, &values](std::size_t first, std::size_t count, std::byte* to) {
               pack(dtype_, std::span(values).subspan(first, count), to);
             }});
}

void PluginTensors::add_output(Slot slot, std::string_view name, Dtype dtype, const Shape& shape) {
  const auto count = static_cast<std::size_t>(shape.size());
  offset(slot) = regions_.add(name, count * size_of(dtype), size_of(dtype));
  outputs_.push_back({slot, dtype, count});
}

Request PluginTensors::request(const swa_attention& attention) const {
  return {shared_.bytes(), offsets_, attention};
}

void PluginTensors::check() const {
  if (const std::optional<std::string> overrun = regions_.overrun(shared_.data())) {
    throw PluginError("the plug-in wrote beyond " + *overrun);
  }
  for (const Input& input : inputs_) check_input(input);
}

void PluginTensors::check_input(const Input& input) const {
  constexpr std::size_t kAtOnce = 8192;  // elements
  std::vector<std::byte> wanted(kAtOnce * input.element);
  const auto count = static_cast<std::size_t>(input.shape.size());
  for (std::size_t first = 0; first < count; first += kAtOnce) {
    const std::size_t some = std::min(kAtOnce, count - first);
    input.write(first, some, wanted.data());
    const std::byte* const found = shared_.data() + input.begin + first * input.element;
    const auto wanted_end = wanted.begin() + static_cast<std::ptrdiff_t>(some * input.element);
    const auto at = std::mismatch(wanted.begin(), wanted_end, found).first;
    if (at == wanted_end) continue;
    const std::size_t element =
        first + static_cast<std::size_t>(at - wanted.begin()) / input.element;
    throw PluginError(fmt::format("the plug-in wrote into its input {}, first at {}", input.name,
                                  position(input.shape, element)));
  }
}

void PluginTensors::read(Attention& outputs) const {
  if (offset(Slot::lse) == 0) outputs.lse = {};
  for (const Output& output : outputs_) {
    Tensor<double>& to = output.slot == Slot::out ? outputs.out : outputs.lse;
    unpack(output.dtype, shared_.data() + offset(output.slot), to.data);
  }
}

double plugin_bytes(const Problem& p) {
  const auto tensor = [](const Shape& s, Dtype dtype) {
    return static_cast<double>(s.batch) * static_cast<double>(s.heads) *
           static_cast<double>(s.tokens) * static_cast<double>(s.dim) * bytes(dtype);
  };
  return tensor(p.query_shape(p.head_dim), p.dtype) + tensor(p.key_shape(p.head_dim), p.dtype) +
         tensor(p.key_shape(p.value_dim()), p.dtype) +
         tensor(p.query_shape(p.value_dim()), p.dtype) +
         tensor(p.query_shape(1), lse_dtype(p.dtype));
}

}  // namespace swa
