// SPDX-License-Identifier: GPL-3.0-or-later
#include "sourced.h"

#include <gtest/gtest.h>

#include <limits>

#include "probe_fixture.h"
#include "sequence_fixture.h"
#include "text_fixture.h"
#include "types/map_cells.h"
#include "widgets/inspector/view_maps.h"
#include "widgets/inspector/view_text.h"

namespace relascope {
namespace {

constexpr Processing processings[] = {Processing::Raw, Processing::Tanh, Processing::Sigmoid,
                                      Processing::SoftmaxOverJ, Processing::TopK};
constexpr Range ranges[] = {Range::ThisMap, Range::ThisLayer, Range::WholeModel, Range::Fixed};

/// Larger than the blocks in which sources are read, and not a multiple of them.
RelationMap uneven(bool causal) {
    RelationMap map = fixture::map(MapKind::Relation, 1, 2, 150, causal ? 150 : 131);
    map.causal = causal;
    if (!causal) map.values[3000] = std::numeric_limits<float>::infinity();
    return map;
}

TEST(Sourced, ValuesAreThoseOfTheStoredMap) {
    for (const bool causal : {false, true}) {
        const RelationMap stored = uneven(causal), made = fixture::sourced(stored);
        EXPECT_TRUE(made.values.empty());
        EXPECT_EQ(extentOf(made), extentOf(stored));
        EXPECT_EQ(extentOfRows(made, 7), extentOfRows(stored, 7));
        EXPECT_EQ(valueSample(made), valueSample(stored));
        EXPECT_EQ(valueSample(made, 100), valueSample(stored, 100));
        for (const int block : {1, 2, 7, 64, 65, 200})
            EXPECT_EQ(pooled(made, block), pooled(stored, block)) << block;
        for (const Processing processing : processings) {
            const MapValues all = processed(stored, processing, 3);
            if (processing == Processing::SoftmaxOverJ && !causal) continue;  // a row of NaN
            EXPECT_EQ(processed(made, processing, 3), all) << processingName(processing);
            for (const int row : {0, 63, 64, 149})
                EXPECT_EQ(processedRow(made, row, processing, 3), all.row(row).values) << row;
        }
    }
    EXPECT_TRUE(processedRow(uneven(true), 150, Processing::Raw).empty());
}

TEST(Sourced, ProductsMultiplyWhatTheyRead) {
    RelationMap relation = uneven(true), attention = uneven(true);
    attention.kind = MapKind::RelationalAttention;
    const RelationMap stored = product(attention, relation);
    for (const auto& made : {product(fixture::sourced(attention), relation),
                             product(attention, fixture::sourced(relation)),
                             product(fixture::sourced(attention), fixture::sourced(relation))}) {
        EXPECT_TRUE(made.source);
        EXPECT_EQ(made.all(), stored.values);
        EXPECT_EQ(made.at(140, 7), stored.at(140, 7));
        EXPECT_TRUE(made.causal);
    }
}

TEST(Sourced, EveryViewIsThatOfTheStoredMaps) {
    const auto stored = fixture::text(fixture::storyPieces());
    ViewMaps plain, made;
    plain.setResult(stored);
    made.setResult(fixture::sourced(*stored));
    InspectorView view;
    view.layer = view.index = 1;
    view.topK = 3;
    for (const MapKind kind :
         {MapKind::Relation, MapKind::SensoryAttention, MapKind::AttentionTimesRelation})
        for (const Processing processing : processings)
            for (const Range range : ranges)
                for (const bool reversed : {false, true}) {
                    view.kind = kind;
                    view.processing = processing;
                    view.range = range;
                    view.reversed = reversed;
                    const MapValues values = plain.values(view);
                    EXPECT_EQ(made.values(view), values);
                    EXPECT_EQ(made.limits(view), plain.limits(view));
                    EXPECT_EQ(made.sharedExtent(view), plain.sharedExtent(view));
                    EXPECT_EQ(mapCsv(made, view), mapCsv(plain, view));
                    EXPECT_EQ(footerText(made, view, 40, 12), footerText(plain, view, 40, 12));
                    if (!values.masked(40, 12)) {
                        EXPECT_FLOAT_EQ(made.value(view, 40, 12), values.at(40, 12));
                    }
                    if (kind == MapKind::AttentionTimesRelation) continue;
                    for (const int block : {1, 3})
                        EXPECT_EQ(made.thumbnail(kind, 2, view, block),
                                  plain.thumbnail(kind, 2, view, block));
                }
}

TEST(Sourced, PaddingIsCutOff) {
    ProbeResult padded = *fixture::text(fixture::storyPieces());
    for (std::size_t k = 40; k < padded.sides[0].labels.size(); ++k) padded.sides[0].labels[k] = "";
    padded.sides[0].name = "source";
    padded.sides.push_back({"target", padded.sides[0].labels});
    padded.sample.source = {};
    int leftOut = 0;
    const auto stored = withoutPadding(std::make_shared<ProbeResult>(padded), &leftOut);
    EXPECT_EQ(leftOut, 11);
    const auto made = withoutPadding(fixture::sourced(padded), &leftOut);
    ASSERT_EQ(made->maps.size(), stored->maps.size());
    for (std::size_t k = 0; k < made->maps.size(); ++k) {
        const RelationMap& map = made->maps[k];
        EXPECT_EQ(map.rows, 40);
        EXPECT_EQ(map.columns, 40);
        EXPECT_EQ(map.all(), stored->maps[k].all());
        EXPECT_EQ(map.at(39, 21), padded.maps[k].at(39, 21));
        EXPECT_EQ(map.all()[40 * 39 + 21], padded.maps[k].at(39, 21));
    }
}

}  // namespace
}  // namespace relascope
