// SPDX-License-Identifier: GPL-3.0-or-later
// Head measures: for each measure a grid of layers by heads, tinted by the mean attention of each
// head to places of that kind.
#pragma once

#include <vector>

#include <QRect>
#include <QWidget>

#include "analysis/head_measures.h"
#include "widgets/analysis/measure_frame.h"

class QLabel;
class QPainter;
class QScrollArea;

namespace relascope::widgets {

class ElidedLabel;

/// A measure and a head, as indices of HeadMeasures; -1: none.
struct HeadPlace {
    int measure = -1, head = -1;
    bool operator==(const HeadPlace&) const = default;
};

class HeadGrids : public QWidget {
    Q_OBJECT
public:
    explicit HeadGrids(QWidget* parent = nullptr);

    void setResult(const HeadMeasures& result);
    const HeadMeasures& result() const { return m_result; }
    /// Lays the grids out for a viewport of that width.
    void fit(int width);
    QSize layoutSize() const { return m_size; }
    HeadPlace placeAt(const QPoint& at) const;
    QRect cellRect(const HeadPlace& place) const;
    /// "layer 2, relational head 3: induction 0.84; even attention 0.02".
    QString text(const HeadPlace& place) const;
    HeadPlace current() const { return m_current; }
    void setCurrent(const HeadPlace& place);
    void paint(QPainter& painter) const;

    QSize sizeHint() const override { return m_size; }

Q_SIGNALS:
    void hovered(const relascope::widgets::HeadPlace& place);
    void headChosen(int head);  ///< by a click or Enter

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    QPoint origin(int measure) const;

    HeadMeasures m_result;
    QSize m_size, m_panel;
    int m_across = 1, m_cell = 18, m_sensory = 0, m_relational = 0, m_width = 800;
    HeadPlace m_current;
};

class HeadsView : public MeasureFrame {
    Q_OBJECT
public:
    explicit HeadsView(QWidget* parent = nullptr);

    void setResult(const HeadMeasures& result);
    const HeadMeasures& result() const { return m_grids->result(); }
    void clear(const QString& sentence) override;
    HeadGrids* grids() const { return m_grids; }
    QString footerText() const;

    QSize figureSize() const override;
    void paintFigure(QPainter& painter) override;
    bool showResult(const core::AnalysisResult& result) override {
        setResult(std::any_cast<const HeadMeasures&>(result));
        return true;
    }
    core::AnalysisResult shown() const override { return result(); }

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    QString title() const;

    HeadGrids* m_grids;
    QScrollArea* m_scroll;
    ElidedLabel* m_footer;
};

}  // namespace relascope::widgets
