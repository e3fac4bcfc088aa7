// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QSpinBox>
#include <QTest>

#include "support/rooms.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

/// Antialiased lines differ from their colour by a rounding.
void expectNear(const QColor& seen, const QColor& wanted) {
    EXPECT_NEAR(seen.red(), wanted.red(), 3);
    EXPECT_NEAR(seen.green(), wanted.green(), 3);
    EXPECT_NEAR(seen.blue(), wanted.blue(), 3);
}

TEST(Icons, EveryFileDrawsInTheThemesColour) {
    applicationIcon();
    const QStringList files = QDir(":/icons").entryList({"*.svg"});
    ASSERT_GT(files.size(), 35);
    for (const QString& file : files) {
        const QByteArray name = file.chopped(4).toLatin1();
        const QImage image = icon(name.constData()).pixmap(32, 32).toImage();
        int drawn = 0;
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x) drawn += qAlpha(image.pixel(x, y)) > 200;
        EXPECT_GT(drawn, 4) << name.constData();
    }
    const QImage play = icon("stop").pixmap(16, 16).toImage();
    expectNear(play.pixelColor(8, 4), Theme::current().text);
    expectNear(icon("stop").pixmap(QSize(16, 16), QIcon::Disabled).toImage().pixelColor(8, 4),
               Theme::current().faint);
    expectNear(icon("stop", Theme::current().accent).pixmap(16, 16).toImage().pixelColor(8, 4),
               Theme::current().accent);
    EXPECT_FALSE(icon("no-such-icon").pixmap(16, 16).isNull());
}

TEST(Icons, FollowTheTheme) {
    const QIcon kept = icon("stop");
    applyTheme(*qApp, ThemeMode::Dark);
    expectNear(kept.pixmap(16, 16).toImage().pixelColor(8, 4), Theme::darkTheme().text);
    applyTheme(*qApp, ThemeMode::Light);
    expectNear(kept.pixmap(16, 16).toImage().pixelColor(8, 4), Theme::light().text);
}

TEST(Style, HeightsAreThoseOfTheDesign) {
    EXPECT_EQ(QPushButton("Start").sizeHint().height(), 28);
    EXPECT_EQ(QLineEdit().sizeHint().height(), 24);
    EXPECT_EQ(QComboBox().sizeHint().height(), 24);
    EXPECT_EQ(QSpinBox().sizeHint().height(), 24);
}

TEST(Style, PrimaryButtonAndFocusRing) {
    const Theme& t = Theme::current();
    QPushButton button;
    button.resize(80, 28);
    button.setProperty("primary", true);
    EXPECT_EQ(button.grab().toImage().pixelColor(40, 6), t.accent);
    button.setEnabled(false);
    EXPECT_EQ(button.grab().toImage().pixelColor(40, 6), t.panel);
    QLineEdit field;
    field.resize(80, 24);
    EXPECT_EQ(field.grab().toImage().pixelColor(40, 0), t.controlBorder);
    field.setProperty("error", true);
    EXPECT_EQ(field.grab().toImage().pixelColor(40, 0), t.error);
    EXPECT_EQ(field.grab().toImage().pixelColor(40, 2), t.errorFill);
    field.setProperty("error", false);
    field.show();
    field.activateWindow();
    field.setFocus();
    QTest::qWait(5);
    EXPECT_EQ(field.grab().toImage().pixelColor(40, 1), t.accent);
    QCheckBox box;
    box.setChecked(true);
    box.resize(40, 20);
    EXPECT_EQ(box.grab().toImage().pixelColor(3, 6), t.accent);
}

TEST(Style, IconButtonsAndCellsShowTheFocusOfTheKeyboard) {
    QWidget window;
    auto* row = rowOf(&window, {8, 8, 8, 8}, 8);
    auto* first = new QPushButton("first", &window);
    auto* button = iconButton("more", "More", &window);
    auto* list = new QListWidget(&window);
    list->addItems({"one", "two"});
    row->addWidget(first);
    row->addWidget(button);
    row->addWidget(list);
    window.show();
    window.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
    first->setFocus();
    const QImage plainButton = button->grab().toImage(), plainList = list->grab().toImage();
    QTest::keyClick(&window, Qt::Key_Tab);
    ASSERT_TRUE(button->hasFocus());
    EXPECT_NE(button->grab().toImage(), plainButton);
    EXPECT_EQ(list->grab().toImage(), plainList);
    QTest::keyClick(&window, Qt::Key_Tab);
    ASSERT_TRUE(list->hasFocus());
    EXPECT_EQ(button->grab().toImage(), plainButton);
    ASSERT_TRUE(list->selectedItems().isEmpty());
    EXPECT_NE(list->grab().toImage(), plainList) << "nothing is chosen, and the first is current";
}

TEST(Style, SpinBoxArrowsWork) {
    QSpinBox box;
    box.setRange(0, 10);
    box.resize(80, 24);
    box.show();
    QTest::mouseClick(&box, Qt::LeftButton, {}, QPoint(70, 6));
    EXPECT_EQ(box.value(), 1);
    QTest::mouseClick(&box, Qt::LeftButton, {}, QPoint(70, 18));
    EXPECT_EQ(box.value(), 0);
}

}  // namespace
}  // namespace relascope
