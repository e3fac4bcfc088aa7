// SPDX-License-Identifier: GPL-3.0-or-later
// Large maps are computed off the window's thread; results may be partial.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFile>
#include <QLineEdit>
#include <QPainter>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <deque>

#include "probe/head_places.h"
#include "sourced.h"
#include "support/rooms.h"
#include "tests/widgets/child.h"
#include "text_fixture.h"
#include "widgets/export/export.h"
#include "widgets/inspector/all_maps.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/map_statistics.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/inspector/small_maps.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/kit/map_strip.h"
#include "widgets/maps/color_map.h"
#include "widgets/maps/layer_slider.h"
#include "widgets/maps/map_view.h"
#include "widgets/theme/controls.h"

namespace relascope {
namespace {

/// Cells are said to cost so much that no map is made at once.
constexpr std::int64_t costly = 100000;

class LargeModelTest : public testing::Test {
protected:
    void SetUp() override {
        inspector.setBackground(
            [this](QObject*, std::function<void()> work, std::function<void()> done) {
                jobs.push_back([work, done] {
                    work();
                    done();
                });
            });
        inspector.resize(1200, 560);
        inspector.show();
        QTest::qWait(1);
        stored = fixture::text(fixture::storyPieces(), 3, 4, 2);
        made = fixture::sourced(*stored, costly);
    }
    /// The result with the maps of the first layers only.
    std::shared_ptr<ProbeResult> partial(int layers) const {
        auto result = std::make_shared<ProbeResult>(*made);
        result->partial = true;
        std::erase_if(result->maps, [&](const RelationMap& map) { return map.layer >= layers; });
        return result;
    }
    bool runOne() {
        if (jobs.empty()) return false;
        const auto job = std::move(jobs.front());
        jobs.pop_front();
        job();
        return true;
    }
    void runAll() {
        while (runOne()) {
        }
    }
    MapView* map() const { return inspector.mapPane()->map(); }
    MapStrip* gallery() const { return inspector.smallMaps()->allMaps()->gallery(); }
    const RelationMap& storedMap(MapKind kind, int layer, int index) const {
        return *stored->find(kind, layer, index);
    }

