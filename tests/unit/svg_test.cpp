// SVG documents and charts, read back with a strict XML reader.
#include "report/svg.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "chart_reader.hpp"
#include "report/chart.hpp"
#include "xml.hpp"

using namespace swa::report;
using std::string;
using std::vector;
using swa::test::drawn_points;
using swa::test::DrawnPoint;
using swa::test::Element;
using swa::test::everywhere;
using swa::test::says;
using swa::test::ShownAxis;
using swa::test::XmlReader;

namespace {

const string kDeclaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

void check_axis(const ShownAxis& axis) {
  REQUIRE(axis.ticks() >= 2);
  CHECK(axis.ticks() <= 13);
  for (std::size_t i = 0; i < axis.ticks(); ++i) {
    CAPTURE(i);
    const double share = static_cast<double>(i) / static_cast<double>(axis.ticks() - 1);
    const auto between = [&](double from, double to) { return from + share * (to - from); };
    const std::size_t last = axis.ticks() - 1;
    CHECK(axis.tick_place(i) ==
          doctest::Approx(between(axis.tick_place(0), axis.tick_place(last))).epsilon(1e-9));
    CHECK(std::abs(axis.tick_pixel(i) - between(axis.tick_pixel(0), axis.tick_pixel(last))) <
          0.011);
  }
}

void check_chart(const Chart& chart) {
  const Element root = XmlReader::read(draw(chart).document());
  const ShownAxis x(root, true, chart.x.scale == Scale::log2);
  const ShownAxis y(root, false, chart.y.scale == Scale::log2);
  check_axis(x);
  check_axis(y);
  const auto series = root.groups("series");
  REQUIRE(series.size() == chart.series.size());
  for (std::size_t i = 0; i < series.size(); ++i) {
    CAPTURE(i);
    const vector<DrawnPoint> drawn = drawn_points(*series[i]->all("polyline").at(0));
    const vector<Point>& points = chart.series[i].points;
    REQUIRE(drawn.size() == points.size());
    CHECK(series[i]->children.size() == 1 + points.size());  // the line and a marker a point
    for (std::size_t j = 0; j < points.size(); ++j) {
      CAPTURE(j);
      CHECK(std::abs(drawn[j].x - x.pixel(points[j].x)) < 0.02);
      CHECK(std::abs(drawn[j].y - y.pixel(points[j].y)) < 0.02);
    }
    CHECK(says(*root.groups("legend").at(0), chart.series[i].name));
  }
}

Chart two_series() {
  Chart chart;
  chart.title = "a title";
  chart.x = {"x, tokens", Scale::log2, true, ""};
  chart.y = {"y, GiB", Scale::log2, false, ""};
  chart.series = {{"falling", {{1024, 3.7}, {5000, 0.6}, {131072, 0.011}}, 0, 0},
                  {"rising", {{2048, 0.05}, {8192, 47}}, 1, 1}};
  return chart;
}

}  // namespace

TEST_CASE("the XML reader of the tests refuses what is not well-formed") {
  CHECK(XmlReader::read(kDeclaration + "<a b=\"1 &lt; 2\">x<c/>&amp;y</a>\n").at("b") == "1 < 2");
  for (const string wrong :
       {"<a>", "<a></b>", "<a b=1/>", "<a b=\"1\" b=\"2\"/>", "<a>&</a>", "<a>&nbsp;</a>",
        "<a b=\"<\"/>", "<a>></a>", "<a/><b/>", "<a/>x", "<a><b></a></b>", "<a>\x01</a>",
        "<a><b id=\"i\"/><c id=\"i\"/></a>", "<!-- --><a/>", "<a  b=\"1\"/>", ""}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(XmlReader::read(kDeclaration + wrong + "\n"), std::runtime_error);
  }
  CHECK_THROWS_AS(XmlReader::read("<a/>\n"), std::runtime_error);
}

TEST_CASE("an SVG document is well-formed and stands alone") {
  Svg svg(860, 100.5, "title", "description");
  svg.open("cells", Style{Fill::hatched, Ink::dark, 1.25, "3 2"});
  svg.rect({1, 2, 3, 4});
  svg.circle({5, 6}, 7, Style{Fill::dark, Ink::none, 1, {}});
  svg.close();
  svg.polygon({{0, 0}, {1, 1}, {-0.001, 2}}, Style{Fill::crossed, Ink::light, 1, {}});
  svg.text({10, 20}, "up", {.size = 12, .align = Align::end, .bold = true, .upright = false});
  const string document = svg.document();
  const Element root = XmlReader::read(document);
  CHECK(root.name == "svg");
  CHECK(root.at("xmlns") == "http://www.w3.org/2000/svg");
  CHECK(root.at("viewBox") == "0 0 860 100.5");
  CHECK(root.all("title").at(0)->text == "title");
  CHECK(root.all("desc").at(0)->text == "description");
  CHECK(root.all("rect").at(0)->at("fill") == "#ffffff");  // the page
  CHECK(root.all("rect").at(0)->number("width") == 860);
  CHECK(root.groups("cells").at(0)->at("fill") == "url(#hatched)");
  CHECK(root.groups("cells").at(0)->at("stroke-dasharray") == "3 2");
  CHECK(root.all("polygon").at(0)->at("points") == "0,0 1,1 0,2");
  CHECK(root.all("text").at(0)->at("transform") == "rotate(-90 10 20)");
  CHECK(everywhere(root, "pattern").size() == 2);
  for (const string word : {"<script", "href", "@import", "<style", "<image"}) {
    CAPTURE(word);
    CHECK(document.find(word) == string::npos);
  }
}

