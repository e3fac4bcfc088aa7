// SPDX-License-Identifier: GPL-3.0-or-later
// Everything of `base` that a program without LibTorch needs, linked without it: this file is a
// program of its own, and its link is the test.
#include <gtest/gtest.h>

#include <fstream>

#include "analysis/analysis.h"
#include "analysis/lens/lens.h"
#include "checkpoint/checkpoint.h"
#include "data/text_files.h"
#include "model/architecture.h"
#include "options/estimates.h"
#include "options/options_json.h"
#include "options/presets.h"
#include "options/published_config.h"
#include "run/captures.h"
#include "run/run_folder.h"
#include "run/run_lines.h"
#include "study/study.h"
#include "study/study_plan.h"
#include "study/study_results.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "text/tokenizer.h"
#include "types/data_kind.h"

namespace relascope {
namespace {

using testing_support::TemporaryFolder;

TEST(Base, KnowsPresetsFieldsAndEstimates) {
    EXPECT_GE(presets().size(), 20U);
    EXPECT_GE(architectures().size(), 25U);
    EXPECT_GE(dataKinds().size(), 10U);
    for (const auto& preset : presets()) {
        const auto options = presetOptions(preset.name);
        EXPECT_GT(parameterCount(options.model), 0) << preset.name;
        EXPECT_GT(trainingBytes(options), 0U) << preset.name;
        EXPECT_EQ(runOptionsFromJson(runOptionsToJson(options)), options) << preset.name;
        EXPECT_FALSE(modelOutline(options.model).children.empty()) << preset.name;
    }
}

TEST(Base, DescribesAnalyses) {
    EXPECT_GE(analyses().size(), 6U);
    for (const auto* analysis : analyses()) {
        const OptionValues none;
        EXPECT_EQ(optionsFromJson(*analysis, optionsToJson(*analysis, none)), none)
            << analysis->name;
        if (!analysis->costText) continue;
        EXPECT_FALSE(analysis->costText({}, none).empty()) << analysis->name;
    }
    ASSERT_NE(findAnalysis("lens"), nullptr);
    EXPECT_TRUE(findAnalysis("lens")->csv(answerOf(LensResult())).starts_with("after,position,"));
}

TEST(Base, WritesAndReadsRunFoldersAndStudies) {
    TemporaryFolder home("torch-free");
    const auto options = presetOptions("quick");
    auto folder = RunFolder::create(home.path() + "/run", options);
    folder.saveInfo();
    EXPECT_EQ(readRunOptions(folder.path()), options);
    EXPECT_TRUE(readMetrics(folder.path()).empty());
    EXPECT_TRUE(captureSteps(folder.path()).empty());
    StudyPlan plan;
    plan.preset = "quick";
    plan.models = {"dat"};
    EXPECT_EQ(studyCells(plan).size(), plan.seeds.size());
}

TEST(Base, ReadsTheHeaderOfACheckpoint) {
    const auto info =
        readCheckpointInfo(RELASCOPE_FIXTURES "/golden/vidat_relational_games_relational_only");
    ASSERT_TRUE(info.model);
    EXPECT_EQ(info.parameters, parameterCount(*info.model));
}

TEST(Base, EncodesText) {
    const auto tokenizer = openTokenizer("gpt2");
    EXPECT_EQ(tokenizer->decode(tokenizer->encode("relations")), "relations");
}

}  // namespace
}  // namespace relascope
