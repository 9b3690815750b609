// One decided attention problem, and the inputs that belong to it.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/layout.hpp"
#include "mask/window.hpp"
#include "tensor/dtype.hpp"
#include "tensor/tensor.hpp"

namespace swa {

// How the tokens of a batch lie in memory.
enum class Layout : std::uint8_t {
  padded,  // each sequence begins a batch entry of n_q and n_k tokens; what is left over is padding
  packed,  // sequence after sequence in one batch entry, without gaps (cu_seqlens)
};

// How the elements of q, k and v are drawn.
enum class Recipe : std::uint8_t {
  normal,   // standard normal
  uniform,  // within [0, 1)
  large,    // normal, q and k times 64: q.k passes 65504, which ends fp16, unless scaled before
};
std::string_view name(Recipe recipe);
std::optional<Recipe> parse_recipe(std::string_view word);
// The names, in the order above.
std::vector<std::string> recipe_words();

// Where the random numbers come from.
enum class Stream : std::uint8_t {
  numpy,    // NumPy's default_rng(seed), one number after the other (tensor/random.hpp)
  counter,  // each number from its place alone, on all threads (tensor/counter_stream.hpp)
};
std::string_view name(Stream stream);
std::optional<Stream> parse_stream(std::string_view word);
std::vector<std::string> stream_words();
// Of the largest tensor of a problem that NumPy's stream is the default for.
inline constexpr Index kMostOfNumpy = Index{1} << 28;

std::string_view name(CacheKind kind);
std::optional<CacheKind> parse_cache(std::string_view word);
// "contiguous", "ring" and "paged".
std::vector<std::string> cache_words();

inline constexpr Index kMaxHeadDim = Index{1} << 16;  // of the command line and of case files

// Everything that a kernel needs to know besides the data. All sizes are >= 1; heads_q is a
// multiple of heads_kv, and query head h reads kv head h / group.
struct Problem {
  Index batch = 1;  // sequences
  Index heads_q = 1, heads_kv = 1;
  Index n_q = 1, n_k = 1;  // tokens of each sequence, at most; of the longest where packed
  // Tokens of each sequence, 0 included; empty where all have n_q, or n_k.
  std::vector<Index> lengths_q = {}, lengths_k = {};
  Layout layout = Layout::padded;
  Index head_dim = 64;
  std::optional<Index> head_dim_v;  // of v and the output; head_dim where not given
  Window window;
  Index sinks = 0;              // tokens: the first keys, visible to all later rows
  bool sink_logits = false;     // one learned logit per query head in the denominator
  double softcap = 0;           // c > 0: scores become c tanh(score / c)
  std::optional<double> scale;  // of q.k; 1 / sqrt(head_dim) where not given
  Anchor anchor = Anchor::bottom_right;
  CacheLayout cache;  // in which a kernel finds k and v; inputs are logical whatever it is
  Dtype dtype = Dtype::fp32;
  std::uint64_t seed = 0;
  Recipe inputs = Recipe::normal;
  std::optional<Stream> stream;  // see drawn_from()

  friend bool operator==(const Problem&, const Problem&) = default;

  Index group() const { return heads_q / heads_kv; }
  Index value_dim() const { return head_dim_v.value_or(head_dim); }
  double score_scale() const;
  // `stream`; where not given numpy, or counter where q, k or v has more than kMostOfNumpy
  // elements.
  Stream drawn_from() const;
  bool has_lengths() const { return !lengths_q.empty() || !lengths_k.empty(); }
  // Of one sequence.
  Index queries(Index sequence) const;
  Index keys(Index sequence) const;
  Mask mask(Index sequence = 0) const;
  // Token slots of a sequence in a ring cache.
  Index ring_capacity() const;

  Shape query_shape(Index dim) const;  // q, out and lse: [batch, heads_q, n_q, dim]
  Shape key_shape(Index dim) const;    // k and v: [batch, heads_kv, n_k, dim]
                                       // batch 1 and all tokens of the batch where packed
};

// One sequence of a problem, and where its rows lie in the tensors.
struct Sequence {
  Index batch = 0;             // first index of the tensors
  Index q_row = 0, k_row = 0;  // of its first query and key
  Mask mask;                   // of its rows and keys, both counted from 0
};
// All of them, one by one.
std::vector<Sequence> sequences(const Problem& problem);

// A mask, and how many sequences of the batch have it.
struct SharedMask {
  Mask mask;
  Index sequences = 0;
};
// One where all sequences are of one length, whatever the batch.
std::vector<SharedMask> shared_masks(const Problem& problem);

// Throws UsageError for what has no meaning: a size below 1, heads_q not a multiple of heads_kv,
// more sink tokens than keys, lengths that are not one for each sequence or do not fit, a cache
// that cannot hold what the rows see.
void validate(const Problem& problem);

// The stream of a problem that states none.
Stream usual_stream(const Problem& problem);
// Whether a problem is to be written down with its stream: it is counter, or would be if left out.
bool states_stream(const Problem& problem);

// The options of `swa verify` that recreate the problem, defaults left out, such as
// "--W 100 --nq 96 --nk 600".
std::string options(const Problem& problem);

// The mask's part of those options: "--W 100", "--left 8 --right 4", "--mask chunked:64", or
// nothing for no window.
std::string options(const Window& window);

// The batch for people: "3 sequences, packed: 1, 5, 0 queries on 9, 5, 4 keys"; empty where no
// lengths were given.
std::string describe_batch(const Problem& problem);

// q [batch, heads_q, n_q, head_dim], k [batch, heads_kv, n_k, head_dim] and v [batch, heads_kv,
// n_k, head_dim_v], drawn in that order from NumPy's default_rng(seed).standard_normal (.random
// for the recipe uniform), then sink_logits [heads_q], normal, where the problem has them; or the
// tensors 0 to 3 of CounterStream, on all threads: Stopped of parallel.hpp is thrown then. Values
// are rounded to the problem's dtype and held as doubles. Padding holds NaN: a kernel that lets any
// of it into an output shows it.
struct Inputs {
  Tensor<double> q, k, v;
  std::vector<double> sink_logits;  // empty where the problem has none
};
Inputs make_inputs(const Problem& problem);

// What a forward pass returns. A row that sees no key has output 0; its lse is -inf, or its sink
// logit where it has one.
struct Attention {
  Tensor<double> out;  // [batch, heads_q, n_q, head_dim_v]
  Tensor<double>
      lse;  // [batch, heads_q, n_q, 1], ln of the softmax denominator; empty: not returned
};

// What an element holds that a kernel has not written: a NaN with a payload that no computation
// makes, so that it is told from a NaN that was computed.
inline constexpr double kUnwritten = std::bit_cast<double>(std::uint64_t{0x7ff8'5357'4100'7f53});
inline bool is_unwritten(double x) {
  return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(kUnwritten);
}

// Outputs of the problem's shapes, every element kUnwritten.
Attention poisoned_outputs(const Problem& problem);

}  // namespace swa
