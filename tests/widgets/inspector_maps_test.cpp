// SPDX-License-Identifier: GPL-3.0-or-later
// What the inspector shows of each kind of map, with each transform and range.
#include <QComboBox>
#include <QMenu>
#include <QPushButton>
#include <QTest>
#include <cmath>
#include <limits>

#include "tests/widgets/child.h"
#include "tests/widgets/inspector_fixture.h"
#include "widgets/export/export.h"
#include "widgets/inspector/inspector_bar.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/small_maps.h"
#include "widgets/kit/map_strip.h"
#include "widgets/maps/color_map.h"
#include "widgets/maps/map_view.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

const QString kMinus(QChar(0x2212));

TEST_F(InspectorTest, SegmentsShowEachKindOrSayWhyNot) {
    give({.sensory = 0});
    SegmentedControl* kinds = inspector.bar()->kinds();
    EXPECT_FALSE(kinds->isItemEnabled(2));
    EXPECT_TRUE(kinds->button(2)->toolTip().contains("no sensory heads"));
    EXPECT_FALSE(kinds->isItemEnabled(4));
    QTest::mouseClick(kinds->button(1), Qt::LeftButton);
    EXPECT_EQ(view().kind, MapKind::RelationalAttention);
    EXPECT_TRUE(inspector.choice().footer().contains("alpha = "));
    EXPECT_FLOAT_EQ(inspector.mapPane()->map()->values().at(3, 3), 0.5F);
    QTest::mouseClick(kinds->button(2), Qt::LeftButton);
    EXPECT_EQ(view().kind, MapKind::RelationalAttention);
}

TEST_F(InspectorTest, AttentionTimesRelationHasAChoiceOfHead) {
    give({.relational = 3});
    inspector.setKindByNumber(4);
    EXPECT_EQ(view().kind, MapKind::AttentionTimesRelation);
    QComboBox* heads = inspector.bar()->heads();
    ASSERT_TRUE(heads->isVisible());
    EXPECT_EQ(heads->count(), 3);
    MapStrip* multiples = inspector.smallMaps()->multiples();
    QTest::mouseClick(multiples->canvas(), Qt::LeftButton, {},
                      multiples->mapRect({MapKind::RelationalAttention, view().layer, 2}).center());
    EXPECT_EQ(view().head, 2);
    EXPECT_EQ(view().kind, MapKind::AttentionTimesRelation);
    QTest::mouseClick(multiples->canvas(), Qt::LeftButton, {},
                      multiples->mapRect({MapKind::Relation, view().layer, 3}).center());
    EXPECT_EQ(view().index, 3);
    EXPECT_EQ(view().kind, MapKind::AttentionTimesRelation);
    EXPECT_FLOAT_EQ(inspector.mapPane()->map()->values().at(2, 2),
                    0.5F * fixture::relationValue(0, 3, 2, 2));
}

TEST_F(InspectorTest, ProcessingAndRangeSetTheScale) {
    give({});
    QComboBox* processing = child<QComboBox>(inspector.bar(), "Transform (P)");
    processing->setFocus();
    QTest::keyClick(processing, Qt::Key_Down);
    EXPECT_EQ(view().processing, Processing::Tanh);
    ViewMaps maps;
    auto result = fixture::result();
    maps.setResult(result);
    InspectorView v;
    v.robust = false;
    v.range = Range::ThisMap;
    const float own = extentOf(*result->find(MapKind::Relation, 0, 0)).magnitude();
    EXPECT_EQ(maps.limits(v), (Limits{-own, own}));
    v.range = Range::ThisLayer;
    const float layer = extentOf(*result->find(MapKind::Relation, 0, 7)).magnitude();
    EXPECT_EQ(maps.limits(v), (Limits{-layer, layer}));
    v.range = Range::WholeModel;
    const float model = extentOf(*result->find(MapKind::Relation, 1, 7)).magnitude();
    EXPECT_EQ(maps.limits(v), (Limits{-model, model}));
    v.processing = Processing::Tanh;
    EXPECT_FLOAT_EQ(maps.limits(v).high, std::tanh(model));
    v.range = Range::Fixed;
    EXPECT_EQ(maps.limits(v), (Limits{-1, 1}));
    v.processing = Processing::SoftmaxOverJ;
    EXPECT_EQ(maps.limits(v), (Limits{0, 1}));
    v.range = Range::ThisMap;
    EXPECT_FLOAT_EQ(maps.limits(v).high, extentOf(maps.values(v)).high);
    EXPECT_EQ(maps.scale(v).kind(), ColorScale::Kind::Sequential);
    v.kind = MapKind::RelationalAttention;
    EXPECT_EQ(ViewMaps::processing(v), Processing::Raw)
        << "attention weights are already a softmax";
    EXPECT_FLOAT_EQ(maps.limits(v).high, 0.5F);
}

