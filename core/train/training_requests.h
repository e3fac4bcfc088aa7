// SPDX-License-Identifier: GPL-3.0-or-later
// Between two steps of a training job: serves the requests of its Control (pause, step, edit,
// probe) and reports how far it is. Private to core/train.
#pragma once

#include <deque>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "train/train_job.h"

namespace relascope::core {

class TrainingRequests {
public:
    /// `afterEdits` is called when the edits of training have changed.
    TrainingRequests(TrainJob& job, Control& control, std::function<void()> afterEdits);

    /// Whether serve() has anything to do. With several ranks: what rank 0 announced after the last
    /// step.
    bool isWanted() const;
    bool isWantedHere() const;
    /// Serves the requests since the last call; waits while the run is paused. Throws Cancelled.
    /// Collective over ranks: the others do what rank 0 tells them.
    void serve();
    /// Sends step, rate and remaining time, 25 times a second at most unless `force`.
    void progress(bool force = false);
    /// Counts the examples for the rate from here on.
    void restartRate();
    /// Ends the requests with the run. Never throws.
    void finish(RunState state, const std::string& message);
    bool stopping() const { return m_control.stopping(); }

private:
    using Json = nlohmann::ordered_json;
    void send(const Json& what);
    void follow();
    void useEdits(EditList edits);
    void answerRequests();
    void waitWhilePaused();
    void answerProbe(const LiveProbe& request);
    void probe(const LiveProbe& request, ProbeAnswer& answer);

    TrainJob& m_job;
    Control& m_control;
    std::function<void()> m_afterEdits;
    Clock::time_point m_lastProgress, m_rateStart;
    std::int64_t m_rateExamples = 0;
    double m_rate = 0.0;         ///< examples per second, the median of m_rates
    std::deque<double> m_rates;  ///< rates of the last 60 seconds or steps, whichever take longer
};

}  // namespace relascope::core
