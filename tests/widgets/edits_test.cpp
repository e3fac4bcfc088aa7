// SPDX-License-Identifier: GPL-3.0-or-later
// The Edits tab, and what the inspector shows of an edited model and beside a pinned picture.
#include <QAbstractItemModel>
#include <QContextMenuEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QSignalSpy>

#include "inspector_fixture.h"
#include "widgets/edits/edits_panel.h"
#include "widgets/form/options_form.h"
#include "widgets/inspector/inspector_bar.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/small_maps.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/kit/map_strip.h"
#include "widgets/maps/map_view.h"
#include "widgets/source/probability_bars.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

EditLine line(const QString& words, bool enabled = true) {
    EditLine made;
    made.words = words;
    made.enabled = enabled;
    return made;
}

class EditsPanelTest : public testing::Test {
protected:
    void SetUp() override {
        panel.resize(280, 600);
        panel.show();
        panel.setDisabledReason({});
    }
    EditsPanel panel;
};

TEST_F(EditsPanelTest, AnEmptyListSaysWhatToDo) {
    panel.setLines({});
    EXPECT_FALSE(panel.list()->isVisible());
    EXPECT_FALSE(panel.saveButton()->isEnabled());
    EXPECT_FALSE(panel.clearButton()->isEnabled());
    EXPECT_TRUE(panel.openButton()->isEnabled());
    EXPECT_TRUE(panel.ablationButton()->isEnabled());
    EXPECT_FALSE(panel.saveButton()->toolTip().isEmpty());
}

TEST_F(EditsPanelTest, LinesAreSwitchedMovedAndDeletedByMouseAndKeys) {
    panel.setLines({line("layer 1 relation 1 zero"), line("layer 2 symbols zero", false),
                    line("layer 2 relation 1 zero")});
    ASSERT_EQ(panel.list()->count(), 3);
    EXPECT_EQ(panel.list()->item(1)->checkState(), Qt::Unchecked);
    const QSignalSpy enabled(&panel, &EditsPanel::enabledRequested);
    panel.list()->item(1)->setCheckState(Qt::Checked);
    ASSERT_EQ(enabled.count(), 1);
    EXPECT_EQ(enabled[0][0].toInt(), 1);
    EXPECT_TRUE(enabled[0][1].toBool());

    panel.list()->setCurrentRow(2);
    const QSignalSpy removed(&panel, &EditsPanel::removeRequested);
    QTest::keyClick(panel.list(), Qt::Key_Delete);
    ASSERT_EQ(removed.count(), 1);
    EXPECT_EQ(removed[0][0].toInt(), 2);

    const QSignalSpy moved(&panel, &EditsPanel::moveRequested);
    QTest::keyClick(panel.list(), Qt::Key_Up, Qt::AltModifier);
    ASSERT_EQ(moved.count(), 1);
    EXPECT_EQ(moved[0][0].toInt(), 2);
    EXPECT_EQ(moved[0][1].toInt(), 1);
    // As a drop does it: the first line behind the last one.
    panel.list()->model()->moveRow({}, 0, {}, 3);
    ASSERT_EQ(moved.count(), 2);
    EXPECT_EQ(moved[1][0].toInt(), 0);
    EXPECT_EQ(moved[1][1].toInt(), 2);
}

TEST_F(EditsPanelTest, WordsAreEnteredAndRefusedBelowTheField) {
    const QSignalSpy entered(&panel, &EditsPanel::wordsEntered);
    panel.focusWords();
    QTest::keyClicks(panel.words(), "  layer 2  relation 3 zero ");
    QTest::keyClick(panel.words(), Qt::Key_Return);
    ASSERT_EQ(entered.count(), 1);
    EXPECT_EQ(entered[0][0].toString(), "layer 2 relation 3 zero");
    panel.setWordsProblem("there is no layer 9");
    EXPECT_TRUE(panel.words()->text().contains("layer"));
    QTest::keyClicks(panel.words(), "x");
    bool shown = false;
    for (const auto* note : panel.findChildren<FieldNote*>()) shown = shown || note->isProblem();
    EXPECT_FALSE(shown) << "typing removes the problem";
}

