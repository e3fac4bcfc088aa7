// SPDX-License-Identifier: GPL-3.0-or-later
// Evaluations on a device, here a GPU played by the CPU: the numbers of the CPU to the last bit,
// and the host waits for the device once, not once a batch.
#include <gtest/gtest.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <bit>

#include "evaluate/evaluate.h"
#include "support/host_gpu.h"
#include "support/tiny_run.h"
#include "support/tiny_tasks.h"

namespace relascope {
namespace {

using namespace testing_support;

class OnDevice : public testing::Test {
protected:
    void SetUp() override {
        if (!hostGpuServes()) GTEST_SKIP() << "LibTorch's CUDA library is there";
    }
};

/// The bits of all metrics: NaN equals NaN.
std::vector<std::uint64_t> bitsOf(MetricAccumulator& tally) {
    std::vector<double> numbers = {static_cast<double>(tally.examples()), tally.loss(),
                                   tally.accuracy()};
    for (const double each : tally.classAccuracy()) numbers.push_back(each);
    for (const auto& [key, value] : tally.values()) numbers.push_back(value);
    std::vector<std::uint64_t> bits;
    for (const double number : numbers) bits.push_back(std::bit_cast<std::uint64_t>(number));
    return bits;
}

TEST_F(OnDevice, MetricsHaveTheBitsOfTheCpu) {
    struct Case {
        const char* name;
        TargetKind kind;
        std::vector<std::int64_t> rest;  ///< sizes of the scores after the batch
        std::int64_t ignore = -1;
    };
    for (const auto& c : {Case{"classes", TargetKind::Class, {5}},
                          {"two classes", TargetKind::Class, {1}},
                          {"tokens", TargetKind::Tokens, {7, 5}, 2},
                          {"bits", TargetKind::MultiLabel, {5}},
                          {"numbers", TargetKind::Regression, {5}}}) {
        const auto outputs = c.rest.back();
        MetricAccumulator here(outputs, c.ignore), there(outputs, c.ignore);
        const auto reads = hostGpuCounts().reads;
        for (int i = 0; i < 6; ++i) {
            torch::manual_seed(i);
            auto sizes = c.rest;
            sizes.insert(sizes.begin(), i == 5 ? 3 : 8);
            const auto scores = torch::randn(sizes);
            Batch batch;
            batch.kind = c.kind;
            if (c.kind == TargetKind::MultiLabel || c.kind == TargetKind::Regression)
                batch.targets = torch::rand(sizes).round();
            else
                batch.targets =
                    torch::randint(std::max<std::int64_t>(2, outputs),
                                   at::IntArrayRef(sizes).slice(0, sizes.size() - 1), torch::kLong);
            const auto mean = lossOf(scores, batch, c.ignore);
            here.addLoss(mean, batch), here.add(scores, batch);
            there.addLoss(mean.to(hostGpu()), batch), there.add(scores.to(hostGpu()), batch);
        }
        EXPECT_EQ(hostGpuCounts().reads, reads) << c.name;
        EXPECT_EQ(bitsOf(there), bitsOf(here)) << c.name;
        EXPECT_EQ(hostGpuCounts().reads, reads + 2) << c.name << ": losses and answers";
    }
}

// A split that is too large to wait on the device is entered in parts.
TEST_F(OnDevice, LittleWaitsThere) {
    constexpr std::int64_t tokens = std::int64_t{1} << 20;
    MetricAccumulator tally(2, -1);
    Batch batch;
    batch.kind = TargetKind::Tokens;
    batch.targets = torch::ones({1, tokens}, torch::kLong);
    const auto scores = torch::zeros({1, tokens, 2}, torch::TensorOptions().device(hostGpu()));
    const auto reads = hostGpuCounts().reads;
    for (int i = 0; i < 6; ++i) tally.add(scores, batch);
    EXPECT_EQ(hostGpuCounts().reads, reads + 1);
    EXPECT_EQ(tally.accuracy(), 0.0);
    EXPECT_EQ(tally.examples(), 6);
    EXPECT_TRUE(std::isnan(tally.classAccuracy()[0])) << "no target has it";
    EXPECT_EQ(tally.classAccuracy()[1], 0.0);
}

TEST_F(OnDevice, AnEvaluationIsReadOnce) {
    struct Case {
        const char* name;
        ModelOptions model;
        DatasetPtr data;
    };
    const auto pairs = tinyPairOptions();
    for (const auto& [name, options, data] :
         {Case{"images", tinyOptions().model, tinyData(96, 128).validation},
          {"pairs", pairs.model, tinyPairs().validation},
          {"sequences", tinySpellingOptions().model, tinySpelling().validation}}) {
        torch::manual_seed(3);
        auto model = makeModel(options);
        const auto expected = evaluateModel(*model, options, data, {.batchSize = 8});
        model->to(hostGpu());
        for (const std::int64_t size : {64, 8}) {
            const auto before = hostGpuCounts();
            const auto found = evaluateModel(*model, options, data, {.batchSize = size});
            EXPECT_EQ(hostGpuCounts().reads - before.reads, 2) << name << " in batches of " << size;
            EXPECT_NEAR(found.loss, expected.loss, 1e-4 * std::max(1.0, expected.loss)) << name;
            EXPECT_NEAR(found.accuracy, expected.accuracy, 0.02) << name;
        }
    }
}

}  // namespace
}  // namespace relascope
