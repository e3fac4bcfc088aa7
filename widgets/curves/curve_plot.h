// SPDX-License-Identifier: GPL-3.0-or-later
// One plot of the learning curves, loss or accuracy, with its legend line above. CurvePanel owns
// the numbers and tells the plot when to look at them.
#pragma once

#include <QPointF>
#include <QWidget>
#include <memory>

#include "widgets/curves/curve_data.h"
#include "widgets/export/pgfplots.h"

class QPainter;

namespace relascope::widgets {

class CurvePlot : public QWidget {
    Q_OBJECT
public:
    CurvePlot(CurveMetric metric, const CurveModel& model, QWidget* parent = nullptr);
    ~CurvePlot() override;

    /// What is drawn from now on; takes effect with the next sync().
    void setMetric(CurveMetric metric);
    CurveMetric metric() const;
    /// Takes over what changed in the model and asks for a replot.
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
    /// Draws at once; milliseconds it took.
    double replotNow();
    /// What is drawn, for pgfplots.
    std::vector<PgfSeries> pgfSeries() const;
    /// The plot and its legend as a figure: vectors, axis titles, no cursor.
    void paintVector(QPainter& painter, const QRectF& target);
    /// Legend texts with their values, left to right.
    QStringList legendTexts() const;
    /// Where the cursor meets the lines (key, value), the texts of best points and the value that
    /// the plot ends below, as drawn.
    std::vector<QPointF> cursorDots() const;
    QStringList bestTexts() const;
    QString beyondText() const;
    /// Shown range of the vertical axis.
    double shownLow() const;
    double shownHigh() const;
    /// Pixel of a point of the plot, in this widget, for tests and for what is put on top.
    QPointF pixelOf(double key, double value) const;

Q_SIGNALS:
    void cursorDragged(double key);
    void cursorStepped(int direction);  ///< arrow keys: -1 or +1 point
    void rangeDragged(double low, double high);
    void resetRequested();
    /// A right click on the mark of an edit, at a place on the screen.
    void markMenuRequested(const QString& run, const relascope::widgets::CurveMark& mark,
                           const QPoint& at);

protected:
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void nameAll();
    struct Parts;
    std::unique_ptr<Parts> m;
};

}  // namespace relascope::widgets