TEST_F(EditsPanelTest, TheButtonOfARunningEvaluationCancelsIt) {
    panel.setLines({line("layer 1 relation 1 zero")});
    const QSignalSpy asked(&panel, &EditsPanel::evaluateRequested);
    const QSignalSpy cancelled(&panel, &EditsPanel::cancelRequested);
    QTest::mouseClick(panel.evaluateButton(), Qt::LeftButton);
    EXPECT_EQ(asked.count(), 1);
    panel.setEvaluating(0.42);
    EXPECT_TRUE(panel.evaluateButton()->text().contains("42"));
    QTest::mouseClick(panel.evaluateButton(), Qt::LeftButton);
    EXPECT_EQ(asked.count(), 1);
    EXPECT_EQ(cancelled.count(), 1);
    panel.setEvaluating(-1.0);
    panel.setEvaluateDisabledReason("There are no data");
    EXPECT_FALSE(panel.evaluateButton()->isEnabled());
    EXPECT_EQ(panel.evaluateButton()->toolTip(), "There are no data");
}

TEST(OptionsFormTab, ASecondTabIsOpenedFromTheStrip) {
    OptionsForm form;
    auto* page = new EditsPanel;
    form.addTab("Edits", page);
    form.resize(280, 600);
    form.show();
    EXPECT_FALSE(page->isVisible());
    form.showTab(1);
    EXPECT_TRUE(page->isVisible());
    EXPECT_EQ(form.tab(), 1);
    form.setCollapsed(true);
    EXPECT_FALSE(page->isVisible());
    const QSignalSpy asked(&form, &OptionsForm::tabRequested);
    for (auto* button : form.findChildren<QAbstractButton*>())
        if (button->text() == "Edits" && button->isVisible())
            QTest::mouseClick(button, Qt::LeftButton);
    ASSERT_EQ(asked.count(), 1);
    EXPECT_EQ(asked[0][0].toInt(), 1);
}

class EditedInspector : public InspectorTest {
protected:
    /// Relation 1 of layer 1 is 0, and one cell of layer 2's head 1 differs.
    void giveEdited() {
        auto before = fixture::result();
        auto after = std::make_shared<ProbeResult>(*before);
        for (auto& map : after->maps) {
            if (map.kind == MapKind::Relation && map.layer == 0 && map.index == 0)
                map.values.assign(map.values.size(), 0.0F);
            if (map.kind == MapKind::RelationalAttention && map.layer == 1 && map.index == 0)
                map.values[0] = 0.25F;
        }
        after->probabilities = {0.7F, 0.3F};
        inspected = {after,
                     before,
                     {{MapKind::Relation, 0, 0}, {MapKind::RelationalAttention, 1, 0}},
                     {{MapKind::Relation, 0, 0}},
                     "layer 1 relation 1 zero",
                     {}};
        inspector.setInspected(inspected);
        QTest::qWait(1);
    }
    float cell(int i, int j) { return inspector.mapPane()->map()->values().at(i, j); }
    Inspected inspected;
};

TEST_F(EditedInspector, ShowsAfterBeforeAndDifferenceInTurn) {
    give({});
    EXPECT_TRUE(inspector.bar()->shown()->isHidden());
    giveEdited();
    EXPECT_FALSE(inspector.bar()->shown()->isHidden());
    EXPECT_EQ(view().shown, Shown::After);
    EXPECT_EQ(cell(1, 2), 0.0F);
    const float base = fixture::relationValue(0, 0, 1, 2);
    inspector.cycleShown();
    EXPECT_EQ(view().shown, Shown::Before);
    EXPECT_EQ(cell(1, 2), base);
    QTest::mouseClick(inspector.bar()->shown()->button(2), Qt::LeftButton);
    EXPECT_EQ(view().shown, Shown::Difference);
    EXPECT_EQ(cell(1, 2), -base);
    inspector.cycleShown();
    EXPECT_EQ(view().shown, Shown::After);
    // A difference is signed and on its own range, also of attention.
    InspectorView attention = view();
    attention.kind = MapKind::RelationalAttention;
    attention.layer = 1;
    attention.shown = Shown::Difference;
    inspector.setView(attention);
    EXPECT_EQ(cell(0, 0), -0.25F);
    const auto limits = inspector.choice().maps().limits(inspector.view());
    EXPECT_FLOAT_EQ(limits.high, 0.25F);
    EXPECT_FLOAT_EQ(limits.low, -0.25F);
}

