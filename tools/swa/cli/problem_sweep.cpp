#include "cli/problem_sweep.hpp"

#include "cli/values.hpp"
#include "error.hpp"
#include "problem/words.hpp"

namespace swa::cli {

ProblemOptions::ProblemOptions(Command& command)
    : sizes(command),
      masks(command),
      caches(command),
      batch(command.add("batch", "1")),
      heads_q(command.add("heads_q", "1")),
      heads_kv(
          command.add("heads_kv", "", "key and value heads (default: as many as query heads)")),
      head_dim(command.add("head_dim", "64")),
      head_dim_v(command.add("head_dim_v", "",
                             "elements of a value and of an output (default: --head-dim)")),
      dtype(command.add("dtype", "fp32", "type of the elements: fp64, fp32, tf32, bf16 or fp16")),
      softcap(command.add("softcap")),
      scale(command.add("scale", "", "factor of q.k (default: 1 / sqrt(head_dim))")),
      sink_logits(command.add_flag("--sink-logits", std::string(word("sink_logits").meaning))),
      seed(command.add("seed", "0")),
      inputs(command.add("inputs", "normal")),
      stream(command.add("stream", "",
                         "who draws the inputs: numpy, or counter for each element by itself "
                         "(default: numpy up to 2^28 elements)")) {}

bool ProblemOptions::says_what() const {
  return sizes.given() || masks.given() || caches.given() || batch.given() || heads_q.given() ||
         heads_kv.given() || head_dim.given() || head_dim_v.given() || dtype.given() ||
         softcap.given() || scale.given() || sink_logits.given() || inputs.given() ||
         stream.given();
}

std::vector<Case> ProblemOptions::read() const {
  constexpr Limits kHeadDim{1, kMaxHeadDim};
  Sweep sweep;
  sizes.read(sweep);
  sweep.windows = masks.windows();
  sweep.sinks = masks.sinks();
  sweep.base.anchor = masks.anchor();
  sweep.caches = caches.read();
  if (!sweep.base.has_lengths()) {
    sweep.batch = parse_counts(batch.name, batch.text);
  } else if (batch.given()) {
    set_batch(sweep.base, parse_count(batch.name, batch.text));
  }
  sweep.heads_q = parse_counts(heads_q.name, heads_q.text);
  if (heads_kv.given()) sweep.heads_kv = parse_counts(heads_kv.name, heads_kv.text);
  sweep.head_dim = parse_counts(head_dim.name, head_dim.text, kHeadDim);
  if (head_dim_v.given()) {
    sweep.base.head_dim_v = parse_count(head_dim_v.name, head_dim_v.text, kHeadDim);
  }
  for (const std::string& type : split(dtype.name, dtype.text)) {
    sweep.dtypes.push_back(*parse_dtype(parse_choice(dtype.name, type, element_words())));
  }
  if (softcap.given()) {
    set_softcap(sweep.base, parse_real(softcap.name, softcap.text), softcap.text);
  }
  if (scale.given()) set_scale(sweep.base, parse_real(scale.name, scale.text), scale.text);
  sweep.base.sink_logits = sink_logits.given();
  sweep.base.seed = parse_seed(seed.name, seed.text);
  sweep.base.inputs = *parse_recipe(parse_choice(inputs.name, inputs.text, recipe_words()));
  if (stream.given()) {
    sweep.base.stream = parse_stream(parse_choice(stream.name, stream.text, stream_words()));
  }
  std::vector<Case> cases;
  for (const Problem& problem : expand(sweep)) cases.push_back({"", problem});
  return cases;
}

}  // namespace swa::cli
