// SPDX-License-Identifier: GPL-3.0-or-later
// Commands on a run that another program recorded.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/command_line.h"
#include "support/recorded_run.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

using namespace testing_support;

TEST(RecordedCli, ShowsCapturesAndRefusesWhatNeedsAModel) {
    const TemporaryFolder folder("recorded-cli");
    const auto own = folder / "own", path = folder / "recorded";
    const auto trained = runCli("train quick --steps 4 --threads 1 --out " + own +
                                " --set data.train_size=64 --set data.validation_size=48"
                                " --set data.test_size=16 --set train.capture_samples=12");
    ASSERT_EQ(trained.code, 0) << trained.err;
    recordRun(own, path);
    const auto newest = json(runCli("inspect " + path + " --json"));
    EXPECT_EQ(newest["step"], 4);
    const auto same = json(runCli("inspect " + own + " --step 4 --json"));
    EXPECT_EQ(newest["values"], same["values"]);
    EXPECT_EQ(json(runCli("inspect " + path + " --step 2 --sample 3 --json"))["step"], 2);
    const auto missing = runCli("inspect " + path + " --step 77");
    EXPECT_NE(missing.code, 0);
    EXPECT_NE(missing.err.find("77 was not captured; captured steps: 0, 1"), std::string::npos)
        << missing.err;

    const auto atlas = runCli("atlas " + path + " --json");
    ASSERT_EQ(atlas.code, 0) << atlas.err;
    EXPECT_EQ(json(atlas)["step"], 4);
    EXPECT_EQ(runCli("atlas " + path + " --checkpoint 2 --along --json").code, 0);
    // Its weights have no model, but names and shapes.
    const auto weights = runCli("info " + path + "/weights/step-4.safetensors");
    EXPECT_EQ(weights.code, 0) << weights.err;
    EXPECT_NE(weights.out.find("wq_rel.weight"), std::string::npos) << weights.out;
    for (const auto* words : {"scan ", "ablate ", "eval ", "train --resume ",
                              "generate --prompt x ", "heads ", "points "}) {
        const auto refused = runCli(words + path);
        EXPECT_NE(refused.code, 0) << words;
        EXPECT_NE(refused.err.find("recorded by another program"), std::string::npos)
            << words << refused.err;
    }
}

}  // namespace
}  // namespace relascope
