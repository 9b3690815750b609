#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>

#include "problem/problem.hpp"
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

Inputs make_inputs(const Problem& p) {
  Inputs inputs{Tensor<double>(p.query_shape(p.head_dim)),
                Tensor<double>(p.key_shape(p.head_dim)),
                Tensor<double>(p.key_shape(p.value_dim())),
                {}};
  NormalStream stream(p.seed);
  for (Tensor<double>* tensor : {&inputs.q, &inputs.k, &inputs.v}) {
    if (p.inputs == Recipe::uniform) {
      stream.fill_uniform(tensor->data);
    } else {
      stream.fill(tensor->data);
    }
    if (p.inputs == Recipe::large && tensor != &inputs.v) {
      for (double& value : tensor->data) value *= kLarge;
    }
    round_to(p.dtype, tensor->data);
    poison_padding(p, *tensor, tensor == &inputs.q);
  }
  if (p.sink_logits) {
    inputs.sink_logits.resize(static_cast<std::size_t>(p.heads_q));
    stream.fill(inputs.sink_logits);
    round_to(p.dtype, inputs.sink_logits);
  }
  return inputs;
}

Attention poisoned_outputs(const Problem& p) {
  return {Tensor<double>(p.query_shape(p.value_dim()), kUnwritten),
          Tensor<double>(p.query_shape(1), kUnwritten)};
}

}  // namespace swa
