// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/train.h"

#include <cmath>
#include <filesystem>

#include "run/captures.h"
#include "train/nonfinite.h"
#include "train/trainer.h"

namespace relascope::core {

TrainResult Trainer::run() {
    m_resumed = m_lastCheckpoint = m_lastProgress = m_rateStart = Clock::now();
    report(RunState::Running);
    try {
        if (m_state.step == 0) {
            evaluate();
            capture();
        }
        m_rateStart = Clock::now();
        m_rateExamples = m_state.examples;
        trainEpochs();
    } catch (const NonFinite& problem) {
        // The optimizer has not changed the weights yet, so the saved state is the last good one.
        checkpoint();
        finish(RunState::Failed, problem.what());
        m_sink(Failed{problem.what()});
    } catch (const Cancelled&) {
        checkpoint();
        finish(RunState::Interrupted, "cancelled at step " + std::to_string(m_state.step));
    } catch (const std::exception& error) {
        finish(RunState::Failed, userMessage(error));
        m_sink(Failed{userMessage(error)});
    }
    return {m_folder.info(), m_lastValidation};
}

void Trainer::trainEpochs() {
    while (m_state.step < m_totalSteps && !m_stoppedEarly && !m_control.stopping()) trainEpoch();
    if (m_lastEvaluated != m_state.step) evaluate();
    if (m_lastCapture != m_state.step) capture();
    if (m_options.train.early_stopping.restore_best && m_state.bestStep >= 0 &&
        m_state.bestStep != m_state.step) {
        checkpoint();
        const auto best = m_folder.checkpointsPath() + "/step-" + std::to_string(m_state.bestStep);
        if (checkpointProblem(best).empty()) {
            loadCheckpoint(best, *m_model, nullptr);
            note(Note::Level::Info,
                 "restored the best weights, from step " + std::to_string(m_state.bestStep));
        }
    } else {
        checkpoint();
    }
    const bool whole = m_state.step >= m_totalSteps || m_stoppedEarly;
    try {
        if (whole) test();
    } catch (const Cancelled&) {  // no checkpoint: the weights may be the best, not the last
        return finish(RunState::Interrupted, "stopped during testing; resume to finish the test");
    }
    finish(whole ? RunState::Done : RunState::Stopped,
           m_stoppedEarly ? "stopped early: no improvement"
           : whole        ? ""
                          : "stopped after epoch " + std::to_string(m_state.epoch));
}

void Trainer::trainEpoch() {
    const auto& train = m_options.train;
    const DatasetPtr data = m_data.trainEpoch ? m_data.trainEpoch(m_state.epoch) : m_data.train;
    BatchLoader loader(data,
                       shuffledOrder(data->size(), static_cast<std::uint64_t>(m_folder.info().seed),
                                     m_state.epoch),
                       train.batch_size, m_state.batch);
    std::vector<Batch> group;
    while (auto batch = loader.next()) {
        if (m_data.mix != "none")
            mixImages(*batch, m_data.mix, m_options.model.outputs(), batchSeed(group.size()));
        group.push_back(std::move(*batch));
        const auto seen = m_state.batch + static_cast<std::int64_t>(group.size());
        const bool epochEnds = seen == epochBatches();
        if (static_cast<std::int64_t>(group.size()) < batchesPerStep() && !epochEnds) continue;
        serve();
        step(group);
        group.clear();
        if (epochEnds) ++m_state.epoch, m_state.batch = 0;
        const bool due =
            m_state.evaluateEvery > 0 ? m_state.step % m_state.evaluateEvery == 0 : epochEnds;
        if (due) evaluate();
        if (m_state.captureEvery > 0 ? m_state.step % m_state.captureEvery == 0
                                     : isGrowingCaptureStep(m_state.step))
            capture();
        // Saves within long epochs, so that less is lost.
        const bool timed = secondsSince(m_lastCheckpoint) >= (epochEnds ? 10.0 : 300.0);
        if (train.checkpoint_every > 0 ? m_state.step % train.checkpoint_every == 0 : timed)
            checkpoint();
        progress();
        if (m_state.step >= m_totalSteps || m_stoppedEarly || epochEnds) return;
    }
}

std::pair<double, double> Trainer::accumulate(const std::vector<Batch>& batches) {
    std::int64_t answers = 0;
    const std::int64_t ignore = m_options.model.ignoredTarget();
    MetricAccumulator tally(m_options.model.outputs(), ignore);
    for (const auto& batch : batches) answers += tally.answers(batch);
    double loss = 0.0;
    for (const auto& batch : batches) {
        if (m_stop.stop_requested()) throw Cancelled();
        torch::Tensor scores;
        {
            const AutocastScope autocast(bfloat16());
            scores = m_model->forward(relascope::core::inputOf(batch, m_device)).to(torch::kFloat);
        }
        const double weight = static_cast<double>(tally.answers(batch)) /
                              static_cast<double>(std::max<std::int64_t>(1, answers));
        const auto mean = lossOf(scores, batch, ignore);
        (batches.size() == 1 ? mean : mean * weight).backward();
        loss += weight * mean.item<double>();
        tally.add(scores, batch);
    }
    return {loss, tally.accuracy()};
}

void Trainer::step(const std::vector<Batch>& batches) {
    std::int64_t examples = 0;
    for (const auto& batch : batches) {
        requireLabels(batch, m_options.model.outputs(), m_options.model.ignoredTarget());
        examples += batch.size();
    }
    const auto generator = saveGenerator(m_device);
    m_model->train();
    m_optimizer->zeroGradients();
    double loss = 0.0, accuracy = 0.0;
    try {
        std::tie(loss, accuracy) = accumulate(batches);
    } catch (const Cancelled&) {
        restoreGenerator(m_device, generator);  // the step is undone
        throw;
    }
    const double norm = m_optimizer->clipGradNorm();
    if (!std::isfinite(loss) || !std::isfinite(norm)) {
        restoreGenerator(m_device, generator);
        throw NonFinite(
            "the loss is not finite at step " + std::to_string(m_state.step + 1) + ": " +
            firstNonFinite(*m_model, relascope::core::inputOf(batches.front(), m_device)) +
            "; lower train.learning_rate or set train.clip_norm; the weights of step " +
            std::to_string(m_state.step) + " are kept");
    }
    const double rate =
        scheduledRate(m_options.train, m_state.baseRate, m_state.step, m_totalSteps);
    m_optimizer->step(rate);

    ++m_state.step, m_state.batch += static_cast<std::int64_t>(batches.size());
    m_state.examples += examples;
    m_state.windowExamples += examples;
    m_state.sinceExamples += examples;
    m_state.sinceLoss += loss * static_cast<double>(examples);
    m_state.lossSum += loss * static_cast<double>(examples);
    m_state.accuracySum += accuracy * static_cast<double>(examples);
    if (m_state.step % m_recordEvery == 0) recordWindow(rate, norm);
}

namespace {

// Trains the pretraining stage in the run folder `before/`, unless it is done. Its progress and
// notes are reported; its curves stay in its folder.
RunInfo trainBefore(RunFolder& folder, const RunOptions& stage, const DataSplits& data,
                    Control& control, const EventSink& sink, std::stop_token stop) {
    const std::string path = folder.path() + "/before";
    RunFolder before = isRunFolder(path) ? RunFolder::open(path) : RunFolder::create(path, stage);
    before.info().seed = folder.info().seed;
    if (before.info().state == RunState::Done) return before.info();
    sink(Note{Note::Level::Info, 0, "pretraining: " + stage.data.task + ", in " + path});
    const EventSink some = [&sink](const TrainEvent& event) {
        if (std::holds_alternative<MetricPoint>(event) ||
            std::holds_alternative<RunChanged>(event) ||
            std::holds_alternative<CaptureTaken>(event))
            return;
        sink(event);
    };
    return train(before, data, control, some, std::move(stop)).info;
}

}  // namespace

TrainResult train(RunFolder& folder, const DataSplits& data, Control& control,
                  const EventSink& sink, std::stop_token stop) {
    if (const auto stage = folder.options().pretraining()) {
        if (!data.pretraining)
            throw OptionError("train.pretrain", "the data of the pretraining stage are missing");
        auto& info = folder.info();
        info.state = RunState::Running;
        folder.saveInfo();
        sink(RunChanged{info});
        const auto before = trainBefore(folder, *stage, *data.pretraining, control, sink, stop);
        if (before.state != RunState::Done) {
            info.state = before.state;
            info.message = "pretraining: " + before.message;
            folder.saveInfo();
            sink(RunChanged{info});
            return {info, {}};
        }
    }
    Trainer trainer(folder, data, control, sink, std::move(stop));
    trainer.prepare();
    return trainer.run();
}

}  // namespace relascope::core
