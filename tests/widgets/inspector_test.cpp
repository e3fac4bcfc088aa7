// SPDX-License-Identifier: GPL-3.0-or-later
// The inspector as a whole: choosing cells, keys, its bar, sources and themes.
#include <algorithm>

#include <QComboBox>
#include <QDropEvent>
#include <QLabel>
#include <QMimeData>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>
#include <QToolButton>
#include <QUrl>
#include <cmath>

#include "tests/widgets/child.h"
#include "tests/widgets/inspector_fixture.h"
#include "widgets/export/export.h"
#include "widgets/inspector/inspector_bar.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/sample_chooser.h"
#include "widgets/inspector/small_maps.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/inspector/view_text.h"
#include "widgets/maps/layer_slider.h"
#include "widgets/maps/map_view.h"
#include "widgets/source/patch_view.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

TEST_F(InspectorTest, EmptyStateSaysWhatToDo) {
    inspector.setEmptyState("Start a run to look inside.", "Start");
    QSignalSpy activated(&inspector, &RelationInspector::emptyStateActivated);
    // The panel Why has one, too, while it is closed.
    const auto states = inspector.findChildren<EmptyState*>();
    const auto shown =
        std::find_if(states.begin(), states.end(), [](auto* state) { return state->isVisible(); });
    ASSERT_NE(shown, states.end());
    auto* button = (*shown)->button();
    ASSERT_TRUE(button->isVisible());
    QTest::mouseClick(button, Qt::LeftButton);
    EXPECT_EQ(activated.size(), 1);
    inspector.stepRelation(1);
    inspector.toggleDirection();
    inspector.setKindByNumber(3);
    EXPECT_EQ(inspector.choice().footer(), "");
    give({});
    EXPECT_FALSE(button->isVisible());
    EXPECT_TRUE(inspector.mapPane()->map()->isVisible());
    inspector.setResult(nullptr);
    EXPECT_TRUE(button->isVisible());
}

TEST_F(InspectorTest, FooterSpellsOutTheCell) {
    give({.relational = 1});
    InspectorView v;
    v.layer = 1;
    v.index = 2;
    v.source = 2;
    v.target = 8;
    v.processing = Processing::Tanh;
    inspector.setView(v);
    const float r = fixture::relationValue(1, 2, 2, 8);
    EXPECT_EQ(
        inspector.choice().footer(),
        QString::fromUtf8("layer 2 \u00B7 relation 3 \u00B7 i = patch (0, 1) \u2190 j = patch (2, "
                          "1) \u00B7 r = %1 \u00B7 tanh r = %2 \u00B7 alpha = 0.056")
            .arg(signedNumber(r), signedNumber(std::tanh(r))));
    v.reversed = true;
    inspector.setView(v);
    EXPECT_TRUE(inspector.choice().footer().contains(
        QString::fromUtf8("\u2192 j = patch (2, 1) \u00B7 r = %1")
            .arg(signedNumber(fixture::relationValue(1, 2, 8, 2)))));
}

TEST_F(InspectorTest, ClickOnTheMapLocksBothAndTellsTheSource) {
    give({});
    QSignalSpy changed(&inspector, &RelationInspector::viewChanged);
    MapView* map = inspector.mapPane()->map();
    QTest::mouseClick(map, Qt::LeftButton, {}, map->cellRect(4, 7).center());
    ASSERT_EQ(changed.size(), 1);
    EXPECT_EQ(view().source, 4);
    EXPECT_EQ(view().target, 7);
    EXPECT_EQ(inspector.sourcePane()->objects()->patches()->source(), 4);
    EXPECT_EQ(inspector.sourcePane()->objects()->patches()->target(), 7);
}

