// SPDX-License-Identifier: GPL-3.0-or-later
// The metric of a model from which more and more parts are taken, the least important first.
#pragma once

#include <QWidget>
#include <memory>

#include "types/edit_results.h"

class QPainter;

namespace relascope::widgets {

class CumulativePlot : public QWidget {
    Q_OBJECT
public:
    explicit CumulativePlot(QWidget* parent = nullptr);
    ~CumulativePlot() override;

    void setTable(const AblationTable& table);
    /// "Parts removed one after another (mean)".
    static QString title(const AblationTable& table);
    /// What the tooltip at a position of this widget says; empty beside the curve.
    QString hoverText(const QPoint& at) const;
    /// Position of the value with the first `removed` parts out, in this widget.
    QPointF pixelOf(int removed) const;
    void paintVector(QPainter& painter, int top, const QSize& size);

    QSize minimumSizeHint() const override { return {240, 160}; }

protected:
    void changeEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    struct Parts;
    std::unique_ptr<Parts> m;
};

}  // namespace relascope::widgets
