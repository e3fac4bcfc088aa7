// SPDX-License-Identifier: GPL-3.0-or-later
// One plot of the learning curves, loss or accuracy, with its legend line above. CurvePanel owns
// the data and calls sync().
#pragma once

#include <QPointF>
#include <QWidget>
#include <memory>

#include "widgets/curves/curve_data.h"
#include "widgets/export/figure.h"

class QPainter;

namespace relascope::widgets {

class CurvePlot : public QWidget {
    Q_OBJECT
public:
    CurvePlot(CurveMetric metric, const CurveModel& model, QWidget* parent = nullptr);
    ~CurvePlot() override;

    /// Sets the metric; takes effect with the next sync().
    void setMetric(CurveMetric metric);
    CurveMetric metric() const;
    /// Updates the plot from the model and schedules a replot.
    void sync();
    /// Moves the cursor: redraws its own layer and the legend only.
    void cursorMoved();
    /// Shown range of the x axis, in units of the model's axis.
    void setRange(double low, double high);
    void resetRange();
    double rangeLow() const;
    double rangeHigh() const;
    int leftMargin() const;   ///< px beside the axis rect
    int rightMargin() const;  ///< px
    /// Whether the numbers of the horizontal axis are shown, or left to a widget below.
    void setNumbersShown(bool on);
    /// The numbers of the horizontal axis with the positions of their ticks.
    std::vector<std::pair<double, QString>> ticks() const;
    void setLegendInset(int right);  ///< px that the legend leaves free at its right end
    /// Draws immediately; returns the returns the milliseconds it took.
    double replotNow();
    /// What is drawn, for pgfplots.
    std::vector<PgfSeries> pgfSeries() const;
    /// The plot and its legend as a figure: vectors, axis titles, no cursor.
    void paintVector(QPainter& painter, const QRectF& target);
    /// Legend texts with their values, left to right.
    QStringList legendTexts() const;
    /// The points at the cursor (key, value), the labels of best points and the label of values
    /// above the plot, as drawn.
    std::vector<QPointF> cursorDots() const;
    QStringList bestTexts() const;
    QString beyondText() const;
    /// Shown range of the vertical axis.
    double shownLow() const;
    double shownHigh() const;
    /// Position of a point of the plot, in pixels of this widget.
    QPointF pixelOf(double key, double value) const;

Q_SIGNALS:
    void cursorDragged(double key);
    void cursorStepped(int direction);  ///< arrow keys: -1 or +1 point
    void rangeDragged(double low, double high);
    void resetRequested();
    void fillRequested();  ///< a double click on a plot that is shown whole
    /// A right click on the mark of an edit, at a place on the screen.
    void markMenuRequested(const QString& run, const relascope::widgets::CurveMark& mark,
                           const QPoint& at);

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void nameAll();
    struct Parts;
    std::unique_ptr<Parts> m;
};

}  // namespace relascope::widgets
