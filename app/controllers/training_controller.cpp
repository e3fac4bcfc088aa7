// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/training_controller.h"

#include <algorithm>
#include <chrono>

#include "files/machine_limits.h"
#include "options/field_text.h"
#include "run/run_folder.h"
#include "run/run_process.h"
#include "wire/host.h"
#include "wire/run_door.h"
#include "wire/start_run.h"

namespace relascope::app {

/// State shared by the window and the thread that listens at the door.
struct TrainingController::Job {
    wire::StartRequest request;
    std::string attach;  ///< run of another process that is to be watched; empty: `request`
    Mailbox mailbox;
    wire::DoorClient door;
    std::stop_source ending;  ///< stops a start whose process has not answered
};

TrainingController::TrainingController(QObject* parent) : QObject(parent) {
    m_timer.setInterval(50);
    connect(&m_timer, &QTimer::timeout, this, &TrainingController::fetch);
}

TrainingController::~TrainingController() {
    m_timer.stop();
    m_thread.request_stop();  // the jthread's own destructor joins
}

bool TrainingController::start(const RunOptions& options, const QString& folder) {
    auto job = std::make_shared<Job>();
    job->request.options = options;
    job->request.folder = folder.toStdString();
    return launch(std::move(job));
}

bool TrainingController::resumeRun(const QString& path, const RunOptions& options) {
    auto job = std::make_shared<Job>();
    job->request.options = options;
    job->request.resume = path.toStdString();
    return launch(std::move(job));
}

void TrainingController::attach(const QString& path) {
    if (m_run == path || preparing() || (m_job && m_job->attach == path.toStdString())) return;
    if (busy()) {
        Q_EMIT runLeft(m_run);
        close();
    }
    auto job = std::make_shared<Job>();
    job->attach = path.toStdString();
    launch(std::move(job));
}

bool TrainingController::launch(std::shared_ptr<Job> job) {
    if (busy()) return false;
    // One core is left to the window.
    const bool far =
        wire::farPathOf(job->request.resume.empty() ? job->request.folder : job->request.resume)
            .has_value();
    job->request.threads = far ? 0 : std::max(1, core::usableCores() - 1);
    job->request.endsWithWindow = m_endsWithWindow && !far;
    job->request.queue = !m_endsWithWindow;
    m_options = job->request.options;
    m_job = std::move(job);
    m_run.clear();
    m_waitsFor.clear();
    m_info = {};
    m_progress = {};
    m_ending = m_endingNow = m_stuck = false;
    m_heard.start();
    m_thread = std::jthread([job = m_job](std::stop_token stop) { work(job, stop); });
    m_timer.start();
    if (busy()) Q_EMIT stateChanged();
    return true;
}

namespace {

/// The final state of a run whose process has ended without reporting it. The lock of the run is
/// free after a moment; the mirror of another machine shows it after seconds.
RunInfo lastInfo(const std::string& run, const std::stop_token& stop) {
    const auto wait = std::chrono::seconds(wire::farPathOf(run) ? 10 : 2);
    const auto end = std::chrono::steady_clock::now() + wait;
    while (core::isTrained(run) && !stop.stop_requested() && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return core::readRunInfo(run);
}

/// Waits until the mirror has a run that was begun just now.
void awaitMirror(const std::string& run, const std::stop_token& stop) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!core::isRunFolder(run) && !stop.stop_requested() &&
           std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

}  // namespace

// New, resumed and attached runs, here or on another machine, are all reached by a door; what could
// not be reached has said why.
void TrainingController::work(const std::shared_ptr<Job>& job, std::stop_token stop) {
    using End = wire::DoorClient::End;
    auto& mail = job->mailbox;
    const bool attached = !job->attach.empty();
    std::string host, run;  // the other machine; the run in training
    bool said = false;
    wire::DoorClient::Listener listener;
    listener.waiting = [&](const std::string& held) { mail.wait(held); };
    listener.preparing = [&](double fraction) { mail.preparing(fraction); };
    listener.progress = [&](Progress progress) {
        if (!run.empty()) mail.put(progress);
    };
    // A run that is refused leaves no folder: it is reported with its first state.
    listener.state = [&](RunInfo info) {
        if (!host.empty()) {
            info.path = wire::mirrorPath(host, info.path);
            awaitMirror(info.path, stop);
        }
        if (info.path != run) {
            if (!run.empty()) mail.end();
            run = info.path;
            mail.begin(run, attached ? std::optional(core::readRunOptions(run)) : std::nullopt);
        }
        mail.put(std::move(info));
    };
    listener.answer = [&](ProbeAnswer answer) {
        if (!run.empty()) mail.put(std::move(answer));
    };
    listener.failed = [&](const std::string& sentence) { said = true, mail.fail(sentence); };
    try {
        auto reached = attached ? wire::attachTo(job->attach, stop)
                                : wire::startRun(job->request, stop, job->ending.get_token());
        if (!reached.why.empty()) mail.putNoDoor(reached.why);
        if (const auto far = wire::farPathOf(reached.path)) host = far->host;
        const End end =
            reached.door ? job->door.run(std::move(reached.door), listener, stop) : End::Left;
        const bool isNew = !attached && job->request.resume.empty();
        if (end == End::Lost && !run.empty()) {
            RunInfo info = lastInfo(run, stop);
            if (!host.empty() && core::isTrained(run)) {
                mail.fail("The connection to " + host + " was lost; " + info.name +
                          " continues there.");
            } else {
                if (info.state == RunState::Interrupted && !info.message.empty())
                    mail.fail(info.name + ": " + info.message);
                mail.put(std::move(info));
            }
        } else if (end != End::Left && run.empty() && isNew && core::isRunFolder(reached.path)) {
            // The process may have ended before it could report the reason at its door.
            const RunInfo info = lastInfo(reached.path, stop);
            if (!said) mail.fail(info.name + ": " + info.message);
            core::RunFolder::discardStart(reached.path);
        }
    } catch (const Cancelled&) {
        // The window was closed; the training continues.
    } catch (const std::exception& error) {
        mail.fail(userMessage(error));
    }
    if (!run.empty()) mail.end();
    mail.finish();
}

void TrainingController::fetch() {
    if (!m_job) return;
    auto post = m_job->mailbox.take();
    if (post.waiting && m_run.isEmpty()) {
        m_waitsFor = QString::fromStdString(*post.waiting);
        Q_EMIT stateChanged();
    }
    if (post.preparing && m_run.isEmpty()) Q_EMIT preparingData(*post.preparing);
    if (!post.runs.empty() || post.preparing || post.waiting) m_heard.restart();
    for (auto& run : post.runs) {
        const QString path = QString::fromStdString(run.path);
        if (run.options) m_options = std::move(*run.options);
        if (path != m_run) {
            m_run = path;
            m_waitsFor.clear();
            m_info = {};
            m_progress = {};
            Q_EMIT runBegan(path);
        }
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
        if (run.ended) Q_EMIT runEnded(path);
    }
    for (const auto& text : post.failed) {
        const QString sentence = QString::fromStdString(text);
        preparing() ? Q_EMIT refused(sentence) : Q_EMIT failed(sentence);
    }
    if (const QString path = QString::fromStdString(m_job->attach);
        !post.noDoor.empty() && !m_unreachable.contains(path)) {
        m_unreachable.insert(path);
        Q_EMIT unreachable(path, QString::fromStdString(post.noDoor));
    }
    if (post.finished)
        close();
    else
        watchSilence();
}

void TrainingController::watchSilence() {
    const qint64 since = m_heard.elapsed();
    const int silence =
        running() && since >= m_silentAfter ? std::max(1, static_cast<int>(since / 1000)) : 0;
    if (std::exchange(m_silence, silence) != silence) Q_EMIT silent(silence);
    const bool ends = m_endingNow || (m_ending && !paused());
    if (ends && !m_run.isEmpty() && std::min(since, m_asked.elapsed()) >= m_stuckAfter &&
        !std::exchange(m_stuck, true))
        Q_EMIT stuck(m_run);
}

void TrainingController::close() {
    const bool was = busy();
    m_timer.stop();
    m_thread.request_stop();
    m_thread.join();
    m_job.reset();
    m_run.clear();
    m_ending = m_endingNow = false;
    if (std::exchange(m_silence, 0) != 0) Q_EMIT silent(0);
    if (!was) return;  // the run had no door
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
        return;  // the options stay as requested
    }
    if (fitted.model == m_options.model) return;
    m_options.model = fitted.model;
    Q_EMIT modelFitted();
}

bool TrainingController::resumed() const {
    return m_job && !m_job->request.resume.empty();
}
bool TrainingController::attached() const {
    return m_job && !m_job->attach.empty();
}

void TrainingController::beginBeside() {
    if (m_job) m_job->door.send("begin");
}
void TrainingController::pause() {
    if (m_job) m_job->door.send("pause");
}
void TrainingController::resume() {
    if (m_job) m_job->door.send("resume");
}
void TrainingController::step() {
    if (paused()) m_job->door.send("step");
}
void TrainingController::stop() {
    if (!m_job) return;
    if (m_ending) return;
    end("stop");
}
void TrainingController::cancel() {
    if (!m_job) return;
    m_endingNow = true;
    end("cancel");
}
void TrainingController::end(const char* message) {
    m_ending = true;
    m_asked.start();
    m_job->door.send(message);
    if (preparing()) m_job->ending.request_stop();
    Q_EMIT stateChanged();
}
void TrainingController::changeOption(const QString& key, const FieldValue& value) {
    if (!m_job) return;
    m_job->door.change(key.toStdString(), core::fieldValueText(value));
    const auto& field = RunOptions::field(key.toStdString());
    if (field.spec.live) field.set(m_options, value);
}
void TrainingController::setEdits(const EditList& edits) {
    if (m_job) m_job->door.setEdits(edits);
}
quint64 TrainingController::probe(const ProbeSample& sample, const EditList& edits, bool points) {
    if (!m_job || m_run.isEmpty()) return 0;
    m_job->door.probe(++m_request, sample, edits, points);
    return m_request;
}

}  // namespace relascope::app