    std::deque<std::function<void()>> jobs;
    std::shared_ptr<ProbeResult> stored, made;
    RelationInspector inspector;
};

TEST_F(LargeModelTest, TheOldPictureStaysUntilTheNewOneIsThere) {
    inspector.setResult(made);
    EXPECT_TRUE(map()->values().empty());
    runAll();
    EXPECT_EQ(map()->values(), processed(storedMap(MapKind::Relation, 0, 0), Processing::Raw));
    const MapValues first = map()->values();
    inspector.stepRelation(1);
    EXPECT_EQ(map()->values(), first);
    EXPECT_FALSE(map()->outdated()) << "not before it takes long";
    EXPECT_FALSE(inspector.mapPane()->current());
    // The text follows at once: one row is made quickly.
    const auto row =
        processedRow(storedMap(MapKind::Relation, 0, 1), inspector.view().source, Processing::Raw);
    EXPECT_EQ(inspector.sourcePane()->objects()->towards(), row);
    QTest::qWait(220);
    EXPECT_TRUE(map()->outdated());
    runAll();
    EXPECT_FALSE(map()->outdated());
    EXPECT_EQ(map()->values(), processed(storedMap(MapKind::Relation, 0, 1), Processing::Raw));
}

TEST_F(LargeModelTest, OnlyTheNewestRequestIsComputed) {
    inspector.setResult(made);
    runAll();
    for (int k = 0; k < 3; ++k) inspector.stepRelation(1);
    EXPECT_EQ(jobs.size(), 1U) << "one at a time";
    runOne();
    EXPECT_NE(map()->values(), processed(storedMap(MapKind::Relation, 0, 1), Processing::Raw))
        << "no longer wanted";
    runOne();
    EXPECT_EQ(map()->values(), processed(storedMap(MapKind::Relation, 0, 3), Processing::Raw))
        << "before thumbnails and extents";
}

TEST_F(LargeModelTest, SmallMapsAreShownAtOnce) {
    inspector.setResult(fixture::sourced(*stored));
    EXPECT_EQ(map()->values(), processed(storedMap(MapKind::Relation, 0, 0), Processing::Raw));
}

TEST_F(LargeModelTest, ScalesBecomeExact) {
    InspectorView view;
    view.kind = MapKind::SensoryAttention;
    inspector.setView(view);
    inspector.setResult(made);
    runOne();
    ViewMaps exact;
    exact.setResult(stored);
    const auto* bar = child<ColorBar>(inspector.mapPane());
    EXPECT_FALSE(bar->extent().any) << "not known yet";
    runAll();
    EXPECT_EQ(bar->extent(), exact.sharedExtent(view));
    EXPECT_EQ(exact.limits(view), inspector.choice().maps().limits(view));
    view.kind = MapKind::Relation;
    inspector.setView(view);
    runAll();
    EXPECT_EQ(bar->extent(), exact.sharedExtent(view)) << "of colours that end at percentiles, too";
}

TEST_F(LargeModelTest, ThumbnailsFollow) {
    inspector.setResult(made);
    MapStrip* multiples = inspector.smallMaps()->multiples();
    const auto isMade = [&](MapKind kind, int index) {
        QImage image(62, 62, QImage::Format_RGB32);
        QPainter painter(&image);
        return multiples->picture(painter, image.rect(), {kind, inspector.view().layer, index}, 1);
    };
    EXPECT_FALSE(isMade(MapKind::Relation, 3));
    EXPECT_FALSE(multiples->mapRect({MapKind::Relation, inspector.view().layer, 3}).isEmpty())
        << "its place is kept";
    runAll();
    EXPECT_TRUE(isMade(MapKind::Relation, 3));
    EXPECT_TRUE(isMade(MapKind::SensoryAttention, 1));
    // What was made is kept for the way back.
    inspector.stepLayer(1);
    runAll();
    inspector.stepLayer(-1);
    EXPECT_TRUE(isMade(MapKind::Relation, 3));
}

TEST_F(LargeModelTest, TheChosenMapIsKeptWhileLayersFollow) {
    InspectorView view;
    view.kind = MapKind::SensoryAttention;
    view.layer = 2;
    view.index = 1;
    view.source = 40;
    view.target = 7;
    inspector.setView(view);
    inspector.setResult(partial(0));
    EXPECT_EQ(inspector.view(), view);
    EXPECT_TRUE(map()->values().empty());
    EXPECT_EQ(map()->note(), QString::fromUtf8("Computing layer 1 of 3 …"));
    EXPECT_EQ(inspector.smallMaps()->multiples()->tiles().sections().at(0).absence, map()->note());
    inspector.setResult(partial(2));
    EXPECT_EQ(map()->note(), QString::fromUtf8("Computing layer 3 of 3 …"));
    EXPECT_EQ(inspector.view(), view);
    // Another kind may be chosen before its maps are there.
    inspector.setKindByNumber(2);
    EXPECT_EQ(inspector.view().kind, MapKind::RelationalAttention);
    EXPECT_EQ(inspector.view().layer, 2);
    inspector.setKindByNumber(3);
    inspector.setResult(made);
    runAll();
    EXPECT_EQ(inspector.view(), view);
    EXPECT_EQ(map()->note(), "");
    EXPECT_EQ(map()->values(),
              processed(storedMap(MapKind::SensoryAttention, 2, 1), Processing::Raw));
}

TEST_F(LargeModelTest, WhatIsKnownOutlivesAPartialResult) {
    inspector.setResult(partial(1));
    runAll();
    const auto& source =
        static_cast<const fixture::StoredSource&>(*made->find(MapKind::Relation, 0, 0)->source);
    const int before = source.rowsRead;
    EXPECT_GT(before, 0);
    inspector.setResult(partial(2));
    runAll();
    inspector.setResult(made);
    runAll();
    EXPECT_LE(source.rowsRead, before + 10) << "at most the row of the text, and cells";
}

TEST(ViewMapsTest, ColoursOfAttentionInALongTextEndBelowItsLargestWeight) {
    constexpr int n = 140;
    auto result = std::make_shared<ProbeResult>();
    result->layers = {{"layer 1"}};
    RelationMap map{MapKind::SensoryAttention, 0, 0, n, n, std::vector<float>(n * n), true};
    for (int i = 0; i < n; ++i)
        for (int j = 0; j <= i; ++j)
            map.values[static_cast<std::size_t>(i * n + j)] = 1.0F / (i + 1);
    result->maps = {map};
    ViewMaps maps;
    maps.setResult(result);
    InspectorView view;
    view.kind = MapKind::SensoryAttention;
    EXPECT_TRUE(maps.isRobust(view));
    EXPECT_EQ(maps.ends(view).extent.high, 1.0F);
    EXPECT_EQ(maps.ends(view).limits.low, 0.0F);
    EXPECT_LT(maps.ends(view).limits.high, 0.2F);
    view.robust = false;
    EXPECT_EQ(maps.ends(view).limits.high, 1.0F);
    // Few weights are not tiny beside each other.
    map.rows = map.columns = 50;
    auto shorter = std::make_shared<ProbeResult>(*result);
    shorter->maps = {map};
    maps.setResult(shorter);
    view.robust = true;
    EXPECT_FALSE(maps.isRobust(view));
}

TEST_F(LargeModelTest, TheFirstViewWaitsForItsMaps) {
    std::erase_if(made->maps, [](const RelationMap& map) {
        return map.kind == MapKind::Relation && map.layer == 0;
    });
    inspector.setResult(partial(0));
    inspector.setResult(partial(1));
    inspector.setResult(made);
    runAll();
    EXPECT_EQ(inspector.view().kind, MapKind::Relation);
    EXPECT_EQ(inspector.view().layer, 1) << "the first layer with relations";
}

TEST_F(LargeModelTest, AllLayersAreListedAndChosen) {
    inspector.setResult(made);
    SmallMaps* small = inspector.smallMaps();
    QTest::mouseClick(small->scope()->button(1), Qt::LeftButton);
    EXPECT_TRUE(inspector.view().allLayers);
    runAll();
    EXPECT_EQ(gallery()->tiles().count(), 3 * (4 + 2 + 2));
    const MapId wanted{MapKind::Relation, 0, 2};
    QTest::mouseClick(gallery()->canvas(), Qt::LeftButton, {}, gallery()->mapRect(wanted).center());
    EXPECT_EQ(inspector.view().index, 2);
    EXPECT_EQ(inspector.view().layer, 0);
    // A cell of the overview is a map of any layer.
    MapStrip* overview = small->allMaps()->overview();
    QTest::mouseClick(overview->canvas(), Qt::LeftButton, {},
                      overview->mapRect({MapKind::SensoryAttention, 2, 1}).center());
    EXPECT_EQ(inspector.view().kind, MapKind::SensoryAttention);
    EXPECT_EQ(inspector.view().layer, 2);
    EXPECT_EQ(inspector.view().index, 1);
    QTest::keyClick(overview, Qt::Key_Down);
    EXPECT_EQ(inspector.view().layer, 1);
    EXPECT_FALSE(gallery()->mapRect({MapKind::SensoryAttention, 1, 1}).isEmpty());
    QTest::keyClick(gallery(), Qt::Key_Left);
    EXPECT_EQ(inspector.view().index, 0);
}

TEST_F(LargeModelTest, MapsAreSortedAndFiltered) {
    inspector.setResult(made);
    SmallMaps* small = inspector.smallMaps();
    InspectorView view = inspector.view();
    view.allLayers = true;
    view.order = MapOrder::Entropy;
    inspector.setView(view);
    EXPECT_EQ(small->order()->currentIndex(), 3);
    runAll();
    const auto sections = gallery()->tiles().sections();
    ASSERT_EQ(sections.size(), 3U);
    const auto entropy = [&](const MapId& id) {
        return measuresOf(storedMap(id.kind, id.layer, id.index)).entropy;
    };
    const auto& heads = sections[2].maps;
    ASSERT_EQ(heads.size(), 6U);
    for (std::size_t k = 1; k < heads.size(); ++k)
        EXPECT_GE(entropy(heads[k - 1]), entropy(heads[k]));
    small->allMaps()->threshold()->setValue(entropy(heads[1]));
    const double least = small->allMaps()->threshold()->value();
    int above = 0;
    for (const auto& section : sections)
        for (const MapId& id : section.maps) above += entropy(id) >= least;
    EXPECT_GT(above, 0);
    EXPECT_LT(above, 12);
    EXPECT_TRUE(gallery()->label({MapKind::Relation, 0, 2}).startsWith("L1 r3"));
    const int all = gallery()->tiles().count();
    EXPECT_EQ(all, above) << "relations have no entropy";
    small->allMaps()->threshold()->setValue(0);
    QTest::keyClicks(small->allMaps()->filter(), "layer 2, r 3");
    ASSERT_EQ(gallery()->tiles().count(), 1);
    EXPECT_EQ(gallery()->tiles().map(0), (MapId{MapKind::Relation, 1, 2}));
    small->allMaps()->filter()->setText("sens");
    EXPECT_EQ(gallery()->tiles().count(), 6);
    small->allMaps()->filter()->setText("nothing like it");
    EXPECT_EQ(gallery()->tiles().count(), 0);
}

TEST_F(LargeModelTest, TablesAreWrittenInTheBackground) {
    const auto large = fixture::largeText(160, 1, 2, 1);
    inspector.setResult(large);
    runAll();
    const QTemporaryDir folder;
    const QString path = folder.filePath("map.csv");
    ViewMenu* menu = inspector.mapPane()->menu();
    menu->askPath = [&](auto&&...) { return path; };
    QSignalSpy saved(menu, &ViewMenu::saved);
    menu->save("csv");
    EXPECT_TRUE(saved.isEmpty()) << "25,600 cells";
    runAll();
    EXPECT_EQ(saved.size(), 1);
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    EXPECT_EQ(QString::fromUtf8(file.readAll()), inspector.choice().csv());
    // A figure, after the ends of its scale.
    inspector.setResult(made);
    runAll();
    InspectorView view = inspector.view();
    view.layer = 1;
    inspector.setView(view);
    menu->askPath = [&](auto&&...) { return folder.filePath("map.svg"); };
    menu->save("svg");
    EXPECT_EQ(saved.size(), 1);
    runAll();
    EXPECT_EQ(saved.size(), 2);
    EXPECT_TRUE(QFile::exists(folder.filePath("map.svg")));
}

TEST_F(LargeModelTest, SmallMapsOfAFigureAreMadeInTheBackground) {
    inspector.setBackground(
        [this](QObject*, const std::function<void()>& work, const std::function<void()>& done) {
            jobs.push_back(work);
            jobs.push_back(done);
        });
    inspector.setResult(made);
    runAll();
    const auto rowsRead = [this] {
        int rows = 0;
        for (const RelationMap& of : made->maps)
            rows += static_cast<const fixture::StoredSource&>(*of.source).rowsRead;
        return rows;
    };
    const QTemporaryDir folder;
    const QString later = folder.filePath("later.svg"), atOnce = folder.filePath("once.svg");
    ViewMenu* menu = inspector.smallMaps()->menu();
    menu->askPath = [&](auto&&...) { return later; };
    QSignalSpy saved(menu, &ViewMenu::saved);
    menu->save("svg");
    const int before = rowsRead();
    ASSERT_TRUE(runOne()) << "the maps are made";
    const int after = rowsRead();
    EXPECT_GT(after, before);
    runAll();
    ASSERT_EQ(saved.size(), 1);
    EXPECT_EQ(rowsRead(), after) << "drawing reads no map";
    const auto content = [](const QString& path) {
        QFile file(path);
        EXPECT_TRUE(file.open(QIODevice::ReadOnly));
        return file.readAll();
    };
    menu->background = nullptr;
    menu->askPath = [&](auto&&...) { return atOnce; };
    menu->save("svg");
    EXPECT_EQ(content(later), content(atOnce));
}

TEST(MapFilters, WordsNameMaps) {
    const QString r12 = "layer 3 r 12 relation layer 3";
    for (const char* text : {"", "r 12", "layer 3", "R 12", " layer  3 , r 12", "rel", "relation"})
        EXPECT_TRUE(MapFilter(text).matches(r12)) << text;
    for (const char* text : {"r 1", "r 3", "layer 1", "layer 33", "head", "layer 3, r 2"})
        EXPECT_FALSE(MapFilter(text).matches(r12)) << text;
}

// While a model trains, results may come faster than all of their maps are measured.
TEST(MeasuresTest, OfTheLastResultStayUntilTheNewAreKnown) {
    const auto first = fixture::text(fixture::storyPieces(), 20, 4, 2);
    const auto times = [&](float factor) {
        auto other = std::make_shared<ProbeResult>(*first);
        for (RelationMap& map : other->maps)
            for (float& value : map.values) value *= factor;
        ViewMaps maps;
        maps.setResult(other);
        return maps;
    };
    std::deque<std::function<void()>> jobs;
    BackgroundWork work;
    work.setExecutor([&](QObject*, std::function<void()> run, std::function<void()> done) {
        jobs.push_back([run, done] {
            run();
            done();
        });
    });
    const auto runOne = [&] {
        const auto job = std::move(jobs.front());
        jobs.pop_front();
        job();
    };
    MapStatistics measures(work);
    std::vector<MapId> ids;
    for (const RelationMap& map : first->maps)
        if (map.kind == MapKind::Relation) ids.push_back({map.kind, map.layer, map.index});
    const auto magnitude = [&](const MapId& id) { return measures.of(id).of(MapOrder::Magnitude); };
    measures.setMaps(times(1.0F));
    measures.request(ids);
    while (!jobs.empty()) runOne();
    const float was = magnitude(ids[0]);
    ASSERT_GT(was, 0.0F);
    measures.setMaps(times(2.0F));
    EXPECT_FALSE(measures.known(ids[0]));
    EXPECT_EQ(magnitude(ids[0]), was);
    measures.request(ids);
    runOne();
    EXPECT_EQ(magnitude(ids[0]), 2 * was);
    ASSERT_FALSE(measures.known(ids.back())) << "more than one piece of work";
    const float last = magnitude(ids.back());
    // The next result begins with the maps that the last one did not come to.
    measures.setMaps(times(3.0F));
    measures.request(ids);
    while (!jobs.empty() && !measures.known(ids.back())) runOne();
    EXPECT_EQ(magnitude(ids.back()), 3 * last);
    EXPECT_EQ(magnitude(ids[0]), 2 * was) << "comes later";
    while (!jobs.empty()) runOne();
    EXPECT_EQ(magnitude(ids[0]), 3 * was);
}

TEST(MapMeasures, SayWhereHeadsAttend) {
    ProbeResult result;
    result.sample.source.tokens = {4, 7, 4, 7};
    result.sides = {{"tokens", {}}};
    const core::HeadPlaces places(result);
    RelationMap map{MapKind::SensoryAttention, 0, 0, 4, 4, {}, true};
    map.values = {1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};  // to the previous token
    const auto measures = measuresOf(map, &places);
    EXPECT_EQ(measures.of(MapOrder::Previous), 1.0F);
    EXPECT_EQ(measures.of(MapOrder::Induction), 1.0F) << "row 3: what followed the first 7 is 2";
    EXPECT_EQ(measures.of(MapOrder::Duplicate), 0.0F);
    EXPECT_EQ(measures.of(MapOrder::Itself), 0.25F);
    EXPECT_TRUE(std::isnan(measures.of(MapOrder::Neighbours))) << "of images";
    EXPECT_TRUE(std::isnan(measuresOf(map).of(MapOrder::Previous))) << "an unknown input";
    map.kind = MapKind::Relation;
    EXPECT_TRUE(std::isnan(measuresOf(map, &places).of(MapOrder::Previous))) << "no attention";
}

TEST(MapMeasures, DescribeMaps) {
    RelationMap map{MapKind::Relation, 0, 0, 2, 2, {5, 2, 2, -7}};
    EXPECT_FLOAT_EQ(measuresOf(map).symmetry, 1.0F);
    EXPECT_FLOAT_EQ(measuresOf(map).magnitude, 7.0F);
    EXPECT_TRUE(std::isnan(measuresOf(map).entropy));
    map.values = {0, 2, -2, 0};
    EXPECT_FLOAT_EQ(measuresOf(map).symmetry, 0.0F);
    EXPECT_FLOAT_EQ(measuresOf(map).spread, std::sqrt(2.0F));
    map.values = {0, 2, 0, 0};
    EXPECT_FLOAT_EQ(measuresOf(map).symmetry, 0.5F);
    RelationMap heads{MapKind::SensoryAttention, 0, 0, 2, 2, {1, 0, 0.5F, 0.5F}, true};
    EXPECT_NEAR(measuresOf(heads).entropy, std::log(2.0) / 2, 1e-6);
    EXPECT_TRUE(std::isnan(measuresOf(heads).symmetry)) << "causal";
    // Of a large map some rows say nearly the same.
    const auto large = fixture::largeText(512, 1, 1, 1);
    const MapMeasures some = measuresOf(large->maps[2]),
                      all = measuresOf(large->maps[2], nullptr, 512);
    EXPECT_NEAR(some.entropy, all.entropy, 0.05 * all.entropy);
    EXPECT_NEAR(measuresOf(large->maps[0]).spread, measuresOf(large->maps[0], nullptr, 512).spread,
                0.1 * all.spread + 0.05);
}

}  // namespace
}  // namespace relascope
