// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/checkpoint_numbers.h"

#include <algorithm>

#include "app/controllers/runtime.h"
#include "checkpoint/checkpoint.h"
#include "widgets/theme/theme.h"

namespace relascope::app {

void CheckpointNumbers::setCheckpoint(const CheckpointInfo& info) {
    ++m_shown;
    abandon();
    m_path = info.path;
    m_tensors = info.tensors.size();
    m_broken.clear();
    m_read.clear();
    if (info.bytes <= kReadAllBytes && m_tensors <= kReadAllTensors)
        for (const auto& tensor : info.tensors)
            m_unread.push_back(QString::fromStdString(tensor.name));
    m_toRead = m_unread.size();
}

void CheckpointNumbers::read() {
    if (m_toRead > 0)
        m_task.begin(QStringLiteral("Reading the values of %1 tensors")
                         .arg(widgets::groupedNumber(static_cast<qlonglong>(m_toRead))));
    readNext();
}

void CheckpointNumbers::abandon() {
    m_unread.clear();
    m_reading.clear();
    m_task.abandon();
    Q_EMIT finished();
}

void CheckpointNumbers::chooseTensor(const QString& name) {
    if (m_path.empty() || m_read.contains(name) || m_reading == name) return;
    const auto waiting = std::find(m_unread.begin(), m_unread.end(), name);
    if (waiting != m_unread.end()) m_unread.erase(waiting);
    m_unread.push_front(name);
    m_toRead = std::max(m_toRead, m_read.size() + m_unread.size());
    readNext();
}

void CheckpointNumbers::readNext() {
    if (!m_reading.isEmpty()) return;
    const auto& job = m_task.job();
    if (job && m_toRead > 0)
        job->fraction = static_cast<double>(m_read.size()) / static_cast<double>(m_toRead);
    if (m_unread.empty()) {
        m_task.finish();
        return Q_EMIT finished();
    }
    m_reading = m_unread.front();
    m_unread.pop_front();
    const auto stop = job ? job->stop.get_token() : std::stop_token();
    m_queue.post(
        this,
        [path = m_path, name = m_reading.toStdString(), stop](std::stop_token) {
            awaitRuntime();
            return core::tensorStatistics(path, name, 64, stop);
        },
        [this, name = m_reading, shown = m_shown](const TensorStatistics& statistics) {
            if (shown == m_shown) take(name, statistics);
        },
        [this, shown = m_shown](const QString& sentence) {
            if (shown != m_shown) return;
            abandon();  // the file no longer matches its header
            Q_EMIT failed(sentence);
        });
}

void CheckpointNumbers::take(const QString& name, const TensorStatistics& statistics) {
    if (m_reading == name) m_reading.clear();
    m_read.insert(name);
    if (statistics.notFinite > 0)
        m_broken.push_back({ProblemKind::NotFinite, statistics.name,
                            statistics.name + ": " + std::to_string(statistics.notFinite) + " of " +
                                std::to_string(statistics.count) +
                                " values are not finite (NaN or infinity)"});
    Q_EMIT statisticsReady(statistics);
    readNext();
}

}  // namespace relascope::app
