// SPDX-License-Identifier: GPL-3.0-or-later
// Measures of the grid in pixels, and its words. Private to widgets/study.
#pragma once

#include <algorithm>
#include <cmath>

#include "widgets/study/study_grid.h"

namespace relascope::study_grid {

constexpr int kMargin = 16, kHead = 26, kRow = 44, kMarkHeight = 18, kGap = 2, kCellGap = 14;
constexpr int kSmallest = 8, kLargest = 40, kWidestCell = 176;
constexpr int kNumberMark = 30;  ///< a square of that width has room for its number

/// Ends of the colours for values within [low, high]: tens of per cent, worse end first. Equal
/// values get a range around them, which stays within 0 and 100 % and never spans less than 10 %.
inline std::pair<double, double> niceRange(double low, double high, const StudyMetric& metric) {
    if (!(low <= high)) return metric.percent ? std::pair{0.0, 1.0} : std::pair{1.0, 0.0};
    if (metric.percent) {
        low = std::floor(low * 10.0 + 1e-9) / 10.0;
        high = std::ceil(high * 10.0 - 1e-9) / 10.0;
        if (high - low < 0.05) low -= 0.1;
        low = std::clamp(low, 0.0, 0.9);
        high = std::clamp(high, low + 0.1, 1.0);
    } else if (low == 0.0 && high == 0.0) {
        high = 1.0;
    } else if (high - low < 1e-9 * std::max(1.0, std::abs(high))) {
        const double half = 0.5 * std::max(std::abs(low), std::abs(high));
        low -= half;
        high += half;
    }
    return metric.lowerIsBetter ? std::pair{high, low} : std::pair{low, high};
}

/// "36 runs: 24 done, 2 running, 1 failed"
inline QString summary(const std::vector<GridRun>& runs) {
    QString text = QStringLiteral("%1 runs").arg(runs.size());
    for (const auto state : {CellState::Done, CellState::Running, CellState::Failed,
                             CellState::Interrupted, CellState::Waiting}) {
        const auto count = std::count_if(runs.begin(), runs.end(),
                                         [&](const GridRun& run) { return run.state == state; });
        if (count > 0)
            text +=
                QStringLiteral(", %1 %2").arg(count).arg(QString::fromLatin1(cellStateName(state)));
    }
    return text;
}

}  // namespace relascope::study_grid
