// The parts of CheckpointController that write files and remember them.
#include <QFileInfo>

#include "app/controllers/checkpoint_controller.h"
#include "app/controllers/runtime.h"
#include "checkpoint/checkpoint.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

constexpr std::size_t kRemembered = 8;

}  // namespace

void CheckpointController::convert(const QString& out) {
    if (!m_info || busy()) return;
    const auto job =
        begin(Strip::Task, QStringLiteral("Writing %1").arg(QFileInfo(out).fileName()));
    m_checks.post(
        this,
        [in = m_info->path, out, job](std::stop_token stop) {
            awaitRuntime();
            convertCheckpoint(in, out.toStdString(), job->stop.get_token(), job->callback(stop));
            return 0;
        },
        [this, out, request = m_tasks](int) {
            if (request != m_tasks) return;
            finish(Strip::Task);
            Q_EMIT converted(out);
        },
        [this, request = m_tasks](const QString& sentence) {
            if (request != m_tasks) return;
            finish(Strip::Task);
            Q_EMIT failed(sentence);
        });
}

void CheckpointController::remember() {
    const QString now = path();
    std::erase_if(m_recent, [&](const RecentCheckpoint& r) { return r.path == now; });
    m_recent.insert(m_recent.begin(), {now, byteSize(m_info->bytes), false});
    if (m_recent.size() > kRemembered) m_recent.resize(kRemembered);
    Q_EMIT recentChanged();
}

void CheckpointController::setRecent(std::vector<RecentCheckpoint> recent) {
    m_recent = std::move(recent);
    if (m_recent.size() > kRemembered) m_recent.resize(kRemembered);
    Q_EMIT recentChanged();
    // A disk that sleeps may take its time to say what is gone.
    QStringList paths;
    for (const auto& r : m_recent) paths << r.path;
    m_headers.post(
        this,
        [paths](std::stop_token) {
            QStringList gone;
            for (const QString& path : paths)
                if (!QFileInfo::exists(path)) gone << path;
            return gone;
        },
        [this](const QStringList& gone) {
            for (auto& r : m_recent) r.missing = gone.contains(r.path);
            if (!gone.isEmpty()) Q_EMIT recentChanged();
        });
}

void CheckpointController::openRecent(const QString& path) {
    if (QFileInfo::exists(path)) return open(path);
    std::erase_if(m_recent, [&](const RecentCheckpoint& r) { return r.path == path; });
    Q_EMIT recentChanged();
    Q_EMIT failed(path + QStringLiteral(": not found; removed from the list"));
}

}  // namespace relascope
