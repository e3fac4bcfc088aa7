// SPDX-License-Identifier: GPL-3.0-or-later
// Text output of the results of a run or an evaluation.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "types/dataset_info.h"
#include "types/finite_json.h"
#include "types/metric.h"
#include "types/run_info.h"

namespace relascope::cli {

/// A metric with its value: "accuracy 93.0 %", "perplexity 6.21", "mean error 0.0123".
std::string metricText(const std::string& metric, double value);
/// The main metrics of a point: "sequence accuracy 12.0 %, accuracy 93.0 %".
std::string scoreText(const std::vector<std::pair<std::string, double>>& values);
/// The scores of the weights that a run keeps: "weights of step 400: validation loss 0.2131,
/// accuracy 93.0 %; best seen 97.2 % (step 480, not kept)".
std::string keptText(const RunInfo& info);

/// Prints to stderr what was left out of the files of these data, if anything was.
void sayNote(const DatasetInfo& data);

// Progress on stderr: one line rewritten on a terminal, one line a minute otherwise.

class ProgressLine {
public:
    ProgressLine();
    ~ProgressLine();
    /// Shows `text` after a bar filled to `fraction` (0..1).
    void show(double fraction, const std::string& text);
    /// Prints a whole line above the bar.
    void say(const std::string& line);
    /// Ends the bar's line.
    void done();

private:
    bool m_terminal;
    bool m_open = false;
    std::chrono::steady_clock::time_point m_shown;
};

// Shows on stderr what a question waits for: on a terminal in one line that is rewritten, otherwise
// in a line for each cause, and again once a minute.
class WaitingLine {
public:
    /// An empty text takes the line away.
    void show(const std::string& text);

private:
    std::string m_shown, m_cause;
    std::chrono::steady_clock::time_point m_said{};
};

}  // namespace relascope::cli
