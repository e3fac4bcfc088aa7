// SPDX-License-Identifier: GPL-3.0-or-later
// Bars at every width: nothing is cut in the middle or lies on something else, what has no room is
// in a menu, and the value is the last to go.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

#include "tests/widgets/child.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/folding_layout.h"

using namespace relascope;
using namespace relascope::widgets;

namespace {

/// What of a bar is cut, or lies on something else.
QStringList faults(const QWidget& bar) {
    QStringList found;
    std::vector<const QWidget*> seen;
    for (const auto* child : bar.findChildren<QWidget*>(Qt::FindDirectChildrenOnly)) {
        if (!child->isVisible() || !bar.rect().intersects(child->geometry())) continue;
        const QString name = child->accessibleName().isEmpty()
                                 ? QString::fromLatin1(child->metaObject()->className())
                                 : child->accessibleName();
        if (!bar.rect().contains(child->geometry())) found << name + " sticks out";
        for (const auto* other : seen)
            if (other->geometry().intersects(child->geometry())) found << name + " lies on another";
        seen.push_back(child);
        if (const auto* readout = qobject_cast<const Readout*>(child)) {
            if (readout->width() < readout->widthOf(readout->chosen())) found << name + " is cut";
        } else if (const auto* button = qobject_cast<const FoldingButton*>(child)) {
            if (button->width() <
                (button->isFolded() ? FoldingButton::kFoldedWidth : button->sizeHint().width()))
                found << button->text() + " is cut";
        } else if (const auto* choices = qobject_cast<const SegmentedControl*>(child)) {
            if (choices->width() < choices->minimumSizeHint().width()) found << name + " is cut";
        } else if (child->width() < child->minimumSizeHint().width()) {
            found << name + " is cut";
        }
    }
    return found;
}

constexpr int kWidths[] = {1400, 1100, 900, 800, 700, 620, 560, 500, 440, 380, 320, 260};

struct Bar : QWidget {
    Bar() : row(new FoldingLayout(this)) {
        row->setContentsMargins(16, 0, 12, 0);
        row->setSpacing(8);
        value = new Readout(this);
        value->setForms(
            {"layer 1 · relation 1 · i = patch (0, 1) ← j = patch (2, 0) · r = <b>+0.073</b>",
             "i = patch (0, 1) ← j = patch (2, 0) · r = <b>+0.073</b>", "r = <b>+0.073</b>"});
        row->add(value, FoldingLayout::Role::Value);
        kinds = new SegmentedControl({"r", "rel. α", "sens. α", "α × r", "symbols"}, this);
        kinds->setAccessibleName("Kind");
        row->add(kinds, FoldingLayout::Role::Control);
        for (const char* text :
             {"Make them the same", "Take this relation out", "Why? (W)", "Undo"})
            buttons.push_back(new FoldingButton(text, "copy", this)),
                row->add(buttons.back(), FoldingLayout::Role::Control, true);
        answer = new QLabel("occurs 0.944 → 0.993", this);
        row->add(answer, FoldingLayout::Role::Answer, true);
        menu = iconButton("more", "Menu", this);
        row->add(menu, FoldingLayout::Role::Fixed, true);
        setFixedHeight(36);
        show();
    }
    void setWidth(int width) {
        resize(width, 36);
        row->activate();
    }
    FoldingLayout* row;
    Readout* value;
    SegmentedControl* kinds;
    std::vector<FoldingButton*> buttons;
    QLabel* answer;
    QToolButton* menu;
};

TEST(FoldingLayoutTest, CutsNothingAtAnyWidth) {
    Bar bar;
    for (const int width : kWidths) {
        bar.setWidth(width);
        EXPECT_EQ(faults(bar).join(", "), "") << width;
        EXPECT_TRUE(bar.row->hasRoom(bar.menu)) << width;
        EXPECT_TRUE(bar.value->text().contains("+0.073")) << width;
    }
}

struct LayoutRequests : QObject {
    bool eventFilter(QObject*, QEvent* event) override {
        count += event->type() == QEvent::LayoutRequest ? 1 : 0;
        return false;
    }
    int count = 0;
};

// A layout that asks for another one keeps the window at work for ever.
TEST(FoldingLayoutTest, IsDoneWithOneLayout) {
    Bar bar;
    for (const int width : kWidths) {
        bar.setWidth(width);
        QTest::qWait(1);
        LayoutRequests requests;
        bar.installEventFilter(&requests);
        bar.value->setForms({QString(90, u'w') + QString::number(width), QString(60, u'w'),
                             QString::number(width)});
        for (int k = 0; k < 10; ++k) QCoreApplication::processEvents();
        EXPECT_GE(requests.count, 1) << width;
        EXPECT_LE(requests.count, 3) << width;
        bar.removeEventFilter(&requests);
    }
}

TEST(FoldingLayoutTest, FoldsButtonsFirstAndTheValueLast) {
    Bar bar;
    bar.setWidth(1800);
    EXPECT_EQ(bar.value->chosen(), 0);
    EXPECT_FALSE(bar.buttons[3]->isFolded());
    EXPECT_FALSE(bar.row->more()->isVisible());
    int width = 1800;
    while (bar.value->chosen() == 0 && width > 0) bar.setWidth(width -= 4);
    EXPECT_FALSE(bar.buttons[3]->isFolded()) << "the names of layer and map go first";
    while (!bar.buttons[3]->isFolded() && width > 0) bar.setWidth(width -= 4);
    EXPECT_FALSE(bar.buttons[0]->isFolded()) << "the last one folds first";
    EXPECT_TRUE(bar.row->hasRoom(bar.answer));
    while (bar.row->hasRoom(bar.buttons[0]) && width > 0) bar.setWidth(width -= 4);
    EXPECT_TRUE(bar.row->more()->isVisible());
    EXPECT_EQ(bar.value->chosen(), 1) << "the value with its places is still there";
    while (bar.value->chosen() == 1 && width > 0) bar.setWidth(width -= 4);
    EXPECT_EQ(bar.value->chosen(), 2);
    EXPECT_GT(width, 200);
}

TEST(FoldingLayoutTest, WhatHasNoRoomIsInTheMenu) {
    Bar bar;
    bar.setWidth(300);
    EXPECT_FALSE(bar.row->hasRoom(bar.buttons[1]));
    EXPECT_EQ(bar.buttons[1]->focusPolicy(), Qt::NoFocus);
    bar.buttons[3]->setEnabled(false);
    QSignalSpy clicked(bar.buttons[1], &QPushButton::clicked);
    auto* menu = bar.row->more()->menu();
    Q_EMIT menu->aboutToShow();
    QStringList entries;
    for (auto* action : menu->actions()) entries << action->text();
    EXPECT_EQ(entries.join("; "),
              "Kind; Make them the same; Take this relation out; Why? (W); Undo");
    EXPECT_FALSE(menu->actions()[4]->isEnabled());
    menu->actions()[2]->trigger();
    EXPECT_EQ(clicked.size(), 1);
    QSignalSpy changed(bar.kinds, &SegmentedControl::changed);
    menu->actions()[0]->menu()->actions()[2]->trigger();
    EXPECT_EQ(changed.size(), 1);
    EXPECT_EQ(bar.kinds->current(), 2);
    bar.setWidth(1800);
    EXPECT_TRUE(bar.row->hasRoom(bar.buttons[1]));
    EXPECT_NE(bar.buttons[1]->focusPolicy(), Qt::NoFocus);
}

TEST(FoldingLayoutTest, FollowsWhatIsShownAndHidden) {
    Bar bar;
    bar.setWidth(900);
    bar.buttons[1]->hide();
    bar.row->activate();
    EXPECT_EQ(faults(bar).join(", "), "");
    EXPECT_FALSE(bar.row->hasRoom(bar.buttons[1]));
    bar.buttons[1]->show();
    bar.buttons[1]->setText("Bring it back (X), which is a longer text than the one before");
    bar.row->activate();
    EXPECT_EQ(faults(bar).join(", "), "");
}

TEST(SegmentedControlTest, FoldsIntoAListWhereItHasNoRoom) {
    SegmentedControl control({"r", "rel. α", "sens. α", "α × r", "symbols"});
    control.setAccessibleName("Kind");
    control.setItemEnabled(1, false, "no relational heads");
    control.setCurrent(4);
    control.resize(control.sizeHint());
    control.show();
    EXPECT_FALSE(control.isFolded());
    EXPECT_TRUE(control.button(4)->isVisible());
    control.resize(control.minimumSizeHint());
    EXPECT_TRUE(control.isFolded());
    auto* list = control.findChild<QPushButton*>();
    ASSERT_TRUE(list && list->isVisible());
    EXPECT_TRUE(list->text().startsWith("symbols")) << list->text().toStdString();
    EXPECT_LE(QFontMetrics(list->font()).horizontalAdvance(list->text()), list->width());
    QMenu menu;
    control.fillMenu(menu);
    ASSERT_EQ(menu.actions().size(), 5);
    EXPECT_FALSE(menu.actions()[1]->isEnabled());
    EXPECT_TRUE(menu.actions()[4]->isChecked());
    control.setCurrent(0);
    EXPECT_TRUE(list->text().startsWith("r ")) << list->text().toStdString();
    control.resize(control.sizeHint());
    EXPECT_FALSE(control.isFolded());
    EXPECT_TRUE(control.rect().contains(control.button(0)->geometry()));
}

TEST(PanelHeadTest, CutsNothingAtAnyWidth) {
    PanelHead head("Example run");
    head.setSubText("Layer 1, relation 1 answers same object, without it accuracy falls");
    auto* kinds = new SegmentedControl({"r", "rel. α", "sens. α", "α × r", "symbols"}, &head);
    kinds->setAccessibleName("Kind");
    auto* range = new QComboBox(&head);
    range->addItems({"This map", "This layer"});
    range->setAccessibleName("Range");
    head.addLeftControl(kinds);
    head.addLeftControl(range);
    head.addControl(new FoldingButton("Options of this run", "settings", &head));
    head.show();
    for (const int width : kWidths) {
        head.resize(width, 36);
        head.layout()->activate();
        EXPECT_EQ(faults(head).join(", "), "") << width;
    }
}

}  // namespace
