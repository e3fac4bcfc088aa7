// SPDX-License-Identifier: GPL-3.0-or-later
// The inspector over models that look at sequences, sets and selections.
#include <gtest/gtest.h>

#include <QApplication>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "sequence_fixture.h"
#include "support/rooms.h"
#include "widgets/export/figure.h"
#include "widgets/inspector/inspector_bar.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/inspector/sample_chooser.h"
#include "widgets/inspector/small_maps.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/kit/map_strip.h"
#include "widgets/maps/layer_slider.h"
#include "widgets/maps/map_view.h"
#include "widgets/source/input_chooser.h"
#include "widgets/source/patch_view.h"
#include "widgets/source/tile_view.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

class AnyModelTest : public testing::Test {
protected:
    void SetUp() override {
        inspector.resize(1160, 460);
        inspector.show();
        QTest::qWait(1);
    }
    void give(std::shared_ptr<ProbeResult> result) {
        inspector.setResult(std::move(result));
        QTest::qWait(1);
    }
    TileView* tiles() const { return inspector.sourcePane()->objects()->tiles(); }
    PatchView* patches() const { return inspector.sourcePane()->objects()->patches(); }
    void show(int layer, int source, int target, MapKind kind = MapKind::Relation) {
        InspectorView view = inspector.view();
        view.kind = kind;
        view.layer = layer;
        view.source = source;
        view.target = target;
        inspector.setView(view);
    }
    RelationInspector inspector;
};

TEST_F(AnyModelTest, CrossAttentionLinksTwoSequences) {
    give(fixture::seq2seq());
    inspector.smallMaps()->layers()->setFocus();
    QTest::keyClick(inspector.smallMaps()->layers(), Qt::Key_End);
    EXPECT_EQ(inspector.view().layer, 2);
    EXPECT_EQ(inspector.view().kind, MapKind::SensoryAttention) << "all that the layer has";
    EXPECT_EQ(inspector.mapPane()->map()->values().rows, 7);
    EXPECT_EQ(inspector.mapPane()->map()->values().columns, 5);
    ASSERT_TRUE(tiles()->isVisible());
    EXPECT_FALSE(patches()->isVisible());
    QTest::mouseClick(tiles()->canvas(), Qt::LeftButton, {}, tiles()->tileRect(3, false).center());
    QTest::mouseClick(tiles()->canvas(), Qt::LeftButton, {}, tiles()->tileRect(0, true).center());
    inspector.stepRelation(1);
    EXPECT_EQ(inspector.choice().footer(),
              QString::fromUtf8("decoder 1 cross \u00B7 head 2 \u00B7 i = target 3 '7' \u2190 j = "
                                "source 0 'x' \u00B7 alpha = 0.070"));
    EXPECT_EQ(inspector.mapPane()->map()->row(), 3);
    EXPECT_EQ(inspector.mapPane()->map()->column(), 0);
    QTest::mouseMove(tiles()->canvas(), tiles()->tileRect(4, true).center());
    EXPECT_TRUE(inspector.choice().footer().contains("j = source 4 '?'"));
    QTest::mouseMove(tiles()->canvas(), tiles()->tileRect(5, false).center());
    EXPECT_TRUE(inspector.choice().footer().contains("i = target 5 '7'"));
    EXPECT_TRUE(inspector.choice().footer().contains("j = source 0 'x'")) << "back to the locked j";
    EXPECT_FALSE(inspector.bar()->directions()->isItemEnabled(1));
    inspector.toggleDirection();
    EXPECT_FALSE(inspector.view().reversed) << "the two sequences cannot change places";
    EXPECT_TRUE(inspector.choice().csv().startsWith("i,source 0 'x',source 1 '+'"));
}

TEST_F(AnyModelTest, TheKindComesBackWithTheLayerThatHasIt) {
    give(fixture::seq2seq());
    show(1, 2, 1);
    inspector.stepLayer(1);
    EXPECT_EQ(inspector.view().kind, MapKind::SensoryAttention);
    inspector.stepLayer(-1);
    EXPECT_EQ(inspector.view().kind, MapKind::Relation);
    inspector.stepLayer(1);
    inspector.setKindByNumber(1);
    EXPECT_EQ(inspector.view().layer, 1) << "the nearest layer with relations";
    EXPECT_EQ(inspector.view().kind, MapKind::Relation);
}

