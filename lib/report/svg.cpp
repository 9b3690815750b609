#include "report/svg.hpp"

#include <fmt/format.h>

#include "report/writers.hpp"
#include "report/xml.hpp"

namespace swa::report {
namespace {

constexpr std::string_view kDark = "#1a1a1a", kGrey = "#8c8c8c", kLight = "#d0d0d0",
                           kWhite = "#ffffff";

// Two digits after the point are a hundredth of a pixel.
std::string number(double x) {
  std::string text = fmt::format("{:.2f}", x);
  text.resize(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string paint(Fill fill) {
  switch (fill) {
    case Fill::none:
      return "none";
    case Fill::white:
      return std::string(kWhite);
    case Fill::light:
      return std::string(kLight);
    case Fill::grey:
      return std::string(kGrey);
    case Fill::dark:
      return std::string(kDark);
    case Fill::hatched:
      return "url(#hatched)";
    case Fill::crossed:
      return "url(#crossed)";
  }
  return "none";
}

std::string_view paint(Ink ink) {
  switch (ink) {
    case Ink::none:
      return "none";
    case Ink::dark:
      return kDark;
    case Ink::light:
      return kLight;
    case Ink::white:
      return kWhite;
  }
  return "none";
}

// Strokes at 45 degrees on white, in squares of that size. Crossed areas are the lighter ones.
std::string hatching() {
  return fmt::format(
      "<pattern id=\"hatched\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
      "patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"{}\"/>"
      "<line x1=\"3\" y1=\"0\" x2=\"3\" y2=\"6\" stroke=\"{}\" stroke-width=\"2\"/></pattern>\n",
      kWhite, kDark);
}

std::string crossing() {
  return fmt::format(
      "<pattern id=\"crossed\" width=\"9\" height=\"9\" patternUnits=\"userSpaceOnUse\" "
      "patternTransform=\"rotate(45)\"><rect width=\"9\" height=\"9\" fill=\"{}\"/>"
      "<path d=\"M0 4.5H9M4.5 0V9\" stroke=\"{}\" stroke-width=\"0.7\"/></pattern>\n",
      kWhite, kDark);
}

std::string points_of(const std::vector<Point>& points) {
  std::string text;
  for (const Point& p : points) {
    text += fmt::format("{}{},{}", text.empty() ? "" : " ", number(p.x), number(p.y));
  }
  return text;
}

}  // namespace

Svg::Svg(double width, double height, std::string_view title, std::string_view description)
    : head_(fmt::format(R"(<title id="figure-title">{}</title>)"
                        "\n"
                        R"(<desc id="figure-description">{}</desc>)"
                        "\n",
                        xml_text(title), xml_text(description))),
      width_(width),
      height_(height) {}

std::string Svg::attributes(const MaybeStyle& style) {
  if (!style) return {};
  used_[static_cast<std::size_t>(style->fill)] = true;
  std::string text =
      fmt::format(R"( fill="{}" stroke="{}")", paint(style->fill), paint(style->ink));
  if (style->ink != Ink::none) text += fmt::format(R"( stroke-width="{}")", number(style->width));
  if (!style->dash.empty()) text += fmt::format(R"( stroke-dasharray="{}")", style->dash);
  return text;
}

void Svg::open(std::string_view name, const MaybeStyle& style) {
  body_ += fmt::format("<g class=\"{}\"{}>\n", xml_attribute(name), attributes(style));
}

void Svg::close() {
  body_ += "</g>\n";
}

void Svg::rect(const Box& box, const MaybeStyle& style) {
  body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}/>\n", number(box.x),
                       number(box.y), number(box.width), number(box.height), attributes(style));
}

void Svg::line(Point from, Point to, const MaybeStyle& style) {
  body_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"{}/>\n", number(from.x),
                       number(from.y), number(to.x), number(to.y), attributes(style));
}

void Svg::polyline(const std::vector<Point>& points, const MaybeStyle& style) {
  body_ += fmt::format("<polyline points=\"{}\"{}/>\n", points_of(points), attributes(style));
}

void Svg::polygon(const std::vector<Point>& points, const MaybeStyle& style) {
  body_ += fmt::format("<polygon points=\"{}\"{}/>\n", points_of(points), attributes(style));
}

void Svg::circle(Point centre, double radius, const MaybeStyle& style) {
  body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}/>\n", number(centre.x),
                       number(centre.y), number(radius), attributes(style));
}

void Svg::text(Point at, std::string_view words, const TextStyle& style) {
  const std::string x = number(at.x), y = number(at.y);
  body_ += fmt::format(R"(<text x="{}" y="{}" font-size="{}" fill="{}")", x, y, number(style.size),
                       style.white ? kWhite : kDark);
  if (style.align == Align::middle) body_ += R"( text-anchor="middle")";
  if (style.align == Align::end) body_ += R"( text-anchor="end")";
  if (style.bold) body_ += R"( font-weight="bold")";
  if (!style.upright) body_ += fmt::format(" transform=\"rotate(-90 {} {})\"", x, y);
  body_ += fmt::format(">{}</text>\n", xml_text(words));
}

std::string Svg::document() const {
  const auto used = [&](Fill fill) { return used_[static_cast<std::size_t>(fill)]; };
  std::string patterns;
  if (used(Fill::hatched)) patterns += hatching();
  if (used(Fill::crossed)) patterns += crossing();
  const std::string width = number(width_), height = number(height_);
  std::string text = fmt::format(
      R"(<?xml version="1.0" encoding="UTF-8"?>)"
      "\n"
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" )"
      R"(viewBox="0 0 {0} {1}" role="img" aria-labelledby="figure-title figure-description" )"
      R"(font-family="sans-serif">)"
      "\n",
      width, height);
  text += head_;
  if (!patterns.empty()) text += "<defs>\n" + patterns + "</defs>\n";
  text += fmt::format("<rect width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", width, height, kWhite);
  return text + body_ + "</svg>\n";
}

double text_width(std::string_view words, double size) {
  constexpr double kEm = 0.58;  // of a usual sans-serif font, a little more than the average letter
  double letters = 0;
  while (!words.empty()) {
    words.remove_prefix(decode(words).bytes);
    ++letters;
  }
  return letters * size * kEm;
}

}  // namespace swa::report
