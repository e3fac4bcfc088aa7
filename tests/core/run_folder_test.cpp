// SPDX-License-Identifier: GPL-3.0-or-later
// The files of a run: labels, the trash, incomplete lines and the best validation values.
#include "run/run_folder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "files/atomic_file.h"
#include "run/run_lines.h"
#include "run/run_list.h"
#include "support/rooms.h"
#include "support/tiny_run.h"

namespace relascope {
namespace {

using namespace testing_support;

TEST(RunFolder, LabelsAndTheTrash) {
    TemporaryFolder home("labels");
    const std::string runs = home / "runs", a = runs + "/a", b = runs + "/group/seed-1";
    for (const auto& path : {a, b}) RunFolder::create(path, tinyOptions()).saveInfo();
    EXPECT_EQ(readRunInfo(a).labels, RunLabels());
    writeRunLabels(a, {"The \"best\" one", {"baseline", "ünï"}, true});
    EXPECT_EQ(readRunInfo(a).name, "The \"best\" one");
    EXPECT_EQ(readRunInfo(a).labels.tags, (std::vector<std::string>{"baseline", "ünï"}));
    EXPECT_TRUE(listRuns(runs)[0].labels.hidden || listRuns(runs)[1].labels.hidden)
        << "hidden runs are listed: who shows them decides";
    writeTextFile(a + "/labels.json", "{\"name\": 7, torn");
    EXPECT_EQ(readRunInfo(a).name, "a") << "damaged labels are no labels";

    const auto to = trashPath(runs, b);
    EXPECT_EQ(to, runs + "/.trash/group/seed-1");
    moveRun(b, to);
    EXPECT_FALSE(std::filesystem::exists(runs + "/group")) << "with its last run";
    EXPECT_EQ(listRuns(runs).size(), 1u);
    EXPECT_NE(trashPath(runs, b), to) << "a second one of that name has its own place";
    moveRun(to, b);
    EXPECT_EQ(listRuns(runs).size(), 2u);
    EXPECT_EQ(trashPath(runs, home / "elsewhere/run"), home / "elsewhere/.trash/run");
    const auto held = RunFolder::open(a);
    EXPECT_THROW(moveRun(a, trashPath(runs, a)), FileError) << "it is being trained";
    EXPECT_TRUE(isRunFolder(a));
}

TEST(RunFolder, ToleratesATornLineAndAForeignFile) {
    TemporaryFolder home("torn");
    {
        auto folder = RunFolder::create(home / "run", tinyOptions());
        folder.append(
            MetricPoint{1,
                        0.1,
                        16,
                        0.5,
                        Split::Train,
                        {{"loss", 0.7}, {"accuracy", std::numeric_limits<double>::quiet_NaN()}}});
        folder.append(MetricPoint{2, 0.2, 32, 0.6, Split::Validation, {{"loss", 0.6}}});
        folder.saveInfo();
    }
    std::ofstream(home / "run/metrics.jsonl", std::ios::app) << R"({"step": 3, "epo)";
    LinesRead read;
    auto points = readMetrics(home / "run", &read);
    EXPECT_TRUE(read.whole);
    ASSERT_EQ(points.size(), 2u);
    EXPECT_TRUE(std::isnan(points[0].value("accuracy")));
    EXPECT_EQ(points[1].split, Split::Validation);
    EXPECT_TRUE(readMetrics(home / "run", &read).empty());
    std::ofstream(home / "run/metrics.jsonl", std::ios::app) << "ch\": 0.3}\n";
    points = readMetrics(home / "run", &read);
    EXPECT_FALSE(read.whole);
    ASSERT_EQ(points.size(), 1u) << "the line that was not complete before";
    EXPECT_EQ(points[0].step, 3);
    {
        auto folder = RunFolder::open(home / "run");
        folder.rewindMetrics(1);
    }
    points = readMetrics(home / "run", &read);
    EXPECT_TRUE(read.whole) << "a resumed run begins another file";
    EXPECT_EQ(points.size(), 1u);
    LinesRead events;
    EXPECT_TRUE(readEvents(home / "run", &events).empty());
    std::ofstream(home / "run/events.jsonl") << noteToLine({Note::Level::Info, 3, "here"}) << '\n';
    EXPECT_EQ(readEvents(home / "run", &events).size(), 1u);
    EXPECT_TRUE(readEvents(home / "run", &events).empty());
    EXPECT_EQ(readMetrics(home / "run").size(), 1u);
    EXPECT_EQ(listRuns(home.path()).size(), 1u);
    writeTextFile(home / "run/run.json", R"({"format": 2})");
    EXPECT_THROW(readRunInfo(home / "run"), FileError);
    writeTextFile(home / "run/run.json", "{");
    EXPECT_THROW(RunFolder::open(home / "run"), FileError);
    EXPECT_TRUE(listRuns(home.path()).empty());
}

MetricPoint validation(std::int64_t step, double loss, double accuracy) {
    return {step, 0.0, 0, 0.0, Split::Validation, {{"loss", loss}, {"accuracy", accuracy}}};
}

TEST(RunFolder, WhatWasTrainedIsNoStartToDiscard) {
    TemporaryFolder home("start");
    for (const std::int64_t step : {0, 3}) {
        const std::string path = home / ("run-" + std::to_string(step));
        {
            auto folder = RunFolder::create(path, tinyOptions());
            folder.saveInfo();  // at step 0, and not since
            MetricPoint point;
            point.step = step;
            folder.append(point);
            folder.flush();
        }
        EXPECT_EQ(RunFolder::discardStart(path), step == 0);
        EXPECT_EQ(std::filesystem::exists(path), step > 0);
    }
}

TEST(RunFolder, TheUntrainedModelIsNotTheBest) {
    RunInfo info;
    info.totalSteps = 10;
    info.metric = "accuracy";
    takeValidation(info, validation(0, 0.1, 0.9));
    EXPECT_EQ(info.last.value("accuracy"), 0.9);
    EXPECT_EQ(info.kept, info.last);
    EXPECT_EQ(info.evaluations, 0);
    EXPECT_TRUE(std::isnan(info.bestMetric));
    EXPECT_TRUE(std::isnan(info.bestLoss));
    takeValidation(info, validation(5, 0.7, 0.6));
    takeValidation(info, validation(10, 0.8, 0.5));
    EXPECT_EQ(info.bestMetric, 0.6);
    EXPECT_EQ(info.bestAccuracy, 0.6);
    EXPECT_EQ(info.bestLoss, 0.7);
    EXPECT_EQ(info.last.value("loss"), 0.8);
    EXPECT_EQ(info.bestStep, 5);
    EXPECT_EQ(info.evaluations, 2);
    EXPECT_EQ(info.kept.step, 10) << "the last weights, whatever was seen before";
    EXPECT_TRUE(info.sawBetter());

    RunInfo restores;
    restores.totalSteps = 10, restores.restoresBest = true;
    takeValidation(restores, validation(0, 0.1, 0.9));
    takeValidation(restores, validation(5, 0.7, 0.6), true);
    takeValidation(restores, validation(10, 0.6, 0.7));
    EXPECT_EQ(restores.kept.step, 5) << "by the rule of early stopping, not by the metric shown";
    EXPECT_EQ(restores.kept.value("accuracy"), 0.6);
    EXPECT_EQ(restores.bestMetric, 0.7);

    RunInfo nothingToTrain;
    nothingToTrain.metric = "loss";
    takeValidation(nothingToTrain, validation(0, 0.3, 0.9));
    EXPECT_EQ(nothingToTrain.bestMetric, 0.3) << "a model without parameters is evaluated once";
    takeValidation(nothingToTrain, validation(0, 0.2, 0.9));
    EXPECT_EQ(nothingToTrain.bestMetric, 0.2) << "of a loss the lowest";
}

}  // namespace
}  // namespace relascope
