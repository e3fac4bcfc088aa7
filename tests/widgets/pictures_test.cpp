// SPDX-License-Identifier: GPL-3.0-or-later
// Objects that have pictures, and pairs of texts: tiles, axes, two linked strips, blanks left out.
#include <gtest/gtest.h>

#include <QApplication>
#include <QFile>
#include <QLabel>
#include <QPainter>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "sequence_fixture.h"
#include "support/rooms.h"
#include "types/map_cells.h"
#include "widgets/export/figure.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/inspector/sample_chooser.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/maps/map_view.h"
#include "widgets/source/axis_objects.h"
#include "widgets/source/patch_view.h"
#include "widgets/source/pictures.h"
#include "widgets/source/text_outcome.h"
#include "widgets/source/tile_view.h"
#include "widgets/source/token_strip.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

TEST(Pictures, SmallOnesGrowByWholeFactorsAndCardsKeepTheirShape) {
    EXPECT_EQ(shownSize({28, 28}, {140, 140}), QSize(112, 112)) << "four times, not five";
    EXPECT_EQ(shownSize({28, 28}, {60, 90}), QSize(56, 56));
    EXPECT_EQ(shownSize({28, 28}, {20, 20}), QSize(20, 20)) << "too large for the room: shrunk";
    EXPECT_EQ(shownSize({12, 12}, {36, 36}), QSize(36, 36)) << "patches fill their room";
    EXPECT_EQ(shownSize({50, 70}, {75, 200}), QSize(75, 105));
    EXPECT_EQ(shownPlace({50, 70}, QRect(0, 0, 70, 70)), QRect(10, 0, 50, 70));
    EXPECT_TRUE(shownSize({0, 0}, {20, 20}).isEmpty());
    QImage canvas(80, 80, QImage::Format_RGB32);
    canvas.fill(Qt::black);
    QPainter painter(&canvas);
    drawPicture(painter, QRect(0, 0, 60, 60), toQImage(fixture::tile(28, 28, 100)));
    painter.end();
    EXPECT_EQ(canvas.pixel(2, 30), qRgb(255, 255, 255)) << "one column becomes two, unblurred";
    EXPECT_EQ(canvas.pixel(3, 30), qRgb(255, 255, 255));
    EXPECT_EQ(canvas.pixel(4, 30), qRgb(100, 155, 188));
}

TEST(Pictures, OnlyOnePictureAnObjectCounts) {
    ProbeSequence sequence = fixture::cards()->sample.source;
    EXPECT_EQ(picturesOf(sequence).size(), 3U);
    sequence.pictures.pop_back();
    EXPECT_TRUE(picturesOf(sequence).empty()) << "words then";
    const auto r = fixture::sorting(5);
    EXPECT_FALSE(sideTokens(*r, 0, 5)[4].picture.isNull());
    EXPECT_TRUE(sideTokens(*r, 1, 5)[4].picture.isNull());
    auto both = *r;
    both.sides.push_back({"encoder and abstractor", std::vector<std::string>(10, "x")});
    EXPECT_EQ(sideTiles(both, 2).pictures.size(), 10U);
    auto order = *fixture::pictured({"object 17", "object 4"}, {28, 28});
    EXPECT_EQ(objectName(order, 0, 0), "object 17");
}

class PicturesTest : public testing::Test {
protected:
    void SetUp() override {
        inspector.resize(1160, 460);
        inspector.show();
        QTest::qWait(1);
    }
    void give(const std::shared_ptr<ProbeResult>& result, int layer, MapKind kind) {
        inspector.setResult(result);
        InspectorView view = inspector.view();
        view.layer = layer;
        view.kind = kind;
        inspector.setView(view);
        QTest::qWait(1);
    }
    SourcePane* pane() const { return inspector.sourcePane(); }
    TileView* tiles() const { return pane()->objects()->tiles(); }
    RelationInspector inspector;
};

