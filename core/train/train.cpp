#include "train/train.h"

#include <ATen/Context.h>
#include <torch/utils.h>

#include <cmath>
#include <thread>

#include "checkpoint/tensor_io.h"
#include "data/batches.h"
#include "files/atomic_file.h"
#include "options/builtin_resources.h"
#include "options/estimates.h"
#include "options/field_text.h"
#include "options/options_json.h"
#include "probe/probe.h"
#include "run/captures.h"
#include "train/checkpoints.h"
#include "train/devices.h"
#include "train/evaluate.h"
#include "train/nonfinite.h"
#include "train/optimizer.h"

namespace relascope {
namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Thrown by a step whose loss or gradient is not finite; the weights are still those of the step before.
struct NonFinite : Error {
    using Error::Error;
};

class Trainer {
public:
    Trainer(RunFolder& folder, const DataSplits& data, Control& control, const EventSink& sink, std::stop_token stop)
        : m_folder(folder), m_data(data), m_control(control), m_sink(sink), m_stop(std::move(stop)),
          m_options(folder.options()), m_device(resolveDevice(m_options.train.device)) {}

    void prepare();
    TrainResult run();

private:
    void trainEpochs();
    void trainEpoch();
    void step(const Batch& batch);
    void evaluate();
    bool noteBest(const Evaluation& evaluation);
    void capture();
    void checkpoint();
    void serve();
    void waitWhilePaused();
    void applyEdits();
    void answerProbe();
    void recordWindow(double rate, double norm);
    void report(RunState state, const std::string& message = "");
    void progress(bool force = false);
    void note(Note::Level level, const std::string& text);
    void finish(RunState state, const std::string& message);
    template <class Write>
    void whileDiskFull(Write write);

    bool bfloat16() const { return m_options.train.precision == "bfloat16" && m_device.is_cuda(); }
    std::int64_t epochSteps() const { return (m_data.train->size() + m_options.train.batch_size - 1) / m_options.train.batch_size; }
    double epochNow() const { return static_cast<double>(m_state.epoch) + static_cast<double>(m_state.batch) / static_cast<double>(epochSteps()); }
    double elapsed() const { return m_state.seconds + secondsSince(m_resumed); }

    RunFolder& m_folder;
    const DataSplits& m_data;
    Control& m_control;
    const EventSink& m_sink;
    std::stop_token m_stop;
    RunOptions m_options;
    torch::Device m_device;

    ClassifierPtr m_model;
    std::unique_ptr<Optimizer> m_optimizer;
    TrainState m_state;
    std::vector<ProbeSample> m_probes;
    std::int64_t m_totalSteps = 0, m_recordEvery = 1, m_lastCapture = -1, m_lastEvaluated = -1;
    Clock::time_point m_resumed, m_lastCheckpoint, m_lastProgress, m_rateStart;
    std::int64_t m_rateExamples = 0;
    double m_rate = 0.0;
    bool m_stoppedEarly = false;
    MetricPoint m_lastValidation;
};

void Trainer::prepare() {
    m_options.check();
    const auto& model = m_options.model;
    for (const auto& [name, data] : {std::pair{"train", m_data.train}, {"validation", m_data.validation}}) {
        const auto& info = data->info();
        if (info.size < 1) throw OptionError("data", std::string("the ") + name + " set is empty");
        if (info.channels != model.image_shape[0] || info.width != model.image_shape[1] || info.height != model.image_shape[2])
            throw OptionError("model.image_shape", "does not fit the " + std::string(name) + " images of " + std::to_string(info.channels) + " x " +
                                                       std::to_string(info.height) + " x " + std::to_string(info.width));
    }
    if (static_cast<std::int64_t>(m_data.train->info().classNames.size()) > model.num_classes)
        throw OptionError("model.num_classes", std::to_string(model.num_classes) + " is fewer than the data's " +
                                                   std::to_string(m_data.train->info().classNames.size()) + " classes");
    if (m_options.train.precision == "bfloat16" && !m_device.is_cuda())
        throw OptionError("train.precision", "bfloat16 autocast is for CUDA devices; choose float32 on the CPU");

    at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);
    at::globalContext().setFloat32MatmulPrecision("highest");
    const auto seed = static_cast<std::uint64_t>(m_folder.info().seed);
    torch::manual_seed(seed);
    m_model = makeModel(model);
    m_model->to(m_device);
    m_optimizer = std::make_unique<Optimizer>(*m_model, m_options.train);
    m_state.baseRate = m_options.train.learning_rate;
    m_state.evaluateEvery = m_options.train.evaluate_every;
    m_state.captureEvery = m_options.train.capture_every;
    m_totalSteps = m_options.train.steps > 0 ? m_options.train.steps : m_options.train.epochs * epochSteps();
    m_recordEvery = std::max<std::int64_t>(1, m_totalSteps / 20000);

