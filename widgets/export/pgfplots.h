// SPDX-License-Identifier: GPL-3.0-or-later
// Curves and bars as pgfplots source for LaTeX.
#pragma once

#include <QColor>
#include <QString>
#include <QStringList>
#include <vector>

namespace relascope::widgets {

/// One line; NaN interrupts it. A band is drawn if `low` and `high` are as long as `x`.
struct PgfSeries {
    QString name;
    QColor color;
    bool dashed = false;
    std::vector<double> x, y, low, high;
};

struct PgfPlot {
    QString title, xLabel, yLabel;
    bool logX = false, logY = false;
    std::vector<PgfSeries> series;
};

struct PgfBars {
    QString title, xLabel, yLabel;
    QColor color;
    QStringList labels;
    std::vector<double> values;
};

/// A tikzpicture with the plots side by side; `caption` becomes a comment on top. Lines of
/// more than some hundred points are thinned out.
QString pgfplotsText(const QString& caption, const std::vector<PgfPlot>& plots);
QString pgfplotsText(const QString& caption, const PgfBars& bars);
/// Escapes text for LaTeX.
QString latexText(QString text);

}  // namespace relascope::widgets
