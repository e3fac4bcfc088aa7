// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <QApplication>
#include <QHBoxLayout>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include "support/rooms.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

TEST(SegmentedControlTest, OneIsChosenByClickOrKey) {
    SegmentedControl control({"Step", "Epoch", "Time"});
    control.show();
    QSignalSpy changed(&control, &SegmentedControl::changed);
    EXPECT_EQ(control.current(), 0);
    QTest::mouseClick(control.button(2), Qt::LeftButton);
    EXPECT_EQ(control.current(), 2);
    control.setCurrent(1);
    EXPECT_EQ(changed.size(), 1) << "only the user signals";
    QTest::keyClick(&control, Qt::Key_Left);
    EXPECT_EQ(control.current(), 0);
    EXPECT_EQ(changed.last()[0].toInt(), 0);
    EXPECT_EQ(control.button(0)->accessibleName(), "Step");
    control.setItems({"a"});
    EXPECT_EQ(control.count(), 1);
}

TEST(SegmentedControlTest, DisabledItemsSayWhyAndAreSkipped) {
    SegmentedControl control({"a", "b", "c"});
    control.show();
    control.setItemToolTip(1, "the second");
    control.setItemEnabled(1, false, "not in this model");
    EXPECT_EQ(control.button(1)->toolTip(), "not in this model");
    QTest::mouseClick(control.button(1), Qt::LeftButton);
    EXPECT_EQ(control.current(), 0);
    QTest::keyClick(&control, Qt::Key_Right);
    EXPECT_EQ(control.current(), 2);
    control.setItemEnabled(1, true);
    EXPECT_EQ(control.button(1)->toolTip(), "the second");
}

TEST(SegmentedControlTest, TabReachesTheChosenSegment) {
    QWidget window;
    auto* row = rowOf(&window);
    auto* before = new QPushButton("before", &window);
    auto* control = new SegmentedControl({"a", "b", "c"}, &window);
    auto* after = new QPushButton("after", &window);
    for (QWidget* widget : {static_cast<QWidget*>(before), static_cast<QWidget*>(control),
                            static_cast<QWidget*>(after)})
        row->addWidget(widget);
    window.show();
    window.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
    const auto reached = [&](QWidget* from, Qt::Key key) {
        from->setFocus();
        QTest::keyClick(&window, key);
        return QApplication::focusWidget();
    };
    control->setCurrent(1);
    EXPECT_EQ(reached(before, Qt::Key_Tab), control->button(1));
    EXPECT_EQ(reached(after, Qt::Key_Backtab), control->button(1));
    EXPECT_EQ(reached(control->button(1), Qt::Key_Tab), after);
    control->setItemEnabled(1, false);
    EXPECT_EQ(reached(before, Qt::Key_Tab), control->button(0)) << "the chosen one cannot have it";
    control->setItemEnabled(1, true);
    EXPECT_EQ(reached(before, Qt::Key_Tab), control->button(1));
}

TEST(SegmentedControlTest, ChoosingMovesNothing) {
    SegmentedControl control({"Relation r", "Symbols"});
    control.show();
    const int before = control.button(1)->x();
    control.setCurrent(1);
    EXPECT_EQ(control.button(1)->x(), before);
    EXPECT_EQ(control.grab().toImage().pixelColor(control.button(1)->geometry().center().x(), 3),
              Theme::current().selection);
}

TEST(ChipTest, TogglesOnlyWhenItIsAToggle) {
    ToggleChip toggle("log x");
    toggle.show();
    QSignalSpy toggled(&toggle, &QAbstractButton::toggled);
    QTest::mouseClick(&toggle, Qt::LeftButton);
    EXPECT_TRUE(toggle.isChecked());
    QTest::keyClick(&toggle, Qt::Key_Space);
    EXPECT_FALSE(toggle.isChecked());
    EXPECT_EQ(toggled.size(), 2);
    Chip chip("cuda:0");
    EXPECT_EQ(chip.sizeHint().height(), 24);
    EXPECT_FALSE(chip.isCheckable());
}

TEST(PanelHeadTest, KeepsItsControlsAtTheRight) {
    PanelHead head("Inspector");
    head.setSubText("step 980");
    auto* button = iconButton("more", "More");
    head.addControl(button);
    head.resize(400, 36);
    head.show();
    QTest::qWait(1);
    EXPECT_EQ(head.title(), "Inspector");
    EXPECT_EQ(button->mapTo(&head, QPoint(button->width(), 0)).x(), 384);
    EXPECT_EQ(head.grab().toImage().pixelColor(200, 35), Theme::current().border);
    EXPECT_EQ(button->accessibleName(), "More");
}

TEST(EmptyStateTest, ButtonActs) {
    EmptyState empty("Nothing yet.", "Start");
    empty.resize(300, 200);
    empty.show();
    QSignalSpy activated(&empty, &EmptyState::activated);
    QTest::mouseClick(empty.button(), Qt::LeftButton);
    EXPECT_EQ(activated.size(), 1);
    empty.setButtonText({});
    EXPECT_FALSE(empty.button()->isVisible());
}

TEST(ElidedLabelTest, WholeTextInTheToolTip) {
    ElidedLabel label("a rather long name of a run that does not fit");
    label.resize(60, 18);
    label.grab();
    EXPECT_EQ(label.toolTip(), label.text());
    label.resize(600, 18);
    label.grab();
    EXPECT_EQ(label.toolTip(), "");
}

}  // namespace
}  // namespace relascope