TEST_F(PicturesTest, EveryCountOfObjectsIsSeenWithoutScrolling) {
    for (const auto& result : {fixture::pictured({"A2 B7", "A1 B12"}, {28, 28}), fixture::cards(),
                               fixture::sorting(10)}) {
        const bool set = result->sides.size() == 1;
        give(result, set ? 0 : 1, MapKind::Relation);
        const int n = result->sample.source.size();
        ASSERT_EQ(tiles()->rows(), n);
        EXPECT_EQ(tiles()->verticalScrollBar()->maximum(), 0) << n;
        for (int k = 0; k < n; ++k)
            EXPECT_TRUE(tiles()->canvas()->rect().contains(tiles()->tileRect(k))) << k;
        // The pictures stand there: their colour is in the middle of the tile's upper part.
        const QImage shot = tiles()->canvas()->grab().toImage();
        const auto& picture = result->sample.source.pictures[1];
        const QRect tile = tiles()->tileRect(1);
        EXPECT_EQ(
            shot.pixel(tile.center().x() + 4, tile.top() + 16),
            qRgb(picture.pixels[picture.index(4, 9, 0)], picture.pixels[picture.index(4, 9, 1)],
                 picture.pixels[picture.index(4, 9, 2)]))
            << n;
    }
    EXPECT_GE(tiles()->tileRect(0).width(), 36);
}

TEST_F(PicturesTest, TilesAreTintedOutlinedAndLinked) {
    give(fixture::cards(), 0, MapKind::Relation);
    QTest::mouseClick(tiles()->canvas(), Qt::LeftButton, {}, tiles()->tileRect(2).center());
    EXPECT_EQ(inspector.mapPane()->map()->row(), 2);
    QTest::keyClick(tiles(), Qt::Key_Left);
    EXPECT_EQ(inspector.view().source, 1);
    QTest::mouseMove(tiles()->canvas(), tiles()->tileRect(0).center());
    EXPECT_TRUE(inspector.choice().footer().contains("i = object 1 '1 green solid diamond'"));
    EXPECT_TRUE(inspector.choice().footer().contains("j = object 0 '2 red striped ovals'"));
    const QImage shot = tiles()->canvas()->grab().toImage();
    const QRect first = tiles()->tileRect(0), chosen = tiles()->tileRect(1);
    EXPECT_EQ(shot.pixelColor(chosen.left() + 1, chosen.center().y()), Theme::current().outline);
    const QRect cell = inspector.mapPane()->map()->cellRect(1, 0);
    EXPECT_EQ(shot.pixel(first.left() + 3, first.bottom() - 5),
              inspector.mapPane()->map()->grab().toImage().pixel(cell.left() + 5, cell.top() + 5))
        << "around the picture the colour of the map";
}

TEST_F(PicturesTest, AxesWearThePictures) {
    give(fixture::sorting(10), 1, MapKind::Relation);
    const MapView* map = inspector.mapPane()->map();
    const QImage shot = inspector.mapPane()->map()->grab().toImage();
    const auto colourOf = [](const Image& i) {
        return qRgb(i.pixels[i.index(9, 9, 0)], i.pixels[i.index(9, 9, 1)],
                    i.pixels[i.index(9, 9, 2)]);
    };
    const auto& pictures = inspector.result()->sample.source.pictures;
    for (const int k : {0, 4, 9}) {
        const QRect row = map->cellRect(k, 0), column = map->cellRect(0, k);
        const QRgb expected = colourOf(pictures[static_cast<std::size_t>(k)]);
        EXPECT_EQ(shot.pixel(row.left() - 12, row.center().y()), expected) << k;
        EXPECT_EQ(shot.pixel(column.center().x(), column.top() - 12), expected) << k;
    }
}

