// SPDX-License-Identifier: GPL-3.0-or-later
// The data that the Data page shows: a session (wire/session.h) opens, reads, counts and saves
// them.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <QObject>
#include <QString>
#include <QStringList>
#include <QTimer>
#include <QWidget>

#include "app/controllers/job_queue.h"
#include "app/controllers/own_data.h"
#include "app/pages/data_chooser.h"
#include "types/data_example.h"
#include "types/view.h"
#include "widgets/data/sample_view.h"
#include "wire/requests.h"

class QLabel;
class QProgressBar;
class QPushButton;

namespace relascope::widgets {
class ElidedLabel;
}  // namespace relascope::widgets

namespace relascope::app {

// Strips below a panel's head: a long job with progress and Cancel, and an error message.

class LongJob;
class LongTask;

/// Appears when a job takes longer than the delay; the old content stays visible meanwhile.
class JobStrip : public QWidget {
    Q_OBJECT
public:
    explicit JobStrip(QWidget* parent = nullptr);

    /// Shows the jobs of this task, and cancels them.
    void follow(LongTask& task);
    void begin(const QString& text, std::shared_ptr<LongJob> job);
    void end();
    bool busy() const { return m_job != nullptr; }
    void setDelay(int milliseconds) { m_delay.setInterval(milliseconds); }
    /// Without its text and margins, to stand in a line of other controls.
    void setInline();
    QPushButton* cancelButton() const { return m_cancel; }
    QProgressBar* bar() const { return m_bar; }

Q_SIGNALS:
    /// The job was cancelled; it delivers no result.
    void cancelled();

private:
    widgets::ElidedLabel* m_text;
    QProgressBar* m_bar;
    QPushButton* m_cancel;
    QTimer m_delay, m_tick;
    QString m_what;
    std::shared_ptr<LongJob> m_job;
};

/// An error message, shown until it is dismissed or an action succeeds.
class ErrorStrip : public QWidget {
    Q_OBJECT
public:
    explicit ErrorStrip(QWidget* parent = nullptr);
    void setSentence(const QString& sentence);  ///< empty: hidden
    QString sentence() const;
    /// Adds a hidden button beside the message, to be shown with errors that it can resolve.
    QPushButton* addButton(const QString& text);

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void restyle();
    QLabel *m_icon, *m_text;
};

/// An opened data set with its splits ("train", "validation", ...). One split is shown, as a whole
/// or filtered by a label. A new request drops the results of earlier ones.
class DataSource : public QObject {
    Q_OBJECT
public:
    explicit DataSource(QObject* parent = nullptr);
    ~DataSource() override;

    /// Opens a choice; the current data stay until it has been read successfully.
    void open(const DataChoice& choice);
    void setSplit(const QString& name);
    /// Filters by a label; -1: all labels. Only the first core::kSearchedExamples are searched.
    void setLabel(int label);
    void requestSamples(qint64 first, int count);
    void requestSample(qint64 shown);
    void requestPicture(const QString& path);
    /// Saves the first `count` examples shown as .npz.
    void save(const QString& path, qint64 count);

    const DataChoice& choice() const { return m_choice; }
    /// The name of the data in captions: of a run that of its folder, or the one it was given.
    const QString& name() const { return m_name; }
    /// What is known of the split; null without data.
    const DatasetInfo* info() const;
    QStringList splits() const;
    QString split() const { return m_split; }
    int label() const { return m_label; }
    /// The names of classes (of bits for multi-label data), and the labels to filter by.
    QStringList classNames() const;
    QStringList labels() const;
    /// The tasks of reading and writing; a cancelled save leaves no file.
    LongTask& task() { return m_task; }
    LongTask& saving() { return m_saving; }
    /// The opened data, to set up a training on them; no splits without data.
    OwnData own() const;
    /// The question of the command `data` that shows these options of the split; nullopt without
    /// data, and for those of a run on another machine.
    std::optional<View> question(const std::vector<Option>& shown) const;
    /// The options of the data: those chosen, or those of the run.
    const DataOptions& options() const;
    /// The first example of the split.
    widgets::ShownSample example() const;
    /// Whether the examples can be saved; text cannot, as it comes from a file.
    bool savable() const;
    /// The number of examples shown, and the index in the split of one of them.
    qint64 count() const;
    qint64 indexOf(qint64 shown) const;

Q_SIGNALS:
    void saved(const QString& path, qint64 count);
    void opened();        ///< the choice and its splits changed
    void shownChanged();  ///< the split or label changed
    void samplesReady(qint64 first, std::vector<relascope::widgets::ShownSample> samples);
    void sampleReady(qint64 shown, relascope::widgets::ShownSample sample);
    void pictureReady(const QString& path, relascope::widgets::ShownSample sample);
    void statisticsReady(const relascope::DataStatistics& statistics);
    void failed(const QString& sentence);

private:
    const wire::OpenedSplit* shownSplit() const;
    void show(const QString& split);
    void askStatistics();

    DataChoice m_choice;
    QString m_name;
    std::shared_ptr<const wire::OpenedData> m_data;
    QString m_split;
    int m_label = -1;
    std::shared_ptr<const std::vector<std::int64_t>>
        m_matches;  ///< examples with the label; null: all examples

    quint64 m_sampleRequest = 0;
    using Turn = std::shared_ptr<std::atomic<quint64>>;  ///< lets workers detect that their request
                                                         ///< is obsolete
    Turn m_shown =
        std::make_shared<std::atomic<quint64>>(0);  ///< for requests of a split and label
    Turn m_counted =
        std::make_shared<std::atomic<quint64>>(0);  ///< for the statistics of the split
    std::shared_ptr<wire::Session> m_session = std::make_shared<wire::Session>();
    JobQueue m_work;   ///< asks the session
    JobQueue m_saves;  ///< saves in a session of its own, as it may take long
    LongTask m_task, m_saving;
};

/// Whether a dropped or chosen file is an image by its ending.
bool isPicture(const QString& path);

}  // namespace relascope::app
