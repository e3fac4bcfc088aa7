// SPDX-License-Identifier: GPL-3.0-or-later
// An ablation table: a sortable row for each part of the model, below it the curve with more and
// more parts removed and the pairs, where they were measured.
#pragma once

#include <optional>

#include "types/edit_results.h"
#include "widgets/analysis/answer_view.h"
#include "widgets/kit/plot_view.h"
#include "widgets/kit/table_view.h"

class QPushButton;

namespace relascope::widgets {

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
    PlotView* curve() const { return m_curve; }
    /// Takes the chosen part out in the inspector, as Enter and a double click on a row do.
    QPushButton* knockOutButton() const { return m_knockOut; }

protected:
    /// A finished table, or one of fewer examples than wanted while it is measured.
    void fill(const Answer& answer) override;
    void draw(FigureLines& lines) const override;
    int figureWidth() const override { return 1360; }

private:
    void requestEdit();
    void updateKnockOut();

    AblationTable m_result;
    TableView* m_table;
    QPushButton* m_knockOut;
    QWidget* m_below;
    QWidget* m_pairsPart;
    PlotView* m_curve;
    TableView* m_pairs;
};

}  // namespace relascope::widgets
