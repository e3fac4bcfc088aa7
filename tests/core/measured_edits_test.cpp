// SPDX-License-Identifier: GPL-3.0-or-later
// Measurements of an opened run with edits in force, ablations that are cancelled and continued,
// and what is known of means.
#include <gtest/gtest.h>

#include <cmath>

#include "analysis/ablate/ablation.h"
#include "analysis/attribute/attribution.h"
#include "analysis/patch/patching.h"
#include "analysis/run_analysis.h"
#include "interventions/edit_values.h"
#include "support/edits.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "support/tiny_run.h"
#include "support/trained.h"
#include "types/error.h"

namespace relascope {
namespace {

using testing_support::edit;
using testing_support::listOf;
using namespace testing_support;

/// A run of two layers, trained once.
const std::string& runPath() {
    static const TemporaryFolder home("measured-edits");
    static const std::string path = [] {
        auto options = tinyOptions();
        options.model.set("n_layers", 2);
        options.train.epochs = 2;
        auto folder = RunFolder::create(home / "run", options);
        Control control;
        trainIn(folder, control);
        return std::string(home / "run");
    }();
    return path;
}

const AxisSelection kFirst = {{0}, {}, {}};

class MeasuredEdits : public testing::Test {
protected:
    MeasuredEdits() : m_splits(tinyData()), m_opened(runPath(), "last", "cpu") {
        m_interventions.data.split = [this](const std::string& name) {
            return m_splits.find(name);
        };
        m_how.examples = 32;
        m_how.batchSize = 8;
        m_how.metric = "loss";
        m_how.what = {"heads", "relations", "paths", "mlp"};
    }
    AblationTable ablate() {
        return core::ablate(m_opened, m_splits.validation, m_interventions, m_how);
    }
    void use(std::vector<Edit> edits) { m_interventions.edits = listOf(std::move(edits)); }
    double loss(std::vector<Edit> edits) {
        use(std::move(edits));
        const auto effect = m_opened.effect(m_splits.validation, 8, m_interventions);
        return effect.changes.at(0).edited;
    }
    static const AblationRow& rowOf(const AblationTable& table, const std::string& at) {
        for (const auto& row : table.rows)
            if (row.edit.point == at) return row;
        throw std::logic_error(at);
    }

