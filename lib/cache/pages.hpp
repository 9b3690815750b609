// A paged cache of a local layer that frees the pages which fell out of the window.
#pragma once

#include "mask/window.hpp"

namespace swa {

// Pages that hold a key which the newest token sees, when `tokens` >= 1 tokens are cached: from the
// page of key max(0, tokens - W) to the page of the newest.
constexpr Index live_pages(Index tokens, Index W, Index page) {
  return (tokens - 1) / page - larger(0, tokens - W) / page + 1;
}

// The most live pages over any number of tokens: ceil((W - 1) / page) + 1. W keys span W - 1 steps,
// and the worst start is the last slot of a page.
constexpr Index most_live_pages(Index W, Index page) {
  return ceil_div(W - 1, page) + 1;
}

// The most live pages while a sequence grows to `tokens`, one token at a time.
constexpr Index max_live_pages(Index tokens, Index W, Index page) {
  Index most = 0;
  // After W + page tokens the pattern repeats with the page.
  for (Index t = 1; t <= smaller(tokens, W + page); ++t)
    most = larger(most, live_pages(t, W, page));
  return most;
}

}  // namespace swa
