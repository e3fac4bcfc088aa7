// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/train.h"

#include <algorithm>
#include <cmath>
#include <exception>

#include "data/batches.h"
#include "files/memory.h"
#include "interventions/edited_run.h"
#include "probe/probe.h"
#include "ranks/rank_group.h"
#include "run/captures.h"
#include "train/nonfinite.h"
#include "train/out_of_memory.h"
#include "train/rank_job.h"
#include "train/run_metrics.h"
#include "train/train_step.h"
#include "train/training_edits.h"
#include "train/training_requests.h"
#include "train/weight_keeper.h"

namespace relascope::core {
namespace {

/// Thrown by a step with a non-finite loss or gradient; the weights are unchanged.
struct NonFinite : Error {
    using Error::Error;
};

class Trainer {
public:
    Trainer(TrainJob& job, Control& control)
        : m_job(job),
          m_service(job, control, [this] { afterEdits(); }),
          m_metrics(job),
          m_step(job),
          m_keeper(job) {
        if (job.ranks && job.leads())
            job.directivesNow = [this] {
                return TrainJob::Directives{m_service.isWantedHere(), m_service.stopping(),
                                            secondsSince(m_job.lastCheckpoint)};
            };
    }
    void run();

private:
    /// The steps of the run, to its end.
    void train();
    /// The end of the run: records it, and tells the listeners. Never throws.
    void end(RunState state, const std::string& message);
    /// The end of a run that failed.
    void fail(const std::string& message);
    /// Who saves a checkpoint: all ranks, or this one alone, if others may not take part.
    enum class Saving { Together, Alone };
    /// Saves a checkpoint at an end that was not meant, as far as that is possible. Alone: if this
    /// rank has all of the optimizer's state and the weights are those of a step. Never throws;
    /// returns "" or what to add to the sentence of the end.
    std::string saveLast(Saving saving);
    /// The step of the newest complete checkpoint; -1 if there is none, kUnknown if they cannot be
    /// read now.
    std::int64_t newestSaved() const;
    static constexpr std::int64_t kUnknown = -2;
    /// The end of a run without memory, after the exception is gone.
    void endOutOfMemory(const std::string& shortage);
    /// The end of a run that lost a rank.
    void endLost(const std::string& seen);
    /// Puts the best weights of the run in place of the last ones.
    void restoreBest();
    /// The measurements due at the resumed step that the run skipped, because it was cancelled or
    /// out of memory in the middle of them.
    void makeUpMeasurements();
    /// Called when other edits are in force from this step on.
    void afterEdits() {
        m_step.forgetRecording();
        m_keeper.keepMarked();
    }
    void takeNextEdits();
    void trainEpochs();
    void trainEpoch();
    void step(std::vector<Batch> batches);
    /// Enters the results of the steps that were started. Throws NonFinite.
    void takeResults();
    [[noreturn]] void throwNonFinite(const std::vector<Batch>& batches);
    /// Marks a step at which a value of a layer jumped, and keeps its checkpoint and weights.
    void keepJump();
    bool evaluationIsDue(std::int64_t step, bool epochEnds) const;
    bool captureIsDue(std::int64_t step) const;
    bool checkpointIsDue(std::int64_t step, bool epochEnds) const;
    /// Whether the next step may start before the results of the last one are entered.
    bool canRunAhead(bool epochEnds) const;
    /// The steps and batches of this epoch that were started, whether their results are known yet
    /// or not.
    std::int64_t startedStep() const {
        return m_job.state.step + static_cast<std::int64_t>(m_started.size());
    }
    std::int64_t startedBatches() const;
    /// The seed for mixing the images of the batch that follows `ahead` waiting ones.
    std::uint64_t batchSeed(std::size_t ahead) const {
        constexpr std::uint64_t odd = 0x9e3779b97f4a7c15ULL;
        return ((static_cast<std::uint64_t>(m_job.folder.info().seed) * odd +
                 static_cast<std::uint64_t>(m_job.state.epoch)) *
                odd) +
               static_cast<std::uint64_t>(startedBatches()) + ahead;
    }

    /// A step whose results have not been entered.
    struct Started {
        std::vector<Batch> batches;
        double rate;
        torch::Tensor generator;  ///< the generator's state before the step
    };

