#include "cli/problem_options.hpp"

#include <fmt/format.h>

#include <utility>

#include "cli/values.hpp"
#include "error.hpp"
#include "mask/conventions.hpp"

namespace swa::cli {
namespace {

// A bound of the band: a count, or none.
Side parse_side(const Option& option) {
  if (option.text == "none") return Side::unbounded();
  return Side::of(parse_count(option.name, option.text, {0, kMaxIndex}));
}

}  // namespace

std::vector<Window> parse_windows(const Option& option) {
  std::vector<Window> windows;
  for (const std::string& item : split(option.name, option.text)) {
    if (item == "none") {
      windows.push_back(Window::global());
      continue;
    }
    if (item == "0") {
      throw UsageError(
          fmt::format("{} 0 would hide every key; W counts the query's own key, so the smallest "
                      "is 1",
                      option.name),
          "for no window leave the option out or write none; FlashAttention's window_size = (0, 0) "
          "is --W 1");
    }
    for (const Index W : parse_counts(option.name, item)) windows.push_back(Window::causal(W));
  }
  return windows;
}

std::vector<Window> causal_windows(const Option& window, const Option& mask,
                                   const std::vector<Window>& usual) {
  if (window.given() && mask.given()) {
    throw UsageError("--W and --mask are two spellings of the window", "give one of them");
  }
  if (window.given()) return parse_windows(window);
  if (!mask.given()) return usual;
  const MaskSpec spec = parse_mask_spec(mask.text);
  const Window& spelled = spec.window;
  if (spec.anchor_is_fixed && spec.anchor == Anchor::top_left) {
    throw UsageError(fmt::format("{} {} aligns top-left, and the queries here are the last ones",
                                 mask.name, mask.text),
                     "give a window that aligns bottom-right, such as hf:128 or fa:127,0");
  }
  if (spelled.kind != Window::Kind::causal && spelled.kind != Window::Kind::global) {
    throw UsageError(fmt::format("{} {} is no causal window", mask.name, mask.text),
                     "give a window that ends at the query, such as hf:128 or fa:127,0");
  }
  return {spelled};
}

MaskOptions::MaskOptions(Command& command)
    : window_(command.add("window", "none")),
      left_(command.add("left")),
      right_(command.add("right")),
      mask_(command.add("mask")),
      causal_(command.add_flag("--causal", "no key after the query is seen (the default)")),
      no_causal_(command.add_flag("--no-causal", "keys after the query are seen, up to --right")),
      sinks_(command.add("sinks", "0")),
      anchor_(command.add("anchor", "bottom-right")) {}

bool MaskOptions::given() const {
  return window_.given() || left_.given() || right_.given() || mask_.given() || causal_.given() ||
         no_causal_.given() || sinks_.given() || anchor_.given();
}

StatedMask MaskOptions::stated() const {
  StatedMask stated;
  if (causal_.given() && no_causal_.given()) {
    throw UsageError("--causal and --no-causal contradict each other", "give one of them");
  }
  if (causal_.given() || no_causal_.given()) stated.causal = causal_.given();
  if (window_.given()) stated.windows = parse_windows(window_);
  if (left_.given()) stated.left = parse_side(left_);
  if (right_.given()) stated.right = parse_side(right_);
  if (mask_.given()) stated.mask = mask_.text;
  const std::string anchor = parse_choice(anchor_.name, anchor_.text, {"bottom-right", "top-left"});
  if (anchor_.given()) {
    stated.anchor = anchor == "top-left" ? Anchor::top_left : Anchor::bottom_right;
  }
  return stated;
}

std::vector<Window> MaskOptions::windows() const {
  return decide_windows(stated());
}

Anchor MaskOptions::anchor() const {
  return decide_anchor(stated());
}

std::vector<Index> MaskOptions::sinks() const {
  return parse_counts(sinks_.name, sinks_.text, {0, kMaxIndex});
}

SizeOptions::SizeOptions(Command& command)
    : n_q_(command.add("n_q")),
      n_k_(command.add("n_k")),
      lengths_q_(command.add("lengths_q")),
      lengths_k_(command.add("lengths_k")) {}

bool SizeOptions::given() const {
  return n_q_.given() || n_k_.given() || lengths_q_.given() || lengths_k_.given();
}

void SizeOptions::read(Sweep& sweep) const {
  if (has_lengths() || !given()) return set_sizes(sweep.base, stated());
  const Option& queries = n_q_.given() ? n_q_ : n_k_;
  sweep.n_q = parse_counts(queries.name, queries.text);
  if (n_q_.given() && n_k_.given()) sweep.n_k = parse_counts(n_k_.name, n_k_.text);
}

StatedSizes SizeOptions::stated() const {
  StatedSizes stated;
  if (n_q_.given()) stated.n_q = parse_count(n_q_.name, n_q_.text);
  if (n_k_.given()) stated.n_k = parse_count(n_k_.name, n_k_.text);
  for (const auto& [option, lengths] :
       {std::pair(&lengths_q_, &stated.lengths_q), std::pair(&lengths_k_, &stated.lengths_k)}) {
    if (option->given()) *lengths = parse_counts(option->name, option->text, {0, kMaxIndex});
  }
  return stated;
}

CacheOptions::CacheOptions(Command& command)
    : cache_(command.add("cache", "contiguous")),
      capacity_(command.add("capacity", "",
                            "token slots of a ring cache (default: as few as hold what the rows "
                            "see)")),
      page_(command.add("page", "16")) {}

std::vector<CacheLayout> CacheOptions::read() const {
  StatedCache stated;
  for (const std::string& word : split(cache_.name, cache_.text)) {
    stated.kinds.push_back(*parse_cache(parse_choice(cache_.name, word, cache_words())));
  }
  if (capacity_.given()) stated.capacities = parse_counts(capacity_.name, capacity_.text);
  if (page_.given()) stated.pages = parse_counts(page_.name, page_.text);
  return decide_caches(stated);
}

}  // namespace swa::cli
