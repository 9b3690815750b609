// Where the keys of a call lie in memory. Needs no other header than that of the mask, so that
// device code can have it.
#pragma once

#include <cstdint>
#include <optional>

#include "mask/window.hpp"

namespace swa {

enum class CacheKind : std::uint8_t {
  contiguous,  // key k of a sequence is token k of its tensor
  ring,        // key k lies in slot k mod capacity, where it has overwritten key k - capacity
  paged,       // key k lies in slot k mod page of the page that a block table has for k / page
};

// Every sequence has a ring or a table of its own.
struct CacheLayout {
  CacheKind kind = CacheKind::contiguous;
  // Token slots of a ring; where not given as few as hold what the rows of the call see. Read only
  // where kind == ring.
  std::optional<Index> capacity = {};
  Index page = 16;  // tokens of a page; read only where kind == paged

  friend bool operator==(const CacheLayout&, const CacheLayout&) = default;
};

}  // namespace swa