    TrainJob& m_job;
    TrainingRequests m_service;
    RunMetrics m_metrics;
    TrainStep m_step;
    WeightKeeper m_keeper;
    std::vector<Started> m_started;
    int m_jumps = 0;  ///< marked since the process began
    Clock::time_point m_lastTaken = Clock::now();
    /// Whether the weights are those of state.step, and may be saved as such.
    bool m_weightsOfStep = true;
};

void Trainer::train() {
    if (m_job.state.step == 0) {
        takeNextEdits();
        m_metrics.evaluate();
        m_metrics.capture();
        if (m_keeper.isDue(0)) m_keeper.keep();
    } else {
        makeUpMeasurements();
        takeNextEdits();
    }
    m_service.restartRate();
    m_keeper.restartClock();
    m_job.directives.serve = m_job.onAnyRank(m_job.leads() && m_service.isWantedHere());
    trainEpochs();
}

// The handlers save as much as they can and never throw: an exception that left here would look
// like a run that could not start.
void Trainer::run() {
    m_job.resumed = m_job.lastCheckpoint = Clock::now();
    m_job.isSaved = m_job.state.step > 0;
    m_job.report(RunState::Running);
    std::string shortage, lost;
    try {
        train();
    } catch (const RankLost& loss) {
        lost = loss.what();
    } catch (const NonFinite& problem) {
        // The optimizer has not changed the weights yet, so the saved state is the last good one.
        const auto unsaved = saveLast(Saving::Together);
        fail(problem.what() + unsaved);
    } catch (const Cancelled&) {
        const auto unsaved = saveLast(Saving::Together);
        end(RunState::Interrupted,
            "cancelled at step " + std::to_string(m_job.state.step) + unsaved);
    } catch (const std::exception& error) {
        if (isOutOfMemory(error)) {
            shortage = shortageText(m_job.device.str(), error);
            if (m_job.ranks) m_job.ranks->leave(shortage);
        } else {
            const bool isFull = dynamic_cast<const DiskFull*>(&error);
            if (m_job.ranks) m_job.ranks->leave(userMessage(error));
            const auto unsaved = saveLast(Saving::Alone);
            if (isFull && m_job.stop.stop_requested())
                end(RunState::Interrupted,
                    "cancelled at step " + std::to_string(m_job.state.step) + unsaved);
            else
                fail(userMessage(error) + unsaved);
        }
    }
    if (!lost.empty()) endLost(lost);
    if (!shortage.empty()) endOutOfMemory(shortage);
}

void Trainer::end(RunState state, const std::string& message) {
    m_keeper.finish();
    m_service.finish(state, message);
}

void Trainer::fail(const std::string& message) {
    end(RunState::Failed, message);
    m_job.sink(Failed{message});
}

std::int64_t Trainer::newestSaved() const {
    try {
        const auto newest = newestCheckpoint(m_job.folder.checkpointsPath());
        return newest.empty() ? -1 : checkpointState(newest).step;
    } catch (const FileError&) {
        return kUnknown;
    }
}

std::string Trainer::saveLast(Saving saving) {
    const bool isShared = m_job.ranks && m_job.options.train.sharded_moments;
    if (saving == Saving::Alone && (!m_weightsOfStep || !m_started.empty() || isShared)) return "";
    try {
        m_job.checkpoint();
        return "";
    } catch (const std::exception& error) {
        if (!m_job.leads()) return "";
        const auto newest = newestSaved();
        if (newest == m_job.state.step) return "";  // the failure came after it
        const auto problem =
            "no checkpoint of step " + std::to_string(m_job.state.step) +
            " could be saved: " + userMessage(error) +
            (newest == kUnknown ? ""
             : newest < 0       ? "; the run starts again from step 0"
                                : "; the run resumes from step " + std::to_string(newest));
        const Note note{Note::Level::Warning, m_job.state.step, problem};
        m_job.folder.append(note);
        m_job.sink(note);
        return "; " + problem;
    }
}

void Trainer::endOutOfMemory(const std::string& shortage) {
    m_keeper.finish();  // copies that wait take memory
    m_job.optimizer->zeroGradients();
    releaseDeviceMemory();
    const auto unsaved = saveLast(Saving::Alone);
    // The memory that is free without this run is what the next attempt has.
    m_job.model.reset();
    m_job.optimizer.reset();
    releaseDeviceMemory();
    fail(trainingShortage(m_job.options, shortage, freeMemory(m_job.device.str()), ranksOf(m_job)) +
         unsaved);
}

void Trainer::endLost(const std::string& seen) {
    if (!m_job.leads()) {
        m_job.ranks->leave("");
        return end(RunState::Failed, seen);
    }
    auto sentence = m_job.ranks->describeLoss(seen, m_job.state.step);
    const auto unsaved = saveLast(Saving::Alone);
    if (const auto newest = newestSaved(); newest >= 0 && unsaved.empty())
        sentence += "; the checkpoint of step " + std::to_string(newest) + " is complete";
    fail(sentence + unsaved);
}

void Trainer::makeUpMeasurements() {
    const auto step = m_job.state.step;
    if (m_job.lastEvaluated != step && evaluationIsDue(step, m_job.state.batch == 0))
        m_metrics.evaluate();
    if (!m_job.leads()) return;
    const auto captured = captureSteps(m_job.folder.capturesPath());
    if (captureIsDue(step) && !std::binary_search(captured.begin(), captured.end(), step))
        m_metrics.capture();
}

void Trainer::takeNextEdits() {
    if (!m_job.nextEdits) return;
    useTrainingEdits(m_job, *std::exchange(m_job.nextEdits, std::nullopt));
    recordTrainingEdits(m_job);
    afterEdits();
}

void Trainer::trainEpochs() {
    const auto stopping = [this] {
        return m_job.ranks ? m_job.directives.stop : m_service.stopping();
    };
    while (m_job.state.step < m_job.totalSteps && !m_job.stoppedEarly && !stopping()) trainEpoch();
    if (m_job.lastEvaluated != m_job.state.step) m_metrics.evaluate();
    if (m_metrics.lastCapture() != m_job.state.step) m_metrics.capture();
    m_keeper.keepLast();  // before the best weights take their place
    if (m_job.options.train.early_stopping.restore_best && m_job.state.bestStep >= 0 &&
        m_job.state.bestStep != m_job.state.step) {
        m_job.checkpoint();
        restoreBest();
    } else {
        m_job.checkpoint();
    }
    const bool whole = m_job.state.step >= m_job.totalSteps || m_job.stoppedEarly;
    try {
        if (whole) m_metrics.test();
    } catch (const Cancelled&) {  // no checkpoint: the weights may be the best, not the last
        return end(RunState::Interrupted, "stopped during testing; resume to finish the test");
    }
    end(whole ? RunState::Done : RunState::Stopped,
        m_job.stoppedEarly ? "stopped early: no improvement"
        : whole            ? ""
                           : "stopped after epoch " + std::to_string(m_job.state.epoch));
}

void Trainer::restoreBest() {
    m_weightsOfStep = false;
    const auto best =
        m_job.folder.checkpointsPath() + "/step-" + std::to_string(m_job.state.bestStep);
    auto& info = m_job.folder.info();
    if (!m_job.broadcastBool(m_job.leads() && checkpointProblem(best).empty())) {
        info.kept = info.last;
        return;
    }
    EditList edits;
    if (m_job.leads()) {
        edits = loadCheckpoint(best, *m_job.model, m_job.options.model, nullptr).edits;
        // The best weights are tested with the edits that they were trained with.
        m_job.edits = trainingSession(m_job, edits);
    }
    shareWeights(m_job, edits);
    m_job.note(Note::Level::Info,
               "restored the best weights, from step " + std::to_string(m_job.state.bestStep));
}

void Trainer::trainEpoch() {
    const auto& train = m_job.options.train;
    const DatasetPtr data =
        m_job.data.trainEpoch ? m_job.data.trainEpoch(m_job.state.epoch) : m_job.data.train;
    BatchLoader loader(
        data,
        shuffledOrder(data->size(), static_cast<std::uint64_t>(m_job.folder.info().seed),
                      m_job.state.epoch),
        train.batch_size, m_job.state.batch);
    std::vector<Batch> group;
    while (auto batch = loader.next()) {
        if (m_job.data.mix != "none")
            mixImages(*batch, m_job.data.mix, m_job.options.model.outputs(),
                      batchSeed(group.size()));
        group.push_back(std::move(*batch));
        const auto seen = startedBatches() + static_cast<std::int64_t>(group.size());
        const bool epochEnds = seen == m_job.epochBatches();
        if (static_cast<std::int64_t>(group.size()) < m_job.batchesPerStep() && !epochEnds)
            continue;
        if (m_service.isWanted()) {
            takeResults();
            m_service.serve();
        }
        step(std::exchange(group, {}));
        if (canRunAhead(epochEnds)) continue;
        takeResults();
        if (epochEnds) ++m_job.state.epoch, m_job.state.batch = 0;
        if (evaluationIsDue(m_job.state.step, epochEnds)) m_metrics.evaluate();
        if (captureIsDue(m_job.state.step)) m_metrics.capture();
        if (m_keeper.isDue(m_job.state.step)) m_keeper.keep();
        keepJump();
        if (checkpointIsDue(m_job.state.step, epochEnds)) m_job.checkpoint();
        m_service.progress();
        if (m_job.state.step >= m_job.totalSteps || m_job.stoppedEarly || epochEnds) return;
    }
}

void Trainer::keepJump() {
    constexpr int most = 5;  // checkpoints are large
    if (!m_metrics.healthIsDue(m_job.state.step)) return;
    auto jump = m_metrics.takeJump();
    if (!m_job.broadcastBool(!jump.empty()) || m_jumps == most) return;
    if (++m_jumps == most) jump += "; later jumps are not marked";
    m_job.checkpoint();
    m_job.keepThisCheckpoint(m_job.options);
    m_keeper.keepMarked();
    m_job.note(Note::Level::Jump, jump);
}

bool Trainer::evaluationIsDue(std::int64_t step, bool epochEnds) const {
    return m_job.state.evaluateEvery > 0 ? step % m_job.state.evaluateEvery == 0 : epochEnds;
}

bool Trainer::captureIsDue(std::int64_t step) const {
    return m_job.state.captureEvery > 0 ? step % m_job.state.captureEvery == 0
                                        : isGrowingCaptureStep(step);
}

bool Trainer::checkpointIsDue(std::int64_t step, bool epochEnds) const {
    const auto every = m_job.options.train.checkpoint_every;
    if (every > 0) return step % every == 0;
    // The first one early: before it a run that is killed begins again from step 0.
    if (!m_job.isSaved && m_job.lastEvaluated == step) return true;
    // Saves within long epochs, so that less is lost. Of several ranks the clock of rank 0 counts.
    const double since =
        m_job.ranks ? m_job.directives.sinceCheckpoint : secondsSince(m_job.lastCheckpoint);
    return since >= (epochEnds ? 10.0 : 300.0);
}

bool Trainer::canRunAhead(bool epochEnds) const {
    constexpr double shown = 0.04;  // seconds: results are entered as often as progress is shown
    const auto step = startedStep();
    return m_step.runsAhead() && !epochEnds && step < m_job.totalSteps &&
           static_cast<std::int64_t>(m_started.size()) < TrainStep::kMostAhead &&
           secondsSince(m_lastTaken) < shown && !evaluationIsDue(step, epochEnds) &&
           !captureIsDue(step) && !m_keeper.isDue(step) && !m_metrics.healthIsDue(step) &&
           !checkpointIsDue(step, epochEnds);
}

std::int64_t Trainer::startedBatches() const {
    std::int64_t count = m_job.state.batch;
    for (const auto& started : m_started)
        count += static_cast<std::int64_t>(started.batches.size());
    return count;
}

void Trainer::step(std::vector<Batch> batches) {
    for (const auto& batch : batches)
        requireLabels(batch, m_job.options.model.outputs(), m_job.options.model.ignoredTarget());
    const double rate =
        scheduledRate(m_job.options.train, m_job.state.baseRate, startedStep(), m_job.totalSteps);
    auto generator = saveGenerator(m_job.device);
    try {
        m_step.run(batches, rate);
    } catch (...) {
        restoreGenerator(m_job.device, generator);  // the step is undone
        m_weightsOfStep = false;                    // as long as the steps before are not known
        takeResults();
        m_weightsOfStep = m_step.weightsAreWhole();
        throw;
    }
    m_started.push_back({std::move(batches), rate, std::move(generator)});
}

void Trainer::takeResults() {
    m_lastTaken = Clock::now();
    const auto results = m_step.take();
    const auto started = std::exchange(m_started, {});
    // The weights are those after all of them: each is counted, also where a point of one cannot be
    // written.
    std::exception_ptr unwritten;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const auto& [batches, rate, generator] = started[i];
        const auto& found = results[i];
        if (!found.finite()) {
            restoreGenerator(m_job.device, generator);
            throwNonFinite(batches);
        }
        std::int64_t examples = 0;
        for (const auto& batch : batches) examples += batch.size();
        const auto weight = static_cast<double>(examples);
        ++m_job.state.step, m_job.state.batch += static_cast<std::int64_t>(batches.size());
        m_job.state.examples += examples;
        m_job.state.windowExamples += examples;
        m_job.state.sinceExamples += examples;
        m_job.state.sinceLoss += found.loss * weight;
        m_job.state.lossSum += found.loss * weight;
        m_job.state.accuracySum += found.accuracy * weight;
        try {
            m_metrics.recordStep(rate, found.norm, i + 1 == results.size());
        } catch (const std::exception&) {
            unwritten = std::current_exception();
        }
    }
    if (unwritten) std::rethrow_exception(unwritten);
}

void Trainer::throwNonFinite(const std::vector<Batch>& batches) {
    // Gradients of steps that were started later are not the gradients of this step.
    if (m_step.runsAhead()) {
        const auto generator = saveGenerator(m_job.device);
        m_step.computeGradients(batches);
        restoreGenerator(m_job.device, generator);
    }
    const auto input = relascope::core::inputOf(batches.front(), m_job.device);
    if (m_job.edits) m_job.edits->prepareStep(input);
    const HookScope edits(m_job.edits ? &m_job.edits->editor() : nullptr);
    throw NonFinite("the loss is not finite at step " + std::to_string(m_job.state.step + 1) +
                    ": " + firstNonFinite(*m_job.model, input) +
                    "; lower train.learning_rate or set train.clip_norm; the weights of step " +
                    std::to_string(m_job.state.step) + " are kept");
}

// The edits of a run with a pretraining stage, which may take long: refused before it, not after.
EditList editsBefore(const RunOptions& options, const DataSplits& data, const EditChoice& edits) {
    const auto model = makeModel(options.model);
    const auto points = pointsOf(*model, inputOf(data.train->sample(0), options.model));
    return checkedTrainingEdits(edits(points), points, options.model, options.train.batch_size);
}

// Trains the pretraining stage in `before/`, a run folder of its own, unless that is done. Its
// progress and notes are passed on; its curves are in its own folder.
RunInfo trainBefore(RunFolder& folder, const RunOptions& stage, const DataSplits& data,
                    Control& control, const EventSink& sink, std::stop_token stop,
                    RankGroup* ranks) {
    const std::string path = folder.path() + "/before";
    const bool leads = !ranks || ranks->leads();
    RunFolder before = !leads              ? RunFolder::ofOtherProcess(stage, folder.info().seed)
                       : isRunFolder(path) ? RunFolder::open(path)
                                           : RunFolder::create(path, stage);
    before.info().seed = folder.info().seed;
    bool done = before.info().state == RunState::Done;
    if (ranks) done = ranks->broadcast(done ? "done" : "") == "done";
    if (done) before.info().state = RunState::Done;
    if (done) return before.info();
    sink(Note{Note::Level::Info, 0, "pretraining: " + stage.data.task + ", in " + path});
    const EventSink some = [&sink](const TrainEvent& event) {
        if (std::holds_alternative<MetricPoint>(event) || std::holds_alternative<RunChanged>(event))
            return;
        sink(event);
    };
    return train(before, data, control, some, std::move(stop), {}, ranks).info;
}

}  // namespace

