// SPDX-License-Identifier: GPL-3.0-or-later
// Measurements during training: metric points, the best weights, captures, tests.
#include <cmath>

#include "options/metrics.h"
#include "probe/probe.h"
#include "run/captures.h"
#include "train/continue_text.h"
#include "train/trainer.h"
#include "types/text_piece.h"

namespace relascope::core {

// The additional values for text: perplexity, and the tokens trained on so far.
void Trainer::addTextValues(MetricPoint& point) const {
    if (!text()) return;
    point.values.emplace_back("perplexity", std::exp(point.value("loss")));
    point.values.emplace_back("tokens", static_cast<double>(m_state.examples) *
                                            static_cast<double>(m_options.data.context));
}

// Generates a text from the prompt, as a line of events.jsonl. Uses its own generator, so that
// training is not affected.
void Trainer::writeSample() {
    const auto& data = m_options.data;
    if (!text() || !m_data.tokenizer || data.sample_tokens < 1 || data.prompt.empty()) return;
    const bool training = m_model->is_training();
    m_model->eval();
    GenerateOptions options;
    options.tokens = data.sample_tokens;
    options.alternatives = 0;
    std::string written = data.prompt;
    try {
        continueText(*m_model, m_options.model, *m_data.tokenizer, data.prompt, options,
                     [&](const GeneratedToken& token) {
                         written += token.chosen.piece;
                         return !m_stop.stop_requested();
                     });
    } catch (const std::exception& error) {
        m_model->train(training);
        return note(Note::Level::Warning, "no sample was generated: " + userMessage(error));
    }
    m_model->train(training);
    note(Note::Level::Sample, validUtf8(written));
}

void Trainer::recordWindow(double rate, double norm) {
    const double count = static_cast<double>(m_state.windowExamples);
    MetricPoint point{m_state.step, epochNow(),   m_state.examples,
                      elapsed(),    Split::Train, {{"loss", m_state.lossSum / count}}};
    if (!std::isnan(m_state.accuracySum))
        point.values.emplace_back("accuracy", m_state.accuracySum / count);
    point.values.emplace_back("learning_rate", rate);
    point.values.emplace_back("grad_norm", norm);
    addTextValues(point);
    m_state.lossSum = m_state.accuracySum = 0.0;
    m_state.windowExamples = 0;
    whileDiskFull([&] { m_folder.append(point); });
    m_sink(point);
}

EvaluationOptions Trainer::measuring() const {
    EvaluationOptions how;
    how.batchSize = text() ? m_options.train.batch_size
                           : std::max<std::int64_t>(m_options.train.batch_size, 256);
    how.bfloat16 = bfloat16();
    how.freely = m_options.train.decode_examples;
    return how;
}

void Trainer::evaluate() {
    const auto result =
        evaluateModel(*m_model, m_options.model, m_data.validation, measuring(), m_stop);
    m_lastEvaluated = m_state.step;
    MetricPoint point{m_state.step, epochNow(),        m_state.examples,
                      elapsed(),    Split::Validation, {{"loss", result.loss}}};
    if (!std::isnan(result.accuracy)) point.values.emplace_back("accuracy", result.accuracy);
    point.values.insert(point.values.end(), result.values.begin(), result.values.end());
    addTextValues(point);
    whileDiskFull([&] { m_folder.append(point); });
    m_lastValidation = point;
    auto& info = m_folder.info();
    info.lastLoss = result.loss, info.lastAccuracy = result.accuracy;
    m_sink(point);
    writeSample();
    if (m_state.step == 0 && m_totalSteps > 0) return;  // before training nothing is "best"
    if (!(info.bestLoss <= result.loss)) info.bestLoss = result.loss;
    if (!(info.bestAccuracy >= result.accuracy)) info.bestAccuracy = result.accuracy;
    const double shown = point.value(info.metric);
    if (!(lowerIsBetter(info.metric) ? info.bestMetric <= shown : info.bestMetric >= shown))
        info.bestMetric = shown;
    if (updateBest(result)) checkpoint();
}

bool Trainer::updateBest(const Evaluation& e) {
    const auto& stopping = m_options.train.early_stopping;
    // Without early stopping the best weights are those with the highest accuracy or, for text and
    // for data without an accuracy, with the lowest loss.
    const auto usual = text() || std::isnan(e.accuracy) ? Metric::Loss : Metric::Accuracy;
    const auto& metric = stopping.enabled() ? metricInfo(stopping.metric) : metricInfo(usual);
    const bool maximize = stopping.enabled() ? stopping.maximize() : !metric.lowerIsBetter;
    // A metric that is not a validation metric is the training loss since the last evaluation.
    const double value = metric.id == Metric::Other
                             ? m_state.sinceLoss / static_cast<double>(std::max<std::int64_t>(
                                                       1, m_state.sinceExamples))
                         : metric.id == Metric::Loss ? e.loss
                                                     : e.accuracy;
    m_state.sinceLoss = 0.0, m_state.sinceExamples = 0;
    const double gain = maximize ? value - m_state.best : m_state.best - value;
    if (m_state.bestStep < 0 || gain > stopping.min_delta) {
        m_state.best = value;
        m_state.bestStep = m_state.step;
        m_state.badEvaluations = 0;
        return stopping.restore_best;  // these weights are then needed at the end
    }
    if (stopping.enabled() && m_state.epoch >= stopping.from_epoch &&
        ++m_state.badEvaluations >= stopping.patience)
        m_stoppedEarly = true;
    return false;
}

void Trainer::capture() {
    m_lastCapture = m_state.step;
    if (m_probes.empty()) return;
    std::vector<ProbeResult> results;
    for (const auto& sample : m_probes) {
        results.push_back(probeModel(*m_model, m_options.model, sample, m_state.step,
                                     m_data.validation->info().classNames));
        if (m_data.tokenizer) namePieces(results.back(), *m_data.tokenizer);
    }
    whileDiskFull([&] { saveCapture(m_folder.capturesPath(), results); });
    m_sink(CaptureTaken{m_state.step});
}

void Trainer::checkpoint() {
    m_lastCheckpoint = Clock::now();
    TrainState state = m_state;
    state.seconds = elapsed();
    whileDiskFull([&] {
        m_folder.flush();  // first, so that a checkpoint never has more steps than the metrics
        saveCheckpoint(m_folder.checkpointsPath(), *m_model, *m_optimizer, state);
        auto& info = m_folder.info();
        info.step = m_state.step, info.epoch = epochNow(), info.seconds = state.seconds;
        m_folder.saveInfo();
    });
    pruneCheckpoints(m_folder.checkpointsPath(), m_state.bestStep);
    note(Note::Level::Checkpoint, "checkpoint at step " + std::to_string(m_state.step));
}

// Evaluates the finished model on every test split and stores the results with the run.
void Trainer::test() {
    auto& results = m_folder.info().results;
    results.clear();
    for (const auto& [name, data] : m_data.tests) {
        if (m_stop.stop_requested()) throw Cancelled();
        auto how = measuring();
        how.freely = -1;  // every answer
        const auto e = evaluateModel(*m_model, m_options.model, data, how, m_stop);
        SplitResult result{name, e.examples, {{"loss", e.loss}}};
        if (!std::isnan(e.accuracy)) result.values.emplace_back("accuracy", e.accuracy);
        result.values.insert(result.values.end(), e.values.begin(), e.values.end());
        results.push_back(std::move(result));
    }
}

}  // namespace relascope::core
