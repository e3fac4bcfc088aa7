// SPDX-License-Identifier: GPL-3.0-or-later
// The checkpoints that were opened before, newest first.
#pragma once

#include <QObject>
#include <QString>
#include <vector>

#include "app/controllers/job_queue.h"

namespace relascope::app {

struct RecentCheckpoint {
    QString path, size;
    bool missing = false;
};

class RecentCheckpoints : public QObject {
    Q_OBJECT
public:
    explicit RecentCheckpoints(QObject* parent = nullptr) : QObject(parent) {}

    const std::vector<RecentCheckpoint>& list() const { return m_list; }
    void set(std::vector<RecentCheckpoint> list);
    void add(const QString& path, const QString& size);
    /// Answers by chosen(), or takes it off the list with a sentence where it is gone.
    void choose(const QString& path);

Q_SIGNALS:
    void changed();
    void chosen(const QString& path);
    void failed(const QString& sentence);

private:
    std::vector<RecentCheckpoint> m_list;
    quint64 m_choice = 0;
    JobQueue m_disk;
};

}  // namespace relascope::app
