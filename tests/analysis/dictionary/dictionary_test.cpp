// SPDX-License-Identifier: GPL-3.0-or-later
// Dictionary on data: patches of the Relational Games, sets of objects, tokens that are counted.
#include "analysis/dictionary/dictionary.h"
#include "analysis/analysis.h"

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
        return core::runnerOf(core::analysisNamed("qk-components")).run(subject, values, {});
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
    DictionaryOfRun measured(smallDual(2, 400));
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
        EXPECT_GE(share, -0.1);
        EXPECT_LE(share, 1.0);
    }
    // All shares of variance are of the same pairs: of all patches that are not empty.
    EXPECT_NE(answer.text("summary").find(" of the variance of the scores over all pairs of their "
                                          "patches (correlation "),
              std::string::npos)
        << answer.text("summary");
    EXPECT_NEAR(answer.number("explained"), std::pow(answer.number("correlation"), 2), 1e-12);
    // A fact of which a value is rare, or examples that are too few, have no share and no column.
    const auto few = measured.measure({{"examples", std::int64_t{49}}});
    EXPECT_EQ(few.find("facts"), nullptr);
    EXPECT_EQ(few.table("components").find("receiver_follows"), nullptr);
    // Text shows no pictures; files have the numbers.
    const auto& analysis = core::analysisNamed("qk-components");
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

// Omega squared against a plain analysis of variance; by chance it is 0, where the share of the
// variance between many values is not.
TEST(DictionaryOfPatches, FactsHaveNoShareByChance) {
    torch::manual_seed(2);
    double mean = 0.0;
    for (int draw = 0; draw < 200; ++draw) {
        std::vector<double> scores;
        std::vector<std::int64_t> facts;
        for (int k = 0; k < 200; ++k)
            scores.push_back(torch::randn({1}, torch::kDouble).item<double>()),
                facts.push_back(k % 20);
        mean += core::factShare(scores, facts, false) / 200.0;
    }
    EXPECT_NEAR(mean, 0.0, 0.015) << "between 20 values alone there are 0.095";
    // Three values 3 apart, each with 8 numbers 0.5 from its mean.
    const std::vector<double> scores = {1, 2, 1, 2, 1, 2, 1, 2, 4, 5, 4, 5, 4,
                                        5, 4, 5, 7, 8, 7, 8, 7, 8, 7, 8, 99};
    std::vector<std::int64_t> facts(25, 0);
    for (std::size_t k = 0; k < 24; ++k) facts[k] = static_cast<std::int64_t>(k / 8);
    facts[24] = -1;
    const double between = 8.0 * (9.0 + 0.0 + 9.0), within = 24.0 * 0.25, error = within / 21.0;
    EXPECT_NEAR(core::factShare(scores, facts, false),
                (between - 2.0 * error) / (between + within + error), 1e-12);
    // A line through the values takes one degree of freedom.
    EXPECT_NEAR(core::factShare(scores, facts, true),
                (between - within / 22.0) / (between + within + within / 22.0), 1e-12);
    facts[0] = 3;  // once
    EXPECT_TRUE(std::isnan(core::factShare(scores, facts, false)));
    EXPECT_TRUE(std::isnan(core::factShare({1, 2, 3}, {0, 0, 0}, true)));
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
