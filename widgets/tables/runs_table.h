// SPDX-License-Identifier: GPL-3.0-or-later
// The table of runs on the Compare page.
#pragma once

#include <QStringList>
#include <QWidget>
#include <vector>

#include "types/compared_run.h"

class QLineEdit;
class QMenu;
class QPushButton;
class QTableView;

namespace relascope::widgets {

class PanelHead;
class RunsModel;

struct TableRow : ComparedRun {
    int colorIndex = 0;
};

/// Sortable by a click on a header, filtered by words and by comparisons such as "kept > 85". Names
/// for comparisons: kept, best (ever seen), test, accuracy, loss, params, seed, step, time
/// (minutes), published, diff; fractions are percentages.
class RunsTable : public QWidget {
    Q_OBJECT
public:
    explicit RunsTable(QWidget* parent = nullptr);

    void setRows(const std::vector<TableRow>& rows);
    void setOverlaid(const QStringList& paths);  ///< emits no signal
    QStringList overlaid() const;                ///< in the order of the rows given
    QStringList selected() const;
    void setFilter(const QString& text);
    void setColumnShown(int column, bool shown);
    /// The visible rows and columns in their order, as runsTable() (answers/runs_answer.h).
    QString csv() const;
    int shownRows() const;
    /// The visible rows in their order, until rows are set or the table is touched.
    std::vector<const TableRow*> shownRuns() const;
    std::vector<std::string> shownColumns() const;  ///< some of runColumns(), in their order
    QTableView* view() const { return m_view; }
    QLineEdit* filterField() const { return m_filter; }
    /// The two runs that are selected, or else those whose boxes are checked; empty: not two.
    QStringList pair() const;
    QPushButton* duelButton() const { return m_duel; }
    QMenu* menu() const {
        return m_menu;
    }  ///< the "..." menu, to which views add their export actions

Q_SIGNALS:
    void overlayChanged(const QStringList& paths);
    void runActivated(const QString& path);
    void noteEdited(const QString& path, const QString& note);
    void csvRequested();
    void duelRequested();
    void runMenuRequested(const QStringList& paths, const QPoint& at);  ///< on the screen
    void deleteRequested(const QStringList& paths);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void updateCount();
    void updateDuel();
    PanelHead* m_head;
    QLineEdit* m_filter;
    QPushButton* m_duel;
    QTableView* m_view;
    RunsModel* m_model;
    QMenu *m_menu, *m_columns;
    bool m_sorted = false;  ///< by the user
    bool m_tags = false;    ///< some run has tags
};

}  // namespace relascope::widgets
