// SPDX-License-Identifier: GPL-3.0-or-later
// One training job: what the loop (train.cpp), its preparation, its measurements and its listeners
// share. Private to core/train.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "data/dataset.h"
#include "files/atomic_file.h"
#include "interventions/active_edits.h"
#include "model/model.h"
#include "options/estimates.h"
#include "ranks/rank_group.h"
#include "train/checkpoints.h"
#include "train/devices.h"
#include "train/optimizer.h"
#include "train/train.h"

namespace relascope::core {

using Clock = std::chrono::steady_clock;

inline double secondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

struct TrainJob {
    TrainJob(RunFolder& folder, const DataSplits& data, const EventSink& sink, std::stop_token stop,
             RankGroup* ranks)
        : folder(folder),
          data(data),
          sink(sink),
          stop(std::move(stop)),
          ranks(ranks),
          options(folder.options()),
          device(ranks ? ranks->names()[static_cast<std::size_t>(ranks->rank())].device
                       : resolveDevice(options.train.device)) {}

    /// Whether this process decides and writes: it is alone, or rank 0.
    bool leads() const { return !ranks || ranks->leads(); }
    /// The value of `here` on rank 0. Collective.
    bool broadcastBool(bool here) const {
        return ranks ? ranks->broadcast(here ? "yes" : "") == "yes" : here;
    }
    /// Whether `here` is true in this process or, with several ranks, on any of them. Collective.
    bool onAnyRank(bool here) const { return ranks ? ranks->any(here) : here; }

    /// Whether steps round products to bfloat16.
    bool bfloat16() const {
        return options.train.precision == "bfloat16" && (device.is_cuda() || device.is_cpu());
    }
    bool isText() const { return options.data.isText(); }
    bool startsFromCheckpoint() const { return !options.train.init_from.empty(); }
    std::int64_t epochBatches() const {
        return (data.train->size() + options.train.batch_size - 1) / options.train.batch_size;
    }
    /// Number of batches that one optimizer step accumulates.
    std::int64_t batchesPerStep() const { return stepBatches(options); }
    std::int64_t epochSteps() const {
        return (epochBatches() + batchesPerStep() - 1) / batchesPerStep();
    }
    double epochNow() const {
        return static_cast<double>(state.epoch) +
               static_cast<double>(state.batch) / static_cast<double>(epochBatches());
    }
    /// All epochs of the run; a fraction if the run is given in steps.
    double totalEpochs() const {
        return options.train.steps > 0
                   ? static_cast<double>(totalSteps) / static_cast<double>(epochSteps())
                   : static_cast<double>(options.train.epochs);
    }
    /// Seconds of training so far, without pauses and interruptions.
    double elapsed() const { return state.seconds + secondsSince(resumed); }
    /// Adds the seconds since `resumed` to the state and counts from now.
    void addElapsed();

    /// Writes the run's state into run.json and sends it to the listeners.
    void report(RunState runState, const std::string& message = "");
    /// report() at the end of the run; also writes the lines that are not written yet. Never
    /// throws: the message says what could not be written, and the listeners get it in any case.
    void reportEnd(RunState runState, std::string message);
    /// Writes a note of this step into events.jsonl and sends it to the listeners.
    void note(Note::Level level, const std::string& text) { note({level, state.step, text}); }
    void note(Note note);
    void record(const MetricPoint& point);
    /// Writes a checkpoint. Collective with several ranks, as the optimizer's state is divided
    /// among them.
    void checkpoint();
    /// Keeps the checkpoint of this step permanently, with these options, so that a run can be
    /// branched there.
    void keepThisCheckpoint(const RunOptions& with);
    /// Runs `write`. A full disk pauses the run: the state stays in memory, and the write is
    /// repeated every two seconds, until the run is stopped or, with several ranks, for as long as
    /// the others wait. A write that fails otherwise is tried three times. Throws DiskFull,
    /// FileError, or RankLost if a rank is lost meanwhile.
    template <class Write>
    void retryUntilDiskHasRoom(Write write);
    void flushIfDue();
    void beginDiskFull(const std::string& problem);
    void waitForSpace(Clock::time_point began);
    void endDiskFull();

    RunFolder& folder;
    const DataSplits& data;
    const EventSink& sink;
    std::stop_token stop;
    RankGroup* ranks;  ///< null: this process trains alone
    RunOptions options;
    torch::Device device;

    ModelPtr model;
    std::unique_ptr<Optimizer> optimizer;
    TrainState state;
    std::optional<FamilyForm> form;      ///< form of the checkpoints; empty: names of the model
    std::unique_ptr<ActiveEdits> edits;  ///< the edits of `state`; null without any
    /// Checked edits that are applied and recorded before the first step.
    std::optional<EditList> nextEdits;
    std::vector<ProbeSample> captureInputs;
    std::int64_t totalSteps = 0;
    Clock::time_point resumed, lastCheckpoint;
    std::int64_t lastEvaluated = -1;  ///< step of the last evaluation
    MetricPoint lastValidation;
    bool stoppedEarly = false;
    bool isSaved = false;  ///< the run has a checkpoint

    /// The instructions of rank 0 to all ranks before the next step.
    struct Directives {
        bool serve = false;            ///< its TrainingRequests has something to do
        bool stop = false;             ///< after this epoch
        double sinceCheckpoint = 0.0;  ///< seconds
    };
    std::function<Directives()> directivesNow;  ///< called on rank 0
    Directives directives;                      ///< with several ranks: those that all know
};

/// Makes the model and the optimizer of a job and brings them to where the run is: weights,
/// optimizer and position come from its newest complete checkpoint, or from the stage before it.
/// With `edits` the run trains with these from here on. Throws OptionError where data, model or
/// edits do not fit, FileError, MemoryError.
void prepare(TrainJob& job, const EditChoice& edits = {});

template <class Write>
void TrainJob::retryUntilDiskHasRoom(Write write) {
    std::optional<Clock::time_point> began;
    for (int failed = 1;;) {
        try {
            write();
            if (began) endDiskFull();
            return;
        } catch (const DiskFull& full) {
            if (stop.stop_requested() || (ranks && ranks->isLost())) throw;
            if (!began) {
                began = Clock::now();
                beginDiskFull(full.what());
            }
            waitForSpace(*began);
        } catch (const FileError&) {
            if (failed == 3) throw;
            std::this_thread::sleep_for(std::chrono::milliseconds(50 * failed++));
        }
    }
}

}  // namespace relascope::core