TEST_F(InspectorTest, HoverPreviewsAndLeavingReturns) {
    give({});
    InspectorView v = view();
    v.source = 1;
    v.target = 3;
    inspector.setView(v);
    QSignalSpy changed(&inspector, &RelationInspector::viewChanged);
    MapView* map = inspector.mapPane()->map();
    QTest::mouseMove(map, map->cellRect(5, 6).center());
    EXPECT_TRUE(inspector.choice().footer().contains("i = patch (1, 1)"));
    EXPECT_EQ(inspector.sourcePane()->objects()->patches()->source(), 5);
    QEvent leave(QEvent::Leave);
    QApplication::sendEvent(map, &leave);
    EXPECT_TRUE(inspector.choice().footer().contains("i = patch (0, 0)"));
    EXPECT_EQ(inspector.sourcePane()->objects()->patches()->source(), 1);
    PatchView* patches = inspector.sourcePane()->objects()->patches();
    QTest::mouseMove(patches, patches->tokenRect(9).center());
    EXPECT_TRUE(inspector.choice().footer().contains("j = patch (2, 2)"));
    QApplication::sendEvent(patches, &leave);
    EXPECT_TRUE(inspector.choice().footer().contains("j = patch (0, 2)"));
    EXPECT_TRUE(changed.isEmpty()) << "looking is not choosing";
    EXPECT_EQ(view(), v);
}

TEST_F(InspectorTest, SourceClicksAndKeysMoveI) {
    give({});
    PatchView* patches = inspector.sourcePane()->objects()->patches();
    QTest::mouseClick(patches, Qt::LeftButton, {}, patches->tokenRect(5).center());
    EXPECT_EQ(view().source, 5);
    QTest::keyClick(patches, Qt::Key_Right);
    EXPECT_EQ(view().source, 6);
    EXPECT_EQ(inspector.mapPane()->map()->row(), 6);
    QTest::mouseClick(patches, Qt::LeftButton, Qt::ShiftModifier, patches->tokenRect(2).center());
    EXPECT_EQ(view().target, 2);
}

TEST_F(InspectorTest, TheRowBoxFollowsTheChoiceUnderARestingPointer) {
    give({});
    InspectorView v = view();
    v.source = 1;
    v.target = 3;
    inspector.setView(v);
    PatchView* patches = inspector.sourcePane()->objects()->patches();
    MapView* map = inspector.mapPane()->map();
    const auto crossOf = [&](int row, int column) {
        const auto& names = fixture::result()->grid;
        return tokenLabel(names, row) + QString::fromUtf8(" \u2190 ") + tokenLabel(names, column);
    };
    // A pointer that stands there already would not move.
    QTest::mouseMove(patches, patches->tokenRect(4).center());
    QTest::mouseMove(patches, patches->tokenRect(9).center());
    EXPECT_TRUE(map->accessibleDescription().contains(crossOf(1, 9)))
        << map->accessibleDescription().toStdString();
    QTest::mouseClick(patches, Qt::LeftButton, {}, patches->tokenRect(9).center());
    EXPECT_TRUE(map->accessibleDescription().contains(crossOf(9, 9)))
        << map->accessibleDescription().toStdString();
    QTest::keyClick(patches, Qt::Key_Left);
    EXPECT_EQ(view().source, 8);
    EXPECT_TRUE(map->accessibleDescription().contains(crossOf(8, 3)))
        << map->accessibleDescription().toStdString();
    // On the map, too, the keys win over a pointer that rests on it.
    QTest::mouseMove(map, map->cellRect(5, 6).center());
    EXPECT_TRUE(map->accessibleDescription().contains(crossOf(5, 6)));
    QTest::keyClick(map, Qt::Key_Down);
    EXPECT_EQ(view().source, 9);
    EXPECT_TRUE(map->accessibleDescription().contains(crossOf(9, 3)));
    EXPECT_TRUE(inspector.choice().footer().contains("i = patch (2, 2)"));
}

TEST_F(InspectorTest, NothingOfTheBarIsCutInANarrowWindow) {
    give({});
    inspector.sourcePane()->samples()->setSplits({"validation", "test"}, {100, 50});
    SegmentedControl* kinds = inspector.bar()->kinds();
    for (const int width : {1160, 757}) {
        inspector.resize(width, 300);
        QTest::qWait(1);
        for (int k = 0; k < kinds->count(); ++k) {
            const auto* button = kinds->button(k);
            EXPECT_GE(button->width(), button->sizeHint().width()) << width << " " << k;
        }
        for (const QComboBox* box : inspector.findChildren<QComboBox*>())
            if (box->isVisible()) {
                EXPECT_GE(box->width() - 26,
                          box->fontMetrics().horizontalAdvance(box->currentText()))
                    << width << " " << box->currentText().toStdString();
            }
    }
    EXPECT_EQ(kinds->button(1)->toolTip(), QString::fromUtf8("Relational \u03B1"))
        << "the short words are explained";
}

