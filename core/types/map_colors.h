// SPDX-License-Identifier: GPL-3.0-or-later
// The colours of maps on a light page, and colour scales as tables: the window and the pictures for
// other programs share them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "types/map_cells.h"

namespace relascope {

/// An opaque colour, 0xffRRGGBB.
using Rgb = std::uint32_t;

constexpr std::uint8_t redOf(Rgb color) {
    return static_cast<std::uint8_t>(color >> 16);
}
constexpr std::uint8_t greenOf(Rgb color) {
    return static_cast<std::uint8_t>(color >> 8);
}
constexpr std::uint8_t blueOf(Rgb color) {
    return static_cast<std::uint8_t>(color);
}

struct MapColors {
    std::array<Rgb, 11> signedStops;  ///< colours of -1 .. +1, zero in the middle
    std::array<Rgb, 10> viridis;      ///< colours of 0 .. 1
    Rgb page;
    Rgb masked, hatch;        ///< masked cells, and the lines over them
    Rgb notANumber, noHatch;  ///< cells without a number, and their lines
};

inline constexpr MapColors kLightMapColors = {
    {0xff40004b, 0xff762a83, 0xff9970ab, 0xffc2a5cf, 0xffe7d4e8, 0xfff7f7f7, 0xffd9f0d3, 0xffa6dba0,
     0xff5aae61, 0xff1b7837, 0xff00441b},
    {0xff440154, 0xff482878, 0xff3e4a89, 0xff31688e, 0xff26828e, 0xff1f9e89, 0xff35b779, 0xff6dcd59,
     0xffb4de2c, 0xfffde725},
    0xffffffff,
    0xfff1f3f5,
    0xffbfc5cc,
    0xfffdecea,
    0xffb42318};

/// The hatch of masked cells: a diagonal line every so many pixels, from the origin of the map.
inline constexpr int kHatchPeriod = 7;
constexpr bool onHatch(int x, int y) {
    return (x + y) % kHatchPeriod == kHatchPeriod - 1;
}
/// Maps, and cells without a number, that are smaller than this many pixels get no hatch.
inline constexpr int kLeastHatchedMap = 24, kLeastHatchedCell = 4;

/// A colour scale between two limits, as a table of 1025 entries, so that the middle of a symmetric
/// scale (zero) is exactly the neutral colour.
class ColorTable {
public:
    static constexpr int steps = 1024;

    /// `stops` are at equal distances from low to high, two or more; between them colours are
    /// mixed.
    ColorTable(std::span<const Rgb> stops, Limits limits);

    /// The limits; if they were equal, widened by at least 1.
    Limits limits() const { return m_limits; }
    /// The nearest entry, for any value but NaN; those beyond the limits have the colour of the
    /// end.
    int entry(float value) const {
        const float x = (value - m_limits.low) * m_factor + 0.5F;
        // This order maps NaN to the upper end, so that the conversion is always defined.
        return static_cast<int>(std::max(0.0F, std::min(static_cast<float>(steps), x)));
    }
    Rgb color(float value) const { return at(entry(value)); }
    Rgb at(int entry) const { return m_table[static_cast<std::size_t>(entry)]; }

    bool operator==(const ColorTable&) const = default;

private:
    Limits m_limits;
    float m_factor = 1.0F;
    std::array<Rgb, steps + 1> m_table{};
};

}  // namespace relascope
