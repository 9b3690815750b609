// The grid figures against the library: every tile and every pair that is drawn.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "figures/figures.hpp"
#include "xml.hpp"

using namespace swa;
using std::string;
using std::vector;
using swa::test::Element;
using swa::test::says;
using swa::test::XmlReader;

namespace {

constexpr double kCorner = 84, kTop = 96;  // of the grid

struct Picture {
  Element root;
  double cell;

  Picture(const string& document, Index cells)
      : root(XmlReader::read(document)),
        cell(std::min(40.0, std::floor(512.0 / static_cast<double>(cells)))) {}

  // Row and column of the cells of a class; a rectangle may span several.
  std::set<std::pair<Index, Index>> cells(const string& name) const {
    std::set<std::pair<Index, Index>> found;
    for (const Element* group : root.groups(name)) {
      for (const Element* rect : group->all("rect")) {
        const Index row = whole((rect->number("y") - kTop) / cell);
        const Index column = whole((rect->number("x") - kCorner) / cell);
        CHECK(rect->number("height") == cell);
        for (Index i = 0; i < whole(rect->number("width") / cell); ++i) {
          CHECK(found.insert({row, column + i}).second);
        }
      }
    }
    return found;
  }
  static Index whole(double x) {
    CHECK(x == doctest::Approx(std::round(x)));
    return static_cast<Index>(std::lround(x));
  }
};

// From the definition, pair by pair.
TileClass class_of(const Mask& mask, TileShape tile, Index query_tile, Index key_tile) {
  Index seen = 0, pairs = 0;
  for (Index r = query_tile * tile.BM; r < smaller((query_tile + 1) * tile.BM, mask.n_q); ++r) {
    for (Index k = key_tile * tile.BN; k < smaller((key_tile + 1) * tile.BN, mask.n_k); ++k) {
      seen += sees(mask, r, k);
      ++pairs;
    }
  }
  if (seen == 0) return TileClass::empty;
  return seen == pairs ? TileClass::full : TileClass::partial;
}

vector<Mask> masks() {
  vector<Mask> found;
  for (const Window& window :
       {Window::global(), Window::causal(1), Window::causal(40),
        Window::band(Side::of(9), Side::of(30)), Window::band(Side::unbounded(), Side::of(4))}) {
    for (const Index sinks : {Index{0}, Index{21}}) {
      for (const Anchor anchor : {Anchor::bottom_right, Anchor::top_left}) {
        found.push_back(Mask::make(window, sinks, 70, 131, anchor));
        found.push_back(Mask::make(window, sinks, 131, 70, anchor));
      }
    }
  }
  return found;
}

void check_grid(const Mask& mask, TileShape tile) {
  CAPTURE(mask.n_q);
  CAPTURE(mask.sinks);
  CAPTURE(static_cast<int>(mask.window.kind));
  CAPTURE(tile.BM);
  CAPTURE(tile.BN);
  const Index rows = query_tiles(mask, tile), columns = key_tiles(mask, tile);
  const Picture picture(figures::tile_grid(mask, tile), std::max(rows, columns));
  const auto full = picture.cells("full"), partial = picture.cells("partial");
  CHECK(picture.root.groups("empty").empty());
  for (Index i = 0; i < rows; ++i) {
    for (Index t = 0; t < columns; ++t) {
      const TileClass kind = class_of(mask, tile, i, t);
      CHECK(full.contains({i, t}) == (kind == TileClass::full));
      CHECK(partial.contains({i, t}) == (kind == TileClass::partial));
    }
  }
  const TileCounts counts = count_tiles(mask, tile);
  CHECK(static_cast<Index>(full.size()) == counts.full);
  CHECK(static_cast<Index>(partial.size()) == counts.partial);
  const auto counted = [](const char* name, Count n) {
    return fmt::format("{}: {} {}", name, n, n == 1 ? "tile" : "tiles");
  };
  CHECK(says(picture.root, counted("FULL", counts.full)));
  CHECK(says(picture.root, counted("PARTIAL", counts.partial)));
  CHECK(says(picture.root, counted("skipped", counts.skipped)));
}

}  // namespace

TEST_CASE("the tile grid draws the class of every tile") {
  for (const Mask& mask : masks()) {
    for (const TileShape tile : {TileShape{16, 16}, TileShape{7, 32}, TileShape{64, 5}}) {
      check_grid(mask, tile);
    }
  }
  check_grid(Mask::make(Window::causal(40), 0, 192, 192, Anchor::bottom_right), {16, 16});
  // Cells too small for patterns.
  check_grid(Mask::make(Window::causal(40), 3, 256, 250, Anchor::bottom_right), {1, 2});
}

TEST_CASE("tiles that other loop bounds visit in vain are EMPTY") {
  const Mask mask = Mask::make(Window::causal(40), 0, 192, 192, Anchor::bottom_right);
  const TileShape tile{16, 16};
  const Picture picture(figures::tile_grid(mask, tile, Rule::flashinfer), 12);
  const TileCounts exact = count_tiles(mask, tile);
  const TileCounts walked = count_tiles(mask, tile, Rule::flashinfer);
  CHECK(walked.empty > 0);
  CHECK(static_cast<Index>(picture.cells("full").size()) == exact.full);
  CHECK(static_cast<Index>(picture.cells("partial").size()) == exact.partial);
  CHECK(static_cast<Index>(picture.cells("empty").size()) == walked.visited - exact.visited);
  std::set<string> fills;
  for (const char* name : {"full", "partial", "empty", "grid"}) {
    fills.insert(picture.root.groups(name).at(0)->at("fill"));
  }
  CHECK(fills == std::set<string>{"#1a1a1a", "url(#hatched)", "url(#crossed)", "#ffffff"});
}

TEST_CASE("the mask picture draws every visible pair") {
  for (const Mask& mask : masks()) {
    CAPTURE(mask.n_q);
    CAPTURE(mask.sinks);
    const Picture picture(figures::mask_picture(mask), std::max(mask.n_q, mask.n_k));
    const auto visible = picture.cells("visible");
    for (Index row = 0; row < mask.n_q; ++row) {
      for (Index key = 0; key < mask.n_k; ++key) {
        CHECK(visible.contains({row, key}) == sees(mask, row, key));
      }
    }
    CHECK(says(picture.root, fmt::format("visible: {} pairs", visible_pairs(mask))));
  }
}
