// SPDX-License-Identifier: GPL-3.0-or-later
// Saves a picture of the window: shows a run, or trains one up to a step first.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTemporaryDir>
#include <QTimer>

#include "app/launch.h"

namespace relascope::app {

class MainWindow;

/// Waits until the content is complete, grabs the window and ends the training that it started.
class Screenshot : public QObject {
    Q_OBJECT
public:
    Screenshot(MainWindow& window, const Launch& launch, QObject* parent = nullptr);
    void begin();
    /// The exit code: 0, or 1 after an error message on stderr.
    int exitCode() const { return m_exit; }

Q_SIGNALS:
    void done();

private:
    void showPage();  ///< the page requested on the command line
    void showCheckpoint();
    bool studyReady() const;
    bool ready() const;
    void check();
    void end(const QString& problem);

    MainWindow& m_window;
    Launch m_launch;
    QTemporaryDir m_folder;
    QTimer m_timer;
    QElapsedTimer m_clock, m_still;
    bool m_noMaps = false;  ///< the run has no maps, for a reason that the window shows
    bool m_writes = false, m_wrote = false;  ///< generates a text with a language model
    bool m_ended = false;
    int m_exit = 1;
    QString m_problem;
};

}  // namespace relascope::app
