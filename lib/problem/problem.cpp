#include "problem/problem.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "error.hpp"
#include "problem/words.hpp"
#include "tensor/random.hpp"

namespace swa {
namespace {

void at_least_one(Index value, const char* key) {
  if (value >= 1) return;
  throw UsageError(fmt::format("{} {} is less than 1", option_of(key), value));
}

void add(std::string& line, const char* key, const std::string& value) {
  if (!line.empty()) line += ' ';
  line += option_of(key);
  if (!value.empty()) line += ' ' + value;
}

template <class T>
void add_unless(std::string& line, const char* key, const T& value, const T& usual) {
  if (value != usual) add(line, key, fmt::format("{}", value));
}

std::string side_text(const Side& side) {
  return side.bounded ? fmt::format("{}", side.reach) : std::string("none");
}

}  // namespace

double Problem::score_scale() const {
  return scale.value_or(1.0 / std::sqrt(static_cast<double>(head_dim)));
}

void validate(const Problem& p) {
  at_least_one(p.batch, "batch");
  at_least_one(p.heads_q, "heads_q");
  at_least_one(p.heads_kv, "heads_kv");
  at_least_one(p.n_q, "n_q");
  at_least_one(p.n_k, "n_k");
  at_least_one(p.head_dim, "head_dim");
  if (p.heads_q % p.heads_kv != 0) {
    const Index nearest = std::gcd(p.heads_q, p.heads_kv);
    throw UsageError(fmt::format("{} {} is not a multiple of {} {}", option_of("heads_q"),
                                 p.heads_q, option_of("heads_kv"), p.heads_kv),
                     fmt::format("each kv head serves the same number of query heads; try {} {}",
                                 option_of("heads_kv"), nearest));
  }
  if (p.sinks > p.n_k) {
    throw UsageError(
        fmt::format("{} {} is more than the {} keys there are", option_of("sinks"), p.sinks, p.n_k),
        fmt::format("sink tokens are the first keys; ask for fewer, or give {}, which follows {} "
                    "where it is left out",
                    option_of("n_k"), option_of("n_q")));
  }
}

std::string options(const Window& window) {
  std::string line;
  if (window.kind == Window::Kind::causal) {
    add(line, "window", fmt::format("{}", window.width));
  } else if (window.kind == Window::Kind::band) {
    add(line, "left", side_text(window.left));
    add(line, "right", side_text(window.right));
  }
  return line;
}

std::string options(const Problem& p) {
  const Problem usual;
  std::string line = options(p.window);
  add(line, "n_q", fmt::format("{}", p.n_q));
  if (p.n_k != p.n_q) add(line, "n_k", fmt::format("{}", p.n_k));
  add_unless(line, "batch", p.batch, usual.batch);
  add_unless(line, "heads_q", p.heads_q, usual.heads_q);
  if (p.heads_kv != p.heads_q) add(line, "heads_kv", fmt::format("{}", p.heads_kv));
  add_unless(line, "head_dim", p.head_dim, usual.head_dim);
  add_unless(line, "sinks", p.sinks, usual.sinks);
  if (p.sink_logits) add(line, "sink_logits", "");
  add_unless(line, "softcap", p.softcap, usual.softcap);
  if (p.scale) add(line, "scale", fmt::format("{}", *p.scale));
  if (p.anchor != usual.anchor) add(line, "anchor", "top-left");
  if (p.dtype != usual.dtype) add(line, "dtype", std::string(name(p.dtype)));
  add_unless(line, "seed", p.seed, usual.seed);
  return line;
}

Inputs make_inputs(const Problem& p) {
  Inputs inputs{Tensor<double>({p.batch, p.heads_q, p.n_q, p.head_dim}),
                Tensor<double>({p.batch, p.heads_kv, p.n_k, p.head_dim}),
                Tensor<double>({p.batch, p.heads_kv, p.n_k, p.head_dim}),
                {}};
  NormalStream stream(p.seed);
  for (Tensor<double>* tensor : {&inputs.q, &inputs.k, &inputs.v}) {
    stream.fill(tensor->data);
    round_to(p.dtype, tensor->data);
  }
  if (p.sink_logits) {
    inputs.sink_logits.resize(static_cast<std::size_t>(p.heads_q));
    stream.fill(inputs.sink_logits);
    round_to(p.dtype, inputs.sink_logits);
  }
  return inputs;
}

Attention poisoned_outputs(const Problem& p) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  return {Tensor<double>({p.batch, p.heads_q, p.n_q, p.head_dim}, kNan),
          Tensor<double>({p.batch, p.heads_q, p.n_q, 1}, kNan)};
}

}  // namespace swa
