// SPDX-License-Identifier: GPL-3.0-or-later
// A picture of the window for documentation and tests: shows a run, or trains one up to a step.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTemporaryDir>
#include <QTimer>

#include "app/launch.h"

namespace relascope::app {

class MainWindow;

/// Waits until there is something to see, grabs the window and ends the training it began.
class Screenshot : public QObject {
    Q_OBJECT
public:
    Screenshot(MainWindow& window, const Launch& launch, QObject* parent = nullptr);
    void begin();
    /// 0, or 1 with a sentence on stderr.
    int exitCode() const { return m_exit; }

Q_SIGNALS:
    void done();

private:
    void showPage();  ///< the one that was asked for
    void showCheckpoint();
    bool studyReady() const;
    bool ready() const;
    void look();
    void end(const QString& problem);

    MainWindow& m_window;
    Launch m_launch;
    QTemporaryDir m_folder;
    QTimer m_timer;
    QElapsedTimer m_clock, m_still;
    bool m_writes = false, m_wrote = false;  ///< a text, with a language model
    bool m_ended = false;
    int m_exit = 1;
    QString m_problem;
};

}  // namespace relascope::app
