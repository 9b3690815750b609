#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <stdexcept>

#include "parallel.hpp"
#include "problem/problem.hpp"
#include "tensor/counter_stream.hpp"
#include "tensor/random.hpp"

namespace swa {
namespace {

struct NamedRecipe {
  Recipe recipe;
  std::string_view name;
};

constexpr std::array kRecipes{NamedRecipe{Recipe::normal, "normal"},
                              NamedRecipe{Recipe::uniform, "uniform"},
                              NamedRecipe{Recipe::large, "large"}};

// NaN past the end of each sequence of a padded batch.
void poison_padding(const Problem& p, Tensor<double>& tensor, bool is_query) {
  if (!p.has_lengths() || p.layout == Layout::packed) return;
  const Shape& shape = tensor.shape;
  for (Index b = 0; b < shape.batch; ++b) {
    const Index length = is_query ? p.queries(b) : p.keys(b);
    for (Index h = 0; h < shape.heads; ++h) {
      std::fill_n(tensor.row(b, h, 0) + length * shape.dim, (shape.tokens - length) * shape.dim,
                  std::numeric_limits<double>::quiet_NaN());
    }
  }
}

// Of q and k. At head_dim 64 a typical |q.k| is 64 * 64 * 8 = 32768, and fp16 ends at 65504.
constexpr double kLarge = 64;

// The elements of one tensor, and how they are drawn.
struct Drawn {
  std::span<double> values;
  Recipe recipe;
  bool is_scored;  // q and k
};

void finish(const Problem& p, const Drawn& drawn, std::span<double> part) {
  if (drawn.recipe == Recipe::large && drawn.is_scored) {
    for (double& value : part) value *= kLarge;
  }
  round_to(p.dtype, part);
}

void draw_in_turn(const Problem& p, std::span<const Drawn> all) {
  NormalStream stream(p.seed);
  for (const Drawn& drawn : all) {
    if (drawn.recipe == Recipe::uniform) {
      stream.fill_uniform(drawn.values);
    } else {
      stream.fill(drawn.values);
    }
    finish(p, drawn, drawn.values);
  }
}

void draw_by_place(const Problem& p, std::span<const Drawn> all) {
  constexpr Index kPart = 1 << 16;  // elements of a thread at a time
  CounterStream stream{p.seed, 0};
  for (const Drawn& drawn : all) {
    const Index count = static_cast<Index>(drawn.values.size());
    parallel_for(ceil_div(count, kPart), [&](Index part) {
      const Index first = part * kPart;
      const std::span<double> values = drawn.values.subspan(
          static_cast<std::size_t>(first), static_cast<std::size_t>(smaller(kPart, count - first)));
      if (drawn.recipe == Recipe::uniform) {
        stream.fill_uniform(values, first);
      } else {
        stream.fill(values, first);
      }
      finish(p, drawn, values);
    });
    ++stream.tensor;
  }
}

}  // namespace

std::string_view name(Recipe recipe) {
  for (const NamedRecipe& named : kRecipes) {
    if (named.recipe == recipe) return named.name;
  }
  throw std::logic_error("no such recipe");
}

std::optional<Recipe> parse_recipe(std::string_view word) {
  for (const NamedRecipe& named : kRecipes) {
    if (named.name == word) return named.recipe;
  }
  return std::nullopt;
}

std::vector<std::string> recipe_words() {
  std::vector<std::string> words;
  for (const NamedRecipe& named : kRecipes) words.emplace_back(named.name);
  return words;
}

std::string_view name(Stream stream) {
  return stream == Stream::counter ? "counter" : "numpy";
}

std::optional<Stream> parse_stream(std::string_view word) {
  for (const Stream stream : {Stream::numpy, Stream::counter}) {
    if (name(stream) == word) return stream;
  }
  return std::nullopt;
}

std::vector<std::string> stream_words() {
  return {"numpy", "counter"};
}

Inputs make_inputs(const Problem& p) {
  Inputs inputs{Tensor<double>(p.query_shape(p.head_dim)),
                Tensor<double>(p.key_shape(p.head_dim)),
                Tensor<double>(p.key_shape(p.value_dim())),
                {}};
  if (p.sink_logits) inputs.sink_logits.resize(static_cast<std::size_t>(p.heads_q));
  const std::array drawn{Drawn{inputs.q.data, p.inputs, true}, Drawn{inputs.k.data, p.inputs, true},
                         Drawn{inputs.v.data, p.inputs, false},
                         Drawn{inputs.sink_logits, Recipe::normal, false}};
  if (p.drawn_from() == Stream::numpy) {
    draw_in_turn(p, drawn);
  } else {
    draw_by_place(p, drawn);
  }
  for (Tensor<double>* tensor : {&inputs.q, &inputs.k, &inputs.v}) {
    poison_padding(p, *tensor, tensor == &inputs.q);
  }
  return inputs;
}

Attention poisoned_outputs(const Problem& p) {
  return {Tensor<double>(p.query_shape(p.value_dim()), kUnwritten),
          Tensor<double>(p.query_shape(1), kUnwritten)};
}

}  // namespace swa
