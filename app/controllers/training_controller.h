// SPDX-License-Identifier: GPL-3.0-or-later
// The training that the window watches and steers: a process of its own, reached at its door
// (wire/run_door.h), which continues when the window is closed.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <QElapsedTimer>
#include <QObject>
#include <QSet>
#include <QTimer>

#include "types/edit.h"
#include "types/run_info.h"
#include "types/run_options.h"
#include "types/train_event.h"

namespace relascope::app {

// The messages that the thread at the door of a run receives, until the window's timer fetches
// them. They are merged, so that the cost for the window does not depend on the number of steps per
// second.

/// The messages of one run since the last fetch.
struct RunUpdate {
    std::string path;
    std::optional<RunOptions> options;  ///< options of a run that was begun elsewhere
    std::optional<RunInfo> info;        ///< the newest
    std::optional<Progress> progress;   ///< the newest
    std::optional<ProbeAnswer> probe;   ///< the newest
    bool ended = false;
};

class Mailbox {
public:
    struct Batch {
        std::vector<RunUpdate> runs;
        std::optional<std::string> waiting;  ///< who holds its device; empty: it is free now
        std::optional<double> preparing;     ///< fraction of the data prepared
        std::vector<std::string> failed;
        std::string noDoor;  ///< why the run cannot be watched
        bool finished = false;
    };

    /// Assigns the messages that follow to this run.
    void begin(std::string path, std::optional<RunOptions> options = {}) {
        std::lock_guard lock(m_mutex);
        m_path = std::move(path);
        m_post.runs.push_back({m_path, std::move(options)});
    }
    void put(RunInfo info) {
        std::lock_guard lock(m_mutex);
        current().info = std::move(info);
    }
    void put(Progress progress) {
        std::lock_guard lock(m_mutex);
        current().progress = progress;
    }
    void put(ProbeAnswer answer) {
        std::lock_guard lock(m_mutex);
        current().probe = std::move(answer);
    }
    void end() {
        std::lock_guard lock(m_mutex);
        current().ended = true;
    }
    void wait(std::string held) {
        std::lock_guard lock(m_mutex);
        m_post.waiting = std::move(held);
    }
    void preparing(double fraction) {
        std::lock_guard lock(m_mutex);
        m_post.preparing = fraction;
    }
    void fail(std::string sentence) {
        std::lock_guard lock(m_mutex);
        m_post.failed.push_back(std::move(sentence));
    }
    void putNoDoor(std::string reason) {
        std::lock_guard lock(m_mutex);
        m_post.noDoor = std::move(reason);
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

    std::mutex m_mutex;
    std::string m_path;
    Batch m_post;
};

class TrainingController : public QObject {
    Q_OBJECT
public:
    explicit TrainingController(QObject* parent = nullptr);
    /// Disconnects; the training continues.
    ~TrainingController() override;

    /// Trains one new run per seed in `folder`, one after another. Returns false during a training.
    bool start(const RunOptions& options, const QString& folder);
    /// Resumes a run from disk; `options` may have more epochs or steps, or another device.
    bool resumeRun(const QString& path, const RunOptions& options);
    /// Watches a run that another process trains, in place of the one watched until now. If the run
    /// has no door, nothing changes, and the first time unreachable() is emitted with the reason.
    void attach(const QString& path);
    /// For pictures and tests: trainings started from now on end with this window.
    void setEndsWithWindow(bool ends) { m_endsWithWindow = ends; }

    /// Begins the waiting training at once, beside the one that holds its device.
    void beginBeside();
    void pause();
    void resume();
    void step();    ///< one step while paused
    void stop();    ///< after the current epoch; further seeds are not started
    void cancel();  ///< immediately, after saving a checkpoint
    /// Changes a live field; the log reports when it takes effect.
    void changeOption(const QString& key, const FieldValue& value);
    /// Interventions on the model that trains, from the next step on; an empty list ends them. The
    /// log reports when they take effect, or why they do not.
    void setEdits(const EditList& edits);
    /// Requests the maps of a sample with the current weights, and also with `edits` on top, which
    /// do not change training. Returns the number of the request, which its result carries, or 0
    /// without a run.
    quint64 probe(const ProbeSample& sample, const EditList& edits = {}, bool points = false);

    /// Whether a training is in progress: from start() until its process has ended, and while a run
    /// that was started elsewhere is watched.
    bool busy() const { return m_job && (!attached() || !m_run.isEmpty()); }
    /// Busy, but before the first step.
    bool preparing() const { return busy() && m_run.isEmpty(); }
    /// The training that holds the device, while this one waits for its turn: "cpu: between-dat-s0
    /// trains there"; empty if it does not wait.
    const QString& waitsFor() const { return m_waitsFor; }
    bool running() const { return busy() && m_info.state == RunState::Running; }
    bool paused() const { return busy() && m_info.state == RunState::Paused; }
    /// Times in ms without a message from the run, after which silent() is emitted, and stuck() if
    /// the run was asked to end. For tests.
    void setPatience(int silent, int stuck) { m_silentAfter = silent, m_stuckAfter = stuck; }
    /// Whether the current run was resumed.
    bool resumed() const;
    /// Whether the current run was begun elsewhere: in a terminal, a study, a former window.
    bool attached() const;
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
    void probeAnswered(const relascope::ProbeAnswer& answer);
    void failed(const QString& sentence);
    /// A run that start() or resumeRun() asked for could not begin.
    void refused(const QString& sentence);
    void runEnded(const QString& path);
    /// The run continues and is no longer watched.
    void runLeft(const QString& path);
    /// For this number of seconds no step was done; 0: a step was done again.
    void silent(int seconds);
    /// A run that was asked to end has not ended; see setPatience().
    void stuck(const QString& path);
    void unreachable(const QString& path, const QString& reason);
    void finished();

private:
    struct Job;
    static void work(const std::shared_ptr<Job>& job, std::stop_token stop);
    bool launch(std::shared_ptr<Job> job);
    void fetch();
    void watchSilence();
    void end(const char* message);
    void close();
    void takeModel(const RunInfo& info);

    std::shared_ptr<Job> m_job;
    QString m_run, m_waitsFor;
    RunInfo m_info;
    Progress m_progress;
    RunOptions m_options;
    quint64 m_request = 0;
    QElapsedTimer m_heard;  ///< since the last message of the run
    QElapsedTimer m_asked;  ///< since the run was asked to end
    int m_silentAfter = 40000, m_stuckAfter = 60000, m_silence = 0;
    bool m_stuck = false;  ///< stuck() was emitted
    bool m_ending = false, m_endingNow = false, m_endsWithWindow = false;
    QSet<QString> m_unreachable;
    QTimer m_timer;
    std::jthread m_thread;
};

}  // namespace relascope::app
