// SPDX-License-Identifier: GPL-3.0-or-later
// The devices in use, for the device chip of the bar. Drivers are queried on a separate thread, so
// the window never waits for one.
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <string>
#include <utility>
#include <vector>

#include "app/controllers/job_queue.h"
#include "app/controllers/looker.h"

namespace relascope::app {

class TrainingController;

/// Queries the devices every two seconds while a run trains, and when a run begins or ends.
class DeviceMonitor : public QObject {
    Q_OBJECT
public:
    DeviceMonitor(TrainingController& training, Looker& looker, QObject* parent = nullptr);

    /// Sets train.device of the next run and the machine that trains it; the chip shows them while
    /// no run trains.
    void setWanted(const std::string& device, const std::string& host);
    /// "cuda:0", "2 GPUs", "2 CPU processes": the devices of the run in training, otherwise those
    /// set by setWanted(), as written there if they cannot be used.
    const QString& device() const { return m_shown.device; }
    /// The facts of the device, one per line: title, memory, compute capability, driver and
    /// kernels; for several devices one line each, below their names. If they cannot be used, the
    /// reason.
    const QString& facts() const { return m_shown.facts; }
    /// What bfloat16 brings on the device, as far as it is known; empty: unknown, or nothing.
    const QString& precision() const { return m_shown.precision; }
    /// Name and title of the CUDA devices that a run can use, if there are several; otherwise
    /// empty.
    const std::vector<std::pair<QString, QString>>& choices() const { return m_shown.choices; }
    void setInterval(int milliseconds) { m_timer.setInterval(milliseconds); }

Q_SIGNALS:
    void changed();

private:
    struct Shown {
        QString device, facts;
        std::vector<std::pair<QString, QString>> choices;
        QString precision = {};
        bool operator==(const Shown&) const = default;
    };
    static Shown shownOf(const std::string& wanted, const wire::Devices& found);
    void watch();
    void ask();

    TrainingController& m_training;
    std::string m_ofRun;  ///< the devices of the run that trains; empty if none does
    std::string m_wanted = "auto", m_wantedHost;
    Shown m_shown;
    bool m_asking = false, m_again = false;
    QTimer m_timer;
    Looker& m_looker;
};

}  // namespace relascope::app
