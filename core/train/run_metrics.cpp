// SPDX-License-Identifier: GPL-3.0-or-later
#include <cmath>

#include "data/continue_text.h"
#include "options/metrics.h"
#include "probe/probe.h"
#include "run/captures.h"
#include "train/out_of_memory.h"
#include "train/run_metrics.h"
#include "types/text_piece.h"

namespace relascope::core {

// The additional values for text: perplexity, and the tokens trained on so far.
void RunMetrics::addTextValues(MetricPoint& point) const {
    if (!m_job.isText()) return;
    point.values.emplace_back("perplexity", std::exp(point.value("loss")));
    point.values.emplace_back("tokens", static_cast<double>(m_job.state.examples) *
                                            static_cast<double>(m_job.options.data.context));
}

// Generates a text from the prompt, as a line of events.jsonl. Uses its own generator, so that
// training is not affected.
void RunMetrics::writeSample() {
    const auto& data = m_job.options.data;
    if (!m_job.isText() || !m_job.data.tokenizer || data.sample_tokens < 1 || data.prompt.empty())
        return;
    const bool training = m_job.model->is_training();
    m_job.model->eval();
    GenerateOptions options;
    options.tokens = data.sample_tokens;
    options.alternatives = 0;
    std::string written = data.prompt;
    auto* edits = m_job.edits.get();
    if (edits) edits->forgetValues();  // resample: a generated text has no others
    try {
        const HookScope hooks(edits ? &edits->editor() : nullptr);
        continueText(*m_job.model, m_job.options.model, *m_job.data.tokenizer, data.prompt, options,
                     [&](const GeneratedToken& token) {
                         written += token.chosen.piece;
                         return !m_job.stop.stop_requested();
                     });
    } catch (const std::exception& error) {
        m_job.model->train(training);
        if (edits) edits->editor().setOrigin(0);
        return m_job.note(Note::Level::Warning,
                          "no sample was generated: " + messageOn(m_job.device.str(), error));
    }
    m_job.model->train(training);
    if (edits) edits->editor().setOrigin(0);  // the text may have slid out of the context
    m_job.note(Note::Level::Sample, validUtf8(written));
}

MetricPoint RunMetrics::point(Split split, double loss, double accuracy) const {
    MetricPoint point{
        m_job.state.step, m_job.epochNow(), m_job.state.examples, m_job.elapsed(), split,
        {{"loss", loss}}};
    if (!std::isnan(accuracy)) point.values.emplace_back("accuracy", accuracy);
    return point;
}

void RunMetrics::recordStep(double rate, double norm, bool measured) {
    auto& state = m_job.state;
    if (state.step % m_recordEvery != 0) return;
    const double count = static_cast<double>(state.windowExamples);
    MetricPoint recorded = point(Split::Train, state.lossSum / count, state.accuracySum / count);
    recorded.values.emplace_back("learning_rate", rate);
    recorded.values.emplace_back("grad_norm", norm);
    addTextValues(recorded);
    if (measured && m_health.isDue(state.step)) {
        const auto health = m_health.measure(norm);
        recorded.values.insert(recorded.values.end(), health.begin(), health.end());
    }
    state.lossSum = state.accuracySum = 0.0;
    state.windowExamples = 0;
    m_job.record(recorded);
}

Evaluation RunMetrics::measured(const DatasetPtr& data, std::int64_t freely) {
    const auto trained = m_job.options.train.batch_size;
    EvaluationOptions how;
    // A rank without memory for the usual batches could not tell the others to take smaller ones.
    how.batchSize = m_smallBatches || m_job.ranks ? trained : evaluationBatch(m_job.options);
    how.ranks = m_job.ranks;
    how.bfloat16 = m_job.bfloat16() && m_job.device.is_cuda();  // exact on the CPU
    how.freely = freely;
    how.edits = m_job.edits.get();
    std::string shortage;
    try {
        return evaluateModel(*m_job.model, m_job.options.model, data, how, m_job.stop);
    } catch (const std::exception& error) {
        // A step of training takes more than an evaluation with its batch.
        if (!isOutOfMemory(error) || how.batchSize == trained) throw;
        shortage = shortageText(m_job.device.str(), error);
    }
    releaseDeviceMemory();
    m_smallBatches = true;
    m_job.note(Note::Level::Warning,
               shortage + " for an evaluation in batches of " + std::to_string(how.batchSize) +
                   "; those of train.batch_size, " + std::to_string(trained) + ", are used");
    return measured(data, freely);
}

void RunMetrics::evaluate() {
    const auto result = measured(m_job.data.validation, m_job.options.train.decode_examples);
    m_job.lastEvaluated = m_job.state.step;
    MetricPoint validation = point(Split::Validation, result.loss, result.accuracy);
    validation.values.insert(validation.values.end(), result.values.begin(), result.values.end());
    addTextValues(validation);
    m_job.lastValidation = validation;
    // Before training nothing is best.
    const bool trained = m_job.state.step > 0 || m_job.totalSteps == 0;
    const bool chosen = trained && updateBest(result);
    takeValidation(m_job.folder.info(), validation, chosen);
    m_job.record(validation);
    if (m_job.leads()) writeSample();
    if (!chosen) return;
    m_job.checkpoint();
    m_job.sink(RunChanged{m_job.folder.info()});  // who watches does not know the rule
}

bool RunMetrics::updateBest(const Evaluation& e) {
    const auto& stopping = m_job.options.train.early_stopping;
    // Without early stopping the best weights are those with the highest accuracy or, for text and
    // for data without an accuracy, with the lowest loss.
    const auto usual = m_job.isText() || std::isnan(e.accuracy) ? Metric::Loss : Metric::Accuracy;
    const auto& metric = stopping.enabled() ? metricInfo(stopping.metric) : metricInfo(usual);
    const bool maximize = stopping.enabled() ? stopping.maximize() : !metric.lowerIsBetter;
    // A metric that is not a validation metric is the training loss since the last evaluation.
    const double value = metric.id == Metric::Other
                             ? m_job.state.sinceLoss / static_cast<double>(std::max<std::int64_t>(
                                                           1, m_job.state.sinceExamples))
                         : metric.id == Metric::Loss ? e.loss
                                                     : e.accuracy;
    m_job.state.sinceLoss = 0.0, m_job.state.sinceExamples = 0;
    const double gain = maximize ? value - m_job.state.best : m_job.state.best - value;
    if (m_job.state.bestStep < 0 || gain > stopping.min_delta) {
        m_job.state.best = value;
        m_job.state.bestStep = m_job.state.step;
        m_job.state.badEvaluations = 0;
        return stopping.restore_best;  // these weights are then needed at the end
    }
    if (stopping.enabled() && m_job.state.epoch >= stopping.from_epoch &&
        ++m_job.state.badEvaluations >= stopping.patience)
        m_job.stoppedEarly = true;
    return false;
}

void RunMetrics::capture() {
    m_lastCapture = m_job.state.step;
    if (m_job.captureInputs.empty()) return;  // also of ranks other than 0
    std::vector<ProbeResult> results;
    std::string shortage;
    try {
        auto* edits = m_job.edits.get();
        const HookScope hooks(edits ? &edits->editor() : nullptr);
        for (const auto& sample : m_job.captureInputs) {
            if (edits) edits->prepareSample(sample);
            results.push_back(probeModel(*m_job.model, m_job.options.model, sample,
                                         m_job.state.step,
                                         m_job.data.validation->info().classNames));
            if (m_job.data.tokenizer) namePieces(results.back(), *m_job.data.tokenizer);
        }
    } catch (const std::exception& error) {
        if (!isOutOfMemory(error)) throw;
        shortage = shortageText(m_job.device.str(), error);
    }
    if (!shortage.empty()) {
        results.clear();
        releaseDeviceMemory();
        return m_job.note(Note::Level::Warning,
                          "no capture was taken: " + shortage + "; a shorter input needs less");
    }
    m_job.retryUntilDiskHasRoom([&] { saveCapture(m_job.folder.capturesPath(), results); });
}

void RunMetrics::test() {
    auto& results = m_job.folder.info().results;
    results.clear();
    for (const auto& [name, data] : m_job.data.tests) {
        if (m_job.onAnyRank(m_job.stop.stop_requested())) throw Cancelled();
        const auto e = measured(data, -1);  // every answer
        SplitResult result{name, e.examples, {{"loss", e.loss}}};
        if (!std::isnan(e.accuracy)) result.values.emplace_back("accuracy", e.accuracy);
        result.values.insert(result.values.end(), e.values.begin(), e.values.end());
        results.push_back(std::move(result));
    }
}

}  // namespace relascope::core
