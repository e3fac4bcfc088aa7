// SPDX-License-Identifier: GPL-3.0-or-later
// Runs in bfloat16 on the CPU: resumed bit for bit, refused and continued on processors without
// such products, what `auto` takes, and that evaluations are float32.
#include <gtest/gtest.h>
#include <torch/utils.h>

#include "checkpoint/tensor_io.h"
#include "evaluate/evaluate.h"
#include "files/processor.h"
#include "model/blocks/bfloat16.h"
#include "options/estimates.h"
#include "support/rooms.h"
#include "support/tiny_run.h"
#include "support/trained.h"
#include "train/checkpoints.h"

namespace relascope {
namespace {

using namespace testing_support;
using namespace core;

RunOptions roundedOptions() {
    auto options = tinyOptions();
    options.train.precision = "bfloat16";
    options.train.evaluate_every = 5;
    return options;
}

void expectEqualWeights(const std::string& one, const std::string& other) {
    const auto a = readTensors(one + "/checkpoints/step-24/model.safetensors"),
               b = readTensors(other + "/checkpoints/step-24/model.safetensors");
    ASSERT_FALSE(a.empty());
    for (const auto& [name, tensor] : a) EXPECT_TRUE(torch::equal(tensor, b.at(name))) << name;
}

bool says(const Trained& trained, const std::string& words) {
    for (const auto& note : trained.notes())
        if (note.find(words) != std::string::npos) return true;
    return false;
}

TEST(BFloat16Training, ResumesBitForBit) {
    if (!hasBFloat16Products()) GTEST_SKIP() << "no avx512_bf16 or amx_bf16";
    TemporaryFolder home("bf16");
    Control none;
    auto whole = RunFolder::create(home / "whole", roundedOptions());
    trainIn(whole, none);
    {
        auto first = RunFolder::create(home / "parts", roundedOptions());
        trainIn(first, none, tinyData(), stopAfter(8));
    }
    auto second = RunFolder::open(home / "parts");
    EXPECT_EQ(trainIn(second, none).result.info.state, RunState::Done);
    EXPECT_EQ(losses(home / "parts"), losses(home / "whole"));
    expectEqualWeights(home / "parts", home / "whole");

    auto options = roundedOptions();
    options.train.precision = "float32";
    auto exact = RunFolder::create(home / "float32", options);
    trainIn(exact, none);
    EXPECT_NE(losses(home / "whole"), losses(home / "float32"));
    EXPECT_NEAR(losses(home / "whole").front(), losses(home / "float32").front(), 0.02);
}

TEST(BFloat16Training, IsRefusedWithoutTheFlags) {
    const HiddenBFloat16Scope hidden;
    TemporaryFolder home("refused");
    auto folder = RunFolder::create(home / "run", roundedOptions());
    Control none;
    try {
        trainIn(folder, none);
        ADD_FAILURE() << "not refused";
    } catch (const OptionError& error) {
        EXPECT_STREQ(error.what(),
                     "train.precision: bfloat16 on the CPU needs a processor with avx512_bf16 or "
                     "amx_bf16, and this one has neither; choose float32 or auto");
    }
    EXPECT_TRUE(losses(home / "run").empty());
}

TEST(BFloat16Training, AutoTakesWhatTheProcessorHas) {
    TemporaryFolder home("auto");
    auto options = tinyOptions();
    options.train.epochs = 1, options.train.precision = "auto";
    Control none;
    auto here = RunFolder::create(home / "here", options);
    trainIn(here, none);
    EXPECT_EQ(readRunOptions(home / "here").train.precision,
              hasBFloat16Products() ? "bfloat16" : "float32");
    const HiddenBFloat16Scope hidden;
    auto elsewhere = RunFolder::create(home / "elsewhere", options);
    trainIn(elsewhere, none);
    EXPECT_EQ(readRunOptions(home / "elsewhere").train.precision, "float32");
}

TEST(BFloat16Training, ContinuesWithoutTheFlags) {
    if (!hasBFloat16Products()) GTEST_SKIP() << "no avx512_bf16 or amx_bf16";
    TemporaryFolder home("elsewhere");
    Control none;
    {
        auto first = RunFolder::create(home / "run", roundedOptions());
        trainIn(first, none, tinyData(), stopAfter(8));
    }
    const HiddenBFloat16Scope hidden;
    auto second = RunFolder::open(home / "run");
    const auto trained = trainIn(second, none);
    EXPECT_EQ(trained.result.info.state, RunState::Done);
    EXPECT_TRUE(says(trained, "neither avx512_bf16 nor amx_bf16"));
    EXPECT_EQ(readRunOptions(home / "run").train.precision, "bfloat16");
}

TEST(BFloat16Training, EvaluatesInFloat32) {
    if (!hasBFloat16Products()) GTEST_SKIP() << "no avx512_bf16 or amx_bf16";
    TemporaryFolder home("evaluated");
    Control none;
    auto options = roundedOptions();
    options.train.epochs = 1;
    auto folder = RunFolder::create(home / "run", options);
    const auto trained = trainIn(folder, none);
    // The losses of validation that the run gives are those of the weights in float32.
    auto model = makeModel(folder.options().model);
    loadCheckpoint(home / "run/checkpoints/step-6", *model, folder.options().model, nullptr);
    const auto exact = evaluateModel(*model, folder.options().model, tinyData().validation);
    EXPECT_EQ(trained.result.lastValidation.value("loss"), exact.loss);
}

TEST(BFloat16Training, TheEstimateKnowsThatActivationsAreHalved) {
    auto options = presetOptions("text");
    options.train.device = "cpu";
    const auto exact = trainingBytes(options);
    options.train.precision = "bfloat16";
    EXPECT_LT(trainingBytes(options), exact);
}

}  // namespace
}  // namespace relascope