TEST_F(EditedInspector, WithoutEditsNothingIsCompared) {
    giveEdited();
    inspector.cycleShown();
    ASSERT_EQ(view().shown, Shown::Before);
    give({});
    EXPECT_EQ(view().shown, Shown::After);
    EXPECT_TRUE(inspector.bar()->shown()->isHidden());
    inspector.cycleShown();
    EXPECT_EQ(view().shown, Shown::After);
}

TEST_F(EditedInspector, TheFooterSaysBothValuesAndTheBarsTheChange) {
    giveEdited();
    InspectorView request = view();
    request.source = 1, request.target = 2;
    inspector.setView(request);
    const QString footer = inspector.choice().footer();
    const QString base = signedNumber(fixture::relationValue(0, 0, 1, 2));
    EXPECT_TRUE(footer.contains("r = " + base + QString(" \u2192 ") + signedNumber(0.0)))
        << footer.toStdString();
    EXPECT_FALSE(footer.contains("alpha = 0.056 \u2192")) << "alpha did not change there";
    const auto* bars = inspector.sourcePane()->findChild<ProbabilityBars*>();
    ASSERT_TRUE(bars);
    EXPECT_TRUE(bars->accessibleDescription().contains("match 0.300 (before 0.812)"))
        << bars->accessibleDescription().toStdString();
}

TEST_F(EditedInspector, MapsThatMovedAndThatAreOutAreMarked) {
    giveEdited();
    auto* multiples = inspector.smallMaps()->multiples();
    const auto& listed = multiples->tiles().sections()[0].maps;
    EXPECT_TRUE(multiples->marks(listed[0]).out);
    EXPECT_TRUE(multiples->marks(listed[0]).changed);
    EXPECT_FALSE(multiples->marks(listed[1]).out);
    EXPECT_FALSE(multiples->marks(listed[1]).changed);
    // The mark is seen: the corner has the colour of warnings.
    const QRect box = multiples->mapRect({MapKind::Relation, view().layer, 0});
    const QImage picture = multiples->canvas()->grab().toImage();
    const QPoint corner = box.topRight() + QPoint(-3, 3);
    const QColor ink = picture.pixelColor(corner * picture.devicePixelRatio());
    const QColor warning = Theme::current().warning;
    EXPECT_LT(std::abs(ink.red() - warning.red()), 40);
    EXPECT_LT(std::abs(ink.blue() - warning.blue()), 60);
}

TEST_F(EditedInspector, APinnedPictureStaysAndStandsBeside) {
    give({});
    inspector.pin("validation 12, step 980");
    ASSERT_TRUE(inspector.pinned());
    EXPECT_FALSE(inspector.bar()->shown()->isHidden());
    auto other = fixture::result();
    for (auto& map : other->maps)
        for (float& value : map.values) value *= 2.0F;
    inspector.setResult(other);
    const float base = fixture::relationValue(0, 0, 1, 2);
    EXPECT_FLOAT_EQ(cell(1, 2), 2.0F * base);
    inspector.cycleShown();
    EXPECT_FLOAT_EQ(cell(1, 2), base) << "A";
    inspector.cycleShown();
    EXPECT_FLOAT_EQ(cell(1, 2), base) << "B - A";
    inspector.cycleShown();
    EXPECT_FALSE(inspector.mapPane()->other()->isVisible());
    inspector.toggleBeside();
    auto* beside = inspector.mapPane()->other();
    ASSERT_TRUE(beside->isVisible());
    EXPECT_FLOAT_EQ(beside->values().at(1, 2), base);
    const auto grab = [](MapView* map) {
        const QRect box = map->cellRect(8, 8);
        return map->grab().toImage().pixelColor(box.topLeft() + QPoint(3, 3));
    };
    EXPECT_NE(grab(beside), grab(inspector.mapPane()->map())) << "on one range";
    // One cursor for both.
    const QSignalSpy changed(&inspector, &RelationInspector::viewChanged);
    QTest::mouseClick(beside, Qt::LeftButton, {}, beside->cellRect(3, 4).center());
    EXPECT_EQ(view().source, 3);
    EXPECT_EQ(view().target, 4);
    inspector.unpin();
    EXPECT_FALSE(beside->isVisible());
    EXPECT_TRUE(inspector.bar()->shown()->isHidden());
}

