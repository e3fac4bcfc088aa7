// SPDX-License-Identifier: GPL-3.0-or-later
// Other machines: the status of each, and the mirrors of their runs (wire/host_link.h).
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

    /// The machines, ordered by name. setHosts() saves them in the settings and connects to them.
    const std::vector<wire::Host>& hosts() const { return m_hosts; }
    void setHosts(std::vector<wire::Host> hosts);
    /// Loads the machines from the settings.
    void load();

    /// The status of a host; nullopt if the host is unknown.
    std::optional<wire::HostLink::Status> status(const QString& host) const;
    /// "connected", "connecting", or why it is not and when it is tried again.
    QString statusText(const QString& host) const;
    /// Lists the runs of a host, or tries to connect to it, immediately; an empty name means all
    /// hosts.
    void refresh(const QString& host = {});
    /// Sets the runs and studies that are shown; those that lie in a mirror are kept up to date.
    void follow(const QStringList& folders);
    /// The mirrors of the hosts' run folders, as (host, folder); only hosts that were connected
    /// once have one.
    std::vector<std::pair<QString, QString>> folders() const;
    /// The mirrors of the hosts' study folders, as (host, folder).
    std::vector<std::pair<QString, QString>> studies() const;
    /// The hosts for which isUsable() returns true.
    QStringList usable() const;
    /// Whether trainings can be started on a host: it is connected and runs this version of the
    /// program. True for this machine (an empty name).
    bool isUsable(const QString& host) const;

    /// The host of a run in a mirror; empty for one of this machine.
    static QString hostOf(const QString& path);

Q_SIGNALS:
    void changed();       ///< the hosts, or the status of one
    void filesChanged();  ///< the files of a mirror
    /// lost(): a host is no longer connected, or cannot be. found(): it is connected again.
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