TEST_F(InspectorTest, ShortcutsWalkThroughTheMaps) {
    give({});
    QSignalSpy changed(&inspector, &RelationInspector::viewChanged);
    inspector.stepRelation(1);
    inspector.stepRelation(1);
    EXPECT_EQ(view().index, 2);
    inspector.stepRelation(-1);
    EXPECT_EQ(view().index, 1);
    inspector.stepLayer(1);
    EXPECT_EQ(view().layer, 1);
    EXPECT_EQ(inspector.smallMaps()->layers()->current(), 1);
    inspector.stepLayer(1);
    EXPECT_EQ(view().layer, 1) << "no layer above";
    inspector.stepLayer(-1);
    inspector.toggleDirection();
    EXPECT_TRUE(view().reversed);
    EXPECT_FLOAT_EQ(inspector.mapPane()->map()->values().at(1, 4),
                    fixture::relationValue(0, 1, 4, 1));
    inspector.cycleProcessing();
    EXPECT_EQ(view().processing, Processing::Tanh);
    for (int k = 0; k < 4; ++k) inspector.cycleProcessing();
    EXPECT_EQ(view().processing, Processing::Raw);
    inspector.setKindByNumber(2);
    EXPECT_EQ(view().kind, MapKind::RelationalAttention);
    inspector.setKindByNumber(3);
    EXPECT_EQ(view().kind, MapKind::RelationalAttention) << "there is none";
    inspector.setKindByNumber(1);
    EXPECT_EQ(view().index, 1) << "back to the relation looked at before";
    EXPECT_GE(changed.size(), 10);
}

TEST_F(InspectorTest, ResultsOfOtherShapesClampTheView) {
    give({.gridRows = 8, .gridColumns = 8, .layers = 6, .relations = 12, .patch = 4});
    InspectorView v;
    v.layer = 5;
    v.index = 11;
    v.source = 60;
    v.target = 64;
    inspector.setView(v);
    give({.gridRows = 8, .gridColumns = 8, .layers = 6, .relations = 12, .patch = 4});
    EXPECT_EQ(view(), v) << "the same shapes keep the choice";
    give({});
    EXPECT_EQ(view().layer, 1);
    EXPECT_EQ(view().index, 7);
    EXPECT_EQ(view().source, 9);
    EXPECT_EQ(view().target, 9);
    give({.gridRows = 1,
          .gridColumns = 1,
          .classToken = false,
          .layers = 1,
          .relations = 1,
          .relational = 1});
    EXPECT_EQ(view().source, 0);
    EXPECT_EQ(inspector.mapPane()->map()->values().rows, 1);
    EXPECT_TRUE(inspector.choice().footer().startsWith("layer 1"));
    EXPECT_FALSE(inspector.grab().isNull());
}

TEST_F(InspectorTest, SourceChooserAsksForSamples) {
    give({});
    inspector.sourcePane()->samples()->setSplits({"validation", "test"}, {100, 50});
    inspector.sourcePane()->samples()->setSample("validation", 12);
    QSignalSpy asked(inspector.sourcePane()->samples(), &SampleChooser::sampleRequested);
    QSignalSpy random(inspector.sourcePane()->samples(), &SampleChooser::randomSampleRequested);
    QSignalSpy byLabel(inspector.sourcePane()->samples(), &SampleChooser::labelRequested);
    SourcePane* pane = inspector.sourcePane();
    const auto buttons = pane->findChildren<QToolButton*>();
    const auto button = [&](const QString& name) {
        for (QToolButton* b : buttons)
            if (b->accessibleName() == name) return b;
        return static_cast<QToolButton*>(nullptr);
    };
    ASSERT_NE(button("Next sample"), nullptr);
    QTest::mouseClick(button("Next sample"), Qt::LeftButton);
    EXPECT_EQ(asked.last(), (QVariantList{"validation", qlonglong(13)}));
    QTest::mouseClick(button("Previous sample"), Qt::LeftButton);
    EXPECT_EQ(asked.last()[1].toLongLong(), 12);
    auto* number = pane->findChild<QSpinBox*>();
    number->setFocus();
    number->selectAll();
    QTest::keyClicks(number, "77");
    QTest::keyClick(number, Qt::Key_Return);
    EXPECT_EQ(asked.last()[1].toLongLong(), 77);
    EXPECT_EQ(asked.size(), 3);
    QTest::mouseClick(button("Random sample (R)"), Qt::LeftButton);
    inspector.sourcePane()->random();
    EXPECT_EQ(random.size(), 2);
    pane->samples()->setLabelFilter(1);
    QTest::mouseClick(button("Next sample"), Qt::LeftButton);
    EXPECT_EQ(byLabel.last(), (QVariantList{"validation", 1, true}));
    pane->previous();
    EXPECT_EQ(byLabel.last()[2].toBool(), false);
    pane->samples()->setLabelFilter(-1);
    inspector.sourcePane()->samples()->setSample("test", 400);
    EXPECT_EQ(pane->samples()->index(), 49) << "bounded by the split";
}

