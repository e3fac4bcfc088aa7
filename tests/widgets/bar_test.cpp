// SPDX-License-Identifier: GPL-3.0-or-later
// Training bar, status strip, log, palette.
#include <gtest/gtest.h>

#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalSpy>
#include <QTest>

#include "support/rooms.h"
#include "tests/widgets/child.h"
#include "widgets/bar/command_palette.h"
#include "widgets/bar/status_strip.h"
#include "widgets/bar/train_bar.h"
#include "widgets/theme/theme.h"

using namespace relascope;

TEST(TrainBar, OneToggleStartsPausesResumes) {
    TrainBar bar;
    bar.resize(1440, 48);
    bar.show();
    QSignalSpy start(&bar, &TrainBar::startRequested), pause(&bar, &TrainBar::pauseRequested),
        resume(&bar, &TrainBar::resumeRequested), step(&bar, &TrainBar::stepRequested),
        stop(&bar, &TrainBar::stopRequested), cancel(&bar, &TrainBar::cancelRequested);
    QTest::mouseClick(bar.startButton(), Qt::LeftButton);
    EXPECT_EQ(start.count(), 0);
    EXPECT_FALSE(bar.startButton()->toolTip().isEmpty());
    bar.setIdle("Ready.", true);
    QTest::mouseClick(bar.startButton(), Qt::LeftButton);
    EXPECT_EQ(start.count(), 1);
    bar.setState(RunState::Running);
    EXPECT_EQ(bar.startButton()->text(), "Pause");
    EXPECT_FALSE(child<QPushButton>(bar, "Step")->isEnabled());
    QTest::mouseClick(bar.startButton(), Qt::LeftButton);
    EXPECT_EQ(pause.count(), 1);
    bar.setState(RunState::Paused);
    QTest::mouseClick(child<QPushButton>(bar, "Step"), Qt::LeftButton);
    QTest::mouseClick(bar.startButton(), Qt::LeftButton);
    QTest::mouseClick(bar.stopButton(), Qt::LeftButton);
    QTest::mouseClick(bar.cancelButton(), Qt::LeftButton);
    EXPECT_EQ(step.count() + resume.count() + stop.count() + cancel.count(), 4);
    bar.setState(RunState::Done);
    EXPECT_FALSE(bar.cancelButton()->isEnabled());
}

TEST(TrainBar, WordsOfTheProgress) {
    TrainProgressLine line;
    line.setProgress({1600, 2450, 32.7, 50, 6210, 70}, false);
    EXPECT_EQ(line.text(),
              "Step 1,600 of 2,450  epoch 32.7 of 50  6,210 examples/s  1 min 10 s left");
    line.setProgress({0, 0, 0, 0, 0, 0}, true);
    EXPECT_EQ(line.text(), "Step 0  paused");
    line.resize(120, 36);
    EXPECT_FALSE(line.grab().isNull());
}

TEST(TrainBar, TheTimeLeftIsDroppedWithAPause) {
    TrainBar bar;
    bar.setState(RunState::Running);
    bar.setProgress({1600, 2450, 32.7, 50, 6210, 70});
    bar.setState(RunState::Paused);
    EXPECT_TRUE(bar.lineText().endsWith("paused")) << bar.lineText().toStdString();
    EXPECT_FALSE(bar.lineText().contains("left"));
    bar.setState(RunState::Running);
    EXPECT_EQ(bar.lineText(), "Step 1,600 of 2,450  epoch 32.7 of 50");
    bar.setProgress({1601, 2450, 32.8, 50, 6000, 80});
    EXPECT_TRUE(bar.lineText().endsWith("1 min 20 s left"));
}

TEST(TrainBar, StopSaysWhenAndOffersToStopNow) {
    TrainBar bar;
    bar.resize(1440, 48);
    bar.show();
    QSignalSpy stop(&bar, &TrainBar::stopRequested), cancel(&bar, &TrainBar::cancelRequested),
        pause(&bar, &TrainBar::pauseRequested);
    bar.setState(RunState::Running);
    // 100 of 1000 steps, a tenth of each epoch of 500: 400 steps of 1.35 s are left of the first.
    bar.setProgress({100, 1000, 0.2, 2.0, 8, 900 * 1.35});
    QTest::mouseClick(bar.stopButton(), Qt::LeftButton);
    EXPECT_EQ(stop.count(), 1);
    bar.setEnding(TrainBar::Ending::AfterEpoch);
    EXPECT_TRUE(bar.lineText().endsWith("stopping after this epoch, about 9 min"))
        << bar.lineText().toStdString();
    EXPECT_EQ(bar.stopButton()->text(), "Stop now");
    QTest::mouseClick(bar.startButton(), Qt::LeftButton);
    EXPECT_EQ(pause.count(), 1) << "the rest of the bar is live";
    QTest::mouseClick(bar.stopButton(), Qt::LeftButton);
    EXPECT_EQ(stop.count(), 1);
    EXPECT_EQ(cancel.count(), 1);
    bar.setEnding(TrainBar::Ending::Now);
    EXPECT_TRUE(bar.lineText().endsWith("saving a checkpoint"));
    for (auto* button : {bar.startButton(), bar.stopButton(), bar.cancelButton()})
        EXPECT_FALSE(button->isEnabled());
}