TEST_CASE("only the patterns that are used are defined") {
  Svg svg(10, 10, "", "");
  svg.rect({0, 0, 1, 1}, Style{Fill::crossed, Ink::none, 1, {}});
  const auto patterns = everywhere(XmlReader::read(svg.document()), "pattern").size();
  CHECK(patterns == 1);
  CHECK(Svg(10, 10, "", "").document().find("defs") == string::npos);
}

TEST_CASE("texts of a figure are escaped") {
  const string name = "a <b> & \"c\" 'd' ü";
  Svg svg(100, 100, name, name);
  svg.text({0, 0}, name);
  svg.text({0, 0}, string("bell \a, half a letter \xC3, nul ") + '\0');
  const Element root = XmlReader::read(svg.document());
  CHECK(root.all("title").at(0)->text == name);
  CHECK(root.all("desc").at(0)->text == name);
  CHECK(root.all("text").at(0)->text == name);
  CHECK(root.all("text").at(1)->text == "bell \uFFFD, half a letter \uFFFD, nul \uFFFD");
}

TEST_CASE("the points of a chart lie where its ticks say") {
  check_chart(two_series());
  Chart linear = two_series();
  linear.x = {"x", Scale::linear, false, ""};
  linear.y = {"y", Scale::linear, false, "%"};
  linear.series.push_back({"below", {{-300, -7}, {0, 100}}, 2, 2});
  check_chart(linear);
  Chart one = two_series();
  one.series = {{"a point", {{4096, 1}}, 0, 0}};
  check_chart(one);
  one.series = {{"nothing", {{0, 0}}, 0, 0}};
  one.x.scale = one.y.scale = Scale::linear;
  check_chart(one);
  Chart wide = two_series();  // more doublings than ticks
  wide.series = {{"wide", {{1, 1e-6}, {1 << 30, 1e9}}, 0, 0}};
  wide.x.binary = false;
  check_chart(wide);
}

TEST_CASE("an axis spans its values and no step more") {
  const AxisMap log({"", Scale::log2, true, ""}, {1000, 5000}, 0, 400);
  CHECK(log.pixel(512) == doctest::Approx(0));
  CHECK(log.pixel(8192) == doctest::Approx(400));
  CHECK(log.ticks().front().label == "512");
  CHECK(log.ticks().back().label == "8Ki");
  const AxisMap linear({"", Scale::linear, false, "%"}, {12, 93}, 0, 100);
  CHECK(linear.pixel(0) == doctest::Approx(0));  // a share is read from 0
  CHECK(linear.ticks().back().label == "100%");
  const AxisMap small({"", Scale::log2, false, ""}, {0.05, 3}, 0, 1);
  CHECK(small.ticks().front().label == "1/32");
}

TEST_CASE("series are told apart without colour") {
  Chart chart = two_series();
  chart.series.clear();
  for (std::size_t i = 0; i < 10; ++i) {
    chart.series.push_back({std::to_string(i), {{1024.0, 1.0}}, i, i});
  }
  const Element root = XmlReader::read(draw(chart).document());
  std::set<string> looks;
  for (const Element* series : root.groups("series")) {
    const Element& line = *series->all("polyline").at(0);
    const Element& marker = series->children.back();
    string look = marker.name + marker.at("fill");
    if (marker.attributes.contains("points")) {  // triangle or diamond
      look +=
          std::to_string(std::count(marker.at("points").begin(), marker.at("points").end(), ','));
    }
    if (line.attributes.contains("stroke-dasharray")) look += line.at("stroke-dasharray");
    looks.insert(look);
    CHECK(line.at("stroke") == "#1a1a1a");
  }
  CHECK(looks.size() == 10);
}

TEST_CASE("a chart of what has no place on its axes is a defect") {
  Chart chart = two_series();
  for (const double wrong : {0.0, -1.0, std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()}) {
    chart.series[0].points[0].y = wrong;
    CHECK_THROWS_AS(draw(chart), std::logic_error);
  }
  chart.series.clear();
  CHECK_THROWS_AS(draw(chart), std::logic_error);
}