TEST_F(PicturesTest, AnswersLookAtObjects) {
    give(fixture::sorting(10), 3, MapKind::SensoryAttention);
    EXPECT_EQ(tiles()->rows(), 10);
    EXPECT_EQ(tiles()->columns(), 10);
    EXPECT_EQ(inspector.mapPane()->map()->values().columns, 10);
    QTest::mouseClick(tiles()->canvas(), Qt::LeftButton, {}, tiles()->tileRect(2, false).center());
    QTest::mouseClick(tiles()->canvas(), Qt::LeftButton, {}, tiles()->tileRect(3, true).center());
    EXPECT_TRUE(inspector.choice().footer().contains(
        QString::fromUtf8("i = target 2 '5th' \u2190 j = source 3 'A2 B4'")))
        << inspector.choice().footer().toStdString();
    // Fifteen of them, in half a window: scrolled, but all there.
    inspector.resize(900, 420);
    give(fixture::sorting(15), 3, MapKind::SensoryAttention);
    tiles()->setFocus();
    QTest::keyClick(tiles(), Qt::Key_End, Qt::ShiftModifier);
    EXPECT_EQ(inspector.view().target, 14);
    EXPECT_TRUE(tiles()->canvas()->rect().intersects(tiles()->tileRect(14, true)));
}

TEST_F(PicturesTest, TheOutcomeOfASequenceIsNamed) {
    give(fixture::sorting(5), 1, MapKind::Relation);
    QStringList texts;
    for (const QLabel* label : pane()->findChildren<QLabel*>())
        if (!label->isHidden()) texts << label->text();
    EXPECT_FALSE(texts.filter("after the last token: ").isEmpty()) << texts.join('|').toStdString();
    EXPECT_TRUE(texts.contains("validation 7"));
}

TEST_F(PicturesTest, BlanksThatFillUpAQuestionAreLeftOut) {
    int leftOut = -1;
    const auto whole = fixture::math();
    const auto shown = withoutPadding(whole, &leftOut);
    EXPECT_EQ(leftOut, 131);
    EXPECT_EQ(shown->sample.source.size(), 30);
    EXPECT_EQ(shown->sides[0].labels.size(), 30U);
    EXPECT_EQ(shown->find(MapKind::Relation, 0, 3)->columns, 30);
    EXPECT_EQ(shown->find(MapKind::Relation, 0, 3)->at(29, 17),
              whole->find(MapKind::Relation, 0, 3)->at(29, 17));
    EXPECT_EQ(shown->find(MapKind::SensoryAttention, 2, 1)->rows, 3);
    EXPECT_EQ(shown->find(MapKind::SensoryAttention, 2, 1)->at(2, 29),
              whole->find(MapKind::SensoryAttention, 2, 1)->at(2, 29));
    EXPECT_EQ(withoutPadding(fixture::sorting(4), &leftOut)->sides[0].labels.size(), 4U);
    EXPECT_EQ(leftOut, 0);
    // Encoder and abstractor one behind the other: the blanks of both go.
    auto twice = std::make_shared<ProbeResult>(*whole);
    ProbeSide both{"encoder and abstractor", twice->sides[0].labels};
    both.labels.insert(both.labels.end(), twice->sides[0].labels.begin(),
                       twice->sides[0].labels.end());
    twice->sides.push_back(both);
    twice->layers[2].columns = 2;
    RelationMap wide{MapKind::SensoryAttention,      2,    0, 3, 322,
                     std::vector<float>(3 * 322, 0), false};
    wide.values[161] = 0.5F;
    twice->maps.back() = wide;
    const auto cut = withoutPadding(twice, &leftOut);
    EXPECT_EQ(cut->maps.back().columns, 60);
    EXPECT_EQ(cut->maps.back().at(0, 30), 0.5F) << "the abstractor's first";
}

