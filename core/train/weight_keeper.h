// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps the weights of chosen steps of a run (formats.md section 11). Training waits for the copy
// alone: a thread of its own compresses and writes. Private to core/train.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "checkpoint/kept_weights.h"
#include "train/train_job.h"

namespace relascope::core {

class WeightKeeper {
public:
    /// Removes the weights that were kept after the step that the job continues from, and plans
    /// with train.keep_mib.
    explicit WeightKeeper(TrainJob& job);
    /// Writes the copies that still wait.
    ~WeightKeeper();
    WeightKeeper(const WeightKeeper&) = delete;
    WeightKeeper& operator=(const WeightKeeper&) = delete;

    /// Counts the time of training from here on.
    void restartClock();
    bool isDue(std::int64_t step) const { return m_keeps && m_plan.keeps(step); }
    /// Copies the weights of this step. A step is left out where copies would take more than a
    /// fiftieth of the time of training and a tenth of a second, or the disk is behind.
    void keep();
    /// Copies the weights of the last step of a run, which is never left out.
    void keepLast();
    /// Copies the weights of a step at which training is changed, and marks it so that it stays.
    void keepMarked() { copy(true, true); }
    /// Waits until all is written, and notes what went wrong.
    void finish();

    const KeptPlan& plan() const { return m_plan; }

private:
    struct Copy {
        std::int64_t step = 0;
        WeightValues values;
        std::uint64_t bytes = 0;
        bool marked = false;
    };
    void copy(bool always, bool marked = false);
    bool isTooSlow() const;
    void push(Copy copy);
    void write();
    void noteProblem();
    WeightValues valuesNow() const;

    TrainJob& m_job;
    KeptPlan m_plan;
    bool m_keeps = false;
    std::uint64_t m_budget = 0, m_reserve = 0;
    double m_startSeconds = 0.0;  ///< training time at the start
    std::int64_t m_startStep = 0, m_copied = -1;
    double m_spent = 0.0, m_lastCost = 0.0;  ///< seconds

    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::deque<Copy> m_waiting;
    std::uint64_t m_waitingBytes = 0;
    std::int64_t m_best = -1;
    bool m_ends = false, m_failed = false;
    std::string m_problem;
    std::thread m_writer;
};

}  // namespace relascope::core