    DataSplits m_splits;
    Interventions m_interventions;
    OpenedModel m_opened;
    AblationOptions m_how;
};

void expectSame(const AblationTable& a, const AblationTable& b) {
    EXPECT_EQ(a.metric, b.metric);
    EXPECT_EQ(a.examples, b.examples);
    EXPECT_EQ(a.base, b.base);
    ASSERT_EQ(a.rows.size(), b.rows.size());
    for (std::size_t r = 0; r < a.rows.size(); ++r) {
        EXPECT_EQ(a.rows[r].part, b.rows[r].part);
        EXPECT_EQ(a.rows[r].partNorm, b.rows[r].partNorm);
        EXPECT_EQ(a.rows[r].streamNorm, b.rows[r].streamNorm);
        ASSERT_EQ(a.rows[r].ways.size(), b.rows[r].ways.size());
        for (std::size_t w = 0; w < a.rows[r].ways.size(); ++w) {
            EXPECT_EQ(a.rows[r].ways[w].change, b.rows[r].ways[w].change) << a.rows[r].part;
            EXPECT_EQ(a.rows[r].ways[w].changedAnswers, b.rows[r].ways[w].changedAnswers);
        }
    }
    EXPECT_EQ(a.cumulative, b.cumulative);
    ASSERT_EQ(a.pairs.size(), b.pairs.size());
    for (std::size_t p = 0; p < a.pairs.size(); ++p) {
        EXPECT_EQ(a.pairs[p].first, b.pairs[p].first);
        EXPECT_EQ(a.pairs[p].joint, b.pairs[p].joint);
        EXPECT_EQ(a.pairs[p].interaction, b.pairs[p].interaction);
    }
}

TEST_F(MeasuredEdits, AblationsContinueWhereTheyWereCancelled) {
    m_how.cumulative = m_how.pairs = true;
    for (const bool edited : {false, true}) {
        auto mean = edit(EditOp::Mean, "blocks.0.attn.hook_z");
        if (edited) use({mean, edit(EditOp::Resample, "blocks.1.rel.hook_r")});
        int steps = 0;
        const auto whole = core::ablate(m_opened, m_splits.validation, m_interventions, m_how, {},
                                        [&](double) { return ++steps; });
        std::any kept;
        std::optional<AblationTable> table;
        int attempts = 0, again = 0;
        std::int64_t measured = 0;
        while (!table) {
            ASSERT_LT(++attempts, 200);
            int left = 5 + 11 * attempts;
            bool first = true;
            try {
                table = core::ablate(
                    m_opened, m_splits.validation, m_interventions, m_how, {},
                    [&](double) { return ++again, --left > 0; },
                    [&](const AblationTable& partial) {
                        if (std::exchange(first, false)) {
                            EXPECT_EQ(partial.examples, measured + 8) << "the next batch";
                        }
                        measured = partial.examples;
                    },
                    &kept);
            } catch (const Cancelled&) {
                EXPECT_TRUE(kept.has_value());
            }
        }
        EXPECT_GT(attempts, 5);
        EXPECT_FALSE(kept.has_value());
        expectSame(*table, whole);
        // Only batches that were cut short are run again, and a joint measurement for each cancel.
        EXPECT_LT(again, 2 * steps);
    }
}

TEST_F(MeasuredEdits, OtherOptionsEditsOrDataStartAnew) {
    std::any kept;
    const auto firstBatch = [&](const DatasetPtr& data) {
        std::int64_t examples = 0;
        try {
            core::ablate(
                m_opened, data, m_interventions, m_how, {}, [&](double) { return examples == 0; },
                [&](const AblationTable& partial) { examples = partial.examples; }, &kept);
        } catch (const Cancelled&) {
        }
        return examples;
    };
    EXPECT_EQ(firstBatch(m_splits.validation), 8);
    EXPECT_EQ(firstBatch(m_splits.validation), 16);
    m_how.metric = "accuracy";
    EXPECT_EQ(firstBatch(m_splits.validation), 8);
    EXPECT_EQ(firstBatch(m_splits.train), 8);
    use({edit(EditOp::Zero, "blocks.0.hook_mlp_out")});
    EXPECT_EQ(firstBatch(m_splits.train), 8);
    EXPECT_EQ(firstBatch(m_splits.train), 16);
    m_how.how = {EditOp::Clean};
    EXPECT_THROW(ablate(), OptionError);
    EXPECT_TRUE(kept.has_value());
    kept.reset();
    EXPECT_FALSE(kept.has_value());
}

TEST_F(MeasuredEdits, PartsAreTakenOutOfTheEditedModel) {
    m_how.how = {EditOp::Zero, EditOp::Mean};
    const std::string part = "blocks.1.hook_mlp_out";
    auto resample = edit(EditOp::Resample, "blocks.0.rel.hook_r");
    resample.shift = 5;
    const std::vector<std::vector<Edit>> bases = {
        {edit(EditOp::Zero, "blocks.0.hook_attn_out")},
        {resample, edit(EditOp::Mean, "blocks.0.attn.hook_z", {{"head", kFirst}})},
        {edit(EditOp::Clean, "blocks.1.rel.hook_r"), edit(EditOp::Scale, "hook_embed")}};
    for (const auto& base : bases) {
        const auto with = [&](EditOp op) {
            auto list = base;
            list.push_back(edit(op, part));
            return list;
        };
        const double edited = loss(base), zero = loss(with(EditOp::Zero)),
                     mean = loss(with(EditOp::Mean));
        use(base);
        const auto table = ablate();
        EXPECT_NEAR(table.base, edited, 1e-6);
        const auto& row = rowOf(table, part);
        EXPECT_NEAR(row.ways[0].change.edited, zero, 1e-6);
        EXPECT_NEAR(row.ways[1].change.edited, mean, 1e-6);
    }
    use({});
    EXPECT_NE(ablate().base, loss(bases[0]));
}

TEST_F(MeasuredEdits, PatchesBothInputsOfTheEditedModel) {
    const auto a = m_splits.validation->sample(1), b = m_splits.validation->sample(2);
    PatchOptions how;
    how.over = {"attn"};
    how.metric = "logit:0";
    const auto plain = core::patch(m_opened, a, b, how, {}, m_interventions);
    use({edit(EditOp::Zero, "blocks.0.hook_attn_out")});
    const auto zeroed = core::patch(m_opened, a, b, how, {}, m_interventions);
    EXPECT_NE(plain.clean, zeroed.clean);
    const auto columns = zeroed.maps.at(0).columns.size();
    double before = 0.0;
    for (std::size_t c = 0; c < columns; ++c) {
        before += std::abs(plain.maps[0].exact[c]);
        EXPECT_EQ(zeroed.maps[0].exact[c], 0.0) << "both are 0 there";
        EXPECT_EQ(zeroed.maps[0].estimate[c], 0.0);
    }
    EXPECT_GT(before, 0.0);
    // Values of other examples, of A for A and of B for B: with both inputs' own that changes
    // nothing.
    use({edit(EditOp::Clean, "blocks.0.hook_attn_out")});
    const auto same = core::patch(m_opened, a, b, how, {}, m_interventions);
    EXPECT_NEAR(same.clean, plain.clean, 1e-6);
    EXPECT_NEAR(same.corrupted, plain.corrupted, 1e-6);
    auto resample = edit(EditOp::Resample, "hook_embed");
    resample.shift = 1;  // A, example 1, becomes B; B becomes example 3
    use({resample});
    const auto moved = core::patch(m_opened, a, b, how, {}, m_interventions);
    EXPECT_NEAR(moved.clean, plain.corrupted, 1e-5);
    how.noising = true;
    const auto noised = core::patch(m_opened, a, b, how, {}, m_interventions);
    EXPECT_EQ(noised.clean, moved.corrupted);
    EXPECT_EQ(noised.corrupted, moved.clean);
    use({edit(EditOp::Zero, "blocks.9.hook_attn_out")});
    EXPECT_THROW(core::patch(m_opened, a, b, how, {}, m_interventions), OptionError);
}

TEST_F(MeasuredEdits, LensAndAttributionAreOfTheEditedPass) {
    const auto sample = m_splits.validation->sample(1);
    const std::vector<std::string> names = {"left", "right"};
    for (const char* point : {"blocks.0.attn.hook_z", "blocks.1.hook_mlp_out",
                              "blocks.0.hook_attn_out", "blocks.1.hook_resid_mid"}) {
        use({edit(EditOp::Zero, point)});
        const auto probed = m_opened.probe(sample, names, m_interventions);
        core::AnalysisSubject subject{.model = &m_opened, .sample = sample, .classNames = names};
        subject.interventions = m_interventions;
        const auto lens = core::lensOf(subject, {});
        EXPECT_NEAR(
            lens.answers[0].probability,
            static_cast<double>(probed.probabilities[static_cast<std::size_t>(lens.answers[0].id)]),
            1e-5)
            << point;
        AttributionOptions what;
        what.answer = lens.answers[0].id;
        const auto parts = core::attributionOf(subject, what);
        EXPECT_NEAR(parts.answer.probability, lens.answers[0].probability, 1e-5);
        EXPECT_NEAR(parts.sum(), parts.logit, 2e-3 * (1.0 + std::abs(parts.logit))) << point;
        // What lies between the parts is said to.
        const bool between =
            std::string(point).ends_with("attn_out") || std::string(point).ends_with("resid_mid");
        EXPECT_EQ(parts.parts.back().kind == PartKind::Edits, between) << point;
    }
}

TEST_F(MeasuredEdits, MeansSayHowManyExamplesTheyAreOf) {
    const auto sample = m_splits.validation->sample(1);
    const auto mean = edit(EditOp::Mean, "blocks.0.attn.hook_z", {{"head", kFirst}});
    use({edit(EditOp::Zero, "blocks.1.hook_mlp_out"), mean});
    EXPECT_TRUE(m_opened.takenMeans().empty());
    const auto taken = m_opened.probe(sample, {}, m_interventions);
    ASSERT_EQ(m_opened.takenMeans().size(), 1u);
    const auto means = m_opened.takenMeans();
    EXPECT_EQ(means.at(1).examples, 96) << "1,024 were asked for";
    EXPECT_GT(means.at(1).standardError, 0.0);
    EXPECT_EQ(means.at(1).over, "position");
    // Without data the list stands alone, and gives the same maps to the last bit.
    const auto alone = withValues(m_interventions.edits, means);
    const auto given = m_opened.probe(sample, {}, {alone, {}});
    EXPECT_EQ(given.probabilities, taken.probabilities);
    EXPECT_EQ(given.maps, taken.maps);
    EXPECT_TRUE(m_opened.takenMeans().empty()) << "nothing was taken";
    use({mean});
    m_opened.effect(m_splits.validation, 8, m_interventions);
    EXPECT_EQ(m_opened.takenMeans().at(0), means.at(1));
    EXPECT_THROW(m_opened.probe(sample, {}, {listOf({mean}), {}}), OptionError);
}

}  // namespace
}  // namespace relascope