    auto& info = m_folder.info();
    std::vector<std::string> problems;
    const std::string newest = newestCheckpoint(m_folder.checkpointsPath(), &problems);
    for (const auto& problem : problems) note(Note::Level::Warning, "checkpoint " + problem + "; an older one is used");
    if (!newest.empty()) {
        m_state = loadCheckpoint(newest, *m_model, m_optimizer.get());
        if (m_state.device != m_device.str() || m_state.threads != threadCount())
            note(Note::Level::Warning, "goes on with " + m_device.str() + " and " + std::to_string(threadCount()) + " threads instead of " + m_state.device +
                                           " and " + std::to_string(m_state.threads) + ": losses will not be the same to the last bit");
        note(Note::Level::Info, "resumed from step " + std::to_string(m_state.step));
    }
    m_folder.rewindMetrics(m_state.step);
    info.device = m_device.str();
    info.totalSteps = m_totalSteps;
    info.options = optionTexts(m_options);
    info.parameters = parameterCount(model);
    m_folder.setFact("version", builtin::version());
    m_folder.setFact("torch", torchVersion());
    m_folder.setFact("threads", std::to_string(threadCount()));
    m_state.device = m_device.str();
    m_state.threads = threadCount();

    // Captures keep within their budget: fewer inputs where the maps are large.
    const double tokens = static_cast<double>(model.tokens());
    const double perSample = 4.0 * tokens * tokens * static_cast<double>(model.n_layers * (model.heads() + (model.isDual() ? model.relations() + 4 : 0)));
    const double fits = static_cast<double>(kCaptureBudget) / (perSample * static_cast<double>(captureCount(m_totalSteps, m_options.train.capture_every)));
    const auto samples = std::min<std::int64_t>({m_options.train.capture_samples, static_cast<std::int64_t>(fits), m_data.validation->size()});
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
    if (m_options.train.early_stopping.restore_best && m_state.bestStep >= 0 && m_state.bestStep != m_state.step) {
        checkpoint();
        const auto best = m_folder.checkpointsPath() + "/step-" + std::to_string(m_state.bestStep);
        if (checkpointProblem(best).empty()) {
            loadCheckpoint(best, *m_model, nullptr);
            note(Note::Level::Info, "restored the best weights, of step " + std::to_string(m_state.bestStep));
        }
    } else {
        checkpoint();
    }
    const bool whole = m_state.step >= m_totalSteps || m_stoppedEarly;
    finish(whole ? RunState::Done : RunState::Stopped, m_stoppedEarly ? "stopped early: no improvement" : whole ? "" : "stopped after epoch " + std::to_string(m_state.epoch));
}

void Trainer::trainEpoch() {
    const auto& train = m_options.train;
    const DatasetPtr data = m_data.trainPass ? m_data.trainPass(m_state.epoch) : m_data.train;
    BatchLoader loader(data, shuffledOrder(data->size(), static_cast<std::uint64_t>(m_folder.info().seed), m_state.epoch), train.batch_size, m_state.batch);
    while (auto batch = loader.next()) {
        serve();
        step(*batch);
        const bool epochEnds = m_state.batch == epochSteps();
        if (epochEnds) ++m_state.epoch, m_state.batch = 0;
        const bool due = m_state.evaluateEvery > 0 ? m_state.step % m_state.evaluateEvery == 0 : epochEnds;
        if (due) evaluate();
        if (m_state.captureEvery > 0 ? m_state.step % m_state.captureEvery == 0 : isGrowingCaptureStep(m_state.step)) capture();
        const bool timed = epochEnds && secondsSince(m_lastCheckpoint) >= 10.0;
        if (train.checkpoint_every > 0 ? m_state.step % train.checkpoint_every == 0 : timed) checkpoint();
        progress();
        if (m_state.step >= m_totalSteps || m_stoppedEarly || epochEnds) return;
    }
}

