// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of the devices in use, for the chip of the bar. It is asked on a thread of its own:
// the window never waits for a driver.
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>
#include <string>
#include <utility>
#include <vector>

#include "app/controllers/inspection.h"
#include "app/controllers/job_queue.h"

namespace relascope::app {

class TrainingController;

/// Asks again every two seconds while a run trains, and when it begins or ends.
class DeviceMonitor : public QObject {
    Q_OBJECT
public:
    DeviceMonitor(TrainingController& training, Looker& looker, QObject* parent = nullptr);

    /// train.device of the run to be started next, and the machine that trains it: what the chip
    /// shows while none trains.
    void setWanted(const std::string& device, const std::string& host);
    /// "cuda:0", "2 GPUs", "2 CPU processes": the devices of the run that trains, else those
    /// wanted, as they are written if they cannot be used.
    const QString& device() const { return m_shown.device; }
    /// Title, memory, compute capability, driver and kernels, each a line; of several devices a
    /// line for each, below their names. Or why they cannot be used.
    const QString& facts() const { return m_shown.facts; }
    /// Name and title of the CUDA devices that a run can use, if there are several; otherwise none.
    const std::vector<std::pair<QString, QString>>& choices() const { return m_shown.choices; }
    void setInterval(int milliseconds) { m_timer.setInterval(milliseconds); }

Q_SIGNALS:
    void changed();

private:
    struct Shown {
        QString device, facts;
        std::vector<std::pair<QString, QString>> choices;
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
