// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "analysis/along_training.h"
#include "analysis/head_measures.h"
#include "app/controllers/inspection_session.h"
#include "app/controllers/measure_controller.h"
#include "app/controllers/runtime.h"
#include "model/architecture.h"
#include "run/run_folder.h"
#include "types/suggest.h"
#include "widgets/analysis/measure_frame.h"

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

constexpr std::int64_t kTimedExamples = 32, kTimedTexts = 1, kTextBatch = 4;
constexpr std::chrono::milliseconds kTimed(700), kPartial(100);
constexpr std::int64_t kOffered = 12;        // likeliest answers in the list of attribution
constexpr std::int64_t kMostClasses = 200;   // above, only the likeliest are listed
constexpr double kReferenceExamples = 1024;  // of means
constexpr double kStrongest = 10;            // parts whose pairs are measured

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

/// The run whose kept weights belong to a path.
std::string runOf(const std::string& path) {
    const std::string run = core::isRunFolder(path) ? path : runOfWeights(path);
    if (run.empty()) throw Error("Only runs keep weights along training: open a run.");
    return run;
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
    change.edits = change.sample || enabledEdits(a->edits) != enabledEdits(b->edits);
    change.along = !samePlace || !sameSample || !sameMap || !(a->edits == b->edits);
    return change;
}

/// Seconds for one example with one part out, from the first passes of a real ablation.
double timePasses(core::OpenedModel& model, const MeasuredSubject& subject,
                  const AblationRequest& request, int parts, const std::stop_token& stop) {
    core::AblationOptions how;
    how.how = {EditOp::Zero};
    how.what = request.how.what;
    how.metric = request.how.metric;
    const bool text = model.options().input() == InputKind::Tokens;
    const auto data = splitOf(subject, request.split);
    how.examples = std::min(text ? kTimedTexts : kTimedExamples, data->size());
    how.batchSize = how.examples;
    const double passes = static_cast<double>(how.examples) * parts;
    const auto began = Clock::now();
    auto first = began, last = began;
    double from = 0.0, to = 0.0;
    try {
        model.ablate(data, {{}, interventionsOf(subject).data}, how, stop, [&](double fraction) {
            last = Clock::now();
            to = fraction;
            if (first == began) first = last, from = fraction;
            return last - began < kTimed;
        });
    } catch (const Cancelled&) {
        if (stop.stop_requested()) throw;
    }
    if (to <= from) first = began, from = 0.0;  // a single pass, timed with what precedes it
    return std::chrono::duration<double>(last - first).count() /
           std::max(1e-9, passes * (to - from));
}

}  // namespace

double AblationEstimate::seconds(const core::AblationOptions& how) const {
    const auto examples = static_cast<double>(how.examples);
    const auto has = [&](EditOp op) {
        return static_cast<double>(std::count(how.how.begin(), how.how.end(), op));
    };
    const double resample = has(EditOp::Resample) * how.draws;
    // The unedited pass, and one for every draw that others take their values from.
    double passes =
        examples * (parts * (has(EditOp::Zero) + has(EditOp::Mean) + resample) + 1 + resample);
    passes += has(EditOp::Mean) * kReferenceExamples;
    if (how.cumulative) passes += examples * parts;
    const double strongest = std::min<double>(kStrongest, parts);
    if (how.pairs) passes += examples * strongest * (strongest - 1) / 2;
    return passes * secondsPerPass;
}

MeasureController::MeasureController(QObject* parent)
    : QObject(parent), m_weights(std::make_shared<MeasuredWeights>()) {}

MeasureController::~MeasureController() {
    for (LongTask& task : m_tasks) {
        task.disconnect();
        task.abandon();
    }
    m_queue.clear();
}

