// SPDX-License-Identifier: GPL-3.0-or-later
// The trace of a step: what is in it, by which names, and that spans lie in one another.
#include "bench/step_trace.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "evaluate/scoring.h"
#include "support/tiny_run.h"
#include "train/optimizer.h"

namespace relascope::core {
namespace {

using namespace testing_support;

TEST(StepTrace, HasTheModulesOfBothPasses) {
    TemporaryFolder home("trace");
    auto options = tinyOptions();
    torch::manual_seed(1);
    auto model = makeModel(options.model);
    model->train();
    Optimizer optimizer(*model, options.train);
    const auto images = torch::rand({4, 3, 36, 36});
    torch::Tensor loss;
    const std::string file = home / "step.json";
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    writeStepTrace(
        *model,
        {[&] { loss = crossEntropy(model->forward(images), torch::zeros({4}, torch::kLong)); },
         [&] { loss.backward(); }, [&] { optimizer.step(1e-3); }},
        file);
    const auto trace = nlohmann::json::parse(std::ifstream(file));
    std::set<std::string> steps, forward, backward, operators;
    struct Lies {
        double begin, end;
    };
    std::vector<Lies> around;
    for (const auto& event : trace.at("traceEvents")) {
        EXPECT_EQ(event.at("ph"), "X");
        const auto name = event.at("name").get<std::string>(),
                   category = event.at("cat").get<std::string>();
        const Lies span{event.at("ts"),
                        event.at("ts").get<double>() + event.at("dur").get<double>()};
        EXPECT_GE(span.end, span.begin);
        while (!around.empty() && around.back().end <= span.begin) around.pop_back();
        if (!around.empty()) {
            EXPECT_LE(span.end, around.back().end + 1e-3) << name;
        }
        around.push_back(span);
        (category == "step"       ? steps
         : category == "module"   ? forward
         : category == "backward" ? backward
                                  : operators)
            .insert(name);
    }
    EXPECT_EQ(steps, (std::set<std::string>{"forward", "backward", "optimizer"}));
    for (const char* module : {"encoder_blocks.0", "encoder_blocks.0.ff_block.linear1",
                               "encoder_blocks.0.norm1", "to_patch_embedding.2"})
        EXPECT_TRUE(forward.count(module)) << module;
    for (const char* module : {"encoder_blocks.0.ff_block.linear1", "to_patch_embedding.2"})
        EXPECT_TRUE(backward.count(module)) << module;
    EXPECT_TRUE(operators.count("aten::mm"));
}

}  // namespace
}  // namespace relascope::core
