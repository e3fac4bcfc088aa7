// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of reports as SVG files that stand alone, in light and dark.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "types/image.h"
#include "types/text_format.h"

namespace relascope::core {

/// A text within XML and HTML.
std::string escapedXml(std::string_view text);

/// Builds a picture from lines, bars and words.
class SvgPicture {
public:
    static constexpr double kWidth = 720.0;  ///< px
    explicit SvgPicture(const std::string& title) : m_title(title) {}
    void text(double x, double y, const std::string& words, const char* style = "t",
              const char* anchor = "start", int size = 13) {
        m_body += "<text x=\"" + fixedField(x, 1) + "\" y=\"" + fixedField(y, 1) + "\" class=\"" +
                  style + "\" font-size=\"" + std::to_string(size) + "\" text-anchor=\"" + anchor +
                  "\">" + escapedXml(words) + "</text>\n";
        m_height = std::max(m_height, y + 8);
    }
    void bar(double from, double to, double y, double height, const char* style) {
        m_body += "<rect x=\"" + fixedField(std::min(from, to), 1) + "\" y=\"" + fixedField(y, 1) +
                  "\" width=\"" + fixedField(std::max(1.0, std::abs(to - from)), 1) +
                  "\" height=\"" + fixedField(height, 1) + "\" class=\"" + style + "\"/>\n";
        m_height = std::max(m_height, y + height + 8);
    }
    void line(double x1, double y1, double x2, double y2, const char* style = "g") {
        m_body += "<line x1=\"" + fixedField(x1, 1) + "\" y1=\"" + fixedField(y1, 1) + "\" x2=\"" +
                  fixedField(x2, 1) + "\" y2=\"" + fixedField(y2, 1) + "\" class=\"" + style +
                  "\"/>\n";
    }
    void frame(double x, double y, double side, const char* style) {
        m_body += "<rect x=\"" + fixedField(x + 1, 1) + "\" y=\"" + fixedField(y + 1, 1) +
                  "\" width=\"" + fixedField(side - 2, 1) + "\" height=\"" +
                  fixedField(side - 2, 1) + "\" class=\"" + style + "\"/>\n";
    }
    void dot(double x, double y) {
        m_body += "<circle cx=\"" + fixedField(x, 1) + "\" cy=\"" + fixedField(y, 1) +
                  "\" r=\"4\" class=\"d\"/>\n";
    }
    void path(const std::vector<std::pair<double, double>>& points, const char* style) {
        if (points.size() < 2) return;
        m_body += "<polyline class=\"" + std::string(style) +
                  "\" fill=\"none\" stroke-width=\"1.6\" points=\"";
        for (const auto& [x, y] : points) m_body += fixedField(x, 1) + "," + fixedField(y, 1) + " ";
        m_body += "\"/>\n";
    }
    /// An image of `size` px height, as a PNG within the file.
    void picture(double x, double y, double size, const Image& image);
    /// The picture as a complete SVG file.
    std::string file() const;

private:
    std::string m_title, m_body;
    double m_height = 20.0;
};

}  // namespace relascope::core
