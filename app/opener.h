// SPDX-License-Identifier: GPL-3.0-or-later
// Opens what somebody chose or dropped: runs, studies, checkpoints, texts, images.
#pragma once

#include <QObject>
#include <QStringList>
#include <memory>

#include "app/controllers/job_queue.h"

namespace relascope::app {

class Controllers;
class MainWindow;

class Opener : public QObject {
    Q_OBJECT
public:
    explicit Opener(MainWindow& window);

    /// A run folder from anywhere, to look into it; what is wrong with it is said in the status
    /// strip.
    void openRun(const QString& path);
    /// A run is being read to be opened.
    bool opensRun() const { return m_opens > 0; }
    void openStudy(const QString& path);
    void openCheckpoint(const QString& path);
    /// A dropped file or folder: what it is, is read from the disk.
    void openDropped(const QString& path);
    /// The Checkpoint page with the newest weights of a language model's run, loaded.
    void generateWith(const QString& run);

    /// Newest first.
    const QStringList& recentRuns() const { return m_recent; }
    void setRecentRuns(const QStringList& paths);

Q_SIGNALS:
    void runOpened(const QString& path);
    void runRefused();
    void recentChanged();

private:
    enum class What { Run, Study, Checkpoint, Text, Image };
    struct Found {
        What what;
        QString path;
    };
    static Found look(const QString& path);
    void showRun(const QString& path);
    void remember(const QString& run);
    /// Looked at where a language model is shown, else trained on.
    void takeText(const QString& path);

    MainWindow& m_window;
    Controllers& m_c;
    QStringList m_recent;
    int m_opens = 0;
    quint64 m_dropped = 0;
    JobQueue m_disk;
};

}  // namespace relascope::app
