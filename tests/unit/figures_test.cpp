// Figures against the library: every slot and point that is drawn, and what is refused.
#include "figures/figures.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "budget/layout.hpp"
#include "cache/ring.hpp"
#include "chart_reader.hpp"
#include "error.hpp"
#include "xml.hpp"

using namespace swa;
using std::string;
using std::vector;
using swa::test::Element;
using swa::test::says;
using swa::test::XmlReader;

namespace {

RingSnapshot last_snapshot(Index W, Index steps) {
  RingTrialOptions options;
  options.W = W;
  options.steps = steps;
  options.head_dim = 2;
  return run_ring_trial(options, {steps - 1}).snapshots.back();
}

// Cells of one row: what each says, whether it is the newest, and which one the next token takes.
struct Row {
  vector<string> labels;
  vector<bool> shaded;  // in the global layer alone
  Index newest = -1, next = -1;

  explicit Row(const Element& group) {
    for (const Element& child : group.children) {
      const bool mark = child.name == "rect" && child.number("stroke-width") == 3;
      const auto last = static_cast<Index>(labels.size()) - 1;
      if (child.name == "text") labels.back() = child.text;
      if (mark) next = last;
      if (child.name != "rect" || mark) continue;
      labels.emplace_back();
      shaded.push_back(child.at("fill") == "#d0d0d0");
      if (child.at("fill") == "#1a1a1a") newest = last + 1;
    }
  }
};

string label_of(Index owner) {
  return owner == RingCache::kEmpty ? "" : fmt::format("{}", owner);
}

void check_ring(Index W, Index steps) {
  CAPTURE(W);
  CAPTURE(steps);
  RingCache cache(W, 1);
  const double element = 0;
  for (Index t = 0; t < steps; ++t) cache.write(t, &element, &element);
  const vector<Index> before(cache.owners().begin(), cache.owners().end());
  cache.write(steps, &element, &element);
  Index next = -1;
  for (std::size_t slot = 0; slot < before.size(); ++slot) {
    if (cache.owners()[slot] != before[slot]) next = static_cast<Index>(slot);
  }

  const Element root = XmlReader::read(figures::ring(W, last_snapshot(W, steps)));
  const auto layers = root.groups("local");
  CHECK(layers.size() == 5);
  for (const Element* layer : layers) {
    const Row row(*layer);
    REQUIRE(row.labels.size() == before.size());
    for (std::size_t slot = 0; slot < before.size(); ++slot) {
      CHECK(row.labels[slot] == label_of(before[slot]));
    }
    CHECK(row.newest == cache.slot_of(steps - 1));
    CHECK(row.next == next);
  }
  const Row global(*root.groups("global").at(0));
  REQUIRE(static_cast<Index>(global.labels.size()) == steps);
  for (Index t = 0; t < steps; ++t) {
    const auto at = static_cast<std::size_t>(t);
    CHECK(global.labels[at] == label_of(t));
    CHECK(global.shaded[at] == (std::find(before.begin(), before.end(), t) == before.end()));
  }
  CHECK(global.newest == steps - 1);
  CHECK(says(root, "in the global layer alone") == (steps > W));
  CHECK(says(root, steps >= W ? "next to be overwritten" : "next to be written"));
}

// The points of a series, as the ticks of its chart show them.
void check_line(const Element& root, std::size_t series, const vector<double>& xs,
                const vector<double>& ys, bool log2_y) {
  CAPTURE(series);
  const swa::test::ShownAxis x(root, true, true), y(root, false, log2_y);
  const auto drawn =
      swa::test::drawn_points(*root.groups("series").at(series)->all("polyline").at(0));
  REQUIRE(drawn.size() == xs.size());
  for (std::size_t i = 0; i < xs.size(); ++i) {
    CHECK(std::abs(drawn[i].x - x.pixel(xs[i])) < 0.02);
    CHECK(std::abs(drawn[i].y - y.pixel(ys[i])) < 0.02);
  }
}

Model model(const string& title) {
  Model m;
  m.id = m.title = title;
  m.layers = {{Window::causal(4096), 16, 128, 128}, {Window::global(), 16, 128, 128}};
  return m;
}

}  // namespace

TEST_CASE("figures that nobody could read are refused") {
  const auto square = [](Index n) {
    return Mask::make(Window::causal(4), 0, n, n, Anchor::bottom_right);
  };
  CHECK_NOTHROW(figures::tile_grid(square(256), {1, 1}));
  CHECK_THROWS_AS(figures::tile_grid(square(257), {1, 1}), UsageError);
  CHECK_THROWS_AS(figures::tile_grid(square(kMaxIndex), {128, 128}), UsageError);
  CHECK_NOTHROW(figures::mask_picture(square(256)));
  CHECK_THROWS_AS(figures::mask_picture(square(257)), UsageError);
  CHECK_NOTHROW(figures::require_readable_ring(16, 48));
  CHECK_THROWS_AS(figures::require_readable_ring(17, 48), UsageError);
  CHECK_THROWS_AS(figures::require_readable_ring(16, 49), UsageError);
  const vector<ChosenLayout> logical{{&layouts().front(), {}, "logical"}};
  CHECK_THROWS_AS(figures::kv_chart({model("a")}, logical, {4096, 4096}, {}), UsageError);
  CHECK_THROWS_AS(
      figures::kv_chart({model("a")}, vector<ChosenLayout>(6, logical.front()), {1, 2}, {}),
      UsageError);
  CHECK_THROWS_AS(figures::kv_chart(vector<Model>(5, model("a")), logical, {1, 2}, {}), UsageError);
  vector<figures::SharePoint> points;
  for (Index i = 1; i <= 11; ++i) points.push_back({{i, 1}, 4, 0.5});
  CHECK_THROWS_AS(figures::partial_share_chart(points, ""), UsageError);
  points.pop_back();
  CHECK_NOTHROW(figures::partial_share_chart(points, ""));
}

