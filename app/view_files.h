// SPDX-License-Identifier: GPL-3.0-or-later
// View files in the window: saves what a view shows, and opens a file again: its run or checkpoint,
// step, input, map and edits, or its analysis.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <QObject>
#include <QPointer>
#include <QString>

#include "app/controllers/job_queue.h"
#include "types/edit.h"
#include "types/view.h"
#include "wire/figures.h"

namespace relascope::widgets {
class RelationInspector;
class ViewMenu;
}  // namespace relascope::widgets

namespace relascope::app {

class AnalysisTab;
class InspectorEdits;
class InspectorFeed;
class MainWindow;
class Measurement;

class ViewFiles : public QObject {
    Q_OBJECT
public:
    explicit ViewFiles(MainWindow& window);
    ~ViewFiles() override;

    /// Writes the view of a menu, with checksums of its weights; `withData`: what it shows beside
    /// it. Errors and success are messages.
    void save(widgets::ViewMenu* menu, const View& view, const QString& path, bool withData);
    /// Opens a view file. Without its weights what was saved with it is shown; without that, too,
    /// it is refused in a sentence.
    void open(const QString& path);
    /// Shows what was measured: its run or checkpoint, step, input, edits and analysis.
    void open(const Measurement& measurement);
    LongTask& task() { return m_task; }

Q_SIGNALS:
    void saved(const QString& path);
    /// All that the view says is shown, or being measured.
    void opened(const QString& path);
    void refused(const QString& sentence);

private:
    struct Read {
        View view;
        std::optional<wire::Figure> figure;
        std::string missing;  ///< why the weights are not there; empty: they are
    };
    static Read read(const std::string& path);
    void show(const QString& path, Read found);
    void show(const QString& path, View view);
    void showData(const QString& path, const Read& found);
    void openRun();
    void openCheckpoint();
    void openDuel();
    void duelAnswered();
    void openStudy();
    void openCurves();
    void removeEdits();
    void shown();
    bool applyEdits(InspectorEdits& edits);
    void finish();
    AnalysisTab* showAnalysis(const std::string& name);
    void refuse(const QString& sentence);
    void refuseEdits(const Error& error);
    void done();

    struct Wanted {
        View view;
        QString path;
        // What shows it; null: a duel, or no maps.
        InspectorFeed* feed = nullptr;
        InspectorEdits* edits = nullptr;
        widgets::RelationInspector* inspector = nullptr;
        bool asked = false, edited = false;
    };
    MainWindow& m_window;
    std::optional<Wanted> m_wanted;
    JobQueue m_queue;
    LongTask m_task;
};

}  // namespace relascope::app
