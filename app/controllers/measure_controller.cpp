// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "app/controllers/inspection_session.h"
#include "app/controllers/measure_controller.h"
#include "app/controllers/runtime.h"
#include "run/run_folder.h"

namespace relascope::app {

core::OpenedModel& MeasuredWeights::of(const MeasuredSubject& subject, std::stop_token stop,
                                       const core::ProgressCallback& progress) {
    awaitRuntime();
    if (m_model && m_path == subject.path && m_checkpoint == subject.checkpoint &&
        m_device == subject.device)
        return *m_model;
    drop();  // two models may not fit into the memory
    auto fresh = std::make_unique<core::OpenedModel>(subject.path, subject.checkpoint,
                                                     subject.device, std::move(stop), progress);
    // The tokenizer of a run is in the run folder, not next to the weights.
    if (!fresh->isRun() && fresh->options().input() == InputKind::Tokens) {
        const std::string run = runOfWeights(subject.path), own = run + "/tokenizer.json";
        if (!run.empty() && std::filesystem::exists(own)) fresh->setTokenizer(own);
    }
    m_model = std::move(fresh);
    m_path = subject.path, m_checkpoint = subject.checkpoint, m_device = subject.device;
    return *m_model;
}

core::DatasetPtr splitOf(const MeasuredSubject& subject, const std::string& name) {
    if (!subject.splits)
        throw Error("There are no data to measure on: open a run, whose data are known.");
    const auto data = subject.splits->find(name);
    if (!data) throw Error("There is no split '" + name + "' in these data.");
    return data;
}

EditList enabledEdits(const EditList& edits) {
    EditList enabled = edits;
    enabled.name.clear(), enabled.model.clear();
    std::erase_if(enabled.edits, [](const Edit& edit) { return !edit.enabled; });
    return enabled;
}

core::Interventions interventionsOf(const MeasuredSubject& subject) {
    core::Interventions all{enabledEdits(subject.edits), subject.editData};
    auto& data = all.data;
    if (!data.split && subject.splits)
        data.split = [splits = subject.splits](const std::string& name) {
            return splits->find(name);
        };
    return all;
}

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPartial(100);

/// True at most ten times a second.
class Throttle {
public:
    bool due() {
        const auto now = Clock::now();
        if (now - m_last < kPartial) return false;
        m_last = now;
        return true;
    }

private:
    Clock::time_point m_last = Clock::now() - kPartial;
};

const ProbeSample& sampleOf(const MeasuredSubject& subject) {
    if (!subject.sample) throw Error("Choose a sample in the inspector.");
    return *subject.sample;
}

SubjectChange changeOf(const std::optional<MeasuredSubject>& a,
                       const std::optional<MeasuredSubject>& b) {
    if (!a || !b) return {};
    SubjectChange change;
    const bool samePlace = a->path == b->path && a->device == b->device && a->splits == b->splits;
    const bool sameSample = a->sample == b->sample && a->classNames == b->classNames;
    change.weights = !samePlace || a->checkpoint != b->checkpoint;
    change.sample = change.weights || !sameSample;
    const bool sameMap = a->map && b->map ? a->map->sameMap(*b->map) : !a->map && !b->map;
    const bool sameEdits = enabledEdits(a->edits) == enabledEdits(b->edits);
    change.edits = change.sample || !sameEdits;
    change.along = !samePlace || !sameSample || !sameMap || !sameEdits;
    return change;
}

/// The input B of a pair.
ProbeSample secondOf(const MeasuredSubject& subject, const AnalysisRequest& request) {
    if (request.second) return *request.second;
    const auto data = splitOf(subject, request.split);
    if (request.example < 0 || request.example >= data->size())
        throw Error("There is no example " + std::to_string(request.example) + ": the split " +
                    request.split + " has " + std::to_string(data->size()) + ".");
    return data->sample(request.example);
}

/// What core analyses. Kept steps are opened by the analysis: the weights of the subject are of one
/// step, and stay for the other tabs.
core::AnalysisSubject analysedSubject(const core::Analysis& analysis,
                                      const AnalysisRequest& request,
                                      const MeasuredSubject& subject, core::OpenedModel* model,
                                      MeasuredWeights& weights) {
    using Input = core::AnalysisInput;
    core::AnalysisSubject all;
    all.model = model;
    all.run = core::isRunFolder(subject.path) ? subject.path : runOfWeights(subject.path);
    all.device = subject.device;
    all.classNames = subject.classNames;
    all.interventions = interventionsOf(subject);
    all.cell = subject.map;
    all.kept = &weights.ablation();
    const bool ownText =
        analysis.input == Input::OwnText && model && model->options().input() == InputKind::Tokens;
    if (analysis.input == Input::Data)
        all.data = splitOf(subject, request.split);
    else if (!ownText)
        all.sample = sampleOf(subject);
    if (analysis.input == Input::Pair) all.second = secondOf(subject, request);
    return all;
}

}  // namespace