TEST_CASE("the ring figure shows what a ring cache holds") {
  for (Index W = 1; W <= 6; ++W) {
    for (Index steps = 1; steps <= 14; ++steps) check_ring(W, steps);
  }
  check_ring(16, 48);
}

TEST_CASE("the ring figure of the chapter") {
  const Element root = XmlReader::read(figures::ring(4, last_snapshot(4, 11)));
  CHECK(Row(*root.groups("local").at(0)).labels == vector<string>{"8", "9", "10", "7"});
}

TEST_CASE("the KV chart has a line for each model and plan and escapes their names") {
  const string name = "a <b> & \"c\"";
  const Element root = XmlReader::read(figures::kv_chart({model(name), model("d")},
                                                         {{&layouts().front(), {}, "logical"}},
                                                         {8192, 1024, 2048, 1024}, {}));
  CHECK(root.groups("series").size() == 4);
  CHECK(says(root, name + ", hybrid"));
  CHECK(says(root, "d, all layers global"));
  // Contexts in order and once each, below and above W.
  const vector<Index> contexts{1024, 2048, 8192};
  vector<double> hybrid, global;
  for (const Index context : contexts) {
    hybrid.push_back(static_cast<double>(logical_bytes(model("d"), {context, 1})) / kGiB);
    global.push_back(static_cast<double>(all_global_bytes(model("d"), {context, 1})) / kGiB);
  }
  CHECK(hybrid[1] == global[1]);
  CHECK(hybrid[2] < global[2]);
  for (const std::size_t i : {0u, 2u}) {
    check_line(root, i, {contexts.begin(), contexts.end()}, hybrid, true);
    check_line(root, i + 1, {contexts.begin(), contexts.end()}, global, true);
  }
}

TEST_CASE("the chart of times has a line for each kernel, over n or over W") {
  using figures::TimePoint;
  const vector<TimePoint> by_n{{"a", 1024, 128, 0.5}, {"b", 1024, 128, 2},   {"a", 2048, 128, 1},
                               {"b", 2048, 128, 8},   {"a", 4096, 128, 2.5}, {"b", 4096, 128, 32}};
  const Element over_n = XmlReader::read(figures::time_chart(by_n, "--W 128"));
  CHECK(over_n.groups("series").size() == 2);
  check_line(over_n, 0, {1024, 2048, 4096}, {0.5, 1, 2.5}, true);
  check_line(over_n, 1, {1024, 2048, 4096}, {2, 8, 32}, true);
  const Element over_w =
      XmlReader::read(figures::time_chart({{"a", 4096, 64, 1}, {"a", 4096, 256, 3}}, "--nq 4096"));
  check_line(over_w, 0, {64, 256}, {1, 3}, true);
  CHECK_THROWS_AS(figures::time_chart({{"a", 64, 8, 1}}, ""), UsageError);
  CHECK_THROWS_AS(figures::time_chart({{"a", 64, 8, 1}, {"a", 128, 16, 1}}, ""), UsageError);
  CHECK_THROWS_AS(figures::time_chart({}, ""), UsageError);
}

TEST_CASE("which figure a sweep of tile-map has") {
  Problem p;
  p.n_q = p.n_k = 192;
  p.window = Window::causal(40);
  Problem wider = p, longer = p, global = p;
  wider.window = Window::causal(64);
  longer.n_q = longer.n_k = 256;
  global.window = Window::global();
  const vector<TileShape> one{{16, 16}}, two{{16, 16}, {32, 32}};
  CHECK(figures::tile_map({p}, one, Rule::exact, false) == figures::tile_grid(p.mask(), {16, 16}));
  CHECK(figures::tile_map({p}, two, Rule::exact, true) == figures::mask_picture(p.mask()));
  const Element chart = XmlReader::read(figures::tile_map({wider, p}, two, Rule::exact, false));
  CHECK(chart.groups("series").size() == 2);
  CHECK_THROWS_AS(figures::tile_map({p}, two, Rule::exact, false), UsageError);
  CHECK_THROWS_AS(figures::tile_map({p, longer}, one, Rule::exact, false), UsageError);
  CHECK_THROWS_AS(figures::tile_map({p, global}, one, Rule::exact, false), UsageError);
  CHECK_THROWS_AS(figures::tile_map({p, wider}, one, Rule::exact, true), UsageError);
}

TEST_CASE("the PARTIAL share is that of the counts") {
  Problem p;
  p.n_q = p.n_k = 192;
  vector<Problem> problems;
  const vector<TileShape> tiles{{16, 16}, {32, 8}};
  vector<vector<double>> shares(2);
  for (const Index W : {100, 16, 40}) {
    p.window = Window::causal(W);
    problems.push_back(p);
  }
  for (const Index W : {16, 40, 100}) {
    p.window = Window::causal(W);
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      const TileCounts counts = count_tiles(p.mask(), tiles[i]);
      shares[i].push_back(100 * static_cast<double>(counts.partial) /
                          static_cast<double>(counts.visited));
    }
  }
  CHECK(shares[0][1] == doctest::Approx(3100.0 / 42));
  const Element root = XmlReader::read(figures::tile_map(problems, tiles, Rule::exact, false));
  for (const std::size_t i : {0u, 1u}) check_line(root, i, {16, 40, 100}, shares[i], false);
  CHECK(says(root, "BM x BN = 32 x 8"));
}
