// SPDX-License-Identifier: GPL-3.0-or-later
// Tick labels of plots, and items drawn over the lines: cursor, rings, marks. Private to
// widgets/curves and widgets/study.
#pragma once

#include <QColor>
#include <vector>

#include "widgets/curves/curve_types.h"
#include "widgets/curves/themed_plot.h"

namespace relascope::widgets {

/// Ticks at multiples of 1, 2 and 5 with readable numbers.
class CurveTicker : public QCPAxisTicker {
public:
    enum class Format { Count, Short, Plain, Percent, Time };  ///< Short: 500K, 20M, 1.5B
    explicit CurveTicker(Format format) : m_format(format) {}
    bool logarithmic = false;

protected:
    double getTickStep(const QCPRange& range) override;
    QVector<double> createTickVector(double step, const QCPRange& range) override;
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override;

private:
    Format m_format;
    double m_step = 1.0, m_span = 1.0;
};

struct CurveDot {
    double key = 0.0, value = 0.0;
    QColor color;
    QString text;
};

/// A cursor: a vertical line, solid with a flag or dotted, and a hollow dot where it meets each
/// line of the plot.
class CursorItem : public OverlayItem {
public:
    enum class Line { Flag, Dotted };
    CursorItem(QCustomPlot* plot, Line line)
        : OverlayItem(plot, QStringLiteral("cursor")), m_line(line) {}
    bool shown = false;
    double key = 0.0;
    std::vector<CurveDot> dots;

protected:
    void draw(QCPPainter* painter) override;

private:
    Line m_line;
};

/// Rings at the best points, marks of live edits and published values.
class MarksItem : public OverlayItem {
public:
    explicit MarksItem(QCustomPlot* plot) : OverlayItem(plot, QStringLiteral("marks")) {}
    struct Mark {
        double key = 0.0;
        QString text;
        bool filled = true;
    };
    std::vector<CurveDot> rings;
    std::vector<Mark> marks;
    std::vector<CurveDot> published;  ///< value, colour and name; keys are not used
    bool upward = true;               ///< labels are above the rings
    QString beyond;                   ///< largest value, if it is above the plot

protected:
    void draw(QCPPainter* painter) override;
};

}  // namespace relascope::widgets