TEST_F(PicturesTest, QuestionAndAnswerAreLinked) {
    give(fixture::math(), 0, MapKind::Relation);
    ASSERT_TRUE(pane()->objects()->strip()->isVisible());
    EXPECT_FALSE(pane()->objects()->pair()->isVisible());
    EXPECT_EQ(pane()->objects()->strip()->size(), 30);
    EXPECT_FALSE(pane()->outcome()->isVisible()) << "no language model";
    give(fixture::math(), 2, MapKind::SensoryAttention);
    TextPair* pair = pane()->objects()->pair();
    ASSERT_TRUE(pair->isVisible());
    EXPECT_FALSE(tiles()->isVisible());
    EXPECT_LT(pair->receiver()->geometry().bottom(), pair->sender()->geometry().top());
    QTest::mouseClick(pair->receiver()->canvas(), Qt::LeftButton, {},
                      pair->receiver()->tileRect(2).center());
    QTest::mouseClick(pair->sender()->canvas(), Qt::LeftButton, {},
                      pair->sender()->tileRect(7).center());
    EXPECT_EQ(inspector.mapPane()->map()->row(), 2);
    EXPECT_EQ(inspector.mapPane()->map()->column(), 7);
    EXPECT_TRUE(inspector.choice().footer().contains(
        QString::fromUtf8("i = target 2 “5” ← j = source 7 “4”")))
        << inspector.choice().footer().toStdString();
    QTest::mouseMove(pair->sender()->canvas(), pair->sender()->tileRect(8).center());
    EXPECT_TRUE(inspector.choice().footer().contains("j = source 8"));
    QTest::mouseMove(pair->receiver()->canvas(), pair->receiver()->tileRect(1).center());
    EXPECT_TRUE(inspector.choice().footer().contains("i = target 1"));
    QEvent leave(QEvent::Leave);
    QApplication::sendEvent(pair->receiver()->canvas(), &leave);
    EXPECT_TRUE(inspector.choice().footer().contains("i = target 2")) << "back to the locked one";
    pair->receiver()->setFocus();
    QTest::keyClick(pair->receiver(), Qt::Key_Home);
    EXPECT_EQ(inspector.view().source, 0);
    pair->sender()->setFocus();
    QTest::keyClick(pair->sender(), Qt::Key_Right);
    EXPECT_EQ(inspector.view().target, 8);
    // The tint is the row of the map.
    const QRect cell = inspector.mapPane()->map()->cellRect(0, 3);
    const QRect token = pair->sender()->tileRect(3);
    EXPECT_EQ(pair->sender()->canvas()->grab().toImage().pixel(token.left() + 1, token.top() + 1),
              inspector.mapPane()->map()->grab().toImage().pixel(cell.center()));
    EXPECT_EQ(pane()->csv().count('\n'), 31);
}

TEST_F(PicturesTest, LabelsAreTheDatasOwn) {
    inspector.sourcePane()->samples()->setSplits({"train"}, {10});
    give(fixture::cards(), 0, MapKind::Relation);
    pane()->samples()->setLabelFilter(1);
    EXPECT_EQ(pane()->samples()->labelFilter(), 1)
        << "classes of the result, unless labels are given";
    inspector.sourcePane()->samples()->setLabels({});
    EXPECT_EQ(pane()->samples()->labelFilter(), -1);
    give(fixture::sorting(4), 1, MapKind::Relation);
    pane()->samples()->setLabelFilter(2);
    EXPECT_EQ(pane()->samples()->labelFilter(), -1) << "places are no labels";
    inspector.sourcePane()->samples()->setLabels({"after", "before"});
    pane()->samples()->setLabelFilter(1);
    QSignalSpy asked(inspector.sourcePane()->samples(), &SampleChooser::labelRequested);
    pane()->next();
    ASSERT_EQ(asked.size(), 1);
    EXPECT_EQ(asked[0][1].toInt(), 1);
}

TEST_F(PicturesTest, FiguresShowThem) {
    QTemporaryDir folder;
    for (const auto& [name, result, layer] : {std::tuple{"cards", fixture::cards(), 0},
                                              {"sorting", fixture::sorting(10), 3},
                                              {"math", fixture::math(), 2}}) {
        InspectorView view;
        view.layer = layer;
        QString error;
        for (const char* ending : {".svg", ".png", ".csv"}) {
            const QString path = folder.filePath(QString(name) + ending);
            ASSERT_TRUE(renderFigure(*result, view, path, &error)) << error.toStdString();
            EXPECT_GT(QFile(path).size(), 100);
        }
    }
}

}  // namespace
}  // namespace relascope
