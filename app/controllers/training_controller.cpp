// SPDX-License-Identifier: GPL-3.0-or-later
#include <filesystem>

#include "app/controllers/examples.h"
#include "app/controllers/runtime.h"
#include "app/controllers/training_controller.h"
#include "files/atomic_file.h"
#include "options/field_text.h"
#include "run/run_list.h"
#include "train/execute_run.h"

namespace relascope::app {

/// What the window and the thread share.
struct TrainingController::Job {
    RunOptions options;
    std::string folder;  ///< where new runs go
    std::string resume;  ///< or the run to go on with
    std::shared_ptr<DataCache> data;
    Mailbox mailbox;
    core::Control control;  ///< of all seeds: a request between two of them is not lost
};

namespace {

// Several seeds are stored in one folder, and shown as a group in lists and curves.
std::string groupFolder(const std::string& folder, const RunOptions& options) {
    const std::string single = core::freshRunPath(folder, options, options.train.seeds.front());
    const std::string mark = "-s" + std::to_string(options.train.seeds.front());
    const std::string base = single.substr(0, single.rfind(mark)) + "-seeds";
    std::string path = base;
    for (int copy = 2; std::filesystem::exists(path); ++copy)
        path = base + "-" + std::to_string(copy);
    return path;
}

}  // namespace

TrainingController::TrainingController(std::shared_ptr<DataCache> data, QObject* parent)
    : QObject(parent), m_data(std::move(data)) {
    m_timer.setInterval(50);
    connect(&m_timer, &QTimer::timeout, this, &TrainingController::fetch);
}

TrainingController::~TrainingController() {
    m_timer.stop();
    m_thread.request_stop();  // the jthread's own destructor joins
}

bool TrainingController::start(const RunOptions& options, const QString& folder) {
    auto job = std::make_shared<Job>();
    job->options = options;
    job->folder = folder.toStdString();
    return launch(std::move(job));
}

bool TrainingController::resumeRun(const QString& path, const RunOptions& options) {
    auto job = std::make_shared<Job>();
    job->options = options;
    job->resume = path.toStdString();
    return launch(std::move(job));
}

bool TrainingController::launch(std::shared_ptr<Job> job) {
    if (busy()) return false;
    job->data = m_data;
    m_options = job->options;
    m_job = std::move(job);
    m_run.clear();
    m_info = {};
    m_progress = {};
    m_ending = m_endingNow = false;
    m_thread = std::jthread([job = m_job](std::stop_token stop) { work(job, stop); });
    m_timer.start();
    Q_EMIT stateChanged();
    return true;
}

void TrainingController::work(const std::shared_ptr<Job>& job, std::stop_token stop) {
    auto& mail = job->mailbox;
    const core::DataOpener open = [&](const RunOptions& options, std::stop_token token) {
        return job->data->getForRun(
            options, [&](double fraction) { return mail.preparing(fraction), true; },
            std::move(token));
    };
    const auto trainOne = [&](const core::RunRequest& request) {
        // A refused run leaves no folder: the run is reported with its first state.
        bool begun = false;
        std::vector<TrainEvent> early;
        const core::EventSink sink = [&](TrainEvent event) {
            if (!begun && !std::holds_alternative<RunChanged>(event)) {
                early.push_back(std::move(event));
                return;
            }
            if (!std::exchange(begun, true)) {
                mail.begin(request.path);
                for (auto& first : early) mail.push(std::move(first));
            }
            mail.push(std::move(event));
        };
        try {
            core::executeRun(request, open, job->control, sink, stop);
        } catch (...) {
            if (begun) mail.end();
            throw;
        }
        mail.end();
    };
    try {
        awaitRuntime();
        if (!job->resume.empty()) {
            trainOne({job->resume, job->options, 0, true});
        } else {
            const auto& seeds = job->options.train.seeds;
            const std::string group =
                seeds.size() > 1 ? groupFolder(job->folder, job->options) : std::string();
            for (const auto seed : seeds) {
                if (stop.stop_requested() || job->control.stopping()) break;
                trainOne({group.empty() ? core::freshRunPath(job->folder, job->options, seed)
                                        : group + "/seed-" + std::to_string(seed),
                          job->options, seed});
                job->control.endRun();
            }
        }
    } catch (const Cancelled&) {
        // Requested before the first step: there is nothing to save.
    } catch (const std::exception& error) {
        mail.fail(userMessage(error));
    }
    mail.finish();
}

void TrainingController::fetch() {
    if (!m_job) return;
    auto post = m_job->mailbox.take();
    if (post.preparing && m_run.isEmpty()) Q_EMIT preparingData(*post.preparing);
    for (auto& run : post.runs) {
        const QString path = QString::fromStdString(run.path);
        if (path != m_run) {
            m_run = path;
            m_info = {};
            m_progress = {};
            Q_EMIT runBegan(path);
        }
        if (!run.points.empty()) Q_EMIT pointsArrived(run.points);
        for (const auto& note : run.notes) Q_EMIT noteArrived(note);
        for (const auto step : run.captures) Q_EMIT captureTaken(step);
        if (run.progress) {
            m_progress = *run.progress;
            m_info.step = m_progress.step;
            m_info.epoch = m_progress.epoch;
        }
        if (run.info) {
            m_info = std::move(*run.info);
            takeModel(m_info);
            Q_EMIT runInfo(m_info);
            Q_EMIT stateChanged();
        }
        if (run.progress) Q_EMIT progressed(m_progress);
        if (run.probe) Q_EMIT probeAnswered(*run.probe);
        if (run.failed) Q_EMIT failed(QString::fromStdString(*run.failed));
        if (run.ended) Q_EMIT runEnded(path);
    }
    if (post.failed) Q_EMIT failed(QString::fromStdString(*post.failed));
    if (!post.finished) return;
    m_timer.stop();
    m_thread.join();
    m_job.reset();
    m_run.clear();
    m_ending = m_endingNow = false;
    Q_EMIT stateChanged();
    Q_EMIT finished();
}

// Training fits the model options to the data first: the vocabulary to the text, the classes to the
// folders.
void TrainingController::takeModel(const RunInfo& info) {
    RunOptions fitted = m_options;
    try {
        std::vector<std::pair<std::string, std::string>> model;
        for (const auto& option : info.options)
            if (option.first.starts_with("model.")) model.push_back(option);
        core::setOptions(fitted, model, core::OtherArchitectures::Ignore);
    } catch (const Error&) {
        return;  // as they were asked for
    }
    if (fitted.model == m_options.model) return;
    m_options.model = fitted.model;
    Q_EMIT modelFitted();
}

bool TrainingController::resumed() const {
    return m_job && !m_job->resume.empty();
}

void TrainingController::pause() {
    if (m_job) m_job->control.pause();
}
void TrainingController::resume() {
    if (m_job) m_job->control.resume();
}
void TrainingController::step() {
    if (paused()) m_job->control.step();
}
void TrainingController::stop() {
    if (!m_job) return;
    if (m_ending) return;
    m_ending = true;
    m_job->control.stopAfterEpoch();
    Q_EMIT stateChanged();
}
void TrainingController::cancel() {
    if (!m_job) return;
    m_ending = m_endingNow = true;
    m_thread.request_stop();
    Q_EMIT stateChanged();
}
void TrainingController::changeOption(const QString& key, const FieldValue& value) {
    if (!m_job) return;
    m_job->control.changeOption(key.toStdString(), value);
    const auto& field = RunOptions::field(key.toStdString());
    if (field.spec.live) field.set(m_options, value);
}
void TrainingController::setEdits(EditList edits) {
    if (m_job) m_job->control.setInterventions(std::move(edits));
}
quint64 TrainingController::probe(ProbeSample sample, EditList edits, bool points) {
    if (!m_job || m_run.isEmpty()) return 0;
    m_job->control.probe(++m_request, std::move(sample), std::move(edits), points);
    return m_request;
}

}  // namespace relascope::app
