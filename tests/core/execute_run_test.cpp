// SPDX-License-Identifier: GPL-3.0-or-later
// The one way from options to a trained run.
#include "train/execute_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "support/rooms.h"
#include "support/tiny_run.h"

namespace relascope {
namespace {

namespace fs = std::filesystem;
using testing_support::TemporaryFolder;

DataSplits openHalves(const RunOptions&, std::stop_token) {
    return testing_support::tinyData();
}

TrainResult execute(const RunRequest& request, const DataOpener& open = openHalves,
                    std::vector<std::string>* notes = nullptr) {
    Control control;
    return executeRun(request, open, control,
                      [&](TrainEvent event) {
                          if (const auto* note = std::get_if<Note>(&event); note && notes)
                              notes->push_back(note->text);
                      },
                      {});
}

TEST(ExecuteRun, WhatPreventsTheFirstStepLeavesNothingBehind) {
    TemporaryFolder home("execute-run");
    fs::create_directories(home.path());
    RunRequest request{home / "run", testing_support::tinyOptions(), 3};
    const DataOpener missing = [](const RunOptions&, std::stop_token) -> DataSplits {
        throw FileError("nowhere.npz", "does not exist");
    };
    EXPECT_THROW(execute(request, missing), FileError);
    EXPECT_FALSE(fs::exists(request.path));
    const DataOpener empty = [](const RunOptions&, std::stop_token) {
        return testing_support::tinyData(0);
    };
    EXPECT_THROW(execute(request, empty), OptionError);  // found after the folder was made
    EXPECT_FALSE(fs::exists(request.path));
    fs::create_directories(request.path);
    EXPECT_THROW(execute(request, empty), OptionError);
    EXPECT_TRUE(fs::exists(request.path)) << "the folder was there before";
    EXPECT_TRUE(fs::is_empty(request.path));
    request.options.train.epochs = 1;
    EXPECT_EQ(execute(request).info.state, RunState::Done) << "the same request, now possible";
}

TEST(ExecuteRun, ResumesWithTheModelOfTheRun) {
    TemporaryFolder home("execute-run");
    fs::create_directories(home.path());
    RunRequest request{home / "run", testing_support::tinyOptions(), 0};
    request.options.train.epochs = 1;
    const auto first = execute(request);
    request.resume = true;
    request.options.train.epochs = 2;
    request.options.model.set("d_model", 32);  // a form that was changed meanwhile
    const auto second = execute(request);
    EXPECT_EQ(second.info.state, RunState::Done);
    EXPECT_EQ(second.info.step, 2 * first.info.step);
    EXPECT_EQ(readRunOptions(request.path).model.number("d_model"), 16);
}

/// Examples that only this version's generator makes.
class NewHalves : public testing_support::HalfBright {
public:
    explicit NewHalves(std::string since) : HalfBright(32), m_named(HalfBright::info()) {
        m_named.since = std::move(since);
    }
    const DatasetInfo& info() const override { return m_named; }

private:
    DatasetInfo m_named;
};

TEST(ExecuteRun, SaysWhenAGeneratorHasChangedSinceTheRunBegan) {
    TemporaryFolder home("execute-run");
    fs::create_directories(home.path());
    for (const std::string since : {"0.5.0", ""}) {
        const DataOpener open = [&](const RunOptions&, std::stop_token) {
            DataSplits splits;
            splits.train = splits.validation = std::make_shared<NewHalves>(since);
            return splits;
        };
        RunRequest request{home / ("run" + since), testing_support::tinyOptions(), 0};
        request.options.train.epochs = 1;
        execute(request, open);
        {
            RunFolder folder = RunFolder::open(request.path);
            folder.setFact("version", "0.4.0");
            folder.saveInfo();
        }
        request.resume = true;
        request.options.train.epochs = 2;
        std::vector<std::string> notes;
        execute(request, open, &notes);
        const bool said = std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
            return note.find("0.4.0") != std::string::npos;
        });
        EXPECT_EQ(said, !since.empty());
    }
}

}  // namespace
}  // namespace relascope