void Trainer::step(const Batch& batch) {
    requireLabels(batch.targets, m_options.model.num_classes);
    const auto images = batch.images.to(m_device, /*non_blocking=*/true), targets = batch.targets.to(m_device, true);
    const auto generator = saveGenerator(m_device);

    m_model->train();
    m_optimizer->zeroGradients();
    torch::Tensor logits;
    {
        const AutocastScope autocast(bfloat16());
        logits = m_model->forward(images).to(torch::kFloat);
    }
    const auto loss = torch::cross_entropy_loss(logits, targets);
    loss.backward();
    const double value = loss.item<double>(), norm = m_optimizer->clipAndNorm();
    if (!std::isfinite(value) || !std::isfinite(norm)) {
        restoreGenerator(m_device, generator);
        throw NonFinite("the loss is not finite at step " + std::to_string(m_state.step + 1) + ": " + firstNonFinite(*m_model, images) +
                        "; lower train.learning_rate or set train.clip_norm, the weights of step " + std::to_string(m_state.step) + " are kept");
    }
    const double rate = scheduledRate(m_options.train, m_state.baseRate, m_state.step, m_totalSteps);
    m_optimizer->step(rate);

    ++m_state.step, ++m_state.batch;
    m_state.examples += batch.size();
    m_state.windowExamples += batch.size();
    m_state.lossSum += value * static_cast<double>(batch.size());
    m_state.accuracySum += logits.argmax(1).eq(targets).sum().item<double>();
    if (m_state.step % m_recordEvery == 0) recordWindow(rate, norm);
}

void Trainer::recordWindow(double rate, double norm) {
    const double count = static_cast<double>(m_state.windowExamples);
    MetricPoint point{m_state.step, epochNow(), m_state.examples, elapsed(), Split::Train,
                      {{"loss", m_state.lossSum / count}, {"accuracy", m_state.accuracySum / count}, {"learning_rate", rate}, {"grad_norm", norm}}};
    m_state.lossSum = m_state.accuracySum = 0.0;
    m_state.windowExamples = 0;
    whileDiskFull([&] { m_folder.append(point); });
    m_sink(point);
}

void Trainer::evaluate() {
    const auto result = evaluateModel(*m_model, m_data.validation, std::max<std::int64_t>(m_options.train.batch_size, 256),
                                      m_options.model.num_classes, bfloat16(), m_stop);
    m_lastEvaluated = m_state.step;
    MetricPoint point{m_state.step, epochNow(), m_state.examples, elapsed(), Split::Validation, {{"loss", result.loss}, {"accuracy", result.accuracy}}};
    whileDiskFull([&] { m_folder.append(point); });
    m_lastValidation = point;
    auto& info = m_folder.info();
    info.lastLoss = result.loss, info.lastAccuracy = result.accuracy;
    m_sink(point);
    if (m_state.step == 0) return;  // before training nothing is "best"
    if (!(info.bestLoss <= result.loss)) info.bestLoss = result.loss;
    if (!(info.bestAccuracy >= result.accuracy)) info.bestAccuracy = result.accuracy;
    if (noteBest(result)) checkpoint();
}

bool Trainer::noteBest(const Evaluation& e) {
    const auto& stopping = m_options.train.early_stopping;
    const bool useLoss = stopping.metric == "loss", maximize = stopping.enabled() ? stopping.maximize() : true;
    const double value = useLoss ? e.loss : e.accuracy;
    const double gain = maximize ? value - m_state.best : m_state.best - value;
    if (m_state.bestStep < 0 || gain > stopping.min_delta) {
        m_state.best = value;
        m_state.bestStep = m_state.step;
        m_state.badEvaluations = 0;
        return stopping.restore_best;  // then these very weights are needed at the end
    }
    if (stopping.enabled() && m_state.epoch >= stopping.from_epoch && ++m_state.badEvaluations >= stopping.patience) m_stoppedEarly = true;
    return false;
}

