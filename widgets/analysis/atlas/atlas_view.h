// SPDX-License-Identifier: GPL-3.0-or-later
// The atlas of relations: a sortable table of the maps of a model, and all that is known of the
// chosen one.
#pragma once

#include <memory>

#include "analysis/atlas/atlas.h"
#include "widgets/analysis/answer_view.h"
#include "widgets/kit/table_view.h"

class QLabel;
class QPushButton;
class QScrollArea;
class QSplitter;
class QStackedWidget;

namespace relascope::widgets {

class AtlasSheet;

class AtlasView : public AnswerView {
    Q_OBJECT
public:
    explicit AtlasView(QWidget* parent = nullptr);

    const RelationAtlas& result() const { return m_atlas; }
    TableView* table() const { return m_table; }
    AtlasSheet* sheet() const { return m_sheet; }
    /// Adds a panel about the chosen map, beside its sheet.
    void addPanel(const QString& title, QWidget* panel);
    SegmentedControl* panelChoice() const { return m_choice; }
    /// Replaces all but one of the maps that are correlated by 0.7 and more by their mean.
    QPushButton* keepOneButton() const { return m_keepOne; }

    /// The chosen map, and the attribute that it tells best; null: none.
    const RelationAtlas::Relation* relation() const;
    QString attribute() const;

Q_SIGNALS:
    /// Another map is chosen.
    void relationChosen();

protected:
    void fill(const Answer& answer) override;
    void draw(FigureLines& lines) const override;
    int figureWidth() const override { return 1176; }

private:
    int chosen() const;  ///< index of a relation, -1 without one
    void resizeEvent(QResizeEvent* event) override;
    /// The chosen map in the inspector; a cell of an example with a pair.
    void request(const RelationAtlas::Pair* pair);
    void showSheet(int relation);
    void showGroups();
    void keepOne();

    RelationAtlas m_atlas;
    QPushButton* m_keepOne;
    QLabel* m_said;  ///< hypotheses of one's own, or why nothing is said of uses
    QSplitter* m_both;
    TableView* m_table;
    SegmentedControl* m_choice;  ///< which panel about the chosen map is shown
    QStackedWidget* m_panels;
    QStringList m_titles{QStringLiteral("The map")};  ///< titles of the panels
    QScrollArea* m_scroll;
    AtlasSheet* m_sheet;
};

}  // namespace relascope::widgets
