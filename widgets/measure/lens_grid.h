// SPDX-License-Identifier: GPL-3.0-or-later
// The answers after each layer at every position: a table of layers by positions whose cells are
// tinted by probability. Row and column heads stay visible when it is scrolled.
#pragma once

#include <QAbstractScrollArea>

#include "types/lens.h"

namespace relascope::widgets {

class LensGrid : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit LensGrid(QWidget* parent = nullptr);

    void setResult(const LensResult& result);
    const LensResult& result() const { return m_result; }
    int column() const { return m_column; }
    void setColumn(int column);  ///< emits no signal
    int columns() const { return static_cast<int>(m_result.columns()); }

    /// The cell at a point of the viewport as (row, column); the row behind the layers is the
    /// model's own answer. (-1, -1) beside the cells.
    QPoint cellAt(const QPoint& point) const;
    QRect cellRect(int row, int column) const;  ///< in the viewport
    QString text(int row, int column) const;

    /// Columns `first` to `first + count` as a figure at the origin.
    void paintBand(QPainter& painter, int first, int count) const;
    QSize bandSize(int count) const;
    /// Columns of one band of a figure.
    int band() const;

    QSize minimumSizeHint() const override { return {300, 120}; }
    QSize sizeHint() const override;

Q_SIGNALS:
    void columnChosen(int column);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool viewportEvent(QEvent* event) override;

private:
    void measure();
    void place();
    void choose(int column);
    void paintCell(QPainter& painter, const QRect& box, int row, int column) const;
    void paintColumnHead(QPainter& painter, const QRect& box, int column) const;
    void paintRowHeads(QPainter& painter, int left, int top) const;
    int rows() const { return static_cast<int>(m_result.rows.size()); }
    int head() const;

    LensResult m_result;
    int m_column = 0;
    int m_labels = 80, m_cell = 72;
};

}  // namespace relascope::widgets
