// SPDX-License-Identifier: GPL-3.0-or-later
// Studies on the disk for the tests of the window: made up, or so small that they run in a moment.
#pragma once

#include <QString>

#include "run/run_folder.h"
#include "study/study.h"
#include "support/rooms.h"

namespace relascope {

/// Three models, four sizes, two seeds of occurs; nothing has run.
inline StudyPlan occursPlan() {
    StudyPlan plan;
    plan.preset = "relational-games-occurs";
    plan.models = {"dat-relational", "transformer", "abstractor"};
    plan.sizes = {250, 500, 1000, 2500};
    plan.seeds = {0, 1};
    return plan;
}

/// Two models on pairs of small vectors: seconds, most of them for loading LibTorch.
inline StudyPlan tinyStudy(int epochs = 2, std::vector<std::int64_t> sizes = {64}) {
    StudyPlan plan;
    plan.preset = "pairwise-order";
    plan.models = {"mlp", "corelnet"};
    plan.sizes = std::move(sizes);
    plan.seeds = {0};
    plan.settings = {{"data.dim", "4"},          {"data.validation_size", "32"},
                     {"data.test_size", "32"},   {"train.epochs", std::to_string(epochs)},
                     {"train.batch_size", "32"}, {"train.early_stopping.metric", "none"},
                     {"model.d_model", "8"}};
    return plan;
}

/// What a run that ended would have left.
inline void writeRun(const std::string& study, const StudyPlan& plan, const StudyCell& cell,
                     RunState state, double accuracy, const std::string& message = {}) {
    RunFolder run = RunFolder::create(study + "/runs/" + cell.name, cellOptions(plan, cell));
    RunInfo& info = run.info();
    info.state = state;
    info.seed = cell.seed;
    info.message = message;
    info.parameters = cell.model == "transformer" ? 387490 : 423010;
    info.totalSteps = 250;
    info.step = state == RunState::Done ? 250 : 100;
    info.seconds = 60.0;
    info.device = "cpu";
    if (state == RunState::Done) {
        info.kept = info.last = {250, {{"accuracy", accuracy}}};
        for (const char* split : {"pentos", "hexos", "stripes"})
            info.results.push_back(
                {split, 10000, {{"accuracy", accuracy}, {"loss", 1 - accuracy}}});
    }
    run.saveInfo();
}

/// Everything below 2,500 is done, but the first run has failed.
inline QString makeOccurs(const QString& path) {
    const std::string study = path.toStdString();
    const auto plan = occursPlan();
    createStudy(study, plan);
    int model = 0;
    std::string before = plan.models.front();
    for (const auto& cell : studyCells(plan)) {
        if (cell.model != before) ++model, before = cell.model;
        if (cell.size == 2500) continue;
        const bool failed = cell.name == "dat-relational-n250-s0";
        const double accuracy = 0.6 + 0.1 * (cell.size == 500) + 0.3 * (cell.size == 1000) -
                                0.05 * model + 0.01 * static_cast<double>(cell.seed);
        writeRun(study, plan, cell, failed ? RunState::Failed : RunState::Done, accuracy,
                 failed ? "the loss became NaN at step 12" : "");
    }
    return path;
}

}  // namespace relascope