TEST_F(AnyModelTest, TilesAreTintedAsTheRowOfTheMap) {
    give(fixture::seq2seq());
    show(2, 4, 1, MapKind::SensoryAttention);
    const MapView* map = inspector.mapPane()->map();
    const QImage shot = inspector.mapPane()->map()->grab().toImage();
    const QImage strip = tiles()->canvas()->grab().toImage();
    for (int j = 0; j < 5; ++j) {
        const QRect tile = tiles()->tileRect(j, true), cell = map->cellRect(4, j);
        EXPECT_EQ(strip.pixel(tile.left() + 5, tile.top() + 5),
                  shot.pixel(cell.left() + 4, cell.top() + 4))
            << j;
    }
}

TEST_F(AnyModelTest, CausalMapsHideWhatComesLater) {
    give(fixture::seq2seq());
    show(1, 2, 4);
    EXPECT_TRUE(inspector.choice().footer().endsWith("masked"));
    EXPECT_TRUE(tiles()->accessibleDescription().endsWith("masked"));
    show(1, 6, 1);
    EXPECT_TRUE(inspector.choice().footer().contains("i = target 6 '<b>'"));
    EXPECT_EQ(inspector.smallMaps()->layers()->nameOf(2), "decoder 1 cross");
    EXPECT_TRUE(
        inspector.smallMaps()->layers()->accessibleDescription().startsWith("decoder 1, layer 2"));
}

TEST_F(AnyModelTest, SelectionsAreChosenAboveThePicture) {
    give(fixture::prediNet());
    ASSERT_TRUE(tiles()->isVisible());
    ASSERT_TRUE(patches()->isVisible());
    EXPECT_LT(tiles()->geometry().bottom(), patches()->geometry().top());
    EXPECT_EQ(tiles()->rows(), 2);
    QTest::mouseClick(tiles()->canvas(), Qt::LeftButton, {}, tiles()->tileRect(1, false).center());
    EXPECT_EQ(inspector.view().source, 1);
    QTest::mouseClick(patches(), Qt::LeftButton, {}, patches()->tokenRect(8).center());
    EXPECT_EQ(inspector.view().target, 8) << "a patch only sends here";
    EXPECT_EQ(inspector.view().source, 1);
    EXPECT_EQ(
        inspector.choice().footer(),
        QString::fromUtf8(
            "heads \u00B7 head 1 \u00B7 i = E2 \u2190 j = patch (2, 2) \u00B7 alpha = 0.920"));
    const QImage shot = patches()->grab().toImage();
    const QPoint chosen = patches()->tokenRect(8).center(),
                 other = patches()->tokenRect(4).center();
    EXPECT_NE(shot.pixel(chosen), qRgb(40 * 8 % 200, 40 * 8 % 200 + 20, 40 * 8 % 200 + 40))
        << "tinted";
    EXPECT_NE(shot.pixelColor(other), Theme::current().outline);
    patches()->setFocus();
    QTest::keyClick(patches(), Qt::Key_Left);
    EXPECT_EQ(inspector.view().target, 7);
    EXPECT_TRUE(inspector.choice().csv().startsWith("i,\"patch (0, 0)\""));
    EXPECT_TRUE(inspector.choice().csv().contains("\nE2,"));
    // And back to an image whose patches do both.
    give(fixture::result());
    EXPECT_FALSE(tiles()->isVisible());
    EXPECT_FALSE(patches()->targetsOnly());
}

