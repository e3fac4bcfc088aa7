// SPDX-License-Identifier: GPL-3.0-or-later
// The panel Why beside the map: the parts of i and j that the value of the chosen cell comes from,
// as the analysis qk-attribution splits it (interventions.md section 13).
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <QBoxLayout>
#include <QRegularExpression>
#include <QString>
#include <QStringList>

#include "types/answer.h"
#include "types/grid.h"
#include "widgets/maps/color_map.h"
#include "widgets/theme/controls.h"

class QStackedLayout;
class QTimer;

namespace relascope::widgets {

class GridView;
class TableView;

/// What the panel asks for beside the cell.
struct WhyChoice {
    QString against;     ///< "none", "row" or a cell "2,9"; empty: the default of the map
    bool heads = false;  ///< the matrix of heads instead of layers
    QString tokensOf;    ///< a head in words, whose tokens are shown; may be empty
    bool operator==(const WhyChoice&) const = default;
};

class WhyPanel : public Box {
    Q_OBJECT
public:
    explicit WhyPanel(QWidget* parent = nullptr);
    ~WhyPanel() override;

    const WhyChoice& choice() const { return m_choice; }
    /// Another cell: what was opened is closed again. `sameMap`: it is held against the same as
    /// before.
    void setPlace(bool sameMap);
    void setAgainst(const QString& against);  ///< emits no signal
    /// Shows an answer of qk-attribution to the present choice.
    void showAnswer(const Answer& answer);
    /// Is added to what the next answers say of the value.
    void setNote(const QString& note) { m_note = note; }
    /// Shows a sentence in place of the parts.
    void say(const QString& sentence);
    /// The cells that led here, ending with this one; empty: none.
    void setTrail(const QString& trail);
    /// A strip with the progress, above the parts.
    void addStrip(QWidget* strip);

    /// The name of an object of the input; without it its number.
    std::function<QString(int)> nameOf;

    QString headText() const { return m_says->text(); }
    QString trail() const;
    GridView* matrix() const { return m_matrix; }
    TableView* table() const { return m_table; }
    SegmentedControl* lists() const { return m_lists; }
    SegmentedControl* against() const { return m_against; }
    QToolButton* back() const { return m_back; }
    QSize minimumSizeHint() const override { return {300, 180}; }

Q_SIGNALS:
    void choiceChanged();
    void closed();
    void backRequested();
    /// The cell that stands for a token which a relation attended.
    void cellRequested(const relascope::MapLink& link);
    /// The source is to be tinted by these numbers, one for each object; empty: as the map says.
    void tinted(const std::vector<float>& values);
    void tablesRequested();  ///< in the window Measure, where they are saved

protected:
    void resizeEvent(QResizeEvent* event) override;
    bool event(QEvent* event) override;

private:
    enum List { Raises, Lowers, OfI, OfJ, Tokens };
    using Pair = std::pair<QString, QString>;

    void showMatrix();
    void fitMatrix();
    void showList();
    void openCell(const GridPlace& place);
    void point(int row);
    void chooseRow(int row);
    void showTint();
    QString headOf(int row) const;
    void change(const WhyChoice& choice);

    Answer m_answer;
    WhyChoice m_choice;
    Pair m_opened;  ///< the groups whose parts the matrix shows; empty: all groups
    bool m_tokensOpened = false;
    std::shared_ptr<ColorScale> m_scale;
    QTimer* m_pointing;  ///< until the row at which the keys rest is asked about
    int m_pointed = -1;
    int m_places = 0;  ///< cells that were shown
    QString m_note;
    QStringList m_parts;  ///< in words, of the rows of the list

    QStackedLayout* m_stack;
    QLabel* m_empty;  ///< a sentence in place of the parts
    QVBoxLayout* m_column;
    QBoxLayout* m_body;
    SegmentedControl *m_against, *m_lists;
    QToolButton *m_back, *m_groups;
    ElidedLabel* m_trail;
    QWidget *m_trailRow, *m_groupsRow;
    ElidedLabel* m_groupsText;
    QLabel *m_says, *m_againstText;
    GridView* m_matrix;
    TableView* m_table;
};

}  // namespace relascope::widgets