TEST_F(InspectorTest, OutputsThatAreNotFiniteAreASentence) {
    give({});
    auto* why = inspector.findChild<QLabel*>(QStringLiteral("notFinite"));
    EXPECT_FALSE(why->isVisible());
    auto broken = fixture::result();
    broken->probabilities.clear();
    broken->notFinite = "the answers of the model are not finite; the first such numbers are at x";
    inspector.setResult(broken);
    EXPECT_TRUE(why->isVisible());
    EXPECT_EQ(why->text(), QString::fromStdString(broken->notFinite));
    inspector.setResult(fixture::result());
    EXPECT_FALSE(why->isVisible());
}

TEST_F(InspectorTest, OffersTheMeasuresThatTheInputHas) {
    give({});
    const auto enabled = [this](MapOrder order) {
        const auto* box = inspector.smallMaps()->order();
        return box->model()->index(static_cast<int>(order), 0).flags().testFlag(Qt::ItemIsEnabled);
    };
    EXPECT_TRUE(enabled(MapOrder::Entropy));
    EXPECT_TRUE(enabled(MapOrder::Neighbours));
    EXPECT_TRUE(enabled(MapOrder::ClassToken));
    EXPECT_FALSE(enabled(MapOrder::Induction)) << "of texts";
}

TEST_F(InspectorTest, TakesADroppedFile) {
    give({});
    QSignalSpy dropped(&inspector, &RelationInspector::imageDropped);
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile("/somewhere/figure.png")});
    QDragEnterEvent enter(QPoint(50, 50), Qt::CopyAction, &data, Qt::LeftButton, {});
    QApplication::sendEvent(&inspector, &enter);
    EXPECT_TRUE(enter.isAccepted());
    QDropEvent drop(QPointF(50, 50), Qt::CopyAction, &data, Qt::LeftButton, {});
    QApplication::sendEvent(&inspector, &drop);
    ASSERT_EQ(dropped.size(), 1);
    EXPECT_EQ(dropped[0][0].toString(), "/somewhere/figure.png");
}

TEST_F(InspectorTest, FollowsAChangeOfTheme) {
    give({});
    applyTheme(*qApp, ThemeMode::Dark);
    QTest::qWait(1);
    const QImage dark = inspector.grab().toImage();
    EXPECT_EQ(dark.pixelColor(330, 400), Theme::darkTheme().panel);
    const QRect zero = inspector.mapPane()->map()->cellRect(1, 1);
    EXPECT_FALSE(zero.isEmpty());
    applyTheme(*qApp, ThemeMode::Light);
    QTest::qWait(1);
    EXPECT_EQ(inspector.grab().toImage().pixelColor(330, 400), Theme::light().panel);
}

TEST_F(InspectorTest, CsvHasAHeaderAndARowPerReceiver) {
    give({.gridRows = 1, .gridColumns = 2, .classToken = false, .relations = 1});
    const QStringList lines = inspector.choice().csv().split('\n');
    EXPECT_EQ(lines[0], "i,\"patch (0, 0)\",\"patch (0, 1)\"");
    EXPECT_EQ(lines[1], "\"patch (0, 0)\",0.25,-0.125");
    EXPECT_EQ(lines[2], "\"patch (0, 1)\",-0.5,0.375");
    auto causal =
        fixture::result({.gridRows = 1, .gridColumns = 2, .classToken = false, .relations = 1});
    for (auto& map : causal->maps) map.causal = true;
    inspector.setResult(causal);
    EXPECT_EQ(inspector.choice().csv().split('\n')[1], "\"patch (0, 0)\",0.25,")
        << "masked cells stay empty";
}

}  // namespace
}  // namespace relascope