TEST(Durations, HaveNoEmptyParts) {
    EXPECT_EQ(durationText(60), "1 min");
    EXPECT_EQ(durationText(70), "1 min 10 s");
    EXPECT_EQ(durationText(7200), "2 h");
    EXPECT_EQ(roughDuration(40), "40 s");
    EXPECT_EQ(roughDuration(539), "9 min");
    EXPECT_EQ(roughDuration(4790), "1 h 20 min");
}

TEST(StatusStrip, TheHeartbeatSaysAndShowsItsAge) {
    StatusStrip strip;
    strip.resize(800, 26);
    EXPECT_TRUE(strip.heartbeatText().isEmpty());
    strip.setHeartbeat(true);
    strip.setSecondsSinceBeat(0.3);
    EXPECT_EQ(strip.heartbeatColor(), Theme::current().ok);
    EXPECT_TRUE(strip.heartbeatText().startsWith("last update 0."));
    strip.setSecondsSinceBeat(5);
    EXPECT_EQ(strip.heartbeatColor(), Theme::current().warning);
    strip.setSecondsSinceBeat(200);
    EXPECT_EQ(strip.heartbeatColor(), Theme::current().error);
    EXPECT_EQ(strip.heartbeatText(), "last update 3 min ago");
    strip.showMessage(MessageLevel::Error, "Something failed");
    EXPECT_FALSE(strip.grab().isNull());
    EXPECT_EQ(strip.message(), "Something failed");
}

TEST(LogDrawer, FiltersByWordsAndForgetsTheOldest) {
    LogDrawer log;
    log.append(MessageLevel::Info, "started");
    log.append(MessageLevel::Error, "loss is NaN");
    QTest::keyClicks(log.filterField(), "nan");
    EXPECT_EQ(log.shownLines(), 1);
    EXPECT_TRUE(log.text().contains("loss is NaN"));
    log.filterField()->clear();
    for (int i = 0; i < 5010; ++i) log.append(MessageLevel::Info, "line");
    EXPECT_EQ(log.shownLines(), 5000);
}

TEST(CommandPalette, FindsAndTriggers) {
    EXPECT_LT(fuzzyScore("xyz", "Export figure"), 0);
    EXPECT_GT(fuzzyScore("ef", "Export figure"), fuzzyScore("ef", "Open file"));
    QAction open("&Open run"), exporting("Export figure"), off("Export data");
    off.setEnabled(false);
    open.setShortcut(QKeySequence("Ctrl+O"));
    CommandPalette palette;
    palette.setActions({&open, &exporting, &off});
    palette.popUp();
    QSignalSpy triggered(&exporting, &QAction::triggered);
    EXPECT_EQ(palette.list()->count(), 3);
    QTest::keyClicks(palette.field(), "efig");
    ASSERT_EQ(palette.list()->count(), 1);
    QTest::keyClick(palette.field(), Qt::Key_Return);
    EXPECT_EQ(triggered.count(), 1);
    EXPECT_FALSE(palette.isVisible());
    palette.popUp();
    QTest::keyClicks(palette.field(), "nothing at all");
    QTest::keyClick(palette.field(), Qt::Key_Return);
    QTest::keyClick(palette.field(), Qt::Key_Escape);
    EXPECT_FALSE(palette.isVisible());
}

TEST(ShortcutSheet, ShowsAndSearchesEveryKey) {
    std::vector<Shortcut> keys{{"Run", "Space", "Start or pause"}, {"Help", "F1", "This sheet"}};
    // Long words are not cut: they take a second line.
    for (int k = 0; k < 30; ++k)
        keys.push_back({"Window", "Ctrl+Shift+F12",
                        QString("Something that takes %1 long words to say").arg(k).repeated(2)});
    ShortcutSheet sheet(keys);
    sheet.setAttribute(Qt::WA_DontShowOnScreen);
    sheet.show();
    const auto shown = [&] {
        QStringList texts;
        for (const auto* label :
             sheet.findChild<QScrollArea*>()->widget()->findChildren<QLabel*>()) {
            if (!label->isVisible()) continue;
            texts << label->text();
            EXPECT_LE(label->mapTo(&sheet, QPoint(label->width(), 0)).x(), sheet.width());
        }
        return texts;
    };
    EXPECT_EQ(shown().size(), 32 + 3) << "keys and groups";
    QTest::keyClicks(sheet.searchField(), "pause START");
    EXPECT_EQ(shown(), QStringList({"Run", "Start or pause"}));
    sheet.searchField()->clear();
    QTest::keyClicks(sheet.searchField(), "f1");
    EXPECT_EQ(shown().size(), 31 + 2) << "F1 and F12";
    ShortcutSheet empty({});
    EXPECT_FALSE(empty.grab().isNull());
}
