// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of captured maps for other programs: their scales, and the bounds of a run.
#include "run/capture_maps.h"

#include <gtest/gtest.h>

#include <cmath>

#include "files/atomic_file.h"
#include "run/captures.h"
#include "run/run_lines.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

using testing_support::TemporaryFolder;

RelationMap mapOf(MapKind kind, int index, int side, float scale) {
    RelationMap map{kind, 0, index, side, side, {}};
    for (int k = 0; k < side * side; ++k)
        map.values.push_back(scale * std::sin(static_cast<float>(k + index)));
    return map;
}

/// Captures of one layer with `maps` relations, at these steps.
void writeCaptures(const std::string& folder, const std::vector<std::int64_t>& steps, int maps,
                   int side) {
    makeDirectories(folder);
    for (const auto step : steps) {
        ProbeResult result;
        result.step = step;
        result.sample.origin = "validation 0";
        result.layers = {{"layer 1"}};
        result.probabilities = {1.0F};
        result.sample.image = {1, 1, 3, {0, 0, 0}};
        for (int k = 0; k < maps; ++k)
            result.maps.push_back(mapOf(MapKind::Relation, k, side, 1.0F));
        saveCapture(folder, {result});
    }
}

const auto always = [] { return true; };

TEST(MapSheets, TheScaleOfRelationsIsSymmetricAndThatOfAttentionBeginsAtZero) {
    const auto large = mapOf(MapKind::Relation, 0, 8, 3.0F),
               small = mapOf(MapKind::Relation, 1, 8, 0.1F);
    const auto both = sharedLimits({&large, &small});
    EXPECT_FLOAT_EQ(both.low, -both.high);
    EXPECT_LT(both.high, 3.0F) << "it ends at percentiles";
    EXPECT_GT(both.high, 2.5F) << "of both maps";
    auto attention = mapOf(MapKind::SensoryAttention, 0, 8, 0.0F);
    attention.values[5] = 0.75F;
    EXPECT_EQ(sharedLimits({&attention}), (Limits{0.0F, 0.75F}));
    auto flat = mapOf(MapKind::Relation, 0, 8, 0.0F);
    EXPECT_EQ(sharedLimits({&flat}), (Limits{-1.0F, 1.0F}));
    flat.values[9] = -2.0F;  // the percentiles of nearly nothing but 0 say nothing
    EXPECT_EQ(sharedLimits({&flat}), (Limits{-2.0F, 2.0F}));
}

TEST(MapSheets, ARunOfManyCapturesGetsSomeSpreadEvenly) {
    const TemporaryFolder folder("sheets");
    const std::vector<std::int64_t> steps = {0, 10, 20, 30, 40, 50, 60, 70, 80, 90};
    writeCaptures(folder.path(), steps, 2, 5);
    EXPECT_EQ(CaptureSheets(folder.path(), 0).cells(), 50);
    CaptureRecords all(folder.path(), 500);
    EXPECT_EQ(all.fitting(steps), steps);
    EXPECT_TRUE(all.takeRemarks().empty());
    CaptureRecords some(folder.path(), 249);
    EXPECT_EQ(some.fitting(steps), (std::vector<std::int64_t>{0, 30, 60, 90}));
    ASSERT_EQ(some.takeRemarks().size(), 1U);
    EXPECT_TRUE(some.takeRemarks().empty());
    EXPECT_EQ(CaptureRecords(folder.path(), 60).fitting(steps), (std::vector<std::int64_t>{90}));
    EXPECT_TRUE(CaptureRecords(folder.path(), 1).fitting({}).empty());
}

TEST(MapSheets, ARunThatTrainsEndsItsImagesAtTheBound) {
    const TemporaryFolder folder("sheets");
    writeCaptures(folder.path(), {0, 1, 2, 3}, 2, 5);
    CaptureRecords records(folder.path(), 100);
    EXPECT_FALSE(records.of(0, 1.0, always).empty());
    EXPECT_FALSE(records.of(1, 2.0, always).empty());
    EXPECT_TRUE(records.takeRemarks().empty());
    EXPECT_TRUE(records.of(2, 3.0, always).empty());
    EXPECT_TRUE(records.of(3, 4.0, always).empty());
    EXPECT_EQ(records.images(), 2);
    const auto remarks = records.takeRemarks();
    ASSERT_EQ(remarks.size(), 1U);
    EXPECT_EQ(remarks[0], "the images end before step 2, since more would make the file too large");
}

