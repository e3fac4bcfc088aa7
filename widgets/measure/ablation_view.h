// SPDX-License-Identifier: GPL-3.0-or-later
// An ablation table: a sortable row for each part of the model, below it the curve with more and
// more parts removed and the pairs, where they were measured.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "types/edit_results.h"
#include "widgets/measure/measure_frame.h"

class QLabel;
class QTableView;
class QTableWidget;

namespace relascope::widgets {

class AblationModel;
class CumulativePlot;

class AblationView : public MeasureFrame {
    Q_OBJECT
public:
    explicit AblationView(QWidget* parent = nullptr);

    /// A finished table, or one of fewer examples than wanted while it is measured.
    void setTable(const AblationTable& table);
    const AblationTable& table() const;
    void clear(const QString& sentence) override;
    /// The chosen part as the edit that takes it out, in the way of the chosen column; nullptr
    /// without one.
    std::optional<Edit> chosenEdit() const;

    QTableView* view() const { return m_view; }
    QTableWidget* pairs() const { return m_pairs; }
    CumulativePlot* curve() const { return m_curve; }

    /// The table as text, set by the application; without them CSV and LaTeX are empty.
    std::function<std::string(const AblationTable&)> csvOf, latexOf;

    QSize figureSize() const override;
    void paintFigure(QPainter& painter) override;
    QString csv() const override;

Q_SIGNALS:
    void editChosen(const relascope::Edit& edit);
    /// Enter or a double click on a row.
    void editActivated(const relascope::Edit& edit);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void fitColumns(QTableView& view, int width) const;
    void fillPairs();
    std::unique_ptr<QTableView> wholeTable() const;
    int pairsInFigure() const;

    AblationModel* m_model;
    QTableView* m_view;
    QWidget* m_below;
    QWidget *m_curvePart, *m_pairsPart;
    QLabel* m_curveTitle;
    CumulativePlot* m_curve;
    QTableWidget* m_pairs;
};

}  // namespace relascope::widgets
