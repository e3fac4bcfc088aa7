// SPDX-License-Identifier: GPL-3.0-or-later
// Models of the hub by name: those in its cache, the published ones, and the download of one by
// relascope-cli fetch (hub/hub_fetch.h).
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <vector>

#include "app/controllers/job_queue.h"

namespace relascope::app {

struct HubEntry {
    QString name;     ///< "ORG/NAME"
    QString path;     ///< its snapshot in the cache; empty if it is not cached
    QString size;     ///< size of the cached weights, or "1.27B parameters"
    QString about;    ///< description; if cached, the time of the download
    QString licence;  ///< empty: unknown
    QString problem;  ///< why it cannot be opened; empty: it can
    bool operator==(const HubEntry&) const = default;
};

class HubModels : public QObject {
    Q_OBJECT
public:
    explicit HubModels(QObject* parent = nullptr);
    ~HubModels() override;

    /// The models in the cache, newest first, including those that cannot be opened.
    const std::vector<HubEntry>& cached() const { return m_cached; }
    /// The papers' published models (resources/hub_models.json).
    static const std::vector<HubEntry>& published();
    /// Looks at the cache again; headers are read off the window's thread.
    void refresh();
    /// Downloads "ORG/NAME[@REVISION]"; a download that is running is cancelled.
    void fetch(const QString& name);
    LongTask& task() { return m_task; }

Q_SIGNALS:
    void changed();
    void progressed(const QString& sentence);  ///< "1.2 GB of 5.1 GB, 11 MB/s, 6 min left"
    void fetched(const QString& name, const QString& path);
    void failed(const QString& sentence);

private:
    std::vector<HubEntry> m_cached;
    JobQueue m_disk, m_fetching;
    LongTask m_task;  // ends before its queue
};

}  // namespace relascope::app
