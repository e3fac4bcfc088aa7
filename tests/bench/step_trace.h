// SPDX-License-Identifier: GPL-3.0-or-later
// Where a training step spends its time, as trace events: Chrome's and Perfetto's viewers
// read the file (Trace Event Format, complete events in microseconds).
#pragma once

#include <functional>
#include <string>

#include "model/model.h"

namespace relascope::core {

/// The parts of a step.
struct TracedStep {
    std::function<void()> forward, backward, optimize;
};

/// Runs the step on this thread and writes its spans to `file`: "forward", "backward" and
/// "optimizer", in them the modules by their registered names (in the backward pass the operations
/// of the module, named after it), and in those LibTorch's operators. Replaces the file. Throws
/// FileError.
void writeStepTrace(const ModelImpl& model, const TracedStep& step, const std::string& file);

}  // namespace relascope::core