bool SubjectChange::affects(core::AnalysisInput input) const {
    switch (input) {
        case core::AnalysisInput::Data:
            return weights;
        case core::AnalysisInput::Pair:
            return sample;
        case core::AnalysisInput::KeptSteps:
            return along;
        case core::AnalysisInput::Sample:
        case core::AnalysisInput::OwnText:
            break;
    }
    return edits;
}

MeasureController::MeasureController(QObject* parent)
    : QObject(parent), m_weights(std::make_shared<MeasuredWeights>()) {
    for (const auto* analysis : core::analyses()) m_entries[analysis->name];
}

MeasureController::~MeasureController() {
    for (auto& [name, entry] : m_entries) {
        entry.task.disconnect();
        entry.task.abandon();
    }
    m_queue.clear();
}

SubjectChange MeasureController::setSubject(std::optional<MeasuredSubject> subject) {
    const auto change = changeOf(m_subject, subject);
    for (const auto* analysis : core::analyses())
        if (change.affects(analysis->input)) {
            auto& entry = m_entries.at(analysis->name);
            entry.task.abandon();
            entry.begun.reset();
        }
    m_subject = std::move(subject);
    if (m_subject) return change;
    // Freed on the thread that uses them.
    m_queue.post(
        this,
        [weights = m_weights](std::stop_token) {
            weights->drop();
            return 0;
        },
        [](int) {});
    return change;
}

/// `work` gets what is analysed, the job and a progress callback.
template <class Work, class Done>
void MeasureController::post(const core::Analysis& analysis, const AnalysisRequest& request,
                             Work work, Done done) {
    if (!m_subject) return;
    task(analysis).run(
        m_queue, QString::fromStdString(analysis.doing),
        [weights = m_weights, subject = *m_subject, &analysis, request, work = std::move(work)](
            LongJob& job, std::stop_token stop) mutable {
            if (job.stop.stop_requested()) throw Cancelled();
            return withoutOptionNames([&] {
                awaitRuntime();
                const bool opens = analysis.input != core::AnalysisInput::KeptSteps;
                auto* model = opens
                                  ? &weights->of(subject, job.stop.get_token(), job.callback(stop))
                                  : nullptr;
                auto all = analysedSubject(analysis, request, subject, model, *weights);
                job.fraction = 0.0;
                return work(all, job, job.callback(stop));
            });
        },
        std::move(done),
        [this, &analysis](const QString& sentence) { Q_EMIT refused(analysis, sentence); });
}

void MeasureController::findCost(const core::Analysis& analysis, const AnalysisRequest& request) {
    post(
        analysis, request,
        [&analysis](core::AnalysisSubject& subject, LongJob& job, const core::ProgressCallback&) {
            return analysis.cost(subject, job.stop.get_token());
        },
        [this, &analysis](const core::Analysis::Cost& cost) { Q_EMIT costKnown(analysis, cost); });
}

bool MeasureController::continues(const core::Analysis& analysis,
                                  const AnalysisRequest& request) const {
    const auto& begun = m_entries.at(analysis.name).begun;
    return begun && m_subject && begun->first.sameAs(request) &&
           begun->second == enabledEdits(m_subject->edits);
}

void MeasureController::run(const core::Analysis& analysis, const AnalysisRequest& request) {
    if (!m_subject) return;
    auto& entry = m_entries.at(analysis.name);
    if (!continues(analysis, request)) entry.begun.reset();
    post(
        analysis, request,
        [this, &analysis, &entry, request, edits = enabledEdits(m_subject->edits)](
            core::AnalysisSubject& subject, LongJob& job, const core::ProgressCallback& progress) {
            Throttle throttle;
            bool begun = !analysis.continues;
            core::AnalysisWatch watch{job.stop.get_token(), progress, {}, request.known};
            watch.partial = [&](const core::AnalysisResult& result) {
                if (!std::exchange(begun, true))
                    job.report([&entry, request, edits] { entry.begun = {request, edits}; });
                if (throttle.due())
                    job.report(
                        [this, &analysis, result] { Q_EMIT reported(analysis, result, false); });
            };
            return analysis.run(subject, request.values, watch);
        },
        [this, &analysis, &entry](const core::AnalysisResult& result) {
            entry.begun.reset();
            Q_EMIT reported(analysis, result, true);
        });
}

}  // namespace relascope::app
