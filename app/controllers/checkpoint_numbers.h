// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the values of a checkpoint's tensors one after another, selected ones first.
#pragma once

#include <QObject>
#include <QString>
#include <deque>
#include <optional>
#include <set>
#include <vector>

#include "app/controllers/long_task.h"
#include "types/checkpoint_info.h"

namespace relascope::app {

class CheckpointNumbers : public QObject {
    Q_OBJECT
public:
    static constexpr std::uint64_t kReadAllBytes = std::uint64_t{8}
                                                   << 30;  ///< numbers of files up to
    static constexpr std::size_t kReadAllTensors = 4000;

    explicit CheckpointNumbers(QObject* parent = nullptr) : QObject(parent) {}

    /// Sets another checkpoint without reading any of its values.
    void setCheckpoint(const CheckpointInfo& info);
    /// Reads all values if that takes only seconds, otherwise those of selected tensors.
    void read();
    /// Stops reading; pending results are dropped.
    void abandon();
    void chooseTensor(const QString& name);
    bool complete() const { return !m_path.empty() && m_read.size() >= m_tensors; }
    /// Tensors with values that are not finite.
    const std::vector<CheckpointProblem>& problems() const { return m_broken; }
    LongTask& task() { return m_task; }

Q_SIGNALS:
    void statisticsReady(const relascope::TensorStatistics& statistics);
    void finished();  ///< all values are read, or reading was stopped
    void failed(const QString& sentence);

private:
    void readNext();
    void take(const QString& name, const TensorStatistics& statistics);

    std::string m_path;
    std::size_t m_tensors = 0, m_toRead = 0;  ///< in the checkpoint, and of these requested
    std::vector<CheckpointProblem> m_broken;
    std::deque<QString> m_unread;
    std::set<QString> m_read;
    QString m_reading;
    quint64 m_shown = 0;  ///< incremented with each checkpoint, so that late results can be dropped
    JobQueue m_queue;
    LongTask m_task;
};

}  // namespace relascope::app
