// One spelling for each quantity: the word of JSON, the option of the command line, its meaning.
#pragma once

#include <array>
#include <stdexcept>
#include <string_view>

namespace swa {

struct Word {
  std::string_view key;      // in JSON and in case files
  std::string_view option;   // on the command line
  std::string_view aliases;  // further spellings of the option, comma-separated; may be empty
  std::string_view meaning;  // one line of help
};

inline constexpr std::array kWords{
    Word{"n_q", "--nq", "", "query tokens"},
    Word{"n_k", "--nk", "", "key tokens"},
    Word{"lengths_q", "--lengths-q", "", "query tokens of each sequence, 0 included"},
    Word{"lengths_k", "--lengths-k", "", "key tokens of each sequence, 0 included"},
    Word{"mask", "--mask", "",
         "the window in the words of another project, such as fa:127,0 or chunked:8192"},
    Word{"window", "--W", "-W,--window",
         "keys that a query sees, itself included; none for no window"},
    Word{"left", "--left", "", "keys before the query that it sees; none for no bound"},
    Word{"right", "--right", "", "keys after the query that it sees; none for no bound"},
    Word{"causal", "--causal", "", "no key after the query is seen"},
    Word{"sinks", "--sinks", "", "sink tokens: the first keys stay visible to all later queries"},
    Word{"sink_logits", "--sink-logits", "", "a learned logit per head in the softmax denominator"},
    Word{"anchor", "--anchor", "",
         "bottom-right: the last query sits at the last key; or top-left"},
    Word{"batch", "--batch", "-b", "sequences"},
    Word{"heads_q", "--heads", "", "query heads"},
    Word{"heads_kv", "--kv-heads", "", "key and value heads"},
    Word{"head_dim", "--head-dim", "-d", "elements of a head"},
    Word{"head_dim_v", "--head-dim-v", "", "elements of a value and of an output"},
    Word{"dtype", "--dtype", "", "type of the elements"},
    Word{"softcap", "--softcap", "", "scores become c tanh(score / c)"},
    Word{"scale", "--scale", "", "factor of q.k"},
    Word{"seed", "--seed", "", "seed of NumPy's default_rng"},
    Word{"stream", "--stream", "", "who draws them: numpy, or counter for element by element"},
    Word{"inputs", "--inputs", "", "how q, k and v are drawn: normal, uniform or large"},
    Word{"BM", "--BM", "", "query rows of a tile"},
    Word{"BN", "--BN", "", "keys of a tile"},
    Word{"context", "--ctx", "", "tokens of context"},
    Word{"model", "--model", "-m", "models by name"},
    Word{"kernel", "--kernel", "", "kernels by name; * and ? are wildcards"},
    Word{"chunk", "--chunk", "", "tokens of a prefill chunk"},
    Word{"cache", "--cache", "", "where the keys lie: contiguous, ring or paged"},
    Word{"capacity", "--capacity", "", "token slots of a ring cache"},
    Word{"page", "--page", "", "tokens of a cache page"},
    Word{"lse", "--lse", "", "the log-sum-exp of each row is asked for"},
    Word{"rule", "--rule", "", "whose loop bounds: exact, fa2, fa3, flashinfer or flex"},
    Word{"layers", "--layers", "", "a stack of layers, L local and G global: LLLLLG"},
    Word{"steps", "--steps", "", "tokens in all"},
    Word{"rounds", "--rounds", "", "times that each kernel runs"},
    Word{"threads", "--threads", "", "threads of a kernel"},
    Word{"max_seconds", "--max-seconds", "", "no further round of a kernel begins after this time"},
    Word{"prefill", "--prefill", "", "tokens that arrive in chunks before decoding starts"},
};

// Throws std::logic_error for a key that is not in the table.
constexpr const Word& word(std::string_view key) {
  for (const Word& w : kWords) {
    if (w.key == key) return w;
  }
  throw std::logic_error("no such word");
}

constexpr std::string_view option_of(std::string_view key) {
  return word(key).option;
}

}  // namespace swa
