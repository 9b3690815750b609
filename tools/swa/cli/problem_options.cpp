#include "cli/problem_options.hpp"

#include <fmt/format.h>

#include <algorithm>

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

std::optional<bool> MaskOptions::causal() const {
  if (causal_.given() && no_causal_.given()) {
    throw UsageError("--causal and --no-causal contradict each other", "give one of them");
  }
  if (causal_.given()) return true;
  if (no_causal_.given()) return false;
  return std::nullopt;
}

std::vector<Window> MaskOptions::windows() const {
  const bool band = left_.given() || right_.given();
  const std::optional<bool> causal = this->causal();
  if (window_.given() && band) {
    throw UsageError("--W and --left/--right are two spellings of the window",
                     "give --W for a causal window, or --left and --right for a band");
  }
  if (mask_.given() && (window_.given() || band)) {
    throw UsageError(fmt::format("--mask and {} are two spellings of the window",
                                 band ? "--left/--right" : "--W"),
                     "give one of them");
  }
  if (mask_.given()) return {parse_mask_spec(mask_.text, causal).window};
  if (window_.given() && window_.text != "none" && causal == false) {
    throw UsageError("--W is a causal window, so --no-causal contradicts it",
                     "say --left and --right, keys besides the query's own");
  }
  if (!band && causal != false) return parse_windows(window_);

  const Side left = left_.given() ? parse_side(left_) : Side::unbounded();
  const Side usual_right = causal == false ? Side::unbounded() : Side::of(0);
  const Side right = right_.given() ? parse_side(right_) : usual_right;
  if (causal == true && !(right == Side::of(0))) {
    throw UsageError(fmt::format("--right {} lets queries see later keys, so --causal contradicts "
                                 "it",
                                 right_.text),
                     "leave --causal out, or give --right 0");
  }
  // A band that ends at the query becomes the causal window it is equal to.
  return {from_flash_attention(
      {false, left.bounded ? left.reach : -1, right.bounded ? right.reach : -1})};
}

std::vector<Index> MaskOptions::sinks() const {
  return parse_counts(sinks_.name, sinks_.text, {0, kMaxIndex});
}

Anchor MaskOptions::anchor() const {
  const Anchor typed =
      parse_choice(anchor_.name, anchor_.text, {"bottom-right", "top-left"}) == "top-left"
          ? Anchor::top_left
          : Anchor::bottom_right;
  if (!mask_.given()) return typed;
  const MaskSpec spec = parse_mask_spec(mask_.text, causal());
  if (!anchor_.given()) return spec.anchor;
  if (spec.anchor_is_fixed && spec.anchor != typed) {
    throw UsageError(
        fmt::format("--anchor {} contradicts --mask {}, which aligns {}", anchor_.text, mask_.text,
                    spec.anchor == Anchor::top_left ? "top-left" : "bottom-right"),
        "leave --anchor out, or say the window with --W or --left and --right");
  }
  return typed;
}

namespace {

Index longest(const std::vector<Index>& lengths) {
  return *std::max_element(lengths.begin(), lengths.end());
}

}  // namespace

SizeOptions::SizeOptions(Command& command)
    : n_q_(command.add("n_q")),
      n_k_(command.add("n_k")),
      lengths_q_(command.add("lengths_q")),
      lengths_k_(command.add("lengths_k")) {}

bool SizeOptions::given() const {
  return n_q_.given() || n_k_.given() || lengths_q_.given() || lengths_k_.given();
}

void SizeOptions::read(Sweep& sweep) const {
  if (has_lengths()) return read_lengths(sweep.base);
  if (!given()) {
    throw UsageError("the problem has no size",
                     "give --nq and --nk (one is enough if they are "
                     "equal), such as --nq 1000 --W 100");
  }
  const Option& queries = n_q_.given() ? n_q_ : n_k_;
  sweep.n_q = parse_counts(queries.name, queries.text);
  if (n_q_.given() && n_k_.given()) sweep.n_k = parse_counts(n_k_.name, n_k_.text);
}

void SizeOptions::read_lengths(Problem& p) const {
  const auto lengths_of = [](const Option& option) {
    return option.given() ? parse_counts(option.name, option.text, {0, kMaxIndex})
                          : std::vector<Index>{};
  };
  p.lengths_q = lengths_of(lengths_q_);
  p.lengths_k = lengths_of(lengths_k_);
  p.layout = n_q_.given() || n_k_.given() ? Layout::padded : Layout::packed;
  if (p.lengths_q.empty() && !n_q_.given()) {
    throw UsageError("--lengths-k states no queries", "give --nq or --lengths-q too");
  }
  if (p.lengths_k.empty() && !n_k_.given()) p.lengths_k = p.lengths_q;
  p.batch = static_cast<Index>((p.lengths_q.empty() ? p.lengths_k : p.lengths_q).size());
  // Lengths of 0 alone leave nothing to compute; 1 keeps the sizes themselves in range.
  p.n_q = n_q_.given() ? parse_count(n_q_.name, n_q_.text) : larger(1, longest(p.lengths_q));
  p.n_k = n_k_.given() ? parse_count(n_k_.name, n_k_.text) : larger(1, longest(p.lengths_k));
  if (!p.lengths_q.empty() && longest(p.lengths_q) == 0) {
    throw UsageError(fmt::format("--lengths-q {} has no query at all", lengths_q_.text),
                     "give at least one sequence a query");
  }
}

}  // namespace swa::cli
