// A drawing as an SVG document: black on white, areas told apart by pattern, so that print and eyes
// without colour lose nothing. It refers to no other file and holds no script.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace swa::report {

// In pixels; x to the right, y down.
struct Point {
  double x = 0, y = 0;
};
struct Box {
  double x = 0, y = 0, width = 0, height = 0;
};

enum class Fill : std::uint8_t { none, white, light, grey, dark, hatched, crossed };
inline constexpr std::size_t kFills = 7;
enum class Ink : std::uint8_t { none, dark, light, white };

struct Style {
  Fill fill = Fill::none;
  Ink ink = Ink::none;  // of the outline, or of the line
  double width = 1;     // of that line
  std::string_view dash = {};
};
// None: that of the group around it.
using MaybeStyle = std::optional<Style>;

enum class Align : std::uint8_t { start, middle, end };

struct TextStyle {
  double size = 13;
  Align align = Align::start;
  bool bold = false;
  bool white = false;
  bool upright = true;  // else it reads from bottom to top
};

class Svg {
 public:
  // The title and the description are for those who hear the figure, or search for it.
  Svg(double width, double height, std::string_view title, std::string_view description);

  // Shapes until close() belong to a group of that class, which gives them its style.
  void open(std::string_view name, const MaybeStyle& style = {});
  void close();

  void rect(const Box& box, const MaybeStyle& style = {});
  void line(Point from, Point to, const MaybeStyle& style = {});
  void polyline(const std::vector<Point>& points, const MaybeStyle& style = {});
  void polygon(const std::vector<Point>& points, const MaybeStyle& style = {});
  void circle(Point centre, double radius, const MaybeStyle& style = {});
  // `at` is the end of the baseline that the alignment names.
  void text(Point at, std::string_view words, const TextStyle& style = {});

  std::string document() const;

 private:
  std::string attributes(const MaybeStyle& style);

  std::string head_, body_;
  double width_, height_;
  std::array<bool, kFills> used_{};  // only the patterns that are used are defined
};

// About how wide a text is drawn, for margins: fonts differ.
double text_width(std::string_view words, double size);

}  // namespace swa::report
