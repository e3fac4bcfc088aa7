// SPDX-License-Identifier: GPL-3.0-or-later
// Lines over common places on an axis: an answer along training, or with more and more parts
// removed. Hover and keys go to the nearest place, a click chooses it, and a figure has the same.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <QString>
#include <QWidget>

class QPainter;

namespace relascope::widgets {

struct PlotLine {
    std::vector<double> y;  ///< one for each place; NaN: nothing is there
    QString name = {};      ///< in the legend; empty: not named
    bool dashed = false;
    bool muted = false;          ///< what the others are compared with
    std::vector<int> dots = {};  ///< places with a dot
};

struct PlotData {
    std::vector<double> x;        ///< the places, rising
    std::vector<PlotLine> lines;  ///< the first one has the cursor
    QString title = {};           ///< above the plot, with an underscore before a subscript
    QString xTitle = {};          ///< empty: the axis has none, and a figure neither
    QString yTitle = {};          ///< only in figures
    QString description = {};     ///< for screen readers
    bool percent = false;         ///< values are fractions
    bool zero = false;            ///< a line marks zero, where the sign changes
    /// Values that are always inside. Empty: those of the lines alone.
    std::optional<std::pair<double, double>> range = {};
    /// A place in a sentence, for tips.
    std::function<QString(int at)> text = {};
};

class PlotView : public QWidget {
    Q_OBJECT
public:
    explicit PlotView(const QString& name, QWidget* parent = nullptr);
    ~PlotView() override;

    void setData(PlotData data);
    QString title() const;
    /// A line at x, and a dot where the first line meets it.
    void setCursor(std::optional<double> x);
    /// The axis of places is log(x + 1), for whole numbers.
    void setLogarithmic(bool on);
    /// The tip at a point of this widget; empty beside the plot.
    QString hoverText(const QPoint& at) const;
    /// Where the first line stands at the place nearest to x, in this widget.
    QPointF pixelOf(double x) const;
    /// Draws the plot with its title as shapes, `top` px below the origin.
    void paintFigure(QPainter& painter, int top, const QSize& size) const;

    QSize minimumSizeHint() const override { return {240, 110}; }

Q_SIGNALS:
    void chosen(int at);  ///< the place, by a click or a key

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Parts;
    int placeAt(const QPoint& at) const;  ///< -1: beside the plot
    void paintTitle(QPainter& painter, const QRect& box) const;
    std::unique_ptr<Parts> m;
};

}  // namespace relascope::widgets
