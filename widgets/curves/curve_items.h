// SPDX-License-Identifier: GPL-3.0-or-later
// Tick labels of plots, and items drawn over the lines: cursor, rings, marks. Private to
// widgets/curves and widgets/study.
#pragma once

#include <QColor>
#include <QPicture>
#include <vector>

#include "widgets/curves/curve_types.h"
#include "widgets/curves/qcp.h"

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

/// Draws a picture at its recorded size. QPainter::drawPicture() would scale it by the resolution
/// of the device, for which painters of files are already scaled.
void drawRecorded(QPainter& painter, const QPointF& at, const QPicture& picture);

struct CurveDot {
    double key = 0.0, value = 0.0;
    QColor color;
    QString text;
};

/// The time cursor: a line, its flag, and a hollow dot where it meets each line.
class CursorItem : public QCPAbstractItem {
public:
    explicit CursorItem(QCustomPlot* plot) : QCPAbstractItem(plot) { setClipToAxisRect(false); }
    double selectTest(const QPointF&, bool, QVariant*) const override { return -1.0; }
    bool shown = false;
    double key = 0.0;
    std::vector<CurveDot> dots;

protected:
    void draw(QCPPainter* painter) override;
};

/// Rings at the best points, marks of live edits and published values.
class MarksItem : public QCPAbstractItem {
public:
    explicit MarksItem(QCustomPlot* plot) : QCPAbstractItem(plot) { setClipToAxisRect(false); }
    double selectTest(const QPointF&, bool, QVariant*) const override { return -1.0; }
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
