// SPDX-License-Identifier: GPL-3.0-or-later
// Says that the machine of a run is not connected, and dims what is shown of the run.
#pragma once

#include "widgets/theme/controls.h"

class QLabel;

namespace relascope::app {

class HostsController;

class AwayStrip : public widgets::Box {
    Q_OBJECT
public:
    /// `shown` is dimmed, and can be used as before.
    AwayStrip(HostsController& hosts, QWidget* shown, QWidget* parent);

    /// Shows itself where that machine is not connected; empty: this machine. Returns whether.
    bool follow(const QString& host);

private:
    HostsController& m_hosts;
    QString m_host;
    QLabel* m_text;
    QWidget* m_veil;
};

}  // namespace relascope::app
