// SPDX-License-Identifier: GPL-3.0-or-later
// Tick labels of plots, and items drawn over the lines: cursor, rings, marks. Private to
// widgets/curves and widgets/study.
#pragma once

#include <vector>

#include <QColor>
#include <QFontMetrics>
#include <QRectF>
#include <QStringList>
#include <QWidget>

#include "widgets/curves/curve_data.h"
#include "widgets/curves/themed_plot.h"

namespace relascope::widgets {

// Placement of the labels of marks beside their lines.

/// Where the text of a mark is drawn: row 0 is above the plot, the others are inside it.
struct MarkLabel {
    double left = 0.0;
    int row = 0;
    QString text;  ///< elided where the whole plot is narrower
};
/// Places the texts of marks at `positions` (px, rising) between `left` and `right` so that none
/// covers another or, above the plot, a diamond.
std::vector<MarkLabel> placeMarkLabels(const std::vector<double>& positions,
                                       const QStringList& texts, double left, double right,
                                       const QFontMetrics& metrics);

/// Moves boxes (px) up or down so that none covers another or one of the `fixed`, in the order of
/// their heights and, where there is room, between `top` and `bottom`.
void dodge(std::vector<QRectF>& boxes, const std::vector<QRectF>& fixed, double top, double bottom);

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

/// Rings at the best points, marks of live edits and published values, whose labels dodge.
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

// The legend: a line of text above a plot, with the values at the cursor. Private to
// widgets/curves.

struct LegendEntry {
    QString name, value;  ///< value may be empty
    QColor color;
    bool dashed = false, published = false;
    bool dotted = false;  ///< a fitted law
};

/// 24 px high: the title at the left, entries right-aligned; entries that do not fit are counted.
class CurveLegend : public QWidget {
public:
    explicit CurveLegend(const QString& title, QWidget* parent = nullptr);
    void setEntries(std::vector<LegendEntry> entries);
    void setTitle(const QString& title);
    void setInset(int right);  ///< px that are left free at the right end
    const std::vector<LegendEntry>& entries() const { return m_entries; }
    void draw(QPainter& painter, const QRectF& box) const;
    /// For figures: draws all entries in as many lines as needed, without values at the cursor.
    /// Returns the height; without a painter it only measures.
    int drawWhole(QPainter* painter, int width) const;

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    static void drawSample(QPainter& painter, const LegendEntry& entry, double x, double middle);
    QString m_title;
    int m_inset = 0;
    std::vector<LegendEntry> m_entries;
};

}  // namespace relascope::widgets
