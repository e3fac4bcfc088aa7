// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the events of a run for TensorBoard while it trains.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "types/train_event.h"

namespace relascope::cli {

/// Each start of a run, also a resumed one, gets a file of its own in FOLDER/NAME, written about
/// once a second. Training never fails because of it: an error in writing is reported once, and
/// nothing more is written.
class TensorBoardSink {
public:
    /// `run` is the run's folder. Throws FileError unless the folder can be written.
    TensorBoardSink(const std::string& folder, const std::string& run,
                    std::function<void(const std::string&)> warn);
    ~TensorBoardSink();
    TensorBoardSink(const TensorBoardSink&) = delete;
    TensorBoardSink& operator=(const TensorBoardSink&) = delete;

    void take(const TrainEvent& event);

private:
    void begin(const RunInfo& info, double now);
    /// Called when a run is resumed, also after a lost rank: the steps after its checkpoint are
    /// repeated.
    void repeatAfter(std::int64_t step, double now);
    void flush();

    std::string m_path, m_records;
    std::function<void(const std::string&)> m_warn;
    std::chrono::steady_clock::time_point m_flushed;
    std::int64_t m_step = 0;  ///< the last step of which something was written
    bool m_began = false, m_failed = false, m_pretrains = false;
};

}  // namespace relascope::cli
