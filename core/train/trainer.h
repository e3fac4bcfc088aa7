// SPDX-License-Identifier: GPL-3.0-or-later
// The state of one training job, between the loop (train.cpp) and what serves its listeners
// (train_service.cpp). Private to core/train.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <thread>

#include "data/batches.h"
#include "files/atomic_file.h"
#include "model/factory.h"
#include "options/estimates.h"
#include "train/checkpoints.h"
#include "train/devices.h"
#include "train/evaluate.h"
#include "train/optimizer.h"
#include "train/train.h"

namespace relascope::core {

using Clock = std::chrono::steady_clock;

inline double secondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Thrown by a step with a non-finite loss or gradient; the weights are unchanged.
struct NonFinite : Error {
    using Error::Error;
};

class Trainer {
public:
    Trainer(RunFolder& folder, const DataSplits& data, Control& control, const EventSink& sink,
            std::stop_token stop)
        : m_folder(folder),
          m_data(data),
          m_control(control),
          m_sink(sink),
          m_stop(std::move(stop)),
          m_options(folder.options()),
          m_device(resolveDevice(m_options.train.device)) {}

    void prepare();
    TrainResult run();

private:
    void trainEpochs();
    void trainEpoch();
    void requireData();
    void fitVocabulary();
    void fitImages();
    void chooseProbes();
    void step(const std::vector<Batch>& batches);
    /// Accumulates the gradients of the batches; returns the mean loss and the fraction of correct
    /// targets.
    std::pair<double, double> accumulate(const std::vector<Batch>& batches);
    void writeSample();
    void addTextValues(MetricPoint& point) const;
    EvaluationOptions measuring() const;
    void evaluate();
    void test();
    bool updateBest(const Evaluation& evaluation);
    void capture();
    void checkpoint();
    void serve();
    void waitWhilePaused();
    void applyEdits();
    /// Keeps the checkpoint of this step with the options before an edit.
    void keepBefore(const RunOptions& options);
    /// Applies the live fields of the options; a change made while the run was stopped is marked as
    /// an edit.
    void takeLiveOptions();
    void noteEdit(const Field<RunOptions>& field, const FieldValue& before);
    void answerProbe();
    void recordWindow(double rate, double norm);
    void report(RunState state, const std::string& message = "");
    void progress(bool force = false);
    void note(Note::Level level, const std::string& text);
    void finish(RunState state, const std::string& message);
    template <class Write>
    void whileDiskFull(Write write);

    bool bfloat16() const { return m_options.train.precision == "bfloat16" && m_device.is_cuda(); }
    bool text() const { return m_options.data.isText(); }
    std::int64_t epochBatches() const {
        return (m_data.train->size() + m_options.train.batch_size - 1) / m_options.train.batch_size;
    }
    /// Number of batches that one optimizer step accumulates.
    std::int64_t batchesPerStep() const { return stepBatches(m_options); }
    /// Starts the generator that mixes the batch after the `ahead` that wait.
    std::uint64_t batchSeed(std::size_t ahead) const {
        constexpr std::uint64_t odd = 0x9e3779b97f4a7c15ULL;
        return ((static_cast<std::uint64_t>(m_folder.info().seed) * odd +
                 static_cast<std::uint64_t>(m_state.epoch)) *
                odd) +
               static_cast<std::uint64_t>(m_state.batch) + ahead;
    }
    std::int64_t epochSteps() const {
        return (epochBatches() + batchesPerStep() - 1) / batchesPerStep();
    }
    double epochNow() const {
        return static_cast<double>(m_state.epoch) +
               static_cast<double>(m_state.batch) / static_cast<double>(epochBatches());
    }
    double elapsed() const { return m_state.seconds + secondsSince(m_resumed); }

    RunFolder& m_folder;
    const DataSplits& m_data;
    Control& m_control;
    const EventSink& m_sink;
    std::stop_token m_stop;
    RunOptions m_options;
    torch::Device m_device;

    ModelPtr m_model;
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

// A full disk pauses the run. The state stays in memory, and the write is repeated every two
// seconds and at once on resume.
template <class Write>
void Trainer::whileDiskFull(Write write) {
    bool reported = false;
    for (;;) {
        try {
            write();
            if (reported)
                m_sink(Note{Note::Level::Info, m_state.step,
                            "disk space is available again; training continues"});
            if (reported) m_sink(RunChanged{m_folder.info()});
            return;
        } catch (const DiskFull& full) {
            if (m_stop.stop_requested()) throw;
            if (!reported) {
                auto info = m_folder.info();
                info.state = RunState::Paused;
                info.message = full.what();
                m_sink(RunChanged{info});
                m_sink(Note{
                    Note::Level::Warning, m_state.step,
                    std::string("paused: ") + full.what() + "; the last checkpoint is intact"});
                reported = true;
            }
            for (int wait = 0; wait < 20 && !m_stop.stop_requested(); ++wait)
                std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
    }
}

}  // namespace relascope::core
