#include "cli/problem_options.hpp"

#include <fmt/format.h>

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

MaskOptions::MaskOptions(Command& command)
    : window_(command.add("window", "none")),
      left_(command.add("left")),
      right_(command.add("right")),
      causal_(command.add_flag("--causal", "no key after the query is seen (the default)")),
      no_causal_(command.add_flag("--no-causal", "keys after the query are seen, up to --right")),
      sinks_(command.add("sinks", "0")),
      anchor_(command.add("anchor", "bottom-right")) {}

bool MaskOptions::given() const {
  return window_.given() || left_.given() || right_.given() || causal_.given() ||
         no_causal_.given() || sinks_.given() || anchor_.given();
}

std::vector<Window> MaskOptions::windows() const {
  const bool band = left_.given() || right_.given();
  if (causal_.given() && no_causal_.given()) {
    throw UsageError("--causal and --no-causal contradict each other", "give one of them");
  }
  if (window_.given() && band) {
    throw UsageError("--W and --left/--right are two spellings of the window",
                     "give --W for a causal window, or --left and --right for a band");
  }
  if (window_.given() && window_.text != "none" && no_causal_.given()) {
    throw UsageError("--W is a causal window, so --no-causal contradicts it",
                     "say --left and --right, keys besides the query's own");
  }
  if (!band && !no_causal_.given()) return parse_windows(window_);

  const Side left = left_.given() ? parse_side(left_) : Side::unbounded();
  const Side usual_right = no_causal_.given() ? Side::unbounded() : Side::of(0);
  const Side right = right_.given() ? parse_side(right_) : usual_right;
  if (causal_.given() && !(right == Side::of(0))) {
    throw UsageError(fmt::format("--right {} lets queries see later keys, so --causal contradicts "
                                 "it",
                                 right_.text),
                     "leave --causal out, or give --right 0");
  }
  // A band that ends at the query is the causal window it is equal to.
  return {right == Side::of(0) ? from_flash_attention({true, left.bounded ? left.reach : -1, 0})
                               : Window::band(left, right)};
}

std::vector<Index> MaskOptions::sinks() const {
  return parse_counts(sinks_.name, sinks_.text, {0, kMaxIndex});
}

Anchor MaskOptions::anchor() const {
  return parse_choice(anchor_.name, anchor_.text, {"bottom-right", "top-left"}) == "top-left"
             ? Anchor::top_left
             : Anchor::bottom_right;
}

SizeOptions::SizeOptions(Command& command) : n_q_(command.add("n_q")), n_k_(command.add("n_k")) {}

void SizeOptions::read(Sweep& sweep) const {
  if (!given()) {
    throw UsageError("the problem has no size",
                     "give --nq and --nk (one is enough if they are "
                     "equal), such as --nq 1000 --W 100");
  }
  const Option& queries = n_q_.given() ? n_q_ : n_k_;
  sweep.n_q = parse_counts(queries.name, queries.text);
  if (n_q_.given() && n_k_.given()) sweep.n_k = parse_counts(n_k_.name, n_k_.text);
}

}  // namespace swa::cli
