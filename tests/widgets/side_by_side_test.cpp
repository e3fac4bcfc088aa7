// SPDX-License-Identifier: GPL-3.0-or-later
// The map beside that of the inspector: a large one is made off the window's thread.
#include <gtest/gtest.h>

#include <QTest>
#include <deque>

#include "sourced.h"
#include "support/rooms.h"
#include "text_fixture.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/maps/map_view.h"

namespace relascope {
namespace {

/// Cells are said to cost so much that no map is made at once.
constexpr std::int64_t kCostly = 100000;

class SideBySideTest : public testing::Test {
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
        made = fixture::sourced(*stored, kCostly);
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
    const RelationMap& storedMap(MapKind kind, int layer, int index) const {
        return *stored->find(kind, layer, index);
    }

    std::deque<std::function<void()>> jobs;
    std::shared_ptr<ProbeResult> stored, made;
    RelationInspector inspector;
};

TEST_F(SideBySideTest, TheMapBesideIsMadeOffTheWindowsThread) {
    inspector.setResult(made);
    runAll();
    inspector.pin("A");
    auto doubled = std::make_shared<ProbeResult>(*stored);
    for (auto& each : doubled->maps)
        for (float& value : each.values) value *= 2.0F;
    inspector.setResult(fixture::sourced(*doubled, kCostly));
    runAll();
    ASSERT_FALSE(map()->values().empty());
    MapView* beside = inspector.mapPane()->other();
    inspector.toggleBeside();
    ASSERT_TRUE(beside->isVisible());
    EXPECT_TRUE(beside->values().empty()) << "not on this thread";
    EXPECT_FALSE(map()->values().empty()) << "the own map is at hand";
    ASSERT_TRUE(runOne());
    const auto view = [&] { return inspector.view(); };
    const auto& relation = storedMap(view().kind, view().layer, view().index);
    ASSERT_FALSE(beside->values().empty());
    EXPECT_FLOAT_EQ(beside->values().at(2, 1), relation.at(2, 1));
    EXPECT_FLOAT_EQ(map()->values().at(2, 1), 2.0F * relation.at(2, 1));
    runAll();
    // Both in the same colours, also once the scale is exact.
    const auto colour = [](MapView* shown) {
        const QRect box = shown->cellRect(2, 1);
        return shown->grab().toImage().pixelColor((box.topLeft() + QPoint(1, 1)) *
                                                  shown->devicePixelRatio());
    };
    EXPECT_NE(colour(beside), colour(map()));
    // Of another layer the map before it stays until the new one is made; the last one asked for
    // is shown.
    auto request = view();
    for (const int layer : {1, 2}) {
        request.layer = layer;
        inspector.setView(request);
    }
    EXPECT_FLOAT_EQ(beside->values().at(2, 1), relation.at(2, 1));
    runAll();
    EXPECT_FLOAT_EQ(beside->values().at(2, 1), storedMap(view().kind, 2, view().index).at(2, 1));
    // Gone while it is made, it is not shown.
    request.layer = 0;
    inspector.setView(request);
    inspector.toggleBeside();
    runAll();
    EXPECT_FALSE(beside->isVisible());
    EXPECT_TRUE(beside->values().empty());
    inspector.unpin();
    runAll();
}

}  // namespace
}  // namespace relascope