SubjectChange MeasureController::setSubject(std::optional<MeasuredSubject> subject) {
    const auto change = changeOf(m_subject, subject);
    if (change.weights) {
        task(Kind::Ablation).abandon();
        m_begun.reset();
    }
    if (change.sample) task(Kind::Patching).abandon();
    if (change.edits)
        for (const Kind kind : {Kind::Lens, Kind::Attribution}) task(kind).abandon();
    if (change.along) task(Kind::Along).abandon();
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

/// `work` gets the model, the subject, the job and a progress callback.
template <class Work, class Done>
void MeasureController::run(Kind kind, const QString& text, Work work, Done done) {
    if (!m_subject) return;
    task(kind).run(
        m_queue, text,
        [weights = m_weights, subject = *m_subject, work = std::move(work)](
            LongJob& job, std::stop_token stop) mutable {
            if (job.stop.stop_requested()) throw Cancelled();
            return withoutOptionNames([&] {
                core::OpenedModel& model =
                    weights->of(subject, job.stop.get_token(), job.callback(stop));
                job.fraction = 0.0;
                return work(model, subject, job, job.callback(stop));
            });
        },
        std::move(done), [this, kind](const QString& sentence) { Q_EMIT refused(kind, sentence); });
}

void MeasureController::estimate(const AblationRequest& request) {
    run(
        Kind::Ablation, QStringLiteral("Counting the parts of the model"),
        [request](core::OpenedModel& model, const MeasuredSubject& subject, LongJob& job,
                  const core::ProgressCallback&) {
            AblationEstimate estimate;
            estimate.input = model.options().input();
            estimate.numbers = model.options().info().numbers;
            const auto data = splitOf(subject, request.split);
            auto timed = request;
            if (estimate.numbers) timed.how.metric = "mean_error";
            estimate.parts = static_cast<int>(
                core::ablationRows(model.points(model.randomInput(0)), request.how.what).size());
            if (estimate.parts > 0)
                estimate.secondsPerPass =
                    timePasses(model, subject, timed, estimate.parts, job.stop.get_token());
            return estimate;
        },
        [this](const AblationEstimate& estimate) { Q_EMIT estimated(estimate); });
}

bool MeasureController::continues(const AblationRequest& request) const {
    return m_begun && m_subject && m_begun->first == request &&
           m_begun->second == enabledEdits(m_subject->edits);
}

void MeasureController::ablate(const AblationRequest& request) {
    if (!m_subject) return;
    if (!continues(request)) m_begun.reset();
    run(
        Kind::Ablation, QStringLiteral("Ablating on %1").arg(QString::fromStdString(request.split)),
        [this, request, weights = m_weights](core::OpenedModel& model,
                                             const MeasuredSubject& subject, LongJob& job,
                                             const core::ProgressCallback& progress) {
            auto how = request.how;
            if (model.options().input() == InputKind::Tokens) how.batchSize = kTextBatch;
            how.check();
            Throttle throttle;
            bool begun = false;
            const auto partial = [&](const AblationTable& table) {
                if (!std::exchange(begun, true))
                    job.report([this, request, edits = enabledEdits(subject.edits)] {
                        m_begun = {request, edits};
                    });
                if (throttle.due()) job.report([this, table] { Q_EMIT ablated(table, false); });
            };
            return model.ablate(splitOf(subject, request.split), interventionsOf(subject), how,
                                job.stop.get_token(), progress, partial, &weights->ablation());
        },
        [this](const AblationTable& table) {
            m_begun.reset();
            Q_EMIT ablated(table, true);
        });
}

void MeasureController::patch(const PatchRequest& request) {
    run(
        Kind::Patching, QStringLiteral("Patching A into B"),
        [this, request](core::OpenedModel& model, const MeasuredSubject& subject, LongJob& job,
                        const core::ProgressCallback& progress) {
            const auto& clean = sampleOf(subject);
            ProbeSample second;
            if (request.second) {
                second = *request.second;
            } else {
                const auto data = splitOf(subject, request.split);
                if (request.example < 0 || request.example >= data->size())
                    throw Error("There is no example " + std::to_string(request.example) +
                                ": the split " + request.split + " has " +
                                std::to_string(data->size()) + ".");
                second = data->sample(request.example);
            }
            const auto report = [&](const PatchResult& partial) {
                job.report([this, partial] { Q_EMIT patched(partial, false); });
            };
            return model.patch(clean, second, request.how, interventionsOf(subject),
                               job.stop.get_token(), progress, report);
        },
        [this](const PatchResult& result) { Q_EMIT patched(result, true); });
}

void MeasureController::readLens() {
    run(
        Kind::Lens, QStringLiteral("Reading the answers after each layer"),
        [](core::OpenedModel& model, const MeasuredSubject& subject, LongJob&,
           const core::ProgressCallback&) {
            return model.lens(sampleOf(subject), {}, subject.classNames, interventionsOf(subject));
        },
        [this](const LensResult& result) { Q_EMIT lensRead(result); });
}

void MeasureController::measureHeads(const HeadMeasureOptions& options) {
    run(
        Kind::Heads, QStringLiteral("Measuring the attention of each head"),
        [options](core::OpenedModel& model, const MeasuredSubject& subject, LongJob&,
                  const core::ProgressCallback&) {
            const bool text = model.options().input() == InputKind::Tokens;
            return core::measureHeads(model, text ? std::nullopt : std::optional(sampleOf(subject)),
                                      options, interventionsOf(subject));
        },
        [this](const HeadMeasures& result) { Q_EMIT headsMeasured(result); });
}

void MeasureController::attribute(const AttributionRequest& request) {
    struct Attributed {
        Attribution result;
        AttributionOffer offer;
    };
    run(
        Kind::Attribution, QStringLiteral("Splitting the logit into its parts"),
        [request](core::OpenedModel& model, const MeasuredSubject& subject, LongJob&,
                  const core::ProgressCallback&) {
            const auto& sample = sampleOf(subject);
            const auto& names = subject.classNames;
            const auto idOf = [&](const QString& word, const char* option) {
                return model.answerId(word.toStdString(), option, sample, names);
            };
            AttributionOptions what;
            what.position = request.position;
            if (!request.answer.isEmpty()) what.answer = idOf(request.answer, "Logit of");
            if (!request.minus.isEmpty()) what.minus = idOf(request.minus, "minus");
            Attributed attributed;
            LensResult last;
            const auto interventions = interventionsOf(subject);
            // What the model refuses is said before its answers are looked for.
            attributed.result = model.attribution(sample, what, names, interventions);
            LensOptions look;
            look.top = kOffered;
            if (!attributed.result.whole) look.position = what.position;
            last = model.lens(sample, look, names, interventions);
            if (request.answer.isEmpty()) {
                what.answer = last.answers.front().id;
                attributed.result = model.attribution(sample, what, names, interventions);
            }
            const bool listed = !names.empty() && model.options().outputs() <= kMostClasses;
            if (listed)
                for (const auto& name : names)
                    attributed.offer.answers << QString::fromStdString(name);
            else
                for (const auto& answer : last.cells.back().top)
                    attributed.offer.answers << QString::fromStdString(answer.name);
            if (!attributed.result.whole)
                attributed.offer.positions =
                    sample.target.size() > 0 ? sample.target.size() : sample.source.size();
            return attributed;
        },
        [this](const Attributed& done) { Q_EMIT attributed(done.result, done.offer); });
}

// With weights of its own: those of the subject are of one step, and stay for the other tabs.
void MeasureController::readAlong(const std::optional<AlongTraining>& known) {
    if (!m_subject) return;
    task(Kind::Along)
        .run(
            m_queue, QStringLiteral("Running the input at every kept step"),
            [this, subject = *m_subject, known](LongJob& job, std::stop_token stop) {
                if (job.stop.stop_requested()) throw Cancelled();
                return withoutOptionNames([&] {
                    if (!subject.map) throw Error("Choose a map in the inspector.");
                    awaitRuntime();
                    core::AlongOptions options;
                    options.cell = *subject.map;
                    options.edits = subject.edits;
                    options.data = interventionsOf(subject).data;
                    options.known = known;
                    Throttle throttle;
                    return core::alongTraining(
                        runOf(subject.path), subject.device, sampleOf(subject), subject.classNames,
                        options, job.stop.get_token(), job.callback(stop),
                        [&](const AlongTraining& along) {
                            if (throttle.due())
                                job.report([this, along] { Q_EMIT alongRead(along, false); });
                        });
                });
            },
            [this](const AlongTraining& along) { Q_EMIT alongRead(along, true); },
            [this](const QString& sentence) { Q_EMIT refused(Kind::Along, sentence); });
}

}  // namespace relascope::app
