// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <array>
#include <bit>
#include <opencv2/imgproc.hpp>
#include <set>

#include "datasets/generators/figures.h"
#include "types/error.h"
#include "types/suggest.h"

namespace relascope::datasets {
namespace {

constexpr std::array<std::array<int, 3>, 8> kHues = {{{0, 114, 178},
                                                      {230, 159, 0},
                                                      {0, 158, 115},
                                                      {204, 121, 167},
                                                      {86, 180, 233},
                                                      {213, 94, 0},
                                                      {240, 228, 66},
                                                      {90, 90, 90}}};

}  // namespace

Image objectTile(int hue, const std::string& characters) {
    const auto& c = kHues[static_cast<std::size_t>(hue % static_cast<int>(kHues.size()))];
    Image tile{kTileSide, kTileSide, 3, std::vector<std::uint8_t>(kTileSide * kTileSide * 3)};
    cv::Mat picture(kTileSide, kTileSide, CV_8UC3, tile.pixels.data());
    picture = cv::Scalar(c[0], c[1], c[2]);
    // Luminance of Rec. 709, for a readable text colour.
    const bool dark = 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2] < 110.0;
    constexpr int font = cv::FONT_HERSHEY_SIMPLEX;
    const double scale = characters.size() > 1 ? 0.55 : 0.7;
    int baseline = 0;
    const auto box = cv::getTextSize(characters, font, scale, 2, &baseline);
    cv::putText(picture, characters, {(kTileSide - box.width) / 2, (kTileSide + box.height) / 2},
                font, scale, dark ? cv::Scalar(255, 255, 255) : cv::Scalar(0, 0, 0), 2,
                cv::LINE_AA);
    return tile;
}

namespace {

constexpr std::uint16_t kFull = 0b111111111;

bool connected(std::uint16_t units) {
    std::uint16_t reached = static_cast<std::uint16_t>(units & -units), before = 0;
    while (reached != before) {
        before = reached;
        for (int cell = 0; cell < 9; ++cell) {
            if (!(reached >> cell & 1)) continue;
            const int row = cell / 3, column = cell % 3;
            const int beside = (row > 0 ? 1 << (cell - 3) : 0) | (row < 2 ? 1 << (cell + 3) : 0) |
                               (column > 0 ? 1 << (cell - 1) : 0) |
                               (column < 2 ? 1 << (cell + 1) : 0);
            reached |= static_cast<std::uint16_t>(beside & units);
        }
    }
    return reached == units;
}

// One of the eight symmetries of the box: bit 2 transposes, bit 1 mirrors rows, bit 0 columns.
std::uint16_t transformed(std::uint16_t units, int symmetry) {
    std::uint16_t result = 0;
    for (int cell = 0; cell < 9; ++cell) {
        if (!(units >> cell & 1)) continue;
        int row = cell / 3, column = cell % 3;
        if (symmetry & 4) std::swap(row, column);
        if (symmetry & 2) row = 2 - row;
        if (symmetry & 1) column = 2 - column;
        result |= static_cast<std::uint16_t>(1 << (3 * row + column));
    }
    return result;
}

struct Shapes {
    std::vector<std::uint16_t> all;      // in every orientation and placement
    std::vector<std::uint16_t> classes;  // one for each class under rotations and reflections
};

Shapes makeShapes(int count) {
    Shapes shapes;
    for (std::uint16_t units = 1; units <= kFull; ++units) {
        if (std::popcount(units) != count || !connected(units)) continue;
        shapes.all.push_back(units);
        std::uint16_t least = units;
        for (int symmetry = 0; symmetry < 8; ++symmetry)
            least = std::min(least, transformed(units, symmetry));
        if (least == units) shapes.classes.push_back(units);
    }
    return shapes;
}

const Shapes& shapesOf(FigureFamily family) {
    static const Shapes pentos = makeShapes(5), hexos = makeShapes(6), square = {{kFull}, {kFull}};
    return family == FigureFamily::Pentos ? pentos : family == FigureFamily::Hexos ? hexos : square;
}

}  // namespace

const char* familyName(FigureFamily family) {
    return family == FigureFamily::Pentos  ? "pentos"
           : family == FigureFamily::Hexos ? "hexos"
                                           : "stripes";
}

FigureFamily familyFromName(const std::string& name) {
    for (const auto family : {FigureFamily::Pentos, FigureFamily::Hexos, FigureFamily::Stripes})
        if (name == familyName(family)) return family;
    throw OptionError("data.family", unknownName("family", name, {"pentos", "hexos", "stripes"}));
}

const std::array<std::array<std::uint8_t, 3>, 25>& figureColours() {
    static const auto colours = [] {
        std::array<std::array<std::uint8_t, 3>, 25> list{};
        constexpr std::uint8_t levels[3] = {64, 144, 192};
        std::size_t next = 0;
        for (const auto r : levels)
            for (const auto g : levels)
                for (const auto b : levels)
                    if (!(r == g && g == b && r != 144)) list[next++] = {r, g, b};
        return list;
    }();
    return colours;
}

const std::vector<std::uint16_t>& figureShapes(FigureFamily family) {
    return shapesOf(family).all;
}

Figure randomFigure(FigureFamily family, SplitMix& random) {
    const auto& classes = shapesOf(family).classes;
    const auto shape =
        classes[static_cast<std::size_t>(random.below(static_cast<int>(classes.size())))];
    Figure figure;
    figure.units = transformed(shape, random.below(8));
    figure.colour = static_cast<std::uint8_t>(random.below(25));
    figure.second = family == FigureFamily::Stripes ? static_cast<std::uint8_t>(random.below(25))
                                                    : figure.colour;
    return figure;
}

Figure differentFigure(FigureFamily family, const Figure& figure, Difference difference,
                       SplitMix& random) {
    const bool stripes = family == FigureFamily::Stripes;
    for (;;) {
        Figure other = randomFigure(family, random);
        const bool colour = other.colour != figure.colour;
        const bool shape = stripes ? other.second != figure.second : other.units != figure.units;
        if (difference != Difference::Shape && !colour) continue;
        if (difference != Difference::Colour && !shape) continue;
        if (difference == Difference::Shape) {
            other.colour = figure.colour;
            if (!stripes) other.second = figure.colour;
        }
        if (difference == Difference::Colour) {
            other.units = figure.units;
            if (stripes) other.second = figure.second;
        }
        return other;
    }
}

}  // namespace relascope::datasets
