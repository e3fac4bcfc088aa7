#include "train/train.h"

#include <ATen/Context.h>
#include <torch/utils.h>

#include <cmath>
#include <filesystem>

#include "data/text.h"
#include "options/builtin_resources.h"
#include "options/estimates.h"
#include "options/field_text.h"
#include "probe/probe.h"
#include "run/captures.h"
#include "train/continue_text.h"
#include "train/nonfinite.h"
#include "train/trainer.h"
#include "types/text_piece.h"

namespace relascope {

void Trainer::requireData() {
    for (const auto& [name, data] :
         {std::pair{"train", m_data.train}, {"validation", m_data.validation}})
        if (data->info().size < 1)
            throw OptionError("data", std::string("the ") + name + " set is empty");
    const auto& model = m_options.model;
    if (text()) {
        fitVocabulary();
        for (const auto& data : {m_data.train, m_data.validation})
            if (dynamic_cast<const TokenDataset&>(*data).context() > model.max_block_size)
                throw OptionError("data.context", "is longer than model.max_block_size");
        return;
    }
    for (const auto& [name, data] :
         {std::pair{"train", m_data.train}, {"validation", m_data.validation}}) {
        const auto& info = data->info();
        if (info.channels != model.image_shape[0] || info.width != model.image_shape[1] ||
            info.height != model.image_shape[2])
            throw OptionError("model.image_shape",
                              "does not fit the " + std::string(name) + " images of " +
                                  std::to_string(info.channels) + " x " +
                                  std::to_string(info.height) + " x " + std::to_string(info.width));
    }
    if (static_cast<std::int64_t>(m_data.train->info().classNames.size()) > model.num_classes)
        throw OptionError("model.num_classes",
                          std::to_string(model.num_classes) + " is fewer than the data's " +
                              std::to_string(m_data.train->info().classNames.size()) + " classes");
}

// A new model takes the vocabulary of its tokenizer: that of the text's characters, or room for
// another's tokens; one that has weights already must fit. The tokenizer stays with the run,
// whatever becomes of the text.
void Trainer::fitVocabulary() {
    const auto& tokenizer = m_data.tokenizer;
    const bool fresh = checkpointSteps(m_folder.checkpointsPath()).empty();
    auto& vocabulary = m_options.model.vocab_size;
    if (tokenizer && fresh &&
        (m_options.data.tokenizer == "characters" || vocabulary < tokenizer->size())) {
        vocabulary = tokenizer->size();
        m_folder.setOptions(m_options);
    }
    if (tokenizer) requireVocabulary(*tokenizer, m_options.model.vocab_size);
    requireTokensWithin(m_data, m_options.model.vocab_size, {}, m_stop);
    const std::string file = m_folder.path() + "/tokenizer.json";
    if (tokenizer && m_options.data.tokenizer != "gpt2" && !std::filesystem::exists(file))
        writeTokenizer(*tokenizer, file);
}

void Trainer::prepare() {
    m_options.check();
    requireData();
    const auto& model = m_options.model;
    if (m_options.train.precision == "bfloat16" && !m_device.is_cuda())
        note(Note::Level::Warning,
             "bfloat16 autocast is for CUDA devices; the run computes in float32 on the CPU");
    requireMemory(m_options, m_device.str());

    at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);
    at::globalContext().setFloat32MatmulPrecision("highest");
    const auto seed = static_cast<std::uint64_t>(m_folder.info().seed);
    torch::manual_seed(seed);
    m_model = makeModel(model);
    m_model->to(m_device);
    m_model->recomputesActivations = m_options.train.activation_checkpointing;
    m_optimizer = std::make_unique<Optimizer>(*m_model, m_options.train);
    m_state.baseRate = m_options.train.learning_rate;
    m_state.evaluateEvery = m_options.train.evaluate_every;
    m_state.captureEvery = m_options.train.capture_every;
    m_totalSteps =
        m_options.train.steps > 0 ? m_options.train.steps : m_options.train.epochs * epochSteps();
    m_recordEvery = std::max<std::int64_t>(1, m_totalSteps / 20000);

    auto& info = m_folder.info();
    std::vector<std::string> problems;
    const std::string newest = newestCheckpoint(m_folder.checkpointsPath(), &problems);
    for (const auto& problem : problems)
        note(Note::Level::Warning, "checkpoint " + problem + "; an older one is used");
    if (!newest.empty()) {
        m_state = loadCheckpoint(newest, *m_model, m_optimizer.get());
        if (m_state.device != m_device.str() || m_state.threads != threadCount())
            note(Note::Level::Warning, "goes on with " + m_device.str() + " and " +
                                           std::to_string(threadCount()) + " threads instead of " +
                                           m_state.device + " and " +
                                           std::to_string(m_state.threads) +
                                           ": losses will not be the same to the last bit");
        note(Note::Level::Info, "resumed from step " + std::to_string(m_state.step));
    }
    // At step 0 the first evaluation is made again, too.
    m_folder.rewindMetrics(m_state.step > 0 ? m_state.step : -1);
    for (const auto& point : readMetrics(m_folder.path())) {
        if (point.split != Split::Validation || point.step != m_state.step) continue;
        m_lastEvaluated = point.step;  // a finished run that is resumed is not measured twice
        m_lastValidation = point;
    }
    info.device = m_device.str();
    info.totalSteps = m_totalSteps;
    if (text()) info.metric = "perplexity";
    info.options = optionTexts(m_options);
    info.parameters = parameterCount(model);
    m_folder.setFact("version", builtin::version());
    m_folder.setFact("torch", torchVersion());
    m_folder.setFact("threads", std::to_string(threadCount()));
    m_state.device = m_device.str();
    m_state.threads = threadCount();

