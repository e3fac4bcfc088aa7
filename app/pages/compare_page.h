// SPDX-License-Identifier: GPL-3.0-or-later
// The Compare page: a table of runs, their curves, the differences of their options, and notes.
#pragma once

#include <QHash>
#include <QStringList>
#include <QWidget>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "app/app_context.h"
#include "app/controllers/compare_notes.h"
#include "options/published.h"
#include "types/run_info.h"

class QMenu;
class QPlainTextEdit;
class QStackedWidget;

namespace relascope::widgets {
class CurvePanel;
class DiffTable;
class EmptyState;
class PanelHead;
class RunsTable;
struct TableRow;
class ViewMenu;
}  // namespace relascope::widgets

namespace relascope::app {

/// The check boxes are Selection::runs(), the same as in the sidebar. Notes are kept in notes.json
/// of the runs folder: one text per run, and one per set of runs that was compared.
class ComparePage : public QWidget {
    Q_OBJECT
public:
    explicit ComparePage(AppContext& context, QWidget* parent = nullptr);

    widgets::RunsTable* table() const { return m_table; }
    widgets::CurvePanel* curves() const { return m_curves; }
    QPlainTextEdit* notes() const { return m_notes; }
    widgets::EmptyState* emptyState() const { return m_empty; }
    widgets::ViewMenu* tableMenu() const { return m_tableMenu; }
    widgets::ViewMenu* curvesMenu() const { return m_curvesMenu; }
    widgets::ViewMenu* differencesMenu() const { return m_differencesMenu; }
    /// The reference of the comparison: the row chosen last, otherwise the run of the Workbench.
    QString reference() const;

Q_SIGNALS:
    /// A run was double-clicked; the selection is already updated.
    void workbenchRequested();
    /// Enter with two runs chosen: A, the one chosen first, and B.
    void duelRequested(const QString& a, const QString& b);

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    void layOut();
    void wire();
    widgets::ViewMenu* exportInto(QMenu* menu, QWidget* view, std::function<QString()> name,
                                  std::function<QString()> csv,
                                  const std::function<void(widgets::ViewMenu&)>& prepare = {});
    void rowsChanged();
    void fillTable();
    void overlay();
    void takePoints(const QString& path);
    void showPublished();
    void showDifferences();
    void openRun(const QString& path);
    widgets::TableRow rowOf(const RunInfo& info, int colorIndex);

    void showNotes();
    void noteTyped();
    void fillComparisons();

    AppContext m_context;
    QStackedWidget* m_stack;
    widgets::EmptyState* m_empty;
    widgets::RunsTable* m_table;
    widgets::CurvePanel* m_curves;
    widgets::DiffTable* m_differences;
    widgets::PanelHead* m_notesHead;
    QPlainTextEdit* m_notes;
    QMenu* m_comparisons;
    widgets::ViewMenu *m_tableMenu = nullptr, *m_curvesMenu = nullptr, *m_differencesMenu = nullptr;

    QStringList m_drawn;  ///< runs with points in the curves
    QString m_reference;
    std::optional<QString> m_comparison;  ///< the set of runs that the notes shown belong to
    QHash<QString, std::vector<core::PublishedResult>> m_published;  ///< by path of the run
    std::vector<std::pair<QString, std::vector<std::pair<std::string, std::string>>>> m_compared;
    CompareNotes m_texts;
};

}  // namespace relascope::app
