// SPDX-License-Identifier: GPL-3.0-or-later
// The page Duel: two models, steps or edits on the same input, side by side, and below them the
// result of the analysis `duel`.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include <QByteArray>
#include <QWidget>

#include "app/controllers/duel_feeds.h"
#include "app/pages/analysis_window.h"

class QSplitter;
class QStackedWidget;
class QPushButton;
class QToolButton;

namespace relascope::widgets {
class EmptyState;
class RelationInspector;
}  // namespace relascope::widgets

namespace relascope::app {

class AnalysisTab;
class Controllers;
class ErrorStrip;
class JobStrip;
class RunExport;
class SubjectSlot;

class DuelPage : public QWidget {
    Q_OBJECT
public:
    /// `fetches`: copies runs of other machines.
    DuelPage(Controllers& controllers, RunExport& fetches);
    ~DuelPage() override;

    /// Sets a subject; side 0 is A, side 1 is B.
    void setSubject(std::size_t side, std::optional<wire::Asked> subject);
    /// Takes a run folder or a checkpoint that was dropped or named as A, or as B if A is chosen. A
    /// picture becomes the input of both.
    void take(const QString& path);
    /// What the Workbench shows: its run, step and edits.
    std::optional<wire::Asked> shownOnWorkbench() const;

    DuelFeeds& feeds() { return m_feeds; }
    widgets::RelationInspector* inspector() const { return m_inspector; }
    widgets::EmptyState* emptyState() const { return m_empty; }
    AnalysisTab* tab() const;
    /// Shown instead of tab() while A and B are on different machines and cannot be measured.
    widgets::EmptyState* apart() const { return m_apart; }
    ErrorStrip* error() const { return m_error; }
    QPushButton* againButton() const { return m_again; }
    SubjectSlot* slot(std::size_t side) const { return m_slots[side]; }
    QToolButton* linked() const { return m_linked; }

    /// The sizes of the panes, to be saved in the session.
    QByteArray panesState() const;
    void restorePanes(const QByteArray& state);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void connectInputs();
    void subjectsChanged();
    /// What a side shows, as a command.
    std::optional<View> describe(std::size_t side) const;
    /// Whether A and B are on different machines, so that they cannot be measured.
    bool areApart() const;
    /// Says why A and B are not measured, and what can be done.
    void describeApart();
    /// Copies the runs of other machines to this computer, and chooses the copies.
    void fetchApart();
    /// Chooses the copy in place of the run. Returns false if no subject belongs to the run.
    bool chooseCopy(const QString& run, const QString& copy);
    /// Says why there are no maps, and offers to ask again.
    void refuse(const QString& sentence);
    /// Repeats the requests that failed.
    void again();
    void show(const widgets::Inspected& inspected);
    /// Shows a map of B, and beside it the map of A that it is matched with.
    void showPartners(MapKind kind, int layer, int index);
    void offerSamples();

    Controllers& m_c;
    RunExport& m_fetches;
    DuelFeeds m_feeds;
    std::array<SubjectSlot*, 2> m_slots;
    JobStrip* m_strip;
    ErrorStrip* m_error;
    QPushButton* m_again;
    QStackedWidget* m_stack;
    widgets::EmptyState* m_empty;
    QSplitter* m_splitter;
    widgets::RelationInspector* m_inspector;
    QToolButton* m_linked;  ///< whether A shows what B shows
    QStackedWidget* m_below;
    AnalysisWindow* m_measure;
    widgets::EmptyState* m_apart;
    std::array<QString, 2> m_paths;  ///< paths of A and B, whose maps may be shown
    bool m_first = true;             ///< nothing of this B has been shown yet
    bool m_narrow = false;
};

}  // namespace relascope::app
