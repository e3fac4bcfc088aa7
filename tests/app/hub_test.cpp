// SPDX-License-Identifier: GPL-3.0-or-later
// A model is opened by its name: found in the cache of the hub, or fetched from a hub on this
// machine.
#include <gtest/gtest.h>

#include <QApplication>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QProcess>
#include <QPushButton>
#include <QSignalSpy>
#include <QTimer>
#include <filesystem>

#include "app/controllers/duel_feeds.h"
#include "app/controllers/hub_models.h"
#include "app/launch.h"
#include "app/opener.h"
#include "app/pages/checkpoint_page.h"
#include "app/pages/data_source.h"
#include "app/pages/hub_dialog.h"
#include "tests/app/window_fixture.h"
#include "widgets/lists/sidebar.h"

namespace relascope {
namespace {

namespace fs = std::filesystem;

class HubWindowTest : public WindowTest {
protected:
    void SetUp() override {
        const std::string root = folder.path().toStdString();
        cache = qgetenv("HF_HUB_CACHE");
        qputenv("HF_HUB_CACHE", (folder.path() + "/cache").toUtf8());
        fs::create_directories(root + "/models/org");
        fs::copy(RELASCOPE_FIXTURES "/golden/vidat_relational_games_mixed",
                 root + "/models/org/vidat");
        fs::create_directories(root + "/models/org/other");
        fs::copy_file(RELASCOPE_FIXTURES "/golden/vidat_relational_games_mixed/model.safetensors",
                      root + "/models/org/other/model.safetensors");
        hub.start("python3", {RELASCOPE_FIXTURES "/../hub/hub_server.py",
                              QString::fromStdString(root + "/models")});
        ASSERT_TRUE(hub.waitForReadyRead(20000));
        qputenv("HF_ENDPOINT", hub.readLine().trimmed());
        WindowTest::SetUp();
    }
    void TearDown() override {
        WindowTest::TearDown();
        hub.closeWriteChannel();
        hub.waitForFinished(5000);
        qputenv("HF_HUB_CACHE", cache);
        qunsetenv("HF_ENDPOINT");
    }
    HubModels& models() { return c().checkpoint.hub(); }

