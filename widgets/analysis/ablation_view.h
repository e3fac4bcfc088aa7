// SPDX-License-Identifier: GPL-3.0-or-later
// An ablation table: a sortable row for each part of the model, below it the curve with more and
// more parts removed and the pairs, where they were measured.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <QWidget>

#include "types/edit_results.h"
#include "widgets/analysis/answer_view.h"
#include "widgets/kit/table_view.h"

class QLabel;
class QPainter;
class QPushButton;

namespace relascope::widgets {

// The metric of a model from which more and more parts are taken, the least important first.

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

class AblationView : public AnswerView {
    Q_OBJECT
public:
    explicit AblationView(QWidget* parent = nullptr);

    const AblationTable& result() const { return m_result; }
    void clear(const QString& sentence) override;
    /// The chosen part as the edit that takes it out, in the way of the chosen column; nullopt
    /// without one.
    std::optional<Edit> chosenEdit() const;

    TableView* table() const { return m_table; }
    TableView* pairs() const { return m_pairs; }
    CumulativePlot* curve() const { return m_curve; }
    /// Takes the chosen part out in the inspector, as Enter and a double click on a row do.
    QPushButton* knockOutButton() const { return m_knockOut; }

    QSize figureSize() const override { return {kFigureWidth, paint(nullptr)}; }
    void paintFigure(QPainter& painter) override { paint(&painter); }

protected:
    /// A finished table, or one of fewer examples than wanted while it is measured.
    void fill(const Answer& answer) override;

private:
    static constexpr int kFigureWidth = 1360;
    void requestEdit();
    void updateKnockOut();
    /// Paints at the origin and returns the height; measures only without a painter.
    int paint(QPainter* painter) const;

    AblationTable m_result;
    TableView* m_table;
    QPushButton* m_knockOut;
    QWidget* m_below;
    QWidget *m_curvePart, *m_pairsPart;
    QLabel* m_curveTitle;
    CumulativePlot* m_curve;
    TableView* m_pairs;
};

}  // namespace relascope::widgets