// The values of a fitted relation are in units of their own, often far larger.
TEST_F(InspectorTest, AFittedRelationHasAScaleOfItsOwn) {
    ViewMaps maps, without;
    auto result = std::make_shared<ProbeResult>(*fixture::result());
    without.setResult(std::make_shared<const ProbeResult>(*result));
    RelationMap fitted = *result->find(MapKind::Relation, 0, 0);
    fitted.index = result->count(MapKind::Relation, 0);
    fitted.fitted = "same-kind.safetensors";
    for (float& value : fitted.values) value *= 1000.0F;
    result->maps.insert(result->maps.begin() + fitted.index, fitted);
    maps.setResult(result);
    for (const bool robust : {false, true})
        for (const Range range : {Range::ThisLayer, Range::WholeModel}) {
            InspectorView view;
            view.range = range, view.robust = robust;
            EXPECT_EQ(maps.limits(view), without.limits(view)) << "those of the model as before";
            view.index = fitted.index;
            InspectorView alone = view;
            alone.range = Range::ThisMap;
            EXPECT_EQ(maps.limits(view), maps.limits(alone));
            EXPECT_GT(maps.limits(view).high, 100.0F);
        }
    inspector.setResult(result);
    inspector.setView(inspector.view().with(&InspectorView::range, Range::ThisLayer));
    const auto scale = [&](int index) {
        return inspector.choice().maps().thumbnailScale(MapKind::Relation, index, view());
    };
    EXPECT_GT(scale(fitted.index).limits().high, 100.0F);
    EXPECT_LT(scale(0).limits().high, 100.0F);
}

TEST_F(InspectorTest, PaletteAndSortAreInTheMenus) {
    give({});
    for (QAction* action : inspector.mapPane()->menu()->menu()->actions())
        if (action->text().startsWith("Paper")) action->trigger();
    EXPECT_TRUE(view().paper);
    const Theme& t = Theme::current();
    ViewMaps maps;
    maps.setResult(fixture::result());
    EXPECT_EQ(maps.scale(view()).rgb(maps.limits(view()).low), t.paperStops[0].rgb());
}

TEST_F(InspectorTest, PlainTransformerShowsAttentionOnly) {
    give({.classToken = false, .relations = 0, .relational = 0, .sensory = 2});
    EXPECT_EQ(view().kind, MapKind::SensoryAttention);
    EXPECT_FALSE(inspector.bar()->kinds()->isItemEnabled(0));
    EXPECT_TRUE(inspector.smallMaps()
                    ->multiples()
                    ->mapRect({MapKind::Relation, view().layer, 0})
                    .isEmpty());
    EXPECT_FALSE(inspector.smallMaps()
                     ->multiples()
                     ->mapRect({MapKind::SensoryAttention, view().layer, 1})
                     .isEmpty());
    // One kind of heads needs no word for it.
    EXPECT_TRUE(inspector.choice().footer().contains(" head 1"));
    EXPECT_FALSE(inspector.choice().footer().contains("sensory"));
    EXPECT_EQ(inspector.bar()->kinds()->button(2)->accessibleName(),
              QString::fromUtf8("Attention \u03B1"));
    QTest::mouseClick(inspector.smallMaps()->multiples()->canvas(), Qt::LeftButton, {},
                      inspector.smallMaps()
                          ->multiples()
                          ->mapRect({MapKind::SensoryAttention, view().layer, 1})
                          .center());
    EXPECT_EQ(view().index, 1);
}

TEST_F(InspectorTest, CausalMapsAndNaN) {
    auto result = fixture::result({.classToken = false});
    for (auto& map : result->maps) map.causal = true;
    result->maps[0].values[9] = std::numeric_limits<float>::quiet_NaN();  // cell (1, 0)
    inspector.setResult(result);
    InspectorView v;
    v.source = 0;
    v.target = 4;
    inspector.setView(v);
    EXPECT_TRUE(inspector.choice().footer().endsWith("masked"));
    v.source = 1;
    v.target = 0;
    inspector.setView(v);
    EXPECT_TRUE(inspector.choice().footer().contains("r = NaN"));
    const QRect cell = inspector.mapPane()->map()->cellRect(1, 0);
    const QImage shot = inspector.mapPane()->map()->grab().toImage();
    int error = 0;
    for (int y = cell.top() + 3; y < cell.bottom() - 3; ++y)
        for (int x = cell.left() + 3; x < cell.right() - 3; ++x)
            error += shot.pixelColor(x, y) == Theme::current().errorFill;
    EXPECT_GT(error, 50);
    inspector.toggleDirection();
    EXPECT_TRUE(inspector.mapPane()->map()->values().masked(1, 0))
        << "turned around, the mask turns too";
}

