// A chart read back from its SVG document, by the ticks and grid lines that it shows.
#pragma once

#include <cmath>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "xml.hpp"

namespace swa::test {

struct DrawnPoint {
  double x = 0, y = 0;
};

inline std::vector<DrawnPoint> drawn_points(const Element& polyline) {
  std::vector<DrawnPoint> points;
  std::istringstream stream(polyline.at("points"));
  char comma = 0;
  for (DrawnPoint p; stream >> p.x >> comma >> p.y;) points.push_back(p);
  return points;
}

// What a tick's label says: "4Ki", "1/16", "25%".
inline double value_of(const std::string& label) {
  std::size_t used = 0;
  const double value = std::stod(label, &used);
  const std::string rest = label.substr(used);
  if (rest.empty() || rest == "%") return value;
  if (rest == "Ki") return value * 1024;
  if (rest == "Mi") return value * 1024 * 1024;
  if (rest.front() == '^') return std::exp2(std::stod(rest.substr(1)));
  if (rest.front() != '/') throw std::runtime_error(label + " is no number");
  return value / std::stod(rest.substr(1));
}

// The axis as its ticks show it: the value that a pixel stands for.
class ShownAxis {
 public:
  ShownAxis(const Element& root, bool is_x, bool log2) : log2_(log2) {
    const std::string group = is_x ? "x-ticks" : "y-ticks", along = is_x ? "x1" : "y1";
    for (const Element* text : root.groups(group).at(0)->all("text")) {
      places_.push_back(place(value_of(text->text)));
    }
    // Grid lines stand in the order of the ticks, those of x first.
    const auto lines = root.groups("grid").at(0)->all("line");
    const std::size_t begin = is_x ? 0 : root.groups("x-ticks").at(0)->children.size();
    for (std::size_t i = 0; i < places_.size(); ++i) {
      pixels_.push_back(lines.at(begin + i)->number(along));
    }
  }
  double pixel(double value) const {
    const double share = (place(value) - places_.front()) / (places_.back() - places_.front());
    return pixels_.front() + share * (pixels_.back() - pixels_.front());
  }
  std::size_t ticks() const { return places_.size(); }
  double tick_place(std::size_t i) const { return places_[i]; }
  double tick_pixel(std::size_t i) const { return pixels_[i]; }

 private:
  double place(double value) const { return log2_ ? std::log2(value) : value; }
  bool log2_;
  std::vector<double> places_, pixels_;
};

}  // namespace swa::test
