// Faults of the window itself, and of where it stands.
#include "verify/fault_tables.hpp"

namespace swa {
namespace {

// Applies to every mask of the plan for which `when` holds.
template <class When, class Edit>
void edit_masks(Plan& plan, When when, Edit edit) {
  plan.mask_edits.emplace_back([=](Mask& mask) {
    if (when(mask)) edit(mask);
  });
}

bool has_left(const Mask& mask) {
  return left_of(mask).bounded;
}
bool has_window(const Mask& mask) {
  return has_left(mask) || mask.window.kind == Window::Kind::chunked;
}
bool is_causal_window(const Mask& mask) {
  return mask.window.kind == Window::Kind::causal;
}
bool has_reach_right(const Mask& mask) {
  return right_of(mask).bounded && right_of(mask).reach > 0;
}

// No left bound; where keys after the query are seen, no right bound either.
void ignore_window(Mask& mask) {
  if (is_two_sided(mask)) {
    set_band(mask, Side::unbounded(), Side::unbounded());
  } else {
    mask.window = Window::global();
  }
}

void widen(Mask& mask, Index by) {
  set_band(mask, Side::of(left_of(mask).reach + by), right_of(mask));
}

// The first key of a row's window, where the window does not begin before the sequence.
void narrow(PlannedRow& row) {
  const Side left = left_of(row.mask);
  if (left.bounded && row.position() - left.reach >= 0) ++row.band.begin;
}

}  // namespace

std::vector<Fault> window_faults() {
  return {
      {"window-one-too-wide", "window", "every window holds one key too many",
       "W is passed where a count of keys to the left is expected, as in FlashAttention's "
       "window_size or FlashInfer's window_left",
       "W counts the query's own key: pass {L}, not {W}, as the left count",
       [](Plan& plan) { edit_masks(plan, has_left, [](Mask& m) { widen(m, 1); }); },
       "W as a left count: FlashAttention window_size=({W}, 0), FlashInfer window_left={W}, "
       "axlearn sliding_window_size={W}"},
      {"window-one-too-narrow", "window", "every window lacks its oldest key",
       "a left count is passed where W is expected, or the bound reads q - k < W - 1",
       "the oldest key of query q is q - {L}: pass {W} where W is expected, {L} where a left count "
       "is",
       [](Plan& plan) { plan.row_edits.emplace_back(narrow); },
       "W without the query itself: a length of {L} in cuDNN or Hugging Face"},
      {"window-ignored", "window", "there is no window at all",
       "the window does not reach the kernel", "pass the window on: W = {W}, left = {L}",
       [](Plan& plan) { edit_masks(plan, has_window, ignore_window); }},
      {"window-ignored-in-decode", "window", "one query per sequence has no window",
       "the path for n_q = 1 lacks the window", "apply the window in the decode path too",
       [](Plan& plan) {
         edit_masks(
             plan, [](const Mask& m) { return has_window(m) && m.n_q == 1; }, ignore_window);
       }},
      {"window-ignored-when-square", "window", "there is no window where n_q = n_k",
       "the path for a prefill without history lacks the window",
       "apply the window where n_q = n_k too",
       [](Plan& plan) {
         edit_masks(
             plan, [](const Mask& m) { return has_window(m) && m.n_q == m.n_k; }, ignore_window);
       }},
      {"window-ignored-in-prefill", "window", "more than one query per sequence has no window",
       "only the decode path knows the window", "apply the window in the prefill path too",
       [](Plan& plan) {
         edit_masks(
             plan, [](const Mask& m) { return has_window(m) && m.n_q > 1; }, ignore_window);
       }},
      {"window-ignored-unless-causal", "window", "a window that is not causal is ignored",
       "the window is read inside the branch for causal = true",
       "read left and right whether or not the mask is causal",
       [](Plan& plan) {
         edit_masks(
             plan, [](const Mask& m) { return has_window(m) && is_two_sided(m); }, ignore_window);
       }},
      {"left-right-swapped", "window", "left and right have changed places",
       "the two numbers of the window are passed in the other order", "swap them: left is {L}",
       [](Plan& plan) {
         edit_masks(plan, has_left, [](Mask& m) { set_band(m, right_of(m), left_of(m)); });
       }},
      {"window-halved", "window", "both sides of the band reach half as far",
       "a reach is taken for the whole width and halved", "left and right are reaches, not widths",
       [](Plan& plan) {
         edit_masks(plan, has_reach_right, [](Mask& m) {
           const Side left = left_of(m);
           set_band(m, left.bounded ? Side::of(left.reach / 2) : left,
                    Side::of(right_of(m).reach / 2));
         });
       },
       "a width: ModernBERT local_attention, half of it on each side"},
      {"window-doubled", "window", "both sides of the band reach twice as far",
       "a whole width is taken for the reach of each side", "halve the width: it covers both sides",
       [](Plan& plan) {
         edit_masks(plan, has_reach_right, [](Mask& m) {
           const Side left = left_of(m);
           set_band(m, left.bounded ? Side::of(2 * left.reach) : left,
                    Side::of(2 * right_of(m).reach));
         });
       }},
      {"right-taken-as-causal", "window", "no row sees a key after its own",
       "the kernel is causal whatever the right bound says", "pass causal = false with the band",
       [](Plan& plan) {
         edit_masks(plan, is_two_sided, [](Mask& m) { set_band(m, left_of(m), Side::of(0)); });
       }},
      {"right-ignored", "window", "the right bound of a two-sided band is missing",
       "only the left bound reaches the kernel", "apply the right bound too",
       [](Plan& plan) {
         edit_masks(plan, has_reach_right,
                    [](Mask& m) { set_band(m, left_of(m), Side::unbounded()); });
       }},
      {"right-zero-ignored", "window", "a window that ends at the query sees the keys after it",
       "a right bound of 0 is taken for no bound",
       "tell 0 from \"no bound\": right = 0 hides every later key",
       [](Plan& plan) {
         edit_masks(
             plan, [](const Mask& m) { return has_left(m) && right_of(m) == Side::of(0); },
             [](Mask& m) { set_band(m, left_of(m), Side::unbounded()); });
       }},
      {"right-clamped-to-keys", "window", "the right bound is at most n_k",
       "an open right bound is replaced by n_k, which is too little where n_q > n_k",
       "replace no bound by n_q + n_k, or leave it out",
       [](Plan& plan) {
         edit_masks(plan, is_two_sided, [](Mask& m) {
           const Side right = right_of(m);
           set_band(m, left_of(m),
                    right.bounded ? Side::of(smaller(right.reach, m.n_k)) : Side::of(m.n_k));
         });
       }},
      {"window-of-one-ignored", "window", "W = 1 counts as no window",
       "left = 0 is taken for \"off\"", "tell left = 0 from \"no window\": W = 1 sees one key",
       [](Plan& plan) {
         edit_masks(
             plan, [](const Mask& m) { return is_causal_window(m) && m.window.width == 1; },
             ignore_window);
       }},
      {"window-clipped-to-keys", "window", "a window of n_k or more loses the oldest key",
       "W is clipped to n_k - 1 instead of n_k", "clip W to n_k, or not at all",
       [](Plan& plan) {
         edit_masks(
             plan, [](const Mask& m) { return is_causal_window(m) && m.window.width >= m.n_k; },
             [](Mask& m) { m.window = Window::causal(larger(1, m.n_k - 1)); });
       }},
      {"chunks-for-a-window", "window", "rows see their chunk of W keys, not their last W keys",
       "chunked attention stands in for a sliding window",
       "use q - k < {W}; chunked attention compares q / W with k / W",
       [](Plan& plan) {
         edit_masks(plan, is_causal_window,
                    [](Mask& m) { m.window = Window::chunked(m.window.width); });
       },
       "chunked attention, as in the local layers of Llama 4"},
      {"a-window-for-chunks", "window", "rows see their last C keys, not their chunk of C",
       "a sliding window stands in for chunked attention", "compare q / C with k / C",
       [](Plan& plan) {
         edit_masks(
             plan, [](const Mask& m) { return m.window.kind == Window::Kind::chunked; },
             [](Mask& m) { m.window = Window::causal(m.window.width); });
       }},
  };
}

std::vector<Fault> alignment_faults() {
  return {
      {"top-left", "alignment", "row 0 sits at key 0",
       "the mask aligns top-left, which is right only where n_q = n_k",
       "add q_offset = n_k - n_q to the row (bottom-right)",
       [](Plan& plan) {
         if (plan.problem.anchor != Anchor::bottom_right) return;
         plan.mask_edits.emplace_back([](Mask& m) { m.q_offset = 0; });
       },
       "top-left alignment: cuDNN without BOTTOM_RIGHT, xformers LowerTriangularMask"},
      {"bottom-right", "alignment", "the last row sits at the last key",
       "the mask aligns bottom-right where top-left was asked for", "let row 0 sit at key 0",
       [](Plan& plan) {
         if (plan.problem.anchor != Anchor::top_left) return;
         plan.mask_edits.emplace_back([](Mask& m) { m.q_offset = m.n_k - m.n_q; });
       }},
      {"top-left-window", "alignment", "the left bound counts from row 0, the right one rightly",
       "q_offset is missing in the window's bound", "add q_offset to the left bound too",
       [](Plan& plan) {
         plan.row_edits.emplace_back([](PlannedRow& r) {
           Mask unshifted = r.mask;
           unshifted.q_offset = 0;
           if (has_window(r.mask)) r.band.begin = band_begin(unshifted, r.row);
         });
       }},
      {"top-left-right-bound", "alignment",
       "the right bound counts from row 0, the left one rightly",
       "q_offset is missing in the causal bound", "add q_offset to the right bound too",
       [](Plan& plan) {
         plan.row_edits.emplace_back([](PlannedRow& r) {
           Mask unshifted = r.mask;
           unshifted.q_offset = 0;
           r.band.end = band_end(unshifted, r.row);
           r.sinks = smaller(r.mask.sinks, r.band.end);
         });
       }},
  };
}

}  // namespace swa
