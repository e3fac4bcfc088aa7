// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the numbers and maps of runs for other programs, in the background: asks where to, shows
// progress, says what was written.
#pragma once

#include <QObject>
#include <QStringList>
#include <functional>

#include "app/controllers/job_queue.h"
#include "app/controllers/long_task.h"

class QWidget;

namespace relascope::app {

class Messages;

class RunExport : public QObject {
    Q_OBJECT
public:
    /// `window` is the parent of dialogs.
    RunExport(Messages& messages, QWidget* window);

    /// Each run gets a folder of its name in the folder that is chosen.
    void toTensorBoard(const QStringList& runs);
    /// Every measured point, a line each.
    void toCsv(const QString& run);
    /// Options, points and notes.
    void toJson(const QString& run);
    /// Why nothing can be exported now; empty if it can.
    QString disabledReason() const;
    /// The export that is being written.
    LongTask& task() { return m_task; }

    /// Ask the user; empty when the question was cancelled. Replaced in tests.
    std::function<QString(const QString& title, const QString& start)> askFolder;
    std::function<QString(const QString& title, const QString& suggested, const QString& filter)>
        askFile;

private:
    void toFile(const QString& run, const QString& ending, const QString& what,
                std::string (*content)(const std::string& run));

    Messages& m_messages;
    QString m_folder;  ///< chosen last
    JobQueue m_queue;
    LongTask m_task;  // after the queue: it stops its job before the queue waits for it
};

}  // namespace relascope::app
