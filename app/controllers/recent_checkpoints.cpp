// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/recent_checkpoints.h"

#include <QFileInfo>
#include <QStringList>

namespace relascope::app {
namespace {

constexpr std::size_t kRemembered = 8;

}  // namespace

void RecentCheckpoints::add(const QString& path, const QString& size) {
    std::erase_if(m_list, [&](const RecentCheckpoint& r) { return r.path == path; });
    m_list.insert(m_list.begin(), {path, size, false});
    if (m_list.size() > kRemembered) m_list.resize(kRemembered);
    Q_EMIT changed();
}

void RecentCheckpoints::set(std::vector<RecentCheckpoint> list) {
    m_list = std::move(list);
    if (m_list.size() > kRemembered) m_list.resize(kRemembered);
    Q_EMIT changed();
    // Checking for files can be slow if the disk is asleep.
    QStringList paths;
    for (const auto& r : m_list) paths << r.path;
    m_disk.post(
        this,
        [paths](std::stop_token) {
            QStringList gone;
            for (const QString& path : paths)
                if (!QFileInfo::exists(path)) gone << path;
            return gone;
        },
        [this](const QStringList& gone) {
            for (auto& r : m_list) r.missing = gone.contains(r.path);
            if (!gone.isEmpty()) Q_EMIT changed();
        });
}

void RecentCheckpoints::choose(const QString& path) {
    m_disk.post(
        this, [path](std::stop_token) { return QFileInfo::exists(path); },
        [this, path, choice = ++m_choice](bool there) {
            if (choice != m_choice) return;
            if (there) return Q_EMIT chosen(path);
            std::erase_if(m_list, [&](const RecentCheckpoint& r) { return r.path == path; });
            Q_EMIT changed();
            Q_EMIT failed(path + QStringLiteral(": not found; removed from the list"));
        });
}

}  // namespace relascope::app
