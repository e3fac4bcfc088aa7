// SPDX-License-Identifier: GPL-3.0-or-later
// The power law that a loss follows: L = a N^-b. Standard library only.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace relascope::widgets {

struct PowerLaw {
    double a = 0.0, b = 0.0;
    double r2 = 0.0;     ///< of the logarithms; 0 where they do not vary
    double first = 0.0;  ///< smallest and largest N of the fit
    double last = 0.0;
    std::size_t points = 0;

    double at(double n) const { return a * std::pow(n, -b); }
};

/// Least squares of log L on log N, over the points of one or more runs.
class PowerLawFit {
public:
    /// The first tenth of a run's points is left out: a model that has learnt nothing yet follows
    /// no law. So is what has no logarithm. N and L in the order they were measured.
    void add(const std::vector<double>& n, const std::vector<double>& loss) {
        const std::size_t count = std::min(n.size(), loss.size());
        std::vector<std::pair<double, double>> sound;
        for (std::size_t i = 0; i < count; ++i)
            if (n[i] > 0.0 && loss[i] > 0.0 && std::isfinite(n[i]) && std::isfinite(loss[i]))
                sound.emplace_back(std::log(n[i]), std::log(loss[i]));
        m_points.insert(m_points.end(), sound.begin() + static_cast<long>(sound.size() / 10),
                        sound.end());
    }

    /// nullopt with fewer than three points, or if N is constant.
    std::optional<PowerLaw> result() const {
        const auto count = static_cast<double>(m_points.size());
        if (m_points.size() < 3) return std::nullopt;
        double meanX = 0.0, meanY = 0.0;
        for (const auto& [x, y] : m_points) meanX += x / count, meanY += y / count;
        double xx = 0.0, xy = 0.0, yy = 0.0;
        for (const auto& [x, y] : m_points) {
            xx += (x - meanX) * (x - meanX);
            xy += (x - meanX) * (y - meanY);
            yy += (y - meanY) * (y - meanY);
        }
        if (!(xx > 1e-12)) return std::nullopt;
        const double slope = xy / xx;
        const auto [low, high] = std::minmax_element(m_points.begin(), m_points.end());
        PowerLaw law;
        law.a = std::exp(meanY - slope * meanX);
        law.b = -slope;
        law.r2 = yy > 1e-24 ? xy * xy / (xx * yy) : 0.0;
        law.first = std::exp(low->first);
        law.last = std::exp(high->first);
        law.points = m_points.size();
        return law;
    }

private:
    std::vector<std::pair<double, double>> m_points;  ///< logarithms
};

}  // namespace relascope::widgets
