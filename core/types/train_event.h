// SPDX-License-Identifier: GPL-3.0-or-later
// Events of a running job.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "types/edit.h"
#include "types/metric.h"
#include "types/relation_map.h"
#include "types/run_info.h"

namespace relascope {

/// The job began or changed its state; `info` is complete.
struct RunChanged {
    RunInfo info;
};

/// Progress; at most some tens of events a second.
struct Progress {
    std::int64_t step = 0;
    std::int64_t totalSteps = 0;
    double epoch = 0.0;
    double totalEpochs = 0.0;
    double examplesPerSecond = 0.0;
    double secondsLeft = 0.0;
    double tokensPerSecond = 0.0;  ///< for text; 0 otherwise
};

/// A line for events.jsonl and the log: live edits, warnings, checkpoints, and the text that a
/// language model generates from its prompt.
struct Note {
    /// Jump: a value of a layer became ten-fold, or a tenth (train/layer_health.h).
    enum class Level { Info, Warning, Edit, Checkpoint, Sample, Jump };
    Level level = Level::Info;
    std::int64_t step = 0;
    std::string text;
    /// With Level::Edit: the interventions on the model that trains, from this step on, none for an
    /// empty list; null for a changed option.
    std::shared_ptr<const EditList> edits = {};
};

/// The answer to a probe request, which is served between two steps. `request` identifies late
/// answers. Edits of training are in both results: they belong to the model that trains.
struct ProbeAnswer {
    std::uint64_t request = 0;
    ProbeResult result;  ///< with the edits of the request
    /// The maps without these edits; null if the request has no enabled edit.
    std::shared_ptr<const ProbeResult> base = {};
    std::string error;                   ///< message; empty if `result` is valid
    std::vector<PointInfo> points = {};  ///< every hook point, if they were asked for
    TakenMeans means = {};               ///< means that edits of the request have taken
    double seconds = 0.0;                ///< time that the training waited for the probe
};

/// The job failed, with a message for the user.
struct Failed {
    std::string message;
};

using TrainEvent = std::variant<RunChanged, Progress, MetricPoint, Note, ProbeAnswer, Failed>;

}  // namespace relascope
