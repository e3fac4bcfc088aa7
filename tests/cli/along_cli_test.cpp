// SPDX-License-Identifier: GPL-3.0-or-later
// inspect --along: every kept step of a run on the command line.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/command_line.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

using namespace testing_support;

class AlongCli : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        folder = new TemporaryFolder("along-cli");
        const auto trained = runCli(
            "train quick --steps 3 --threads 1 --out " + run() +
            " --set data.train_size=64 --set data.validation_size=48 --set data.test_size=16");
        ASSERT_EQ(trained.code, 0) << trained.err;
    }
    static void TearDownTestSuite() { delete folder; }
    static std::string run() { return folder->path() + "/run"; }
    static inline TemporaryFolder* folder = nullptr;
};

TEST_F(AlongCli, EqualsSingleInspectionsAtTheSteps) {
    const std::string cell = " --sample 2 --layer 1 --index 1 --source 1 ";
    const auto along = json(runCli("inspect --json " + run() + cell +
                                   "--along --to 3 "
                                   "--edit \"layer 1 relation 1 scale 2\""));
    ASSERT_EQ(along["steps"].size(), 4u);
    for (std::size_t k = 0; k < 4; ++k) {
        const auto single = json(
            runCli("inspect --json " + run() + cell + "--edit none --step " + std::to_string(k)));
        const auto at = single["columns"].get<std::size_t>() + 3;
        const auto& here = along["steps"][k];
        EXPECT_EQ(here["step"], k);
        EXPECT_EQ(here["value_before"], single["values"][at]);
        EXPECT_NEAR(here["value"].get<double>(), 2 * single["values"][at].get<double>(), 1e-5);
        EXPECT_EQ(here["probability_before"],
                  single["probabilities"][along["answer"].get<std::size_t>()]);
    }
    EXPECT_EQ(along["edits"].size(), 1u);
    EXPECT_FALSE(along["answer_name"].get<std::string>().empty());
}

TEST_F(AlongCli, WritesTheLinesAndTheStrip) {
    const std::string along = "inspect " + run() + " --along --layer 1 --source 0 --to 1 ";
    const auto out = folder->path() + "/lines.csv";
    const auto written = runCli(along + "--answer id:0 --out " + out);
    ASSERT_EQ(written.code, 0) << written.err;
    const auto lines = slurp(out);
    EXPECT_EQ(lines.rfind("step,value,probability,weights\n0,", 0), 0u) << lines;
    EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 5);
    EXPECT_NE(runCli(along + "--answer id:0").out.find("Probability"), std::string::npos);
    if (!std::filesystem::exists(std::string(RELASCOPE_BIN) + "/relascope")) GTEST_SKIP();
    const auto strip = folder->path() + "/strip.svg";
    const auto drawn = runCli(along + "--out " + strip);
    ASSERT_EQ(drawn.code, 0) << drawn.err;
    const auto text = slurp(strip);
    EXPECT_NE(text.find("Layer 1, relation 1, along training"), std::string::npos);
    EXPECT_NE(text.find("step 3"), std::string::npos);
}

TEST_F(AlongCli, IsACommandOfItsOwn) {
    const std::string cell = " --sample 2 --layer 1 --source 1 --to 3";
    const auto along = runCli("along --json " + run() + cell);
    EXPECT_EQ(along.out, runCli("inspect --along --json " + run() + cell).out) << along.err;
    EXPECT_EQ(json(along)["sample"], "occurs, pentos 2");
    expectRefused("along " + run() + " --source 1", 2, "--to: is missing");
    expectRefused("along " + run() + cell + " --kind attention", 2, "--kind: ");
    expectRefused("along " + run() + cell + " --index 0", 2, "--index: 0 is below 1");
}

TEST_F(AlongCli, RefusesWhatIsNotThere) {
    const std::string along = "inspect " + run() + " --along --source 0 ";
    expectRefused(along, 2, "--to: is missing: --along needs a cell");
    expectRefused(along + "--to 1 --step 2", 2, "--step: is not for --along");
    expectRefused(along + "--to 1 --layer 9", 2, "--layer: 9 is beyond the model's");
    expectRefused(along + "--to 9999", 2, "--to: 9999 is out of range");
    expectRefused(along + "--to 1 --answer nothing", 2, "--answer: ");
    expectRefused("inspect " + run() + " --to 1", 2, "--to: is for pictures and --along only");
    expectRefused("inspect " + std::string(RELASCOPE_FIXTURES) +
                      "/golden/lm_symbolic_rope_gqa --along --random 1 --source 1 --to 0",
                  2, "--along: needs a run folder");
}

}  // namespace
}  // namespace relascope
