// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/hosts_controller.h"

#include <QMetaObject>
#include <QSettings>
#include <algorithm>
#include <utility>

namespace relascope::app {
namespace {

using State = wire::HostLink::State;

constexpr const char* kGroup = "hosts";

QString text(const std::string& value) {
    return QString::fromStdString(value);
}

}  // namespace

HostsController::HostsController(QObject* parent) : QObject(parent) {}

HostsController::~HostsController() {
    m_links.clear();  // their threads call back
}

void HostsController::load() {
    QSettings settings;
    std::vector<wire::Host> hosts;
    const int count = settings.beginReadArray(kGroup);
    for (int i = 0; i < count; ++i) {
        settings.setArrayIndex(i);
        const auto value = [&](const char* key) {
            return settings.value(QLatin1String(key)).toString().toStdString();
        };
        wire::Host host{value("name"), value("reach"), value("launch"),
                        settings.value(QStringLiteral("views")).toBool(), value("runs")};
        try {
            wire::checkHost(host);
            hosts.push_back(std::move(host));
        } catch (const Error&) {  // changed by hand; the dialog can enter it again
        }
    }
    settings.endArray();
    setHosts(std::move(hosts));
}

void HostsController::setHosts(std::vector<wire::Host> hosts) {
    std::sort(hosts.begin(), hosts.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    m_hosts = std::move(hosts);
    QSettings settings;
    settings.remove(QLatin1String(kGroup));
    settings.beginWriteArray(kGroup);
    for (int i = 0; i < static_cast<int>(m_hosts.size()); ++i) {
        const auto& host = m_hosts[static_cast<std::size_t>(i)];
        settings.setArrayIndex(i);
        settings.setValue(QStringLiteral("name"), text(host.name));
        settings.setValue(QStringLiteral("reach"), text(host.reach));
        settings.setValue(QStringLiteral("launch"), text(host.launch));
        settings.setValue(QStringLiteral("views"), host.launchesViews);
        settings.setValue(QStringLiteral("runs"), text(host.runs));
    }
    settings.endArray();
    wire::setHosts(m_hosts);
    std::map<std::string, std::unique_ptr<wire::HostLink>> links;
    for (const auto& host : m_hosts) {
        auto known = m_links.find(host.name);
        if (known != m_links.end() && known->second->host() == host)
            links[host.name] = std::move(known->second);
        else
            links[host.name] = std::make_unique<wire::HostLink>(host, [this] {
                QMetaObject::invokeMethod(this, &HostsController::news, Qt::QueuedConnection);
            });
        links[host.name]->follow(m_followed);
    }
    m_links = std::move(links);
    Q_EMIT changed();
}

/// Emits what has changed in the status of the hosts; one call may stand for several calls of the
/// links.
void HostsController::news() {
    std::map<std::string, wire::HostLink::Status> now;
    for (const auto& [name, link] : m_links) now[name] = link->status();
    const auto before = std::exchange(m_shown, now);
    for (const auto& [name, status] : now) {
        const auto old = before.find(name);
        const bool wasLost = old != before.end() && !old->second.sentence.empty() &&
                             old->second.state != State::Connected;
        if (status.state == State::Lost && !wasLost)
            Q_EMIT lost(text(status.sentence) + QStringLiteral("; it is tried again"));
        if (status.state == State::Connected && wasLost)
            Q_EMIT found(text(name) + QStringLiteral(" is connected"));
    }
    if (before != now) Q_EMIT changed();
    Q_EMIT filesChanged();
}

std::optional<wire::HostLink::Status> HostsController::status(const QString& host) const {
    const auto found = m_links.find(host.toStdString());
    if (found == m_links.end()) return std::nullopt;
    return found->second->status();
}

QString HostsController::statusText(const QString& host) const {
    const auto known = status(host);
    if (!known) return {};
    switch (known->state) {
        case State::Connecting:
            return QStringLiteral("connecting");
        case State::Connected:
            return known->sentence.empty() ? QStringLiteral("connected") : text(known->sentence);
        case State::Lost:
            break;
    }
    return QStringLiteral("%1; trying again in %2 s")
        .arg(text(known->sentence))
        .arg(known->retryIn);
}

void HostsController::refresh(const QString& host) {
    for (const auto& [name, link] : m_links)
        if (host.isEmpty() || name == host.toStdString()) link->refresh(true);
}

void HostsController::follow(const QStringList& folders) {
    std::set<std::string> far;
    for (const auto& folder : folders)
        if (!hostOf(folder).isEmpty()) far.insert(folder.toStdString());
    if (far == m_followed) return;
    m_followed = std::move(far);
    for (const auto& [name, link] : m_links) link->follow(m_followed);
}

std::vector<std::pair<QString, QString>> HostsController::mirrors(
    std::string wire::HostLink::Status::*of) const {
    std::vector<std::pair<QString, QString>> all;
    for (const auto& [name, link] : m_links)
        if (const auto status = link->status(); !(status.*of).empty())
            all.emplace_back(text(name), text(status.*of));
    return all;
}

std::vector<std::pair<QString, QString>> HostsController::folders() const {
    return mirrors(&wire::HostLink::Status::folder);
}

std::vector<std::pair<QString, QString>> HostsController::studies() const {
    return mirrors(&wire::HostLink::Status::studies);
}

QStringList HostsController::usable() const {
    QStringList names;
    for (const auto& [name, link] : m_links)
        if (isUsable(text(name))) names << text(name);
    return names;
}

bool HostsController::isUsable(const QString& host) const {
    if (host.isEmpty()) return true;
    const auto known = status(host);
    return known && known->state == State::Connected && !known->otherVersion;
}

QString HostsController::hostOf(const QString& path) {
    const auto far = wire::farPathOf(path.toStdString());
    return far ? text(far->host) : QString();
}

}  // namespace relascope::app