void Trainer::capture() {
    m_lastCapture = m_state.step;
    if (m_probes.empty()) return;
    std::vector<ProbeResult> results;
    for (const auto& sample : m_probes) results.push_back(probeModel(*m_model, m_options.model, sample, m_state.step, m_data.validation->info().classNames));
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

void Trainer::serve() {
    if (m_stop.stop_requested()) throw Cancelled();
    applyEdits();
    answerProbe();
    if (m_control.paused() && !m_control.takeStep()) waitWhilePaused();
}

void Trainer::waitWhilePaused() {
    m_state.seconds = elapsed();
    progress(true);
    whileDiskFull([&] { m_folder.flush(); });
    report(RunState::Paused);
    while (m_control.paused()) {
        if (m_stop.stop_requested()) {
            m_resumed = Clock::now();
            throw Cancelled();
        }
        applyEdits();
        answerProbe();
        if (m_control.stopping() || m_control.takeStep()) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    m_resumed = m_rateStart = Clock::now();
    m_rateExamples = 0;
    if (!m_control.paused()) report(RunState::Running);
}

void Trainer::applyEdits() {
    for (const auto& [key, value] : m_control.takeEdits()) {
        try {
            const auto& field = RunOptions::field(key);
            if (!field.spec.live) throw OptionError(key, "cannot change while a run goes on");
            checkFieldValue(key, field.spec, value);
            const std::string before = fieldValueText(field.get(m_options));
            field.set(m_options, value);
            m_state.baseRate = m_options.train.learning_rate;
            m_state.evaluateEvery = m_options.train.evaluate_every;
            m_state.captureEvery = m_options.train.capture_every;
            m_folder.setOptions(m_options);
            m_folder.info().options = optionTexts(m_options);
            whileDiskFull([&] { m_folder.saveInfo(); });
            note(Note::Level::Edit, field.spec.label + " " + before + " → " + fieldValueText(value));
        } catch (const OptionError& error) {
            note(Note::Level::Warning, error.what());
        }
    }
}

void Trainer::answerProbe() {
    const auto request = m_control.takeProbe();
    if (!request) return;
    ProbeAnswer answer{request->first, {}, ""};
    try {
        answer.result = probeModel(*m_model, m_options.model, request->second, m_state.step, m_data.validation->info().classNames);
    } catch (const std::exception& error) {
        answer.error = userMessage(error);
    }
    m_sink(std::move(answer));
}

void Trainer::report(RunState state, const std::string& message) {
    auto& info = m_folder.info();
    info.state = state;
    info.message = message;
    info.step = m_state.step, info.epoch = epochNow();
    info.seconds = state == RunState::Running ? elapsed() : m_state.seconds;
    whileDiskFull([&] { m_folder.saveInfo(); });
    m_sink(RunChanged{info});
}

void Trainer::progress(bool force) {
    const double since = secondsSince(m_lastProgress);
    if (!force && since < 0.04) return;
    m_lastProgress = Clock::now();
    if (const double window = secondsSince(m_rateStart); window > 0.5) {
        m_rate = static_cast<double>(m_state.examples - m_rateExamples) / window;
        if (m_rateExamples == 0) m_rate = 0.0;
        if (m_rateExamples == 0 || window > 5.0) m_rateStart = Clock::now(), m_rateExamples = m_state.examples;
    }
    const double left = static_cast<double>(m_totalSteps - m_state.step) * static_cast<double>(m_options.train.batch_size);
    m_sink(Progress{m_state.step, m_totalSteps, epochNow(), static_cast<double>(m_totalSteps) / static_cast<double>(epochSteps()), m_rate,
                    m_rate > 0 ? left / m_rate : std::numeric_limits<double>::quiet_NaN()});
}

void Trainer::note(Note::Level level, const std::string& text) {
    Note n{level, m_state.step, text};
    whileDiskFull([&] { m_folder.append(n); });
    m_sink(std::move(n));
}

void Trainer::finish(RunState state, const std::string& message) {
    m_state.seconds = elapsed();
    m_resumed = Clock::now();
    progress(true);
    report(state, message);
    whileDiskFull([&] { m_folder.flush(); });
}

// A full disk pauses the run: what is in memory stays, the write is tried again every two seconds and at
// once when somebody presses resume.
template <class Write>
void Trainer::whileDiskFull(Write write) {
    bool told = false;
    for (;;) {
        try {
            write();
            if (told) m_sink(Note{Note::Level::Info, m_state.step, "there is room on the disk again; the run goes on"});
            if (told) m_sink(RunChanged{m_folder.info()});
            return;
        } catch (const DiskFull& full) {
            if (m_stop.stop_requested()) throw;
            if (!told) {
                auto info = m_folder.info();
                info.state = RunState::Paused;
                info.message = full.what();
                m_sink(RunChanged{info});
                m_sink(Note{Note::Level::Warning, m_state.step, std::string("paused: ") + full.what() + "; the last checkpoint is intact"});
                told = true;
            }
            for (int wait = 0; wait < 20 && !m_stop.stop_requested(); ++wait) std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
    }
}

}  // namespace

TrainResult train(RunFolder& folder, const DataSplits& data, Control& control, const EventSink& sink, std::stop_token stop) {
    Trainer trainer(folder, data, control, sink, std::move(stop));
    trainer.prepare();
    return trainer.run();
}

}  // namespace relascope