    // Captures keep within their budget: fewer inputs where the maps are large.
    const double tokens = static_cast<double>(model.tokens());
    const double perSample =
        4.0 * tokens * tokens *
        static_cast<double>(model.n_layers *
                            (model.heads() + (model.isDual() ? model.relations() + 4 : 0)));
    const double fits = static_cast<double>(kCaptureBudget) /
                        (perSample * static_cast<double>(captureCount(
                                         m_totalSteps, m_options.train.capture_every)));
    const auto samples =
        std::min<std::int64_t>({m_options.train.capture_samples, static_cast<std::int64_t>(fits),
                                m_data.validation->size()});
    if (text()) {
        // One sentence, much shorter than the context: as much of it as the budget holds.
        const auto longest = static_cast<std::int64_t>(tokens * std::sqrt(fits));
        if (m_data.tokenizer && m_options.train.capture_samples > 0 && longest > 0 &&
            !m_options.data.pinned_text.empty())
            m_probes.push_back(textSample(*m_data.tokenizer, m_options.data.pinned_text,
                                          std::min(longest, model.max_block_size),
                                          "pinned sentence"));
        return;
    }
    for (std::int64_t i = 0; i < samples; ++i) m_probes.push_back(m_data.validation->sample(i));
}

TrainResult Trainer::run() {
    m_resumed = m_lastCheckpoint = m_lastProgress = m_rateStart = Clock::now();
    report(RunState::Running);
    try {
        if (m_state.step == 0) {
            evaluate();
            capture();
        }
        trainEpochs();
    } catch (const NonFinite& problem) {
        // The optimizer has not touched the weights: what is saved is the last good state.
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
                 "restored the best weights, of step " + std::to_string(m_state.bestStep));
        }
    } else {
        checkpoint();
    }
    const bool whole = m_state.step >= m_totalSteps || m_stoppedEarly;
    finish(whole ? RunState::Done : RunState::Stopped,
           m_stoppedEarly ? "stopped early: no improvement"
           : whole        ? ""
                          : "stopped after epoch " + std::to_string(m_state.epoch));
}

void Trainer::trainEpoch() {
    const auto& train = m_options.train;
    const DatasetPtr data = m_data.trainPass ? m_data.trainPass(m_state.epoch) : m_data.train;
    BatchLoader loader(data,
                       shuffledOrder(data->size(), static_cast<std::uint64_t>(m_folder.info().seed),
                                     m_state.epoch),
                       train.batch_size, m_state.batch);
    std::vector<Batch> group;
    while (auto batch = loader.next()) {
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
        const bool timed = epochEnds && secondsSince(m_lastCheckpoint) >= 10.0;
        if (train.checkpoint_every > 0 ? m_state.step % train.checkpoint_every == 0 : timed)
            checkpoint();
        progress();
        if (m_state.step >= m_totalSteps || m_stoppedEarly || epochEnds) return;
    }
}

std::pair<double, double> Trainer::accumulate(const std::vector<Batch>& batches) {
    std::int64_t answers = 0;
    for (const auto& batch : batches) answers += batch.targets.numel();
    double loss = 0.0, right = 0.0;
    for (const auto& batch : batches) {
        if (m_stop.stop_requested()) throw Cancelled();
        const auto inputs = batch.inputs.to(m_device, /*non_blocking=*/true),
                   targets = batch.targets.to(m_device, true);
        torch::Tensor scores;
        {
            const AutocastScope autocast(bfloat16());
            scores = m_model->forward(inputs).to(torch::kFloat);
        }
        const double share = static_cast<double>(targets.numel()) /
                             static_cast<double>(std::max<std::int64_t>(1, answers));
        const auto mean = crossEntropy(scores, targets);
        (batches.size() == 1 ? mean : mean * share).backward();
        loss += share * mean.item<double>();
        right += scores.detach().argmax(-1).eq(targets).sum().item<double>();
    }
    return {loss, right / static_cast<double>(answers)};
}

