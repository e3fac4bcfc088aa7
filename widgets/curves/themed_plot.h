// SPDX-License-Identifier: GPL-3.0-or-later
// The base of all plots: a QCustomPlot with fixed margins, in the colours of the theme, that can be
// drawn as a figure. For sources of widgets alone.
#pragma once

#include <functional>

#include <QtCore/qglobal.h>
#include <QtCore/qobjectdefs.h>

// Qt's own keyword macros may be on (QT_NO_KEYWORDS unset): put them back afterwards.
#pragma push_macro("signals")
#pragma push_macro("slots")
#pragma push_macro("foreach")
#undef signals
#undef slots
#undef foreach
#define signals Q_SIGNALS
#define slots Q_SLOTS
#define foreach Q_FOREACH
#include <qcustomplot.h>
#pragma pop_macro("foreach")
#pragma pop_macro("slots")
#pragma pop_macro("signals")

namespace relascope::widgets {

// The one door to QCustomPlot: its header uses bare signals, slots and foreach, which the project
// does not define. Include this from .cpp files only.

class ThemedPlot : public QCustomPlot {
public:
    ThemedPlot(const QMargins& margins, QWidget* parent);
    /// Applies the colours and fonts of the current theme.
    void applyTheme();
    /// Draws immediately; returns the milliseconds it took.
    double replotNow();
    /// Draws the plot as shapes, `top` px below the origin of the painter, with titles at the axes.
    /// An empty `xTitle` keeps the label of the x axis.
    void paintFigure(QPainter& painter, int top, const QSize& size, const QString& xTitle,
                     const QString& yTitle);
    /// Position of a point of the plot, in pixels of the parent widget.
    QPointF pixelOf(double key, double value) const;

    /// Calls `change` when the user zooms or pans the axis.
    void onUserRange(QCPAxis* axis, std::function<void(const QCPRange&)> change);
    /// Whether the user has zoomed or panned: new data then leave the ranges alone.
    bool ownRange = false;
    /// Set while the program itself changes ranges.
    bool applying = false;

protected:
    void paintEvent(QPaintEvent* event) override;
};

/// Base class of items that are drawn over the lines, on a layer that can be redrawn alone.
class OverlayItem : public QCPAbstractItem {
public:
    OverlayItem(QCustomPlot* plot, const QString& layer);
    double selectTest(const QPointF&, bool, QVariant*) const override { return -1.0; }
};

}  // namespace relascope::widgets
