// SPDX-License-Identifier: GPL-3.0-or-later
// The long job: one training at a time on its own thread, steered from the window.
#pragma once

#include <QObject>
#include <QTimer>
#include <memory>
#include <thread>
#include <vector>

#include "types/run_info.h"
#include "types/run_options.h"
#include "types/train_event.h"

namespace relascope::app {

class DataCache;

class TrainingController : public QObject {
    Q_OBJECT
public:
    explicit TrainingController(std::shared_ptr<DataCache> data, QObject* parent = nullptr);
    /// Cancels (after a checkpoint) and waits for the thread.
    ~TrainingController() override;

    /// Trains one new run a seed in `folder`, one after another. False while a job goes on.
    bool start(const RunOptions& options, const QString& folder);
    /// Goes on with a run; `options` may ask for more epochs or steps, or another device.
    bool resume(const QString& path, const RunOptions& options);

    void pause();
    void goOn();
    void step();    ///< one step while paused
    void stop();    ///< finish the epoch; further seeds are not begun
    void cancel();  ///< at once, after a checkpoint
    /// A new value of a live field; the log says when it holds.
    void edit(const QString& key, const FieldValue& value);
    /// Looks at a sample with the weights as they are; the answer has the number returned (0: no
    /// run).
    quint64 probe(ProbeSample sample);

    /// From start until the thread is gone.
    bool busy() const { return m_job != nullptr; }
    /// Busy, but no step yet.
    bool preparing() const { return busy() && m_run.isEmpty(); }
    bool running() const { return busy() && m_info.state == RunState::Running; }
    bool paused() const { return busy() && m_info.state == RunState::Paused; }
    /// What goes on had begun before.
    bool resumed() const;
    /// Stop or Cancel was asked for.
    bool ending() const { return m_ending; }
    /// Cancel was: no further step is made.
    bool endingNow() const { return m_endingNow; }
    /// Folder of the run that goes on; empty when none does.
    const QString& run() const { return m_run; }
    const RunInfo& info() const { return m_info; }
    const Progress& progress() const { return m_progress; }
    const RunOptions& options() const { return m_options; }

Q_SIGNALS:
    void stateChanged();
    /// The model was fitted to the data: options() has it as it was made.
    void modelFitted();
    void preparingData(double share);
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