void Trainer::step(const std::vector<Batch>& batches) {
    std::int64_t examples = 0;
    for (const auto& batch : batches) {
        requireLabels(batch.targets, m_options.model.outputs());
        examples += batch.size();
    }
    const auto generator = saveGenerator(m_device);
    m_model->train();
    m_optimizer->zeroGradients();
    double loss = 0.0, accuracy = 0.0;
    try {
        std::tie(loss, accuracy) = accumulate(batches);
    } catch (const Cancelled&) {
        restoreGenerator(m_device, generator);  // the step never was
        throw;
    }
    const double norm = m_optimizer->clipAndNorm();
    if (!std::isfinite(loss) || !std::isfinite(norm)) {
        restoreGenerator(m_device, generator);
        throw NonFinite("the loss is not finite at step " + std::to_string(m_state.step + 1) +
                        ": " + firstNonFinite(*m_model, batches.front().inputs.to(m_device)) +
                        "; lower train.learning_rate or set train.clip_norm, the weights of step " +
                        std::to_string(m_state.step) + " are kept");
    }
    const double rate =
        scheduledRate(m_options.train, m_state.baseRate, m_state.step, m_totalSteps);
    m_optimizer->step(rate);

    ++m_state.step, m_state.batch += static_cast<std::int64_t>(batches.size());
    m_state.examples += examples;
    m_state.windowExamples += examples;
    m_state.lossSum += loss * static_cast<double>(examples);
    m_state.accuracySum += accuracy * static_cast<double>(examples);
    if (m_state.step % m_recordEvery == 0) recordWindow(rate, norm);
}

// What text adds to a point: perplexity, and the tokens trained on so far.
void Trainer::addTextValues(MetricPoint& point) const {
    if (!text()) return;
    point.values.emplace_back("perplexity", std::exp(point.value("loss")));
    point.values.emplace_back("tokens", static_cast<double>(m_state.examples) *
                                            static_cast<double>(m_options.data.context));
}

// What the model makes of the prompt now, as a line of events.jsonl. Its own generator: the run's
// is left alone.
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
        return note(Note::Level::Warning, "no sample was written: " + userMessage(error));
    }
    m_model->train(training);
    note(Note::Level::Sample, validUtf8(written));
}

void Trainer::recordWindow(double rate, double norm) {
    const double count = static_cast<double>(m_state.windowExamples);
    MetricPoint point{m_state.step,
                      epochNow(),
                      m_state.examples,
                      elapsed(),
                      Split::Train,
                      {{"loss", m_state.lossSum / count},
                       {"accuracy", m_state.accuracySum / count},
                       {"learning_rate", rate},
                       {"grad_norm", norm}}};
    addTextValues(point);
    m_state.lossSum = m_state.accuracySum = 0.0;
    m_state.windowExamples = 0;
    whileDiskFull([&] { m_folder.append(point); });
    m_sink(point);
}

void Trainer::evaluate() {
    const auto batch = text() ? m_options.train.batch_size
                              : std::max<std::int64_t>(m_options.train.batch_size, 256);
    const auto result = evaluateModel(*m_model, m_data.validation, batch, m_options.model.outputs(),
                                      bfloat16(), m_stop);
    m_lastEvaluated = m_state.step;
    MetricPoint point{m_state.step,      epochNow(),
                      m_state.examples,  elapsed(),
                      Split::Validation, {{"loss", result.loss}, {"accuracy", result.accuracy}}};
    addTextValues(point);
    whileDiskFull([&] { m_folder.append(point); });
    m_lastValidation = point;
    auto& info = m_folder.info();
    info.lastLoss = result.loss, info.lastAccuracy = result.accuracy;
    m_sink(point);
    writeSample();
    if (m_state.step == 0) return;  // before training nothing is "best"
    if (!(info.bestLoss <= result.loss)) info.bestLoss = result.loss;
    if (!(info.bestAccuracy >= result.accuracy)) info.bestAccuracy = result.accuracy;
    if (noteBest(result)) checkpoint();
}

bool Trainer::noteBest(const Evaluation& e) {
    const auto& stopping = m_options.train.early_stopping;
    const bool useLoss = stopping.metric == "loss" || (!stopping.enabled() && text()),
               maximize = stopping.enabled() ? stopping.maximize() : !useLoss;
    const double value = useLoss ? e.loss : e.accuracy;
    const double gain = maximize ? value - m_state.best : m_state.best - value;
    if (m_state.bestStep < 0 || gain > stopping.min_delta) {
        m_state.best = value;
        m_state.bestStep = m_state.step;
        m_state.badEvaluations = 0;
        return stopping.restore_best;  // then these very weights are needed at the end
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
        m_folder.flush();  // first: a checkpoint never knows more steps than the metrics
        saveCheckpoint(m_folder.checkpointsPath(), *m_model, *m_optimizer, state);
        auto& info = m_folder.info();
        info.step = m_state.step, info.epoch = epochNow(), info.seconds = state.seconds;
        m_folder.saveInfo();
    });
    pruneCheckpoints(m_folder.checkpointsPath(), m_state.bestStep);
    note(Note::Level::Checkpoint, "checkpoint at step " + std::to_string(m_state.step));
}

TrainResult train(RunFolder& folder, const DataSplits& data, Control& control,
                  const EventSink& sink, std::stop_token stop) {
    Trainer trainer(folder, data, control, sink, std::move(stop));
    trainer.prepare();
    return trainer.run();
}

}  // namespace relascope
