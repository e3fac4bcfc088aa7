// SPDX-License-Identifier: GPL-3.0-or-later
// Checks whether a machine can be worked on, shows each stage on a line, and offers to install the
// command line program there.
#pragma once

#include <QStringList>
#include <QWidget>
#include <functional>
#include <memory>

#include "app/controllers/job_queue.h"
#include "wire/host.h"

class QPushButton;
class QVBoxLayout;

namespace relascope::app {

class JobStrip;

class HostCheck : public QWidget {
    Q_OBJECT
public:
    explicit HostCheck(QWidget* parent = nullptr);
    ~HostCheck() override;

    /// Checks a machine, which need not be saved; cancels the check before.
    void begin(const wire::Host& host);
    /// Cancels the check and removes its lines.
    void clear();
    bool busy() const { return m_task.busy(); }
    /// The lines that are shown, for tests.
    QStringList lines() const;
    JobStrip* strip() const { return m_strip; }
    QPushButton* removeOldButton() const { return m_removeOld; }

    /// wire::installThere(); replaced by tests.
    std::function<void(const wire::Host&, const std::function<bool(double)>&)> install;

Q_SIGNALS:
    void busyChanged(bool busy);
    void succeeded();      ///< all stages were reached
    void helpRequested();  ///< the user asks how the command line program is installed

private:
    void add(bool good, const QString& line);
    void offer(bool installation, const QStringList& oldVersions = {});
    void installThere();
    void removeOld();

    wire::Host m_host;
    QVBoxLayout* m_lines;
    JobStrip* m_strip;
    QWidget* m_offer;
    QPushButton *m_install, *m_how, *m_removeOld;
    QStringList m_old;  ///< old versions on the machine
    const std::unique_ptr<JobQueue> m_jobs;
    LongTask m_task;  // destroyed before its queue
};

}  // namespace relascope::app