TEST(MapSheets, ManyMapsArePooledToTheCellsOfACapture) {
    const TemporaryFolder folder("sheets");
    writeCaptures(folder.path(), {0}, 30, 400);
    const CaptureSheets capture(folder.path(), 0);
    EXPECT_LE(capture.cells(), kMostSheetCells);
    EXPECT_GT(capture.cells(), kMostSheetCells / 3);
    int drawn = 0;
    capture.draw([&](const MapSheet& sheet) {
        ++drawn;
        EXPECT_EQ(sheet.name, "relations/layer 1/validation 0");
        EXPECT_EQ(sheet.maps, 30);
        EXPECT_EQ(sheet.image.width, 6 * 200 + 5 * kSheetGap);  // blocks of 2 x 2 cells
        EXPECT_EQ(sheet.image.height, 5 * 200 + 4 * kSheetGap);
        return true;
    });
    EXPECT_EQ(drawn, 1);
}

TEST(MapSheets, PaddingIsNeitherDrawnNorCounted) {
    const TemporaryFolder folder("sheets");
    makeDirectories(folder.path());
    ProbeResult result;
    result.probabilities = {1.0F};
    result.sample.image = {1, 1, 3, {0, 0, 0}};
    result.sample.source.tokens = {1, 2, 3, 0, 0};
    result.sample.source.labels = {"a", "b", "c", "", ""};
    result.sample.target.tokens = {4, 0};
    result.sample.target.labels = {"d", ""};
    result.sides = {{"source", result.sample.source.labels},
                    {"target", result.sample.target.labels}};
    result.layers = {{"encoder 1", 0, 0}, {"decoder 1 cross", 1, 0}};
    auto map = mapOf(MapKind::SensoryAttention, 0, 5, 0.0F);
    map.values[1 * 5 + 2] = 0.5F;
    map.values[4 * 5 + 4] = 9.0F;
    result.maps = {map};
    map.layer = 1, map.rows = 2;
    map.values = {0.1F, 0.2F, 0.3F, 7.0F, 7.0F, 8.0F, 8.0F, 8.0F, 8.0F, 8.0F};
    result.maps.push_back(map);
    saveCapture(folder.path(), {result});
    std::vector<MapSheet> sheets;
    CaptureSheets(folder.path(), 0).draw([&](const MapSheet& sheet) {
        sheets.push_back(sheet);
        return true;
    });
    ASSERT_EQ(sheets.size(), 2U);
    EXPECT_EQ(sheets[0].name, "sensory attention/encoder 1/sample 1");
    EXPECT_EQ(sheets[0].limits, (Limits{0.0F, 0.5F}));
    EXPECT_EQ(sheets[0].image.width, 3 * 67);
    EXPECT_EQ(sheets[1].name, "cross attention/decoder 1 cross/sample 1");
    EXPECT_EQ(sheets[1].limits, (Limits{0.0F, 0.3F}));
    EXPECT_EQ(sheets[1].image.width, 3 * 67);
    EXPECT_EQ(sheets[1].image.height, 67);
}

TEST(MapSheets, DrawingStopsWhenItIsNotWanted) {
    const TemporaryFolder folder("sheets");
    writeCaptures(folder.path(), {0}, 1, 5);
    CaptureRecords records(folder.path());
    EXPECT_TRUE(records.of(0, 1.0, [] { return false; }).empty());
    EXPECT_THROW((void)records.of(0, 1.0, []() -> bool { throw Cancelled(); }), Cancelled);
    EXPECT_TRUE(records.of(7, 1.0, always).empty()) << "there is none";
    const auto remarks = records.takeRemarks();
    ASSERT_EQ(remarks.size(), 1U);
    EXPECT_TRUE(remarks[0].starts_with("without the images of step 7: ")) << remarks[0];
}

}  // namespace
}  // namespace relascope