    QByteArray cache;
    QProcess hub;
};

TEST_F(HubWindowTest, AModelIsFetchedAndOpenedByItsName) {
    HubDialog dialog(models(), window.get());
    dialog.show();
    EXPECT_EQ(dialog.list()->count(), 12) << "the papers' models, and some of each family";
    EXPECT_FALSE(dialog.openButton()->isEnabled());
    QTest::keyClicks(dialog.field(), "org/..");
    EXPECT_FALSE(dialog.openButton()->isEnabled());
    EXPECT_TRUE(dialog.note()->text().contains("is not the name of a model"));
    dialog.field()->clear();
    QTest::keyClicks(dialog.field(), "343m");
    ASSERT_EQ(dialog.list()->count(), 1);
    EXPECT_TRUE(dialog.list()->item(0)->text().contains("MIT"));
    dialog.field()->clear();
    QTest::keyClicks(dialog.field(), "org/none");
    EXPECT_EQ(dialog.openButton()->text(), "Fetch and open");
    QTest::keyClick(dialog.field(), Qt::Key_Return);
    ASSERT_TRUE(waitUntil([&] { return !dialog.error()->sentence().isEmpty(); }));
    EXPECT_EQ(dialog.error()->sentence(),
              "org/none does not exist, or is private: put your token into HF_TOKEN.");
    dialog.field()->clear();
    QTest::keyClicks(dialog.field(), "org/vidat");
    EXPECT_TRUE(dialog.error()->sentence().isEmpty());
    QTest::keyClick(dialog.field(), Qt::Key_Return);
    ASSERT_TRUE(waitUntil([&] { return dialog.result() == QDialog::Accepted; }));
    EXPECT_TRUE(dialog.path().startsWith(folder.path() + "/cache/models--org--vidat/snapshots/"));
    c().checkpoint.open(dialog.path());
    ASSERT_TRUE(waitUntil([this] { return c().checkpoint.info().has_value(); }));
    EXPECT_TRUE(c().checkpoint.info()->loads());
    c().checkpoint.load();
    auto* page = qobject_cast<CheckpointPage*>(window->page(PageId::Checkpoint));
    EXPECT_TRUE(waitUntil([&] { return page->inspector()->result() != nullptr; }, 60000));

    // The page Duel takes it by its name, and shows that.
    int exit = 0;
    const auto launch = parseLaunch({"relascope", "duel", "hub:org/vidat", dialog.path()}, &exit);
    ASSERT_TRUE(launch);
    EXPECT_EQ(launch->duel, (QStringList{dialog.path(), dialog.path()}));
    EXPECT_EQ(titleOf(weightsAt(dialog.path(), std::nullopt)), "org/vidat");

    // A model that cannot be opened says why, and is not in the rail.
    HubDialog second(models(), window.get());
    second.show();
    QTest::keyClicks(second.field(), "org/other");
    QTest::keyClick(second.field(), Qt::Key_Return);
    ASSERT_TRUE(waitUntil([&] { return models().cached().size() == 2; }));
    second.field()->setText("org/other");
    EXPECT_FALSE(second.openButton()->isEnabled());
    EXPECT_FALSE(second.note()->text().isEmpty());
    QStringList rail;
    auto* list = window->findChild<Sidebar*>()->checkpoints();
    for (int i = 0; i < list->count(); ++i) rail << list->item(i)->text();
    EXPECT_FALSE(rail.join(u'|').contains("other")) << rail.join(u'|').toStdString();
}

TEST_F(HubWindowTest, AllRevisionsOpenAsOneRun) {
    const QByteArray before = qgetenv("XDG_CACHE_HOME");
    qputenv("XDG_CACHE_HOME", (folder.path() + "/own").toUtf8());
    const fs::path models = (folder.path() + "/models/org").toStdString();
    fs::create_directories(models / "gpt");
    for (const char* revision : {"gpt@step1", "gpt@step20"})
        fs::copy(RELASCOPE_FIXTURES "/golden/public/gpt2_tied", models / revision);
    auto* page = qobject_cast<CheckpointPage*>(window->page(PageId::Checkpoint));
    QSignalSpy opened(&window->opener(), &Opener::runOpened);
    QTimer::singleShot(0, qApp, [] {
        auto* dialog = qobject_cast<HubDialog*>(QApplication::activeModalWidget());
        ASSERT_NE(dialog, nullptr);
        QTest::keyClicks(dialog->field(), "org/gpt@*");
        EXPECT_TRUE(dialog->note()->text().contains("steps of one run"));
        QTest::keyClick(dialog->field(), Qt::Key_Return);
    });
    page->openFromHub();
    ASSERT_TRUE(waitUntil([&] { return opened.count() > 0; }, 30000));
    EXPECT_TRUE(opened[0][0].toString().endsWith("/own/relascope/series/org--gpt"));
    qputenv("XDG_CACHE_HOME", before);
}

TEST_F(HubWindowTest, WhatPythonHasFetchedIsInTheRail) {
    const std::string snapshot =
        (folder.path() + "/cache/models--org--vidat/snapshots/0123abc").toStdString();
    fs::create_directories(fs::path(snapshot).parent_path());
    fs::copy(RELASCOPE_FIXTURES "/golden/vidat_relational_games_mixed", snapshot);
    models().refresh();
    auto* list = window->findChild<Sidebar*>()->checkpoints();
    ASSERT_TRUE(waitUntil([&] { return list->count() == 2; }));
    EXPECT_EQ(list->item(0)->text(), "Hub cache");
    EXPECT_EQ(list->item(1)->text(), "org/vidat");
    QTest::mouseClick(list->viewport(), Qt::LeftButton, {},
                      list->visualItemRect(list->item(1)).center());
    ASSERT_TRUE(waitUntil([this] { return c().checkpoint.info().has_value(); }));
    EXPECT_EQ(c().checkpoint.path().toStdString(), snapshot);
}

}  // namespace
}  // namespace relascope
