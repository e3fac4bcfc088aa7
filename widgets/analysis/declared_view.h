// SPDX-License-Identifier: GPL-3.0-or-later
// The view of an analysis as its layout declares it (answers/layout.h): lists, tables, grids and
// bars that fill themselves from the answer. What is chosen in one of them decides what those
// below it show.
#pragma once

#include <vector>

#include "answers/layout.h"
#include "widgets/analysis/answer_view.h"

class QPushButton;

namespace relascope::widgets {

class DeclaredView : public AnswerView {
    Q_OBJECT
public:
    explicit DeclaredView(const core::Analysis& analysis, QWidget* parent = nullptr);

    /// A result of two models is of those that the place names.
    bool setPlace(const AnalysisPlace& place) override;

protected:
    void fill(const Answer& answer) override;
    void draw(FigureLines& lines) const override;
    int figureWidth() const override;
    void changeEvent(QEvent* event) override;

private:
    class Part;
    class Sentences;
    class LineList;
    class Cells;
    class TableChoice;
    class Bars;
    class Curve;

    Part* makePart(const core::Layout::Element& element);
    core::Seen seen() const { return {answer(), m_chosen}; }
    void fillFrom(std::size_t first);
    /// Another row or cell of a part is chosen.
    void choose(const Part* part, const GridPlace& place);
    void ask(const core::Request& request);

    core::Layout m_layout;
    QString m_subjects;
    bool m_twoModels;
    std::vector<Part*> m_parts;     ///< children of this widget
    std::vector<QWidget*> m_rules;  ///< above each part; null: none
    std::vector<GridPlace> m_chosen;
    QPushButton* m_button = nullptr;
};

}  // namespace relascope::widgets
