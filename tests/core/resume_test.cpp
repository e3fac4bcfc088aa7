// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that continue where they stopped: bit for bit, from a branch, with other options or fewer
// data, and from an older checkpoint if the last is damaged.
#include <gtest/gtest.h>

#include <fstream>

#include <torch/types.h>

#include "checkpoint/tensor_io.h"
#include "run/captures.h"
#include "run/run_lines.h"
#include "support/rooms.h"
#include "support/tiny_run.h"
#include "support/trained.h"
#include "train/branch.h"
#include "train/checkpoints.h"

namespace relascope {
namespace {

using namespace testing_support;

// Interrupted in the middle of an epoch, with dropout: the same losses to the last bit.
TEST(Train, ResumesBitForBit) {
    TemporaryFolder home("resume");
    auto options = tinyOptions();
    options.train.evaluate_every = 5;
    auto whole = RunFolder::create(home / "whole", options);
    Control none;
    trainIn(whole, none);

    {
        auto first = RunFolder::create(home / "parts", options);
        Control control;
        const auto trained = trainIn(first, control, tinyData(), stopAfter(8));
        EXPECT_EQ(trained.result.info.state, RunState::Interrupted);
        EXPECT_EQ(readRunInfo(home / "parts").state, RunState::Interrupted);
        EXPECT_EQ(trained.result.info.step, 8);
        EXPECT_THROW(RunFolder::open(home / "parts"), FileError) << "still held";
    }
    {
        auto second = RunFolder::open(home / "parts");
        Control control;
        const auto trained = trainIn(second, control);
        EXPECT_EQ(trained.result.info.state, RunState::Done);
    }
    EXPECT_EQ(losses(home / "parts"), losses(home / "whole"));
    const auto a = readTensors(home / "whole/checkpoints/step-24/model.safetensors"),
               b = readTensors(home / "parts/checkpoints/step-24/model.safetensors");
    ASSERT_FALSE(a.empty());
    for (const auto& [name, tensor] : a) EXPECT_TRUE(torch::equal(tensor, b.at(name))) << name;

    {  // Resumed once more, a finished run stays as it is.
        auto again = RunFolder::open(home / "parts");
        Control control;
        const auto trained = trainIn(again, control);
        EXPECT_EQ(trained.result.info.state, RunState::Done);
        EXPECT_EQ(trained.result.lastValidation.step, 24);
    }
    EXPECT_EQ(losses(home / "parts"), losses(home / "whole"));

    // A finished run continues when it is given more epochs.
    auto longer = RunFolder::open(home / "parts");
    auto more = longer.options();
    more.train.epochs = 5;
    longer.setOptions(more);
    Control control;
    EXPECT_EQ(trainIn(longer, control).result.info.step, 30);
}

// Cancelled after a step that an evaluation and a capture follow.
TEST(Train, MakesUpForTheEvaluationItWasCancelledIn) {
    TemporaryFolder home("due");
    auto options = tinyOptions();
    options.train.evaluate_every = 4, options.train.capture_every = 8;
    auto whole = RunFolder::create(home / "whole", options);
    Control none;
    trainIn(whole, none);
    {
        auto first = RunFolder::create(home / "parts", options);
        Control control;
        EXPECT_EQ(trainIn(first, control, tinyData(), stopAfter(8)).result.info.state,
                  RunState::Interrupted);
        EXPECT_EQ(readMetrics(home / "parts").back().split, Split::Train) << "not evaluated";
    }
    auto second = RunFolder::open(home / "parts");
    Control control;
    EXPECT_EQ(trainIn(second, control).result.info.state, RunState::Done);
    EXPECT_EQ(losses(home / "parts"), losses(home / "whole"));
    EXPECT_EQ(captureSteps(home / "parts/captures"), captureSteps(home / "whole/captures"));
}

// The checkpoint before an edit is kept, and a run that starts from it continues as if
// nothing had been edited, to the last bit.
TEST(Train, ABranchStartsBeforeTheEdit) {
    TemporaryFolder home("branch");
    auto options = tinyOptions();
    options.train.epochs = 8;
    options.train.checkpoint_every = 6;
    auto whole = RunFolder::create(home / "whole", options);
    Control none;
    trainIn(whole, none);
    {
        auto edited = RunFolder::create(home / "edited", options);
        Control control;
        const auto trained =
            trainIn(edited, control, tinyData(), [&](const TrainEvent& event, std::stop_source&) {
                const auto* p = std::get_if<MetricPoint>(&event);
                if (!p || p->split != Split::Train) return;
                if (p->step == 8) control.changeOption("train.learning_rate", 5e-2);
                if (p->step == 9)  // nothing new: no mark
                    control.changeOption("train.learning_rate", 5e-2);
                if (p->step == 10) control.changeOption("train.learning_rate", 0.0);
            });
        EXPECT_EQ(trained.result.info.state, RunState::Done);
        std::string all;
        for (const auto& note : trained.notes()) all += note + "\n";
        EXPECT_NE(all.find("train.learning_rate: must be greater than 0"), std::string::npos);
    }
    const std::string edited = home / "edited", branch = home / "branch";
    std::vector<std::int64_t> edits;
    for (const auto& note : readEvents(edited))
        if (note.level == Note::Level::Edit) edits.push_back(note.step);
    EXPECT_EQ(edits, std::vector<std::int64_t>{8});
    EXPECT_TRUE(hasKeptCheckpoint(edited, 8)) << "later checkpoints do not prune it";
    EXPECT_NE(losses(edited), losses(home / "whole"));

    EXPECT_THROW(branchRun(edited, 12, branch), FileError) << "there was no edit";
    EXPECT_FALSE(std::filesystem::exists(branch));
    branchRun(edited, 8, branch);
    const auto info = readRunInfo(branch);
    EXPECT_EQ(info.state, RunState::Stopped);
    EXPECT_EQ(info.step, 8);
    EXPECT_EQ(readRunOptions(branch).train.learning_rate, 1e-3);
    EXPECT_EQ(readMetrics(branch).back().step, 8);
    EXPECT_EQ(captureSteps(branch + "/captures").back(), 8);
    EXPECT_FALSE(hasKeptCheckpoint(branch, 8)) << "nothing was edited in it";
    for (const auto& note : readEvents(branch)) EXPECT_NE(note.level, Note::Level::Edit);
    {
        auto folder = RunFolder::open(branch);
        Control control;
        EXPECT_EQ(trainIn(folder, control).result.info.state, RunState::Done);
    }
    EXPECT_EQ(losses(branch), losses(home / "whole"));
    EXPECT_EQ(readRunInfo(branch).bestLoss, readRunInfo(home / "whole").bestLoss);
}

// What is changed in the form while a run stands still is in force when it is resumed, and marked.
TEST(Train, AResumedRunTakesTheOptionsItIsGiven) {
    TemporaryFolder home("given");
    auto options = tinyOptions();
    {
        auto first = RunFolder::create(home / "run", options);
        Control control;
        trainIn(first, control, tinyData(), stopAfter(8));
    }
    auto second = RunFolder::open(home / "run");
    options.train.learning_rate = 2e-3;
    second.setOptions(options);
    Control control;
    trainIn(second, control);
    for (const auto& p : readMetrics(home / "run"))
        if (p.split == Split::Train) {
            EXPECT_EQ(p.value("learning_rate"), p.step <= 8 ? 1e-3 : 2e-3) << p.step;
        }
    std::string edit;
    for (const auto& note : readEvents(home / "run"))
        if (note.level == Note::Level::Edit) edit += note.text;
    EXPECT_EQ(edit, "Learning rate 0.001 → 0.002");
    EXPECT_TRUE(hasKeptCheckpoint(home / "run", 8));
}

// A file of data may have been replaced while the run stood still.
TEST(Train, ResumesWithFewerData) {
    TemporaryFolder home("fewer");
    auto options = tinyOptions();
    options.train.steps = 14;
    {
        auto first = RunFolder::create(home / "run", options);
        Control control;
        trainIn(first, control, tinyData(96), stopAfter(8));
    }
    auto second = RunFolder::open(home / "run");
    Control control;
    // 2 batches of the second epoch are done, which has no more of them now.
    const auto trained = trainIn(second, control, tinyData(32));
    EXPECT_EQ(trained.result.info.state, RunState::Done);
    EXPECT_EQ(trained.result.info.step, 14);
    EXPECT_EQ(trained.result.info.epoch, 5) << "2 + 6 steps of 2 an epoch";
    std::string warnings;
    for (const auto& note : readEvents(home / "run"))
        if (note.level == Note::Level::Warning) warnings += note.text;
    EXPECT_EQ(warnings, "the training data have become smaller, to 32 examples: epoch 2 ends here");
}

TEST(Checkpoints, AFlippedBitIsNoticedAndTheOlderOneUsed) {
    TemporaryFolder home("flip");
    auto options = tinyOptions();
    options.train.checkpoint_every = 6;
    {
        auto folder = RunFolder::create(home / "run", options);
        Control control;
        trainIn(folder, control);
    }
    const std::string checkpoints = home / "run/checkpoints";
    const auto steps = checkpointSteps(checkpoints);
    ASSERT_GE(steps.size(), 2u);
    ASSERT_LE(steps.size(), 3u) << "the last two and the best are kept";
    const std::string file = checkpoints + "/step-24/model.safetensors";
    {
        std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
        bytes.seekg(5000);
        char c = 0;
        bytes.get(c);
        bytes.seekp(5000);
        bytes.put(static_cast<char>(c ^ 4));
    }
    std::vector<std::string> problems;
    const auto newest = newestCheckpoint(checkpoints, &problems);
    EXPECT_NE(newest, checkpoints + "/step-24");
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0], "step-24: model.safetensors does not match its checksum");
    auto folder = RunFolder::open(home / "run");
    Control control;
    const auto trained = trainIn(folder, control);
    EXPECT_EQ(trained.result.info.state, RunState::Done);
    EXPECT_EQ(readMetrics(home / "run").back().step, 24);
}

}  // namespace
}  // namespace relascope
