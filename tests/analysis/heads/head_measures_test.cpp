// SPDX-License-Identifier: GPL-3.0-or-later
// Head measures: maps whose values are known in advance, and models against plain sums over maps.
#include "analysis/heads/head_measures.h"
#include "analysis/analysis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "analysis/open_model.h"
#include "analysis/run_analysis.h"
#include "probe/head_places.h"
#include "support/rooms.h"
#include "types/error.h"

namespace relascope {
namespace {

ProbeResult textOf(std::vector<std::int64_t> tokens) {
    ProbeResult result;
    result.sample.source.tokens = std::move(tokens);
    result.sides = {{"tokens", {}}};
    return result;
}

// Attention of each row to one column; rows that `to` gives -1 attend to themselves.
template <class To>
RelationMap attentionTo(int size, bool causal, To to) {
    RelationMap map{MapKind::SensoryAttention, 0, 0, size, size, {}, causal};
    map.values.assign(static_cast<std::size_t>(size) * static_cast<std::size_t>(size), 0.0F);
    for (int i = 0; i < size; ++i)
        map.values[static_cast<std::size_t>(i * size + (to(i) < 0 ? i : to(i)))] = 1.0F;
    return map;
}

TEST(HeadPlaces, EachMeasureIsOneForTheHeadThatIsNamedSo) {
    const int half = 7, size = 2 * half;
    std::vector<std::int64_t> tokens;
    for (int i = 0; i < size; ++i) tokens.push_back(10 + i % half);
    const core::HeadPlaces places(textOf(tokens));
    ASSERT_EQ(places.measures(), (std::vector<std::string>{"previous token", "duplicate token",
                                                           "induction", "itself", "first token"}));
    const auto previous = places.of(attentionTo(size, true, [](int i) { return i - 1; }));
    EXPECT_EQ(previous[0], 1.0);
    EXPECT_EQ(previous[1], 0.0);
    EXPECT_EQ(previous[2], 0.0);
    EXPECT_NEAR(previous[4], 1.0 / (size - 1), 1e-12) << "the previous token of the second one";
    const auto duplicate =
        places.of(attentionTo(size, true, [&](int i) { return i < half ? -1 : i - half; }));
    EXPECT_EQ(duplicate[1], 1.0);
    EXPECT_EQ(duplicate[2], 0.0);
    EXPECT_EQ(duplicate[3], 0.5) << "the first half attends to itself";
    const auto induction =
        places.of(attentionTo(size, true, [&](int i) { return i < half ? -1 : i - half + 1; }));
    EXPECT_EQ(induction[2], 1.0);
    EXPECT_EQ(induction[1], 0.0);
    // Even attention, by hand: row i has i + 1 open cells.
    double before = 0.0, copies = 0.0;
    for (int i = 1; i < size; ++i) before += 1.0 / (i + 1) / (size - 1);
    for (int i = half; i < size; ++i) copies += 1.0 / (i + 1) / half;
    EXPECT_NEAR(places.even(true)[0], before, 1e-7);
    EXPECT_NEAR(places.even(true)[1], copies, 1e-7);
    EXPECT_NEAR(places.even(false)[0], 1.0 / size, 1e-7);
}

TEST(HeadPlaces, SeveralCopiesAddUpAndNoneIsNoNumber) {
    const core::HeadPlaces three(textOf({4, 4, 4, 9}));
    const auto even = three.even(true);
    EXPECT_NEAR(even[1], (1.0 / 2 + 2.0 / 3) / 2, 1e-7) << "rows 1 and 2";
    EXPECT_NEAR(even[2], 1.0 / 3, 1e-7) << "row 2: what followed the first copy";
    const core::HeadPlaces none(textOf({1, 2, 3}));
    EXPECT_TRUE(std::isnan(none.even(true)[1]));
    EXPECT_TRUE(std::isnan(none.even(true)[2]));
    EXPECT_FALSE(none.fits(attentionTo(4, true, [](int) { return -1; }))) << "another size";
    RelationMap relation = attentionTo(3, true, [](int) { return -1; });
    EXPECT_TRUE(none.fits(relation));
    relation.kind = MapKind::Relation;
    EXPECT_FALSE(none.fits(relation));
}

TEST(HeadPlaces, ImagesHaveAClassTokenAndNeighbours) {
    ProbeResult image;
    image.grid = {3, 4, true};
    const core::HeadPlaces places(image);
    ASSERT_EQ(places.measures(), (std::vector<std::string>{"class token", "itself", "neighbours"}));
    const int size = 13;
    const auto toClass = places.of(attentionTo(size, false, [](int) { return 0; }));
    EXPECT_EQ(toClass[0], 1.0);
    EXPECT_NEAR(toClass[1], 1.0 / size, 1e-12);
    EXPECT_EQ(toClass[2], 0.0);
    // 4 corners have 3 neighbours, 6 patches at the border 5, the 2 inside 8.
    EXPECT_NEAR(places.even(false)[2], (4 * 3 + 6 * 5 + 2 * 8) / 12.0 / size, 1e-7);
    // The patch to the right, where there is one.
    const auto right = places.of(
        attentionTo(size, false, [](int i) { return i > 0 && (i - 1) % 4 < 3 ? i + 1 : -1; }));
    EXPECT_NEAR(right[2], 9.0 / 12, 1e-12);
    EXPECT_TRUE(core::HeadPlaces(ProbeResult()).measures().empty());
}

Answer measureHeads(core::OpenedModel& model, const core::OptionValues& values = {},
                    core::Interventions interventions = {}) {
    core::AnalysisSubject subject;
    subject.model = &model, subject.interventions = std::move(interventions);
    if (model.options().input() == InputKind::Images) subject.sample = model.randomInput(1);
    return core::runnerOf(core::analysisNamed("heads")).run(subject, values, {});
}

/// The first five measures of a head.
std::vector<double> valuesOf(const Table& heads, const MapLink& head) {
    const auto at = std::find(heads.links.begin(), heads.links.end(), head);
    std::vector<double> values;
    for (std::size_t m = 3; m < 8; ++m)
        values.push_back(heads.columns[m].numbers.at(std::size_t(at - heads.links.begin())));
    return values;
}

std::string golden(const std::string& name) {
    return std::string(RELASCOPE_FIXTURES) + "/golden/" + name;
}

TEST(HeadMeasures, OfALanguageModelAreSumsOverItsMaps) {
    core::OpenedModel model(golden("lm_rca"), "", "cpu");
    HeadMeasureOptions how{9, 4};
    const auto input = core::repeatedTokens(model, how);
    const auto& tokens = input.source.tokens;
    ASSERT_EQ(tokens.size(), 18u);
    EXPECT_EQ(std::set(tokens.begin(), tokens.end()).size(), 9u) << "no token twice in a half";
    for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(tokens[i], tokens[i + 9]);
    EXPECT_NE(core::repeatedTokens(model, {9, 5}).source.tokens, tokens) << "another seed";

    const core::OptionValues same = {{"length", std::int64_t{9}}, {"seed", std::int64_t{4}}};
    const auto found = measureHeads(model, same);
    const auto probed = model.probe(input, {});
    EXPECT_EQ(found.text("input"), "9 random tokens, twice");
    std::size_t maps = 0;
    for (const auto& map : probed.maps) {
        if (map.kind != MapKind::SensoryAttention && map.kind != MapKind::RelationalAttention)
            continue;
        ++maps;
        const auto head = valuesOf(found.table("heads"), {map.kind, map.layer, map.index});
        double previous = 0.0, duplicate = 0.0, induction = 0.0;
        for (int i = 1; i < 18; ++i) previous += static_cast<double>(map.at(i, i - 1)) / 17;
        for (int i = 9; i < 18; ++i) {
            duplicate += static_cast<double>(map.at(i, i - 9)) / 9;
            induction += static_cast<double>(map.at(i, i - 8)) / 9;
        }
        EXPECT_NEAR(head[0], previous, 1e-6);
        EXPECT_NEAR(head[1], duplicate, 1e-6);
        EXPECT_NEAR(head[2], induction, 1e-6);
    }
    EXPECT_EQ(found.table("heads").rows(), maps);
    // A head whose attention is made even has the measures of even attention.
    Edit even;
    even.op = EditOp::Uniform, even.point = "blocks.1.attn.hook_pattern";
    even.selection["head"] = {{0}, {}, {}};
    EditList list;
    list.edits = {even};
    const auto edited = measureHeads(model, same, {list, {}});
    const MapLink first{MapKind::SensoryAttention, 1, 0};
    const auto head = valuesOf(edited.table("heads"), first);
    for (std::size_t m = 0; m < head.size(); ++m)
        EXPECT_NEAR(head[m], edited.table("even").numbers("value")[m], 1e-6) << m;
    EXPECT_NE(valuesOf(found.table("heads"), first), head);
    // A line of the table for each head, and the names above.
    const auto csv = core::analysisNamed("heads").csv(found);
    EXPECT_EQ(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')), maps + 1);
    EXPECT_TRUE(csv.starts_with(
        "layer,kind,head,previous token,duplicate token,induction,itself,first token,reading\n1,"));
}

TEST(HeadMeasures, AreCutToTheModelAndRefusedWhereNothingHasAName) {
    core::OpenedModel model(golden("lm_rca"), "", "cpu");
    const auto longest = core::repeatedTokens(model, {100000, 0}).source.size();
    EXPECT_LE(longest, model.options().tokens());
    EXPECT_GT(longest, 4);
    EXPECT_THROW(core::repeatedTokens(model, {1, 0}), OptionError);
    core::OpenedModel pairs(golden("seq2seq_dat_math"), "", "cpu");
    EXPECT_THROW(measureHeads(pairs), OptionError);
    core::OpenedModel images(golden("vidat_relational_games_mixed"), "", "cpu");
    const auto found = measureHeads(images);
    EXPECT_EQ(found.table("even").texts("measure").back(), "neighbours");
    const std::set<std::string> kinds(found.table("heads").texts("kind").begin(),
                                      found.table("heads").texts("kind").end());
    EXPECT_EQ(kinds.size(), 2U) << "sensory and relational attention";
}

}  // namespace
}  // namespace relascope
