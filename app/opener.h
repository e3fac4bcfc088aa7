// SPDX-License-Identifier: GPL-3.0-or-later
// Opens files and folders that the user chose or dropped: runs, studies, checkpoints, texts,
// images.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include <QObject>
#include <QStringList>

#include "app/controllers/job_queue.h"

namespace relascope::app {

// Titles for a list of checkpoints, all different.

/// One title per path: "DAT-sa8-ra8-343M" for a folder or the weights in it, "text-dat-s0 ·
/// step-300" for a checkpoint of a run. Equal titles are extended by the names of parent folders.
QStringList checkpointTitles(const QStringList& paths);

class Controllers;
class MainWindow;

class Opener : public QObject {
    Q_OBJECT
public:
    explicit Opener(MainWindow& window);

    /// Opens a run folder for inspection; errors are shown in the status strip.
    void openRun(const QString& path);
    /// Whether a run is being read.
    bool opensRun() const { return m_opens > 0; }
    void openStudy(const QString& path);
    void openCheckpoint(const QString& path);
    /// Opens files and folders according to their contents, in order; runs that follow each other
    /// are shown together.
    void openAll(const QStringList& paths);
    /// Shows the newest weights of a run on the Checkpoint page and loads them.
    void generateWith(const QString& run);

    /// The runs opened last, newest first.
    const QStringList& recentRuns() const { return m_recent; }
    void setRecentRuns(const QStringList& paths);

Q_SIGNALS:
    void runOpened(const QString& path);
    void runRefused();
    void recentChanged();

private:
    enum class What { Run, Study, Checkpoint, Text, Image, View };
    struct Found {
        What what;
        QString path;
    };
    static Found identify(const QString& path);
    void openRuns(const QStringList& paths, const std::function<void()>& then);
    void showRuns(const QStringList& paths);
    void openNext();
    void remember(const QString& run);
    /// Opens a text: inspected if a language model is shown, otherwise used for training.
    void takeText(const QString& path);

    MainWindow& m_window;
    Controllers& m_c;
    QStringList m_recent;
    int m_opens = 0;
    std::deque<Found> m_queue;  ///< to be opened
    bool m_opening = false;
    JobQueue m_disk;
};

}  // namespace relascope::app
