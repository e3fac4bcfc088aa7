// SPDX-License-Identifier: GPL-3.0-or-later
// A tiny run that is trained within a test.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "run/run_lines.h"
#include "support/tiny_run.h"
#include "train/train.h"

namespace relascope::testing_support {

struct Trained {
    TrainResult result;
    std::vector<TrainEvent> events;
    std::vector<std::string> notes() const {
        std::vector<std::string> texts;
        for (const auto& event : events)
            if (const auto* note = std::get_if<Note>(&event)) texts.push_back(note->text);
        return texts;
    }
};

inline Trained trainIn(RunFolder& folder, Control& control, const DataSplits& data = tinyData(),
                       std::function<void(const TrainEvent&, std::stop_source&)> watch = {},
                       const EditChoice& edits = {}) {
    std::stop_source stop;
    Trained trained;
    trained.result = train(
        folder, data, control,
        [&](TrainEvent event) {
            if (watch) watch(event, stop);
            trained.events.push_back(std::move(event));
        },
        stop.get_token(), edits);
    return trained;
}

/// Makes a watch for trainIn() that requests the end after that training step.
inline auto stopAfter(std::int64_t step) {
    return [step](const TrainEvent& event, std::stop_source& stop) {
        const auto* point = std::get_if<MetricPoint>(&event);
        if (point && point->split == Split::Train && point->step == step) stop.request_stop();
    };
}

inline std::vector<double> losses(const std::string& run) {
    std::vector<double> all;
    for (const auto& p : readMetrics(run)) all.push_back(p.value("loss"));
    return all;
}

}  // namespace relascope::testing_support