TrainResult train(RunFolder& folder, const DataSplits& data, Control& control,
                  const EventSink& sink, std::stop_token stop, const EditChoice& edits,
                  RankGroup* ranks) {
    if (const auto stage = folder.options().pretraining()) {
        if (!data.pretraining)
            throw OptionError("train.pretrain", "the data of the pretraining stage are missing");
        auto& info = folder.info();
        info.state = RunState::Running;
        if (edits) info.edits = editsBefore(folder.options(), data, edits);
        folder.saveInfo();
        sink(RunChanged{info});
        const auto before =
            trainBefore(folder, *stage, *data.pretraining, control, sink, stop, ranks);
        if (before.state != RunState::Done) {
            info.state = before.state;
            info.message = "pretraining: " + before.message;
            folder.trySaveInfo();  // the trained weights are in the folder of the stage
            sink(RunChanged{info});
            return {info, {}};
        }
    }
    TrainJob job(folder, data, sink, std::move(stop), ranks);
    withinMemory(
        job.device.str(), [&] { prepare(job, edits); },
        [&job] {
            return " while the model is loaded, which takes " +
                   byteText(4 * static_cast<std::uint64_t>(parameterCount(job.options.model))) +
                   "; choose a smaller model or another device, or free some of its memory";
        });
    Trainer(job, control).run();
    return {folder.info(), job.lastValidation};
}

}  // namespace relascope::core
