// SPDX-License-Identifier: GPL-3.0-or-later
// The page Atlas: what the relations of the run that is shown say about pairs of objects.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include <QByteArray>

#include "app/pages/analysis_window.h"
#include "widgets/inspector/inspector_view.h"

namespace relascope::widgets {
class AtlasView;
}  // namespace relascope::widgets

namespace relascope::app {

class Controllers;

/// The subject is the weights at the time cursor with the data of that run, or the opened
/// checkpoint, whichever was inspected last.
class AtlasPage : public AnalysisWindow {
    Q_OBJECT
public:
    explicit AtlasPage(Controllers& controllers);

    /// Whether the page Checkpoint was inspected after the Workbench.
    std::function<bool()> inspectsCheckpoint;

    /// Why a scan of what the Workbench shows is wanted: because one was kept with the run, because
    /// the run is done, or because the user asks for it.
    enum class Learn { Kept, AtEnd, Asked };
    /// Scans it for at most 20 seconds, or opens the scan that is kept with the run; learned() or
    /// learnRefused() follow.
    void learn(Learn why);
    LongTask& scanTask();
    /// Shows an example of a split of the run in the inspector of the Workbench, with that cell.
    void showExample(const QString& split, qint64 example, const MapCell& cell);
    /// Whether a scan is kept with the run at `path`, which learn() would open.
    static bool hasKeptScan(const QString& path);

    /// The sizes of the panes, to be saved in the session.
    QByteArray panesState() const;
    void restorePanes(const QByteArray& state);

Q_SIGNALS:
    /// A scan of the run at `path`, which may be partial; `weights`: "step 384, with the edits".
    void learned(const QString& path, const relascope::Answer& scan, bool finished,
                 const QString& weights);
    void learnRefused(const QString& path, const QString& sentence);
    /// The Workbench is to be shown: its inspector shows what was chosen here.
    void workbenchRequested();
    /// The page Checkpoint, which has the subject, is to be shown: with a map, or for new edits. Of
    /// a map that was chosen alone, i and j are -1.
    void checkpointRequested(const std::optional<relascope::MapCell>& map);

private:
    /// The tab of an analysis of the chosen map, beside its sheet.
    void addOfMap(const core::Analysis& analysis, const QString& title);
    void showMap();
    std::optional<Subject> subject() const;
    std::optional<Subject> ofRun() const;
    std::optional<Subject> ofCheckpoint() const;
    /// Gives the page Checkpoint this example of the data that were measured on.
    void showExampleOfCheckpoint(const QString& split, qint64 example);
    /// Whether the subject is an opened checkpoint, and no run.
    bool isOfCheckpoint() const;
    void refresh();

    Controllers& m_controllers;
    widgets::AtlasView* m_atlas;
    std::vector<AnalysisTab*> m_ofMap;  ///< beside the sheet
    core::OptionValues m_map;           ///< the map that they are of, and its attribute
    /// View to show once the example has been read.
    std::optional<widgets::InspectorView> m_wanted;
};

}  // namespace relascope::app
