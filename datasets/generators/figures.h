// SPDX-License-Identifier: GPL-3.0-or-later
// The figures of Relational Games: shapes in a box of 3 x 3 units, in one or two of 25 colours.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "datasets/generators/random.h"
#include "types/image.h"

namespace relascope::datasets {

// A picture for an object that is a vector, for display.

/// Sides of a tile in pixels.
inline constexpr int kTileSide = 28;

/// A tile [28, 28, 3] in one of eight hues that are distinguishable for colour-blind users (Okabe
/// and Ito 2008; `hue` counts round), with up to two characters in black or white upon it.
Image objectTile(int hue, const std::string& characters);

enum class FigureFamily { Pentos, Hexos, Stripes };
/// The name of a family: "pentos", "hexos", "stripes".
const char* familyName(FigureFamily family);
/// The family of that name. Throws OptionError naming the nearest one.
FigureFamily familyFromName(const std::string& name);

/// A figure: its filled units and its colours. Two figures are equal iff shape, orientation and
/// colour agree. Stripes: a full square, the middle column in a second colour.
struct Figure {
    std::uint16_t units = 0;  ///< bit 3 * row + column
    std::uint8_t colour = 0;  ///< index into figureColours()
    std::uint8_t second = 0;  ///< colour of the middle column; equals `colour` except for stripes
    bool operator==(const Figure&) const = default;
};

/// The 25 colours: channels from {64, 144, 192} without the two extreme greys.
const std::array<std::array<std::uint8_t, 3>, 25>& figureColours();

/// Every shape of the family in every orientation and placement: the connected sets of five or six
/// units within the box (49 pentominoes, 48 hexominoes). Stripes have only the full square.
const std::vector<std::uint16_t>& figureShapes(FigureFamily family);

/// A random figure. As in the published files, it draws a shape up to rotation and reflection
/// first, then its orientation, so that each orientation of a symmetric shape is more frequent.
Figure randomFigure(FigureFamily family, SplitMix& random);

/// A figure that differs from `figure` in colour only, in shape only, or in both. For stripes, the
/// outer colour counts as the colour and the middle one as the shape.
enum class Difference { Colour, Shape, Both };
Figure differentFigure(FigureFamily family, const Figure& figure, Difference difference,
                       SplitMix& random);

}  // namespace relascope::datasets
