// SPDX-License-Identifier: GPL-3.0-or-later
// What is measured along a training job: points of the curves, the best weights, captures, tests.
// Private to core/train.
#pragma once

#include "train/evaluate.h"
#include "train/train_job.h"

namespace relascope::core {

class Measurements {
public:
    explicit Measurements(TrainJob& job)
        : m_job(job), m_recordEvery(std::max<std::int64_t>(1, job.totalSteps / 20000)) {}

    /// After a step: every step of a short run, evenly spaced ones of a long run become a point.
    void recordStep(double rate, double norm);
    /// Over the validation set; keeps the best weights and decides on early stopping.
    void evaluate();
    /// The maps of the run's inputs, as a capture of this step.
    void capture();
    /// What the finished model reaches on every test split, kept with the run. Throws Cancelled.
    void test();
    std::int64_t lastCapture() const { return m_lastCapture; }

private:
    EvaluationOptions options() const;
    MetricPoint point(Split split, double loss, double accuracy) const;
    void addTextValues(MetricPoint& point) const;
    bool updateBest(const Evaluation& evaluation);
    void writeSample();

    TrainJob& m_job;
    std::int64_t m_recordEvery;
    std::int64_t m_lastCapture = -1;
};

}  // namespace relascope::core
