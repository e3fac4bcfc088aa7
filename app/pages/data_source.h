// SPDX-License-Identifier: GPL-3.0-or-later
// The data that the Data page shows: opened, read, counted and saved off the window's thread.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/controllers/long_task.h"
#include "app/pages/data_chooser.h"
#include "app/pages/data_statistics.h"
#include "data/dataset.h"
#include "widgets/data/shown_sample.h"

namespace relascope::app {

/// One opened choice with its parts ("train", "validation", ...), of which one is shown, whole or
/// one label of it. Whatever is asked anew makes the answers that are still under way worthless:
/// they are dropped.
class DataSource : public QObject {
    Q_OBJECT
public:
    explicit DataSource(QObject* parent = nullptr);
    ~DataSource() override;

    /// Changes nothing until it is read, and nothing at all when it fails.
    void open(const DataChoice& choice);
    void setPart(const QString& name);
    /// -1: every label. The examples of a label are looked for, at most among the first kSearched.
    void setLabel(int label);
    void requestSamples(qint64 first, int count);
    void requestSample(qint64 shown);
    void requestPicture(const QString& path);
    /// The first `count` of what is shown, as .npz.
    void save(const QString& path, qint64 count);

    const DataChoice& choice() const { return m_choice; }
    const core::DatasetPtr& data() const { return m_data; }
    QStringList parts() const;
    QString part() const { return m_part; }
    int label() const { return m_label; }
    /// What labels are called (of bits, what they say), and which labels examples can be chosen by.
    QStringList classNames() const;
    QStringList labels() const;
    /// What is read, and what is written; no file comes to be once saving is given up.
    LongTask& task() { return m_task; }
    LongTask& saving() { return m_saving; }
    /// The options that say what the data are: those chosen, or the run's.
    const DataOptions& options() const { return m_options; }
    /// How examples of the part look: its first one.
    const widgets::ShownSample& example() const { return m_example; }
    /// Whether what is shown can be saved: a text is a file already.
    bool savable() const;
    /// How many examples are shown, and which one of the part stands at a place.
    qint64 count() const;
    qint64 indexOf(qint64 shown) const;

    static constexpr std::int64_t kCounted = 2000, kSearched = 200000;

Q_SIGNALS:
    void saved(const QString& path, qint64 count);
    void opened();        ///< choice and parts
    void shownChanged();  ///< part or label
    void samplesReady(qint64 first, std::vector<relascope::widgets::ShownSample> samples);
    void sampleReady(qint64 shown, relascope::widgets::ShownSample sample);
    void pictureReady(const QString& path, relascope::widgets::ShownSample sample);
    void statisticsReady(const relascope::app::DataStatistics& statistics);
    void failed(const QString& sentence);

private:
    struct Part {
        std::string name;
        core::DatasetPtr data;
        widgets::ShownSample example;
    };
    struct Read {
        DataOptions options;
        std::vector<Part> parts;
    };
    static Read read(const DataChoice& choice, const core::ProgressCallback& progress,
                     std::stop_token stop);
    void show(const QString& part);
    void count(const core::DatasetPtr& data);

    DataChoice m_choice;
    DataOptions m_options;
    std::vector<Part> m_parts;
    widgets::ShownSample m_example;
    core::DatasetPtr m_data;
    QString m_part;
    int m_label = -1;
    std::shared_ptr<const std::vector<std::int64_t>> m_matches;  ///< of the label; null: all

    quint64 m_sampleRequest = 0;
    using Turn = std::shared_ptr<std::atomic<quint64>>;  ///< workers see at once that they are late
    Turn m_shown = std::make_shared<std::atomic<quint64>>(0);  ///< of part and label
    Turn m_counted =
        std::make_shared<std::atomic<quint64>>(0);  ///< of the part, for the statistics
    JobQueue m_reads, m_work, m_saves;
    LongTask m_task, m_saving;
};

}  // namespace relascope::app
