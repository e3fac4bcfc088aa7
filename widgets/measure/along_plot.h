// SPDX-License-Identifier: GPL-3.0-or-later
// The line of a cell, or of the probability of an answer, over the kept steps.
#pragma once

#include <QWidget>
#include <memory>
#include <optional>
#include <vector>

#include "types/along.h"

class QPainter;

namespace relascope::widgets {

class AlongPlot : public QWidget {
    Q_OBJECT
public:
    enum class Field { Value, Probability };
    static constexpr int kTitle = 28;  ///< px above the plot, for its title and legend

    AlongPlot(Field field, QWidget* parent = nullptr);
    ~AlongPlot() override;

    /// `frames`: indices of the steps that are frames of the film, drawn as dots. `cellName`: the
    /// names of i and j.
    void setAlong(const AlongTraining& along, const std::vector<int>& frames,
                  const QString& cellName);
    void setCurrent(std::optional<qint64> step);
    /// The x axis: log(step + 1), or the step.
    void setLogarithmic(bool on);
    /// "r_ij, i = 1, j = 4", with an underscore before a subscript.
    QString title() const;
    /// The tooltip at a point of this widget: "step 96: +1.283"; empty beside the plot.
    QString hoverText(const QPoint& at) const;
    /// Where a step stands, in this widget.
    QPointF pixelOf(qint64 step) const;
    void paintVector(QPainter& painter, int top, const QSize& size, bool steps);
    /// Whether the x axis has its label.
    void setAxisLabel(bool shown);

    QSize minimumSizeHint() const override { return {280, 110}; }

Q_SIGNALS:
    void stepChosen(qint64 step);

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    struct Parts;
    /// The index of the step nearest to an x of this widget; -1 without any.
    int stepAt(int x) const;
    void paintTitle(QPainter& painter, const QRect& box) const;
    std::unique_ptr<Parts> m;
};

}  // namespace relascope::widgets
