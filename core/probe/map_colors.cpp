// SPDX-License-Identifier: GPL-3.0-or-later
#include "types/map_colors.h"

#include <cmath>

namespace relascope {
namespace {

Rgb between(std::span<const Rgb> stops, double t) {
    const double x = std::clamp(t, 0.0, 1.0) * static_cast<double>(stops.size() - 1);
    const auto k = std::min(static_cast<std::size_t>(x), stops.size() - 2);
    const double f = x - static_cast<double>(k);
    const auto mix = [f](int a, int b) { return static_cast<Rgb>(std::lround(a + f * (b - a))); };
    const Rgb a = stops[k], b = stops[k + 1];
    return 0xff000000 | mix(redOf(a), redOf(b)) << 16 | mix(greenOf(a), greenOf(b)) << 8 |
           mix(blueOf(a), blueOf(b));
}

}  // namespace

ColorTable::ColorTable(std::span<const Rgb> stops, Limits limits) : m_limits(limits) {
    if (!(m_limits.high > m_limits.low)) m_limits.high = m_limits.low + 1.0F;
    m_factor = static_cast<float>(steps) / (m_limits.high - m_limits.low);
    for (int k = 0; k <= steps; ++k)
        m_table[static_cast<std::size_t>(k)] = between(stops, static_cast<double>(k) / steps);
}

}  // namespace relascope
