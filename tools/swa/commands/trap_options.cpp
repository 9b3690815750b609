#include "commands/trap_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/problem_options.hpp"
#include "cli/values.hpp"
#include "error.hpp"

namespace swa::commands {

TrapOptions::TrapOptions(cli::Command& command)
    : name_(command.add_positional("trap",
                                   "nan, off-by-one, alignment, rope-slot or all; or a fault of "
                                   "the catalogue, or all of a class: --list names them")),
      list_(command.add_flag("--list", "print the names, each with what it is, and run nothing")),
      n_(command.add_other("--n", "",
                           "tokens (nan 1000, off-by-one and alignment 1024, rope-slot 40)")),
      head_dim_(command.add("head_dim", "", "elements of a head (64; rope-slot 16)")),
      window_(command.add("window", "", "windows (nan none,100,128,300; rope-slot 8; others 128)")),
      mask_(command.add("mask")),
      chunk_(command.add("chunk", "", "last tokens that are queries (nan all; alignment 256)")),
      seed_(command.add("seed", "",
                        "seed of NumPy's default_rng (nan 1, off-by-one and alignment 2, "
                        "rope-slot 3)")),
      order_(command.add_other("--order", "forward",
                               "walk over key tiles: forward (left to right) or reverse")),
      BM_(command.add("BM", "64")),
      BN_(command.add("BN", "64")),
      guard_(command.add_other("--guard", "off", "the -inf guard: on or off")),
      kernel_(command.add("kernel", "",
                          "nan: run these kernels, in bf16 on the chapter's problems, each beside "
                          "itself without the guard: cpu-tiled, portable-prefill; * and ? are "
                          "wildcards")) {}

void TrapOptions::require_none(std::string_view why) const {
  for (const cli::Option* option :
       {&n_, &head_dim_, &window_, &mask_, &chunk_, &seed_, &order_, &BM_, &BN_, &guard_}) {
    if (!option->given()) continue;
    throw UsageError(fmt::format("{} {}", option->name, why),
                     fmt::format("leave {} out", option->name));
  }
}

Setting TrapOptions::read(const Trap& trap) const {
  for (const cli::Option* option : {&n_, &head_dim_, &window_, &mask_, &chunk_, &seed_, &order_,
                                    &BM_, &BN_, &guard_, &kernel_}) {
    const auto& known = trap.options;
    if (option->given() && std::find(known.begin(), known.end(), option->name) == known.end()) {
      throw UsageError(fmt::format("{} means nothing to the trap '{}'", option->name, trap.name),
                       fmt::format("it takes {}", fmt::join(known, ", ")));
    }
  }
  Setting s = trap.usual;
  if (n_.given()) s.n = cli::parse_count(n_.name, n_.text);
  if (head_dim_.given()) {
    s.head_dim = cli::parse_count(head_dim_.name, head_dim_.text, {1, kMaxHeadDim});
  }
  s.windows = cli::causal_windows(window_, mask_, s.windows);
  for (const Window& w : s.windows) {
    if (w.kind != Window::Kind::causal && trap.name != "nan") {
      throw UsageError(
          fmt::format("the trap '{}' needs a window, so --W none has no meaning", trap.name),
          "give a number of keys, such as --W 128");
    }
  }
  if (chunk_.given()) s.chunk = cli::parse_count(chunk_.name, chunk_.text);
  if (s.chunk > s.n) {
    throw UsageError(fmt::format("{} {} is longer than the {} tokens in all",
                                 chunk_.given() ? "--chunk" : "the chunk of", s.chunk, s.n),
                     "give a larger --n, or a smaller --chunk");
  }
  if (seed_.given()) s.seed = cli::parse_seed(seed_.name, seed_.text);
  s.tiled.tile = {cli::parse_count(BM_.name, BM_.text), cli::parse_count(BN_.name, BN_.text)};
  if (cli::parse_choice(order_.name, order_.text, {"forward", "reverse"}) == "reverse") {
    s.tiled.walk = Walk::reverse;
  }
  s.tiled.guard = cli::parse_choice(guard_.name, guard_.text, {"on", "off"}) == "on";
  if (s.head_dim % 2 != 0 && trap.name == "rope-slot") {
    throw UsageError(fmt::format("--head-dim {} is odd, and RoPE turns pairs", s.head_dim),
                     "give an even head_dim");
  }
  return s;
}

}  // namespace swa::commands
