// SPDX-License-Identifier: GPL-3.0-or-later
// Dictionary on data: patches of the Relational Games, sets of objects, tokens that are counted.
#include "analysis/dictionary.h"

#include <torch/utils.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/open_model.h"
#include "analysis/run_analysis.h"
#include "support/rooms.h"
#include "tests/datasets/step_run.h"

namespace relascope {
namespace {

using testing_support::smallDual;
using testing_support::StepSubject;

struct DictionaryOfRun : StepSubject {
    using StepSubject::StepSubject;
    Answer measure(const core::OptionValues& values) {
        return core::dictionaryRunner().run(subject, values, {});
    }
};

std::string refusedWith(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing";
}

TEST(DictionaryOfPatches, HasPatternsSharesAndFacts) {
    DictionaryOfRun measured(smallDual(2, 100));
    const auto answer = measured.measure(
        {{"components", std::int64_t{4}}, {"attribute", std::string("same colour")}});
    EXPECT_EQ(answer.text("objects"), "patches");
    EXPECT_EQ(answer.number("direct"), 0.0);
    EXPECT_NEAR(answer.number("receivers") + answer.number("senders") + answer.number("pairs"), 1.0,
                1e-9);
    EXPECT_NEAR(answer.number("symmetric"), 1.0, 1e-9) << "the preset's relations are symmetric";
    EXPECT_GT(answer.number("correlation"), 0.0);
    const auto& components = answer.table("components");
    ASSERT_EQ(components.rows(), 4U);
    EXPECT_TRUE(
        std::is_sorted(components.numbers("value").rbegin(), components.numbers("value").rend()));
    EXPECT_TRUE(std::isfinite(components.numbers("difference")[0]));
    // Two patterns a component, of the size of a patch, that columns count.
    ASSERT_EQ(answer.pictures.size(), 8U);
    EXPECT_EQ(answer.pictures[0].width, 12);
    EXPECT_EQ(answer.pictures[0].channels, 3);
    for (const auto* side : {"receiver", "sender"}) {
        const auto& column = components.column(side);
        EXPECT_TRUE(column.holdsPictures());
        EXPECT_EQ(column.numbers[0], side == std::string("receiver") ? 0.0 : 4.0);
    }
    EXPECT_EQ(answer.table("numbers").rows(), 4U * 2U * 432U);
    EXPECT_EQ(answer.table("facts").rows(), 4U * 2U * 2U) << "shape and colour";
    for (const double share : answer.table("facts").numbers("share")) {
        EXPECT_GE(share, 0.0);
        EXPECT_LE(share, 1.0 + 1e-9);
    }
    // Text shows no pictures; files have the numbers.
    const auto& analysis = core::dictionaryAnalysis();
    EXPECT_EQ(analysis.terminal(answer).find("Sender  "), std::string::npos);
    EXPECT_NE(analysis.latex(answer).find("Share"), std::string::npos);
    EXPECT_EQ(analysis.json(answer)["numbers"].size(), answer.table("numbers").rows());
    // In later layers it is the direct path.
    EXPECT_EQ(measured.measure({{"layer", std::int64_t{2}}}).number("direct"), 1.0);
    EXPECT_NE(refusedWith([&] {
                  measured.measure({{"attribute", std::string("same colur")}});
              }).find("same colour"),
              std::string::npos);
    measured.subject.data = nullptr;
    EXPECT_NE(refusedWith([&] { measured.measure({}); }).find("--data"), std::string::npos);
}

TEST(DictionaryOfSets, HasTheFormOnFeatures) {
    auto o = presetOptions("pairwise-order", "abstractor");
    o.data.train_size = 64, o.data.validation_size = 64, o.data.test_size = 2;
    o.train.device = "cpu", o.train.batch_size = 32;
    o.train.seeds = {3}, o.train.steps = 1;
    DictionaryOfRun measured(o);
    const auto answer = measured.measure({});
    EXPECT_EQ(answer.text("objects"), "objects");
    const auto& form = answer.table("form");
    EXPECT_EQ(form.columns.size(), form.rows() + 1);
    EXPECT_GT(answer.table("components").rows(), 0U);
    EXPECT_EQ(answer.table("numbers").rows(), 2U * answer.table("components").rows() * form.rows());
}

}  // namespace
}  // namespace relascope
