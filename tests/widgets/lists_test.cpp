// SPDX-License-Identifier: GPL-3.0-or-later
// The sidebar: filter, selection that outlives updates, signals.
#include <gtest/gtest.h>

#include <QLineEdit>
#include <QListWidget>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>
#include <QTreeWidget>

#include "support/rooms.h"
#include "widgets/lists/sidebar.h"

using namespace relascope;

namespace {

RunRow run(const std::string& path, RunState state = RunState::Running, std::int64_t step = 1600) {
    RunRow row;
    row.info.path = path;
    row.info.name = path;
    row.info.state = state;
    row.info.step = step;
    return row;
}

struct ShownList {
    Sidebar sidebar;
    ShownList() {
        sidebar.resize(240, 800);
        sidebar.setExperiments(
            {{"Vision relations", "between", "Between", "Which shape is between"},
             {"Vision relations", "same", "Same", ""},
             {"Sets", "set", "SET", ""}});
        sidebar.setRuns({run("/a"), run("/b"), run("/c")});
        sidebar.show();
    }
    void click(int row, Qt::KeyboardModifiers keys = {}) {
        QListWidget* list = sidebar.runs();
        QTest::mouseClick(list->viewport(), Qt::LeftButton, keys,
                          list->visualItemRect(list->item(row)).center());
    }
};

}  // namespace

TEST(Sidebar, StateLines) {
    EXPECT_EQ(runStateLine(run("/a").info), "running · step 1,600");
    EXPECT_EQ(runStateLine(run("/a", RunState::Done, 2450).info), "done · 2,450 steps");
    EXPECT_EQ(runStateLine(run("/a", RunState::Queued).info), "queued");
    RunInfo failed = run("/a", RunState::Failed).info;
    failed.message = "NaN at step 388";
    EXPECT_EQ(runStateLine(failed), "failed · NaN at step 388");
    RunInfo labelled = run("/a", RunState::Done, 2450).info;
    labelled.labels = {"", {"baseline", "paper"}, true};
    EXPECT_EQ(runStateLine(labelled), "done · 2,450 steps · hidden · #baseline · #paper");
}

TEST(Sidebar, ClicksChooseAndUpdatesKeepTheSelection) {
    ShownList s;
    QSignalSpy selected(&s.sidebar, &Sidebar::runsSelected);
    s.click(0);
    s.click(2, Qt::ControlModifier);
    EXPECT_EQ(s.sidebar.selectedRuns(), QStringList({"/a", "/c"}));
    EXPECT_EQ(selected.last()[0].toStringList(), QStringList({"/a", "/c"}));
    const int before = static_cast<int>(selected.count());
    s.sidebar.setRuns({run("/a", RunState::Running, 1700), run("/b"), run("/c")});
    s.sidebar.setRuns({run("/new"), run("/a"), run("/b"), run("/c")});
    EXPECT_EQ(s.sidebar.selectedRuns(), QStringList({"/a", "/c"}));
    EXPECT_EQ(selected.count(), before);
    s.sidebar.setRuns({run("/b"), run("/c")});
    EXPECT_EQ(selected.last()[0].toStringList(), QStringList({"/c"}));
}

TEST(Sidebar, NamesTheDevicesOfARunThatHadSeveral) {
    ShownList s;
    auto several = run("/several"), one = run("/one");
    several.info.device = "cuda:0, cuda:1", one.info.device = "cuda:0";
    s.sidebar.setRuns({several, one});
    EXPECT_TRUE(s.sidebar.runs()->item(0)->toolTip().endsWith("\non cuda:0, cuda:1\n/several"))
        << s.sidebar.runs()->item(0)->toolTip().toStdString();
    EXPECT_FALSE(s.sidebar.runs()->item(1)->toolTip().contains("cuda"));
}

TEST(Sidebar, PresetsByClickAndKey) {
    ShownList s;
    QSignalSpy chosen(&s.sidebar, &Sidebar::presetChosen);
    QTreeWidget* tree = s.sidebar.experiments();
    QTreeWidgetItem* between = tree->topLevelItem(0)->child(0);
    QTest::mouseClick(tree->viewport(), Qt::LeftButton, {}, tree->visualItemRect(between).center());
    EXPECT_EQ(chosen.last()[0].toString(), "between");
    QTest::keyClick(tree, Qt::Key_Down);
    EXPECT_EQ(chosen.last()[0].toString(), "same");
    s.sidebar.setCurrentPreset("set");
    EXPECT_EQ(chosen.count(), 2);
}

