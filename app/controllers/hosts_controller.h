// SPDX-License-Identifier: GPL-3.0-or-later
// Other machines: what is known of each, and the mirrors of their runs (wire/host_link.h).
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "wire/host_link.h"

namespace relascope::app {

class HostsController : public QObject {
    Q_OBJECT
public:
    explicit HostsController(QObject* parent = nullptr);
    ~HostsController() override;

    /// In the order of their names. They are kept in the settings, and connected to.
    const std::vector<wire::Host>& hosts() const { return m_hosts; }
    void setHosts(std::vector<wire::Host> hosts);
    /// Those of the settings.
    void load();

    /// Nothing for an unknown host.
    std::optional<wire::HostLink::Status> status(const QString& host) const;
    /// "connected", "connecting", or why it is not and when it is tried again.
    QString statusText(const QString& host) const;
    /// Lists the runs of a host, or tries to connect, at once; of all with an empty name.
    void refresh(const QString& host = {});
    /// Runs whose curves are shown and studies that are shown: those that lie in a mirror are kept
    /// up to date.
    void follow(const QStringList& folders);
    /// The mirrors of the folders of runs of hosts that were connected to once, by host.
    std::vector<std::pair<QString, QString>> folders() const;
    /// The same of their folders of studies.
    std::vector<std::pair<QString, QString>> studies() const;
    /// Those that are connected, with this version.
    QStringList usable() const;
    /// Whether trainings can be started there: it is connected, with this version. True of this
    /// machine, an empty name.
    bool isUsable(const QString& host) const;

    /// The host of a run in a mirror; empty for one of this machine.
    static QString hostOf(const QString& path);

Q_SIGNALS:
    void changed();       ///< the hosts, or the status of one
    void filesChanged();  ///< of a mirror
    /// A host is not connected any more, or cannot be; and is connected again.
    void lost(const QString& sentence);
    void found(const QString& sentence);

private:
    void news();
    std::vector<std::pair<QString, QString>> mirrors(std::string wire::HostLink::Status::*of) const;

    std::vector<wire::Host> m_hosts;
    std::map<std::string, std::unique_ptr<wire::HostLink>> m_links;
    std::map<std::string, wire::HostLink::Status> m_shown;
    std::set<std::string> m_followed;
};

}  // namespace relascope::app
