// SPDX-License-Identifier: GPL-3.0-or-later
// Shares of each layer's output: they add up to 1, and each is what the layer's output loses with
// its part at zero.
#include "analysis/shares/shares.h"
#include "analysis/analysis.h"

#include <torch/utils.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/edited_model.h"
#include "analysis/open_model.h"
#include "analysis/run_analysis.h"
#include "interventions/active_edits.h"
#include "interventions/edit_words.h"
#include "interventions/editor.h"
#include "support/rooms.h"
#include "tests/datasets/step_run.h"

namespace relascope {
namespace {

using namespace testing_support;

struct Measured : StepSubject {
    Measured() : StepSubject(smallDual(4, 120)) {}
    Answer shares(std::int64_t examples, const core::AnalysisWatch& watch = {}) {
        return core::runnerOf(core::analysisNamed("shares"))
            .run(subject, {{"examples", examples}}, watch);
    }
    /// What the attention of a layer gives for the first examples, with an edit.
    torch::Tensor output(int layer, const std::string& words,
                         const std::vector<std::int64_t>& indices) {
        const auto batch = core::makeBatch(*subject.data, indices.data(), std::ssize(indices));
        Interventions edits;
        if (!words.empty()) {
            const auto points = model.edited({})->points(batch);
            edits.edits.edits = {core::editFromWords(words, points)};
        }
        core::PointReader reader({"blocks." + std::to_string(layer) + ".hook_attn_out"});
        model.edited(edits)->answers(batch, subject.data, indices, &reader);
        return reader.tensors().begin()->second.to(torch::kDouble);
    }
};

TEST(Shares, AddUpToOneAndAreWhatTheLayerLosesWithoutTheirPart) {
    Measured measured;
    const auto answer = measured.shares(60);
    const auto& parts = answer.table("parts");
    const auto order = core::drawnExamples(measured.subject.data->size(), 60, 0);
    const std::vector<std::int64_t> all(order.begin(), order.end());
    const auto number = [&](const char* key, std::size_t row) { return parts.numbers(key)[row]; };
    // The mean share of parts that are taken out together.
    const auto lost = [&](int layer, const std::string& words) {
        const auto y = measured.output(layer, "", all),
                   without = measured.output(layer, words, all);
        return (((y - without) * y).sum({1, 2}) / y.square().sum({1, 2})).mean().item<double>();
    };
    std::vector<double> sums(2, 0.0);
    double head = 0.0, relation = 0.0, symbols = 0.0;
    for (std::size_t row = 0; row < parts.rows(); ++row) {
        const auto layer = static_cast<int>(number("layer", row));
        const double share = number("share", row);
        sums.at(static_cast<std::size_t>(layer - 1)) += share;
        EXPECT_GE(number("deviation", row), 0.0);
        if (layer != 1) continue;
        const auto& kind = parts.texts("kind")[row];
        if (kind == "sensory head" && number("head", row) == 1) head = share;
        if (kind == "relation" && number("relation", row) == 2) relation += share;
        if (kind == "symbols") symbols += share;
    }
    for (const double sum : sums) EXPECT_NEAR(sum, 1.0, 1e-5);
    EXPECT_NEAR(head, lost(0, "layer 1 sensory head 1 zero"), 1e-5);
    EXPECT_NEAR(relation, lost(0, "layer 1 relation 2 zero"), 1e-5);
    EXPECT_NE(relation, 0.0);
    // By kind they are the sums of their parts.
    const auto& kinds = answer.table("layers");
    for (std::size_t row = 0; row < kinds.rows(); ++row)
        if (kinds.numbers("layer")[row] == 1 && kinds.texts("kind")[row] == "symbols") {
            EXPECT_NEAR(kinds.numbers("share")[row], symbols, 1e-12);
        }
    ASSERT_EQ(parts.links.size(), parts.rows());
    EXPECT_EQ(core::analysisNamed("shares").csv(answer).rfind("layer,kind,head,relation,share,", 0),
              0u);
    EXPECT_EQ(core::analysisNamed("shares").json(answer).at("examples"), 60);
}

TEST(Shares, FollowEditsAndAreCancelledAndRefused) {
    Measured measured;
    const auto batch = std::vector<std::int64_t>{0, 1};
    measured.subject.interventions.edits.edits = {core::editFromWords(
        "layer 2 sensory head 1 zero", measured.model.edited({})->points(core::makeBatch(
                                           *measured.subject.data, batch.data(), 2)))};
    const auto edited = measured.shares(20);
    const auto& parts = edited.table("parts");
    for (std::size_t row = 0; row < parts.rows(); ++row)
        if (parts.numbers("layer")[row] == 2 && parts.numbers("head")[row] == 1 &&
            parts.texts("kind")[row] == "sensory head") {
            EXPECT_EQ(parts.numbers("share")[row], 0.0);
        }
    core::AnalysisWatch watch;
    watch.progress = [](double) { return false; };
    EXPECT_THROW(measured.shares(20, watch), Cancelled);
    EXPECT_THROW(measured.shares(1), OptionError);
}

}  // namespace
}  // namespace relascope