TEST(Sidebar, TheFilterReachesAllParts) {
    ShownList s;
    s.sidebar.setCheckpoints({{"/k", "DAT-343M", "1.28 GiB"}});
    QTest::keyClicks(s.sidebar.searchField(), "betw");
    EXPECT_FALSE(s.sidebar.experiments()->topLevelItem(0)->child(0)->isHidden());
    EXPECT_TRUE(s.sidebar.experiments()->topLevelItem(0)->child(1)->isHidden());
    EXPECT_TRUE(s.sidebar.experiments()->topLevelItem(1)->isHidden());
    EXPECT_TRUE(s.sidebar.runs()->item(0)->isHidden());
    EXPECT_TRUE(s.sidebar.checkpoints()->item(0)->isHidden());
    QTest::keyClick(s.sidebar.searchField(), Qt::Key_Escape);
    EXPECT_FALSE(s.sidebar.runs()->item(0)->isHidden());
}

TEST(Sidebar, KeysAndTheMenuAskForWhatCanBeDoneToRuns) {
    ShownList s;
    QSignalSpy removed(&s.sidebar, &Sidebar::deleteRequested),
        renamed(&s.sidebar, &Sidebar::renameRequested),
        menu(&s.sidebar, &Sidebar::runMenuRequested),
        hidden(&s.sidebar, &Sidebar::showHiddenRequested);
    s.click(1);
    QTest::keyClick(s.sidebar.runs(), Qt::Key_Delete);
    ASSERT_EQ(removed.count(), 1);
    EXPECT_EQ(removed[0][0].toStringList(), QStringList({"/b"}));
    QTest::keyClick(s.sidebar.runs(), Qt::Key_F2);
    ASSERT_EQ(renamed.count(), 1);
    EXPECT_EQ(renamed[0][0].toString(), "/b");
    s.click(0, Qt::ControlModifier);
    Q_EMIT s.sidebar.runs()->customContextMenuRequested(
        s.sidebar.runs()->visualItemRect(s.sidebar.runs()->item(1)).center());
    ASSERT_EQ(menu.count(), 1);
    EXPECT_EQ(menu[0][0].toStringList(), QStringList({"/a", "/b"}));
    EXPECT_FALSE(s.sidebar.hiddenButton()->isVisibleTo(&s.sidebar));
    s.sidebar.setHiddenRuns(2, false);
    EXPECT_EQ(s.sidebar.hiddenButton()->text(), "2 hidden");
    QTest::mouseClick(s.sidebar.hiddenButton(), Qt::LeftButton);
    ASSERT_EQ(hidden.count(), 1);
    EXPECT_TRUE(hidden[0][0].toBool());
    std::vector<RunRow> many;
    for (int i = 0; i < 3000; ++i) many.push_back(run("/m" + std::to_string(i)));
    s.sidebar.setRuns(many);
    EXPECT_EQ(s.sidebar.runs()->count(), 3000);
    s.sidebar.setRuns({});
    EXPECT_FALSE(s.sidebar.runs()->isVisibleTo(&s.sidebar));
}

TEST(Sidebar, ACheckpointOpensOnOneClickAndSaysWhenItIsGone) {
    ShownList s;
    s.sidebar.setCheckpoints(
        {{"/models/dat", "dat", "1.28 GiB", false}, {"/models/old", "old", "105 MiB", true}});
    QTest::qWait(1);
    QSignalSpy chosen(&s.sidebar, &Sidebar::checkpointChosen);
    QListWidget* list = s.sidebar.checkpoints();
    QTest::mouseClick(list->viewport(), Qt::LeftButton, {},
                      list->visualItemRect(list->item(0)).center());
    ASSERT_EQ(chosen.count(), 1);
    EXPECT_EQ(chosen[0][0].toString(), "/models/dat");
    EXPECT_TRUE(list->item(1)->toolTip().contains("no longer exists"));
    const QImage shot = list->viewport()->grab().toImage();
    const auto darkest = [&](int row) {
        const QRect box = list->visualItemRect(list->item(row)).adjusted(10, 4, -120, -4);
        int least = 255;
        for (int y = box.top(); y <= box.bottom(); ++y)
            for (int x = box.left(); x <= box.right(); ++x)
                least = qMin(least, qGray(shot.pixel(x, y)));
        return least;
    };
    EXPECT_GT(darkest(1), darkest(0) + 40) << "faint";
}
