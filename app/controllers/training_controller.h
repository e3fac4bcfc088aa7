// SPDX-License-Identifier: GPL-3.0-or-later
// Runs one training at a time on its own thread, controlled from the window.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <QObject>
#include <QTimer>

#include "types/edit.h"
#include "types/run_info.h"
#include "types/run_options.h"
#include "types/train_event.h"

namespace relascope::app {

// Where a training thread leaves its events until the window's timer fetches them, put together so
// that the cost for the window does not depend on the number of steps per second.

/// The events of one run since the last fetch.
struct RunUpdate {
    std::string path;
    std::optional<RunInfo> info;      ///< the newest
    std::vector<MetricPoint> points;  ///< all, in order
    std::vector<Note> notes;
    std::vector<std::int64_t> captures;
    std::optional<Progress> progress;  ///< the newest
    std::optional<ProbeAnswer> probe;  ///< the newest
    std::optional<std::string> failed;
    bool ended = false;
};

class Mailbox {
public:
    struct Batch {
        std::vector<RunUpdate> runs;
        std::optional<double> preparing;    ///< fraction of the data prepared
        std::optional<std::string> failed;  ///< of the job, outside of any run
        bool finished = false;
    };

    /// The following events belong to that run.
    void begin(std::string path) {
        std::lock_guard lock(m_mutex);
        m_path = std::move(path);
        m_post.runs.push_back({m_path});
    }
    void push(TrainEvent event) {
        std::lock_guard lock(m_mutex);
        std::visit([this](auto& e) { put(current(), std::move(e)); }, event);
    }
    void end() {
        std::lock_guard lock(m_mutex);
        current().ended = true;
    }
    void preparing(double fraction) {
        std::lock_guard lock(m_mutex);
        m_post.preparing = fraction;
    }
    void fail(std::string sentence) {
        std::lock_guard lock(m_mutex);
        m_post.failed = std::move(sentence);
    }
    void finish() {
        std::lock_guard lock(m_mutex);
        m_post.finished = true;
    }
    Batch take() {
        std::lock_guard lock(m_mutex);
        return std::exchange(m_post, {});
    }

private:
    RunUpdate& current() {
        if (m_post.runs.empty() || m_post.runs.back().path != m_path)
            m_post.runs.push_back({m_path});
        return m_post.runs.back();
    }
    static void put(RunUpdate& d, RunChanged&& e) { d.info = std::move(e.info); }
    static void put(RunUpdate& d, Progress&& e) { d.progress = e; }
    static void put(RunUpdate& d, MetricPoint&& e) { d.points.push_back(std::move(e)); }
    static void put(RunUpdate& d, Note&& e) { d.notes.push_back(std::move(e)); }
    static void put(RunUpdate& d, CaptureTaken&& e) { d.captures.push_back(e.step); }
    static void put(RunUpdate& d, ProbeAnswer&& e) { d.probe = std::move(e); }
    static void put(RunUpdate& d, Failed&& e) { d.failed = std::move(e.message); }

    std::mutex m_mutex;
    std::string m_path;
    Batch m_post;
};

class DataCache;

class TrainingController : public QObject {
    Q_OBJECT
public:
    explicit TrainingController(std::shared_ptr<DataCache> data, QObject* parent = nullptr);
    /// Cancels after saving a checkpoint, and waits for the thread.
    ~TrainingController() override;

    /// Trains one new run per seed in `folder`, one after another. Returns false during a training.
    bool start(const RunOptions& options, const QString& folder);
    /// Resumes a run from disk; `options` may have more epochs or steps, or another device.
    bool resumeRun(const QString& path, const RunOptions& options);

    void pause();
    void resume();
    void step();    ///< one step while paused
    void stop();    ///< after the current epoch; further seeds are not started
    void cancel();  ///< immediately, after saving a checkpoint
    /// Changes a live field; the log reports when it takes effect.
    void changeOption(const QString& key, const FieldValue& value);
    /// Interventions on the model that trains, from the next step on; an empty list ends them. The
    /// log reports when they take effect, or why they do not.
    void setEdits(EditList edits);
    /// Requests the maps of a sample with the current weights, and also with `edits` on top, which
    /// do not change training. Returns the number of the request, which its result carries, or 0
    /// without a run.
    quint64 probe(ProbeSample sample, EditList edits = {}, bool points = false);

    /// From start() until the thread has ended.
    bool busy() const { return m_job != nullptr; }
    /// Busy, but before the first step.
    bool preparing() const { return busy() && m_run.isEmpty(); }
    bool running() const { return busy() && m_info.state == RunState::Running; }
    bool paused() const { return busy() && m_info.state == RunState::Paused; }
    /// Whether the current run was resumed.
    bool resumed() const;
    /// Whether Stop or Cancel was requested.
    bool ending() const { return m_ending; }
    /// Whether Cancel was requested: no further step is done.
    bool endingNow() const { return m_endingNow; }
    /// Folder of the current run; empty if there is none.
    const QString& run() const { return m_run; }
    const RunInfo& info() const { return m_info; }
    const Progress& progress() const { return m_progress; }
    const RunOptions& options() const { return m_options; }

Q_SIGNALS:
    void stateChanged();
    /// The model was fitted to the data; options() returns its final options.
    void modelFitted();
    void preparingData(double fraction);
    void runBegan(const QString& path);
    void runInfo(const relascope::RunInfo& info);
    void progressed(const relascope::Progress& progress);
    void pointsArrived(const std::vector<relascope::MetricPoint>& points);
    void noteArrived(const relascope::Note& note);
    void captureTaken(qint64 step);
    void probeAnswered(const relascope::ProbeAnswer& answer);
    void failed(const QString& sentence);
    void runEnded(const QString& path);
    void finished();

private:
    struct Job;
    static void work(const std::shared_ptr<Job>& job, std::stop_token stop);
    bool launch(std::shared_ptr<Job> job);
    void fetch();
    void takeModel(const RunInfo& info);

    std::shared_ptr<DataCache> m_data;
    std::shared_ptr<Job> m_job;
    QString m_run;
    RunInfo m_info;
    Progress m_progress;
    RunOptions m_options;
    quint64 m_request = 0;
    bool m_ending = false, m_endingNow = false;
    QTimer m_timer;
    std::jthread m_thread;
};

}  // namespace relascope::app
