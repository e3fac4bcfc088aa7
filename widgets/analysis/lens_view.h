// SPDX-License-Identifier: GPL-3.0-or-later
// The logit lens: what the model would answer after each layer, as a table over positions and as
// bars for one of them.
#pragma once

#include <functional>

#include <QAbstractScrollArea>
#include <QRect>
#include <QWidget>

#include "types/lens.h"
#include "widgets/analysis/measure_frame.h"

class QColor;
class QPainter;

namespace relascope::widgets {

// The colours of the logit lens.

/// The fill of a cell: the page at 0, the strongest fill of likely tokens at 1.
QColor probabilityTint(double probability);
/// The scale of that tint with its ends, right-aligned in `room`.
void drawProbabilityScale(QPainter& painter, const QRect& room);

// One position of a logit lens: the likeliest answers after each layer as bars, and the place of
// the model's own answer among them.

class LensBars : public QWidget {
    Q_OBJECT
public:
    explicit LensBars(QWidget* parent = nullptr);

    void setColumn(const LensResult& result, int column);
    int column() const { return m_column; }
    int layoutHeight() const;
    /// What of that width is drawn on.
    int usedWidth(int width) const;
    void paint(QPainter& painter, int width) const;
    /// The line of a layer as text: "layer 2: same 83 %, different 17 %".
    QString text(int row) const;

    QSize sizeHint() const override { return {600, layoutHeight()}; }
    QSize minimumSizeHint() const override { return {300, layoutHeight()}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    /// The width of row heads and of an answer, and how many answers there are.
    struct Columns {
        int labels = 0, each = 0, count = 0;
    };
    Columns columns(int width) const;

    LensResult m_result;
    int m_column = -1;
};

// The answers after each layer at every position: a table of layers by positions whose cells are
// tinted by probability. Row and column heads stay visible when it is scrolled.

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

class QLabel;

namespace relascope::widgets {

class LensBars;
class LensGrid;

class LensView : public MeasureFrame {
    Q_OBJECT
public:
    explicit LensView(QWidget* parent = nullptr);

    /// A result of one column (one answer for the whole input, or one position) is shown as bars
    /// alone.
    void setResult(const LensResult& result);
    const LensResult& result() const;
    void clear(const QString& sentence) override;
    int column() const;
    void chooseColumn(int column);

    LensGrid* grid() const { return m_grid; }
    LensBars* bars() const { return m_bars; }
    QSize figureSize() const override;
    void paintFigure(QPainter& painter) override;
    bool showResult(const core::AnalysisResult& result) override {
        setResult(std::any_cast<const LensResult&>(result));
        return true;
    }
    core::AnalysisResult shown() const override { return result(); }

private:
    void showColumn();
    bool single() const;
    QString columnTitle() const;

    LensGrid* m_grid;
    QWidget* m_scale;
    QWidget* m_line;
    QLabel* m_title;
    LensBars* m_bars;
};

}  // namespace relascope::widgets
