// SPDX-License-Identifier: GPL-3.0-or-later
// Measurements during training: metric points, the best weights, captures, tests. Private to
// core/train.
#pragma once

#include "evaluate/evaluate.h"
#include "train/layer_health.h"
#include "train/train_job.h"

namespace relascope::core {

class RunMetrics {
public:
    explicit RunMetrics(TrainJob& job)
        : m_job(job),
          m_recordEvery(std::max<std::int64_t>(1, job.totalSteps / 20000)),
          m_health(job, m_recordEvery) {}

    /// Whether the layers are measured at this step, so that it must be entered before the next.
    bool healthIsDue(std::int64_t step) const { return m_health.isDue(step); }
    /// Called after a step: records a metric point, in long runs only at evenly spaced steps. With
    /// `measured` the weights and gradients are those of this step, and the layers are measured if
    /// that is due.
    void recordStep(double rate, double norm, bool measured);
    /// What jumped in the layers at the step recorded last; empty if nothing did.
    std::string takeJump() { return m_health.takeJump(); }
    /// Evaluates on the validation set, keeps the best weights and decides on early stopping.
    void evaluate();
    /// Saves the maps of the run's inputs as a capture of this step.
    void capture();
    /// Evaluates the finished model on every test split and stores the results with the run. Throws
    /// Cancelled.
    void test();
    std::int64_t lastCapture() const { return m_lastCapture; }

private:
    /// Evaluates in smaller batches where the device has no memory for the usual ones.
    Evaluation measured(const DatasetPtr& data, std::int64_t freely);
    MetricPoint point(Split split, double loss, double accuracy) const;
    void addTextValues(MetricPoint& point) const;
    bool updateBest(const Evaluation& evaluation);
    void writeSample();

    TrainJob& m_job;
    std::int64_t m_recordEvery;
    LayerHealth m_health;
    std::int64_t m_lastCapture = -1;
    bool m_smallBatches = false;
};

}  // namespace relascope::core