TEST_F(EditedInspector, AnotherShapeBesideAPinnedPictureIsNoError) {
    give({});
    inspector.pin("A");
    fixture::Shape shape;
    shape.gridRows = 2, shape.gridColumns = 2, shape.layers = 1, shape.relations = 1;
    give(shape);
    inspector.toggleBeside();
    EXPECT_FALSE(inspector.bar()->shown()->isItemEnabled(2)) << "maps of other sizes";
    inspector.cycleShown();
    inspector.cycleShown();
    EXPECT_EQ(view().shown, Shown::After);
    EXPECT_EQ(inspector.mapPane()->map()->values().rows, 5);
}

TEST_F(EditedInspector, InCompactFormTheComparisonHasARowOfItsOwn) {
    inspector.setCompact(true);
    inspector.resize(470, 640);
    give({});
    const int kinds = inspector.bar()->kinds()->button(1)->width();
    const int high = inspector.bar()->height();
    giveEdited();
    QTest::qWait(1);
    EXPECT_EQ(inspector.bar()->kinds()->button(1)->width(), kinds) << "nothing is squeezed";
    EXPECT_GT(inspector.bar()->height(), high);
    EXPECT_TRUE(inspector.bar()->shown()->isVisible());
    EXPECT_GE(inspector.bar()->shown()->width(), inspector.bar()->shown()->sizeHint().width());
    give({});
    QTest::qWait(1);
    EXPECT_EQ(inspector.bar()->height(), high);
}

TEST_F(EditedInspector, AltDragReportsTheWayAndEscapeTakesItBack) {
    give({});
    auto* map = inspector.mapPane()->map();
    const QSignalSpy dragged(&inspector, &RelationInspector::cellDragged);
    const QSignalSpy dropped(&inspector, &RelationInspector::cellDropped);
    const QPoint at = map->cellRect(2, 3).center();
    QTest::mousePress(map, Qt::LeftButton, Qt::AltModifier, at);
    QTest::mouseMove(map, at - QPoint(0, 25));
    ASSERT_EQ(dragged.count(), 2);
    EXPECT_EQ(dragged[1][0].toInt(), 2);
    EXPECT_EQ(dragged[1][1].toInt(), 3);
    EXPECT_EQ(dragged[1][2].toInt(), 25);
    QTest::mouseRelease(map, Qt::LeftButton, Qt::AltModifier, at - QPoint(0, 25));
    ASSERT_EQ(dropped.count(), 1);
    EXPECT_TRUE(dropped[0][0].toBool());
    QTest::mousePress(map, Qt::LeftButton, Qt::AltModifier, at);
    QTest::keyClick(map, Qt::Key_Escape);
    ASSERT_EQ(dropped.count(), 2);
    EXPECT_FALSE(dropped[1][0].toBool());
}

TEST_F(EditedInspector, MenusOfMapsCellsAndObjectsAreRequested) {
    give({});
    const QSignalSpy maps(&inspector, &RelationInspector::mapMenuRequested);
    const QSignalSpy cells(&inspector, &RelationInspector::cellMenuRequested);
    const QSignalSpy objects(&inspector, &RelationInspector::objectMenuRequested);
    auto* canvas = inspector.smallMaps()->multiples()->canvas();
    const QPoint item =
        inspector.smallMaps()->multiples()->mapRect({MapKind::Relation, view().layer, 2}).center();
    QContextMenuEvent onMap(QContextMenuEvent::Mouse, item, canvas->mapToGlobal(item));
    QApplication::sendEvent(canvas, &onMap);
    EXPECT_EQ(maps.count(), 1);
    EXPECT_EQ(view().index, 2) << "the menu is that of the chosen map";
    auto* map = inspector.mapPane()->map();
    const QPoint cell = map->cellRect(4, 1).center();
    QContextMenuEvent onCell(QContextMenuEvent::Mouse, cell, map->mapToGlobal(cell));
    QApplication::sendEvent(map, &onCell);
    ASSERT_EQ(cells.count(), 1);
    EXPECT_EQ(cells[0][0].toInt(), 4);
    EXPECT_EQ(cells[0][1].toInt(), 1);
    QContextMenuEvent onSource(QContextMenuEvent::Keyboard, QPoint(5, 5),
                               inspector.mapToGlobal(QPoint(5, 5)));
    QApplication::sendEvent(inspector.sourcePane(), &onSource);
    ASSERT_EQ(objects.count(), 1);
    EXPECT_EQ(objects[0][0].toInt(), 4) << "i without a pointer";
}

}  // namespace
}  // namespace relascope
