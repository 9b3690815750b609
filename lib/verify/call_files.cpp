#include "verify/call_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "error.hpp"
#include "tensor/npy.hpp"
#include "tensor/safetensors.hpp"

namespace swa {
namespace {

constexpr const char* kInputs = "inputs.safetensors";
constexpr const char* kOutputs = "outputs.safetensors";

std::vector<Index> axes(const Shape& s) {
  return {s.batch, s.heads, s.tokens, s.dim};
}

double size_of(const Shape& s) {
  return static_cast<double>(s.batch) * static_cast<double>(s.heads) *
         static_cast<double>(s.tokens) * static_cast<double>(s.dim);
}

std::string in(const std::string& folder, std::string_view name) {
  return fmt::format("{}/{}", folder, name);
}

bool is_there(const std::string& path) {
  std::error_code trouble;
  return std::filesystem::exists(std::filesystem::symlink_status(path, trouble));
}

std::vector<NamedArray> arrays_of(const Problem& p, const Inputs& inputs) {
  const Dtype dtype = stored_dtype(p.dtype);
  std::vector<NamedArray> arrays{{"q", {axes(inputs.q.shape), dtype, inputs.q.data}},
                                 {"k", {axes(inputs.k.shape), dtype, inputs.k.data}},
                                 {"v", {axes(inputs.v.shape), dtype, inputs.v.data}}};
  if (p.sink_logits) {
    arrays.push_back({"sink_logits", {{p.heads_q}, dtype, inputs.sink_logits}});
  }
  return arrays;
}

std::vector<Dtype> types_of_o(Dtype dtype) {
  const bool narrow = dtype == Dtype::bf16 || dtype == Dtype::fp16;
  return narrow ? std::vector{dtype, Dtype::fp32} : std::vector{stored_dtype(dtype)};
}

std::vector<Dtype> types_of_lse(Dtype dtype) {
  return dtype == Dtype::fp64 ? std::vector{dtype} : std::vector{Dtype::fp32, Dtype::fp64};
}

// `what` is the file, and the array's name where the file holds several.
void require_kind(const std::string& what, const Array& array, const std::vector<Index>& shape,
                  const std::vector<Dtype>& types) {
  if (array.shape != shape) {
    throw UsageError(fmt::format("{} has the shape {}, and the problem has {}", what,
                                 describe(array.shape), describe(shape)),
                     "docs/files.md names the axes");
  }
  if (std::find(types.begin(), types.end(), array.dtype) != types.end()) return;
  std::vector<std::string_view> names;
  for (const Dtype type : types) names.push_back(name(type));
  throw UsageError(fmt::format("{} holds {}, and {} is taken here", what, name(array.dtype),
                               fmt::join(names, " or ")),
                   fmt::format("save it as {}", fmt::join(names, " or ")));
}

Tensor<double> tensor_of(const std::string& what, Array array, const Shape& shape,
                         std::vector<Index> expected, const std::vector<Dtype>& types) {
  require_kind(what, array, expected, types);
  Tensor<double> tensor;
  tensor.shape = shape;
  tensor.data = std::move(array.values);
  return tensor;
}

Tensor<double> o_of(const std::string& what, Array array, const Problem& p) {
  const Shape shape = p.query_shape(p.value_dim());
  return tensor_of(what, std::move(array), shape, axes(shape), types_of_o(p.dtype));
}

Tensor<double> lse_of(const std::string& what, Array array, const Problem& p) {
  const Shape shape = p.query_shape(1);
  return tensor_of(what, std::move(array), shape, {shape.batch, shape.heads, shape.tokens},
                   types_of_lse(p.dtype));
}

// Past the end of each sequence.
void fill_padding(const Problem& p, Tensor<double>& tensor, bool is_query, double value) {
  if (!p.has_lengths() || p.layout == Layout::packed) return;
  const Shape& s = tensor.shape;
  for (Index b = 0; b < s.batch; ++b) {
    const Index length = is_query ? p.queries(b) : p.keys(b);
    for (Index h = 0; h < s.heads; ++h) {
      std::fill_n(tensor.row(b, h, 0) + length * s.dim, (s.tokens - length) * s.dim, value);
    }
  }
}

Tensor<double> read_input(const std::string& path, const Problem& p, const Shape& shape,
                          bool is_query) {
  Tensor<double> tensor = tensor_of(path, read_npy(path), shape, axes(shape), types_of_o(p.dtype));
  fill_padding(p, tensor, is_query, 0);
  Array array{axes(shape), p.dtype, std::move(tensor.data)};
  if (const auto bad = find_non_finite(array)) {
    throw UsageError(fmt::format("{}: element {} is {}; {} are not finite", path,
                                 describe(bad->first), bad->value, bad->count),
                     "inputs are finite numbers");
  }
  const auto other = std::find_if(array.values.begin(), array.values.end(),
                                  [&](double x) { return round_to(p.dtype, x) != x; });
  if (other != array.values.end()) {
    throw UsageError(fmt::format("{}: {} is no number of {}", path, *other, name(p.dtype)),
                     "round the inputs to the type that the kernel gets, and save those");
  }
  tensor.data = std::move(array.values);
  fill_padding(p, tensor, is_query, std::numeric_limits<double>::quiet_NaN());
  return tensor;
}

}  // namespace

void write_call(const std::string& folder, const Problem& problem, const Inputs& inputs) {
  const std::vector<NamedArray> arrays = arrays_of(problem, inputs);
  for (const NamedArray& one : arrays) write_npy(in(folder, one.name + ".npy"), one.array);
  write_safetensors(in(folder, kInputs), arrays);
}

double call_bytes(const Problem& p) {
  const double elements = size_of(p.query_shape(p.head_dim)) + size_of(p.key_shape(p.head_dim)) +
                          size_of(p.key_shape(p.value_dim()));
  const int in_npy = p.dtype == Dtype::bf16 ? bytes(Dtype::fp32) : bytes(p.dtype);
  return elements * (in_npy + bytes(p.dtype));
}

double call_memory(const Problem& p) {
  const double inputs = size_of(p.query_shape(p.head_dim)) + size_of(p.key_shape(p.head_dim)) +
                        size_of(p.key_shape(p.value_dim()));
  const double outputs = size_of(p.query_shape(p.value_dim())) + size_of(p.query_shape(1));
  return sizeof(double) * (inputs + 4 * outputs);
}

bool has_output(const std::string& folder) {
  return is_there(in(folder, "o.npy")) || is_there(in(folder, kOutputs));
}

Attention read_outputs(const std::string& folder, const Problem& problem) {
  const std::string o = in(folder, "o.npy"), lse = in(folder, "lse.npy");
  const std::string both = in(folder, kOutputs);
  if (!is_there(both)) {
    if (!is_there(o)) {
      throw UsageError(fmt::format("{} is not there, nor {}", o, kOutputs),
                       "write the kernel's output there");
    }
    return read_outputs(o, is_there(lse) ? std::optional(lse) : std::nullopt, problem);
  }
  for (const std::string& other : {o, lse}) {
    if (!is_there(other)) continue;
    throw UsageError(fmt::format("{} and {} are both there", other, kOutputs),
                     "remove the one that is not meant");
  }
  const SafetensorsFile file(both);
  Attention outputs;
  bool any = false;
  for (const SafetensorsFile::Entry& entry : file.entries()) {
    const std::string what = fmt::format("{}: {}", both, quote(entry.name));
    if (entry.name == "o") {
      outputs.out = o_of(what, file.read(entry), problem);
      any = true;
    } else if (entry.name == "lse") {
      outputs.lse = lse_of(what, file.read(entry), problem);
    } else {
      throw UsageError(what + " is no output", "name the arrays o and lse");
    }
  }
  if (!any) throw UsageError(both + " holds no 'o'", "name the output o");
  return outputs;
}

Attention read_outputs(const std::string& o, const std::optional<std::string>& lse,
                       const Problem& problem) {
  Attention outputs;
  outputs.out = o_of(o, read_npy(o), problem);
  if (lse) outputs.lse = lse_of(*lse, read_npy(*lse), problem);
  return outputs;
}

Inputs read_inputs(const std::string& q, const std::string& k, const std::string& v,
                   const Problem& p) {
  return {read_input(q, p, p.query_shape(p.head_dim), true),
          read_input(k, p, p.key_shape(p.head_dim), false),
          read_input(v, p, p.key_shape(p.value_dim()), false),
          {}};
}

void require_inputs(const std::string& folder, const Problem& problem, const Inputs& inputs) {
  const std::string path = in(folder, kInputs);
  const SafetensorsFile file(path);
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  const auto require = [&](const char* name, const std::vector<double>& expected) {
    const std::vector<double> held = file.read(name).values;
    if (std::equal(held.begin(), held.end(), expected.begin(), expected.end(), same)) return;
    throw UsageError(fmt::format("{}: '{}' is not what the case in cases.toml has", path, name),
                     "export again, and leave cases.toml and the inputs as they are");
  };
  require("q", inputs.q.data);
  require("k", inputs.k.data);
  require("v", inputs.v.data);
  if (problem.sink_logits) require("sink_logits", inputs.sink_logits);
}

void write_outputs(const std::string& folder, const Problem& p, const Attention& outputs) {
  write_npy(in(folder, "o.npy"),
            {axes(outputs.out.shape), stored_dtype(p.dtype), outputs.out.data});
  if (outputs.lse.data.empty()) return;
  const Shape& s = outputs.lse.shape;
  write_npy(in(folder, "lse.npy"), {{s.batch, s.heads, s.tokens}, Dtype::fp64, outputs.lse.data});
}

}  // namespace swa