TEST_F(AnyModelTest, ASetOfVectors) {
    give(fixture::coRelNet());
    ASSERT_TRUE(tiles()->isVisible());
    show(0, 1, 3);
    EXPECT_TRUE(inspector.choice().footer().startsWith(
        QString::fromUtf8("similarity \u00B7 relation 1 \u00B7 i = object 1 \u2190 j = object 3")));
    EXPECT_FALSE(inspector.bar()->kinds()->isItemEnabled(1));
    inspector.toggleDirection();
    EXPECT_TRUE(inspector.view().reversed);
    tiles()->setFocus();
    QTest::keyClick(tiles(), Qt::Key_Right);
    EXPECT_EQ(inspector.view().source, 2);
}

TEST_F(AnyModelTest, ALongTextIsScrolled) {
    give(fixture::language(1024));
    EXPECT_EQ(inspector.view().source, 1023) << "the last token sees all";
    tiles()->setFocus();
    QTest::keyClick(tiles(), Qt::Key_Home);
    QTest::keyClick(tiles(), Qt::Key_Down);
    EXPECT_GT(inspector.view().source, 3);
    EXPECT_EQ(inspector.mapPane()->map()->row(), inspector.view().source);
    EXPECT_TRUE(inspector.choice().footer().contains("i = token "));
    EXPECT_FALSE(inspector.grab().isNull());
}

TEST_F(AnyModelTest, InputsAreChosenWhereThereAreNoSplits) {
    give(fixture::language(12));
    SourcePane* pane = inspector.sourcePane();
    inspector.sourcePane()->setInputs({InputOffer::Kind::Tokens, 3, 50, 12});
    ASSERT_TRUE(pane->inputs()->isVisible());
    std::vector<Option> chosen;
    QObject::connect(inspector.sourcePane()->inputs(), &InputChooser::chosen,
                     [&](const std::vector<Option>& input) { chosen = input; });
    QSignalSpy sample(inspector.sourcePane()->samples(), &SampleChooser::randomSampleRequested);
    inspector.sourcePane()->random();
    ASSERT_EQ(chosen.size(), 1U);
    EXPECT_EQ(chosen[0].name, "random");
    pane->inputs()->showReference(0);
    pane->next();
    EXPECT_EQ(chosen, (std::vector<Option>{{"reference", std::int64_t{2}}}));
    EXPECT_TRUE(sample.isEmpty());
    inspector.sourcePane()->samples()->setSplits({"train", "validation"});
    EXPECT_FALSE(pane->inputs()->isVisible()) << "a data set's own chooser is richer";
    inspector.sourcePane()->random();
    EXPECT_EQ(sample.size(), 1);
}

TEST_F(AnyModelTest, HalfAWindowHoldsItAll) {
    inspector.setCompact(true);
    inspector.resize(640, 640);
    give(fixture::seq2seq());
    EXPECT_GT(inspector.smallMaps()->multiples()->mapTo(&inspector, QPoint()).y(),
              inspector.mapPane()->map()->geometry().bottom());
    EXPECT_GE(inspector.mapPane()->map()->width(), 240);
    EXPECT_LE(inspector.minimumSizeHint().width(), 640);
    inspector.setCompact(false);
    inspector.resize(1160, 460);
    QTest::qWait(1);
    EXPECT_GT(inspector.smallMaps()->multiples()->mapTo(&inspector, QPoint()).x(),
              inspector.mapPane()->map()->mapTo(&inspector, QPoint()).x());
}

TEST_F(AnyModelTest, FiguresOfEveryModelCanBeWritten) {
    QTemporaryDir folder;
    for (const auto& result :
         {fixture::seq2seq(), fixture::prediNet(), fixture::coRelNet(), fixture::language(40)}) {
        InspectorView view;
        view.layer = static_cast<int>(result->layers.size()) - 1;
        QString error;
        const QString path =
            folder.filePath(QString::fromStdString(result->layers.back().name) + ".svg");
        ASSERT_TRUE(renderFigure(*result, view, path, &error)) << error.toStdString();
        QFile file(path);
        ASSERT_TRUE(file.open(QIODevice::ReadOnly));
        const QByteArray text = file.readAll();
        EXPECT_TRUE(text.contains(result->layers.back().name.c_str()));
    }
}

}  // namespace
}  // namespace relascope
