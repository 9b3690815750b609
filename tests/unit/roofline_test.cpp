// The roofline: where each roof and each point is drawn, and what is refused.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "chart_reader.hpp"
#include "error.hpp"
#include "figures/figures.hpp"
#include "xml.hpp"

using namespace swa;
using figures::RooflinePoint;
using figures::RooflineRoofs;
using std::string;
using std::vector;
using swa::test::Element;
using swa::test::says;
using swa::test::XmlReader;

namespace {

const RooflineRoofs kRoofs{4e12, {{"wgmma bf16", 800e12}, {"mma.sync bf16", 500e12}}};

void check_at(const test::DrawnPoint& drawn, const Element& root, double x, double y) {
  CHECK(std::abs(drawn.x - swa::test::ShownAxis(root, true, true).pixel(x)) < 0.02);
  CHECK(std::abs(drawn.y - swa::test::ShownAxis(root, false, true).pixel(y)) < 0.02);
}

void check_line(const Element& root, std::size_t series, const vector<RooflinePoint>& ends) {
  CAPTURE(series);
  const Element& group = *root.groups("series").at(series);
  REQUIRE(group.children.size() == 1);  // a roof has no markers
  const auto drawn = swa::test::drawn_points(*group.all("polyline").at(0));
  REQUIRE(drawn.size() == ends.size());
  for (std::size_t i = 0; i < ends.size(); ++i) {
    check_at(drawn[i], root, ends[i].flops_per_byte, ends[i].tflops);
  }
}

string complaint(const vector<RooflinePoint>& points, const RooflineRoofs& roofs = kRoofs) {
  try {
    figures::roofline(points, roofs, "");
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("the roofline has memory's slope, a flat roof for each unit, and a marker a point") {
  const Element root = XmlReader::read(figures::roofline(
      {{"a & b", 100, 300}, {"c", 3, 10}, {"a & b", 1000, 700}}, kRoofs, "--W 128 --nq 4Ki"));
  REQUIRE(root.groups("series").size() == 5);
  // The slope of 4 TB/s meets 800 TFLOP/s at 200 FLOP per byte, and 500 at 125. The plot spans the
  // points and one doubling more: from 1 to 2048.
  check_line(root, 0, {{"", 1, 4}, {"", 200, 800}});
  check_line(root, 1, {{"", 200, 800}, {"", 2048, 800}});
  check_line(root, 2, {{"", 125, 500}, {"", 2048, 500}});
  const Element& first = *root.groups("series").at(3);
  CHECK(first.all("polyline").empty());
  const auto circles = first.all("circle");
  REQUIRE(circles.size() == 2);
  check_at({circles[0]->number("cx"), circles[0]->number("cy")}, root, 100, 300);
  check_at({circles[1]->number("cx"), circles[1]->number("cy")}, root, 1000, 700);
  const auto squares = root.groups("series").at(4)->all("rect");
  REQUIRE(squares.size() == 1);
  check_at({squares[0]->number("x") + 4, squares[0]->number("y") + 4}, root, 3, 10);
  for (const char* words :
       {"memory, 4 TB/s", "wgmma bf16, 800 TFLOP/s", "mma.sync bf16, 500 TFLOP/s", "a & b", "c"}) {
    CHECK(says(root, words));
  }
  // The legend shows of each series what the plot does.
  const Element& legend = *root.groups("legend").at(0);
  CHECK(legend.all("line").size() == 3);
  CHECK(legend.all("circle").size() == 1);
  CHECK(legend.all("rect").size() == 1);
}

TEST_CASE("the roofs span a plot whose points lie all on one side of the ridges") {
  const Element root =
      XmlReader::read(figures::roofline({{"a", 1e-3, 1e-3}}, {4e12, {{"u", 64e12}}}, ""));
  check_line(root, 0, {{"", std::exp2(-11), std::exp2(-11) * 4}, {"", 16, 64}});
  check_line(root, 1, {{"", 16, 64}, {"", 32, 64}});
}

TEST_CASE("a roofline that nobody could read is refused") {
  CHECK(complaint({{"a", 1, 1}}).empty());
  CHECK_FALSE(complaint({}).empty());
  CHECK_FALSE(complaint({{"a", 1, 1}}, {4e12, {}}).empty());
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double wrong : {0.0, -1.0, kNan, kInfinity}) {
    CAPTURE(wrong);
    CHECK(complaint({{"none-seen", wrong, 1}}).starts_with("none-seen has no place"));
    CHECK(complaint({{"none-seen", 1, wrong}}).starts_with("none-seen has no place"));
  }
  vector<RooflinePoint> points;
  for (int i = 0; i < 8; ++i) points.push_back({"k" + std::to_string(i), 1, 1});
  CHECK(complaint(points).empty());
  points.push_back({"k8", 1, 1});
  CHECK(complaint(points) == "a roofline of more than 8 kernels would not be readable");
  RooflineRoofs roofs{1, {}};
  for (int i = 0; i < 4; ++i) roofs.flops_per_s.push_back({"u", 1});
  CHECK(complaint({{"a", 1, 1}}, roofs).empty());
  roofs.flops_per_s.push_back({"u", 1});
  CHECK_FALSE(complaint({{"a", 1, 1}}, roofs).empty());
}
