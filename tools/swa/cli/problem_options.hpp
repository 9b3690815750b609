// The option group that states attention problems, shared by commands.
#pragma once

#include <vector>

#include "cli/command.hpp"
#include "mask/conventions.hpp"
#include "problem/stated.hpp"
#include "problem/sweep.hpp"

namespace swa::cli {

// The windows of a --W: a list of counts and "none".
std::vector<Window> parse_windows(const Option& option);

// The windows of a command that takes causal ones only, from --W or --mask; `usual` where neither
// was given.
std::vector<Window> causal_windows(const Option& window, const Option& mask,
                                   const std::vector<Window>& usual);

// The mask: --W, or --left and --right, or --mask; --causal/--no-causal, --sinks, --anchor.
class MaskOptions {
 public:
  explicit MaskOptions(Command& command);

  // At least one window; more than one where --W is a list. Throws where two spellings are used at
  // once or contradict each other.
  std::vector<Window> windows() const;
  std::vector<Index> sinks() const;
  // That of --anchor, or of the convention that --mask names. Throws where they contradict.
  Anchor anchor() const;
  bool given() const;

 private:
  StatedMask stated() const;

  const Option &window_, &left_, &right_, &mask_, &causal_, &no_causal_, &sinks_, &anchor_;
};

// --nq, --nk, --lengths-q and --lengths-k. Where one of a pair is missing it follows the other.
class SizeOptions {
 public:
  explicit SizeOptions(Command& command);

  bool given() const;
  bool has_lengths() const { return lengths_q_.given() || lengths_k_.given(); }
  // Fills in the lists n_q and n_k of the sweep, or the lengths and the batch of its base. Lengths
  // without --nq and --nk are packed sequences, with either of them a padded batch. Throws where
  // there is no size.
  void read(Sweep& sweep) const;

 private:
  StatedSizes stated() const;  // for a problem with lengths, or with no size at all

  const Option &n_q_, &n_k_, &lengths_q_, &lengths_k_;
};

// --cache, --capacity and --page, each a list.
class CacheOptions {
 public:
  explicit CacheOptions(Command& command);

  bool given() const { return cache_.given() || capacity_.given() || page_.given(); }
  std::vector<CacheLayout> read() const;

 private:
  const Option &cache_, &capacity_, &page_;
};

}  // namespace swa::cli