TEST_F(InspectorTest, SymbolsHaveColumnsOfTheirOwn) {
    auto result = fixture::result({});
    result->maps.push_back(fixture::map(MapKind::Symbols, 0, 0, 10, 64));
    inspector.setResult(result);
    inspector.setKindByNumber(5);
    EXPECT_EQ(view().kind, MapKind::Symbols);
    EXPECT_EQ(inspector.mapPane()->map()->values().columns, 64);
    EXPECT_FALSE(inspector.bar()->directions()->isItemEnabled(1));
    InspectorView v = view();
    v.target = 40;
    inspector.setView(v);
    EXPECT_TRUE(inspector.choice().footer().contains("symbol 40"));
    inspector.setKindByNumber(1);
    EXPECT_EQ(view().target, 9);
    result = fixture::result({});
    RelationMap library = fixture::map(MapKind::Symbols, 0, 0, 10, 10);
    for (int k = 0; k < 100; ++k)
        library.values[static_cast<std::size_t>(k)] = static_cast<float>(k % 10 + 3);
    library.libraryRows = true;
    result->maps.push_back(library);
    inspector.setResult(result);
    inspector.setKindByNumber(5);
    EXPECT_TRUE(inspector.choice().footer().contains("row 12 of the library"))
        << inspector.choice().footer().toStdString();
    EXPECT_TRUE(inspector.bar()->directions()->isItemEnabled(1));
}

TEST_F(InspectorTest, PositionalSymbolsAreSymbolsAlongTheColumns) {
    auto result = fixture::result({});
    RelationMap own = fixture::map(MapKind::Symbols, 0, 0, 10, 10);
    for (int k = 0; k < 100; ++k)
        own.values[static_cast<std::size_t>(k)] = k % 11 == 0 ? 1.0F : 0.0F;
    result->maps.push_back(own);
    inspector.setResult(result);
    inspector.setKindByNumber(5);
    InspectorView v = view();
    v.source = 2;
    v.target = 4;
    inspector.setView(v);
    EXPECT_TRUE(inspector.choice().footer().endsWith(
        QString::fromUtf8("i = patch (0, 1) \u2190 symbol 4 \u00B7 weight = 0.000")))
        << inspector.choice().footer().toStdString();
    EXPECT_FALSE(inspector.bar()->directions()->isItemEnabled(1));
    EXPECT_TRUE(inspector.choice().csv().startsWith("i,symbol 0,symbol 1"));
}

TEST_F(InspectorTest, RawValuesWithARobustRangeAreTheDefault) {
    auto result = fixture::result({.layers = 1, .relations = 1});
    auto& values = result->maps.front().values;
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = 0.01F * static_cast<float>(k);
    values[50] = -40.0F;  // one of a hundred
    inspector.setResult(result);
    EXPECT_EQ(view().processing, Processing::Raw);
    EXPECT_TRUE(view().robust);
    ViewMaps maps;
    maps.setResult(result);
    EXPECT_NEAR(maps.limits(view()).high, 0.97, 0.011);
    EXPECT_EQ(maps.limits(view()).low, -maps.limits(view()).high);
    const ColorBar* bar = child<ColorBar>(inspector.mapPane());
    EXPECT_TRUE(bar->beyondLow());
    EXPECT_TRUE(bar->beyondHigh());
    EXPECT_TRUE(bar->caption().endsWith("2nd to 98th percentile"));
    EXPECT_TRUE(bar->toolTip().contains(kMinus + "40")) << bar->toolTip().toStdString();
    for (QAction* action : inspector.mapPane()->menu()->menu()->actions())
        if (action->text().contains("smallest to largest")) action->trigger();
    EXPECT_EQ(maps.limits(view()), (Limits{-40, 40}));
    EXPECT_FALSE(bar->beyondLow());
    EXPECT_FALSE(bar->caption().contains("percentile"));
}

TEST_F(InspectorTest, SaysWhenATransformSaturatesAndShowsRawOnAClick) {
    auto result = fixture::result({.layers = 1, .relations = 1});
    auto& values = result->maps.front().values;
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = k < 81 ? 14.9F : 0.5F;
    inspector.setResult(result);
    EXPECT_TRUE(inspector.mapPane()->saturation()->isHidden());
    InspectorView v = view();
    v.processing = Processing::Tanh;
    inspector.setView(v);
    ASSERT_TRUE(inspector.mapPane()->saturation()->isVisible());
    EXPECT_TRUE(inspector.mapPane()->saturation()->text().startsWith("81 % saturated"));
    QTest::mouseClick(inspector.mapPane()->saturation(), Qt::LeftButton);
    EXPECT_EQ(view().processing, Processing::Raw);
    EXPECT_TRUE(inspector.mapPane()->saturation()->isHidden());
    EXPECT_FLOAT_EQ(inspector.mapPane()->map()->values().at(0, 0), 14.9F);
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = k < 40 ? 14.9F : 0.5F;
    inspector.setResult(result);
    inspector.setView(v);
    EXPECT_TRUE(inspector.mapPane()->saturation()->isHidden()) << "less than half";
}

}  // namespace
}  // namespace relascope
