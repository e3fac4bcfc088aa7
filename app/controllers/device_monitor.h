// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of the device in use, for the chip of the bar. It is asked on a thread of its own:
// the window never waits for a driver.
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <string>

#include "app/controllers/job_queue.h"

namespace relascope::app {

class TrainingController;

/// Asks again every two seconds while a run trains, and when it begins or ends.
class DeviceMonitor : public QObject {
    Q_OBJECT
public:
    explicit DeviceMonitor(TrainingController& training, QObject* parent = nullptr);

    /// "cuda:0": the device of the run that trains, else the one that "auto" stands for.
    const QString& device() const { return m_device; }
    /// Title, memory, compute capability, driver and kernels, each a line.
    const QString& facts() const { return m_facts; }
    void setInterval(int milliseconds) { m_timer.setInterval(milliseconds); }

Q_SIGNALS:
    void changed();

private:
    void watch();
    void ask();

    TrainingController& m_training;
    std::string m_ofRun;  ///< the device of the run that trains; empty if none does
    QString m_device, m_facts;
    bool m_asking = false, m_again = false;
    QTimer m_timer;
    JobQueue m_queue;
};

}  // namespace relascope::app
