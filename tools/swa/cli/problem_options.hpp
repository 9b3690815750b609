// The option group that states attention problems, shared by commands.
#pragma once

#include <vector>

#include "cli/command.hpp"
#include "problem/sweep.hpp"

namespace swa::cli {

// The windows of a --W: a list of counts and "none".
std::vector<Window> parse_windows(const Option& option);

// The mask: --W, or --left and --right, --causal/--no-causal, --sinks, --anchor.
class MaskOptions {
 public:
  explicit MaskOptions(Command& command);

  // At least one window; more than one where --W is a list. Throws where two spellings are used at
  // once or contradict each other.
  std::vector<Window> windows() const;
  std::vector<Index> sinks() const;
  Anchor anchor() const;
  bool given() const;

 private:
  const Option &window_, &left_, &right_, &causal_, &no_causal_, &sinks_, &anchor_;
};

// --nq and --nk. Where one is missing it follows the other.
class SizeOptions {
 public:
  explicit SizeOptions(Command& command);

  bool given() const { return n_q_.given() || n_k_.given(); }
  // Fills in the lists n_q and n_k of the sweep. Throws where neither was given.
  void read(Sweep& sweep) const;

 private:
  const Option &n_q_, &n_k_;
};

}  // namespace swa::cli
