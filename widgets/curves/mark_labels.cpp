// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/curves/mark_labels.h"

#include <algorithm>
#include <utility>

namespace relascope::widgets {

std::vector<MarkLabel> placeMarkLabels(const std::vector<double>& positions,
                                       const QStringList& texts, double left, double right,
                                       const QFontMetrics& metrics) {
    constexpr double gap = 9.0;  // between a diamond and its text
    std::vector<MarkLabel> labels;
    std::vector<std::pair<double, double>> taken;  // by earlier texts, with their row below
    std::vector<int> rows;
    for (std::size_t k = 0; k < positions.size(); ++k) {
        MarkLabel label;
        label.text = metrics.elidedText(texts[static_cast<qsizetype>(k)], Qt::ElideRight,
                                        static_cast<int>(right - left));
        const double width = metrics.horizontalAdvance(label.text);
        const auto isFree = [&](double from, int row) {
            if (from < left || from + width > right) return false;
            for (std::size_t t = 0; t < taken.size(); ++t)
                if (rows[t] == row && from < taken[t].second + 6 &&
                    taken[t].first < from + width + 6)
                    return false;
            for (const double x : positions)
                if (row == 0 && x + gap - 2 > from && x - gap + 2 < from + width) return false;
            return true;
        };
        const double inside = std::clamp(positions[k] + 4.0, left, std::max(left, right - width));
        if (isFree(positions[k] + gap, 0)) {
            label.left = positions[k] + gap;
        } else if (isFree(positions[k] - gap - width, 0)) {
            label.left = positions[k] - gap - width;
        } else {
            label.left = inside;
            for (label.row = 1; !isFree(inside, label.row) && label.row < 100;) ++label.row;
        }
        taken.emplace_back(label.left, label.left + width);
        rows.push_back(label.row);
        labels.push_back(std::move(label));
    }
    return labels;
}

}  // namespace relascope::widgets
