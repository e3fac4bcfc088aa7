// SPDX-License-Identifier: GPL-3.0-or-later
// A model that another program serves: the list of them, and the page that shows one.
#include <gtest/gtest.h>

#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <filesystem>

#include "app/opener.h"
#include "app/pages/checkpoint_details.h"
#include "app/pages/checkpoint_page.h"
#include "app/pages/served_dialog.h"
#include "tests/app/window_fixture.h"
#include "tests/wire/played_door.h"
#include "wire/socket.h"

namespace relascope {
namespace {

using testing_support::PlayedDoor;

/// A door in the folder of sockets, which says what its model is and answers nothing else.
struct Door {
    std::string path = wire::runtimeFolder() + "/played-window.served";
    Door() { std::filesystem::remove(path); }
    ~Door() { std::filesystem::remove(path); }
};

class ServedWindowTest : public WindowTest {
protected:
    static QString textOf(const ServedDialog& dialog) {
        for (int k = 0; k < dialog.list()->count(); ++k)
            if (dialog.list()->item(k)->text().startsWith(QLatin1String("played-window")))
                return dialog.list()->item(k)->text();
        return {};
    }
};

TEST_F(ServedWindowTest, TheListFollowsThePrograms) {
    const Door place;
    ServedDialog dialog;
    ASSERT_TRUE(
        waitUntil([&] { return dialog.note()->text().contains("relascope.serve"); }, 10000));
    EXPECT_FALSE(dialog.openButton()->isEnabled());
    {
        const PlayedDoor door([](PlayedDoor&, const wire::ServedMessage&) {}, place.path);
        ASSERT_TRUE(waitUntil([&] { return !textOf(dialog).isEmpty(); }, 15000));
        EXPECT_EQ(textOf(dialog),
                  QStringLiteral("played-window\nSmall of 12 parameters, by door.py, step 3"));
        EXPECT_TRUE(dialog.openButton()->isEnabled());
        EXPECT_EQ(dialog.path(), QStringLiteral("served:played-window"));
    }
    EXPECT_TRUE(waitUntil([&] { return textOf(dialog).isEmpty(); }, 15000));
}

TEST_F(ServedWindowTest, ItIsOpenedWithoutFiles) {
    const Door place;
    const PlayedDoor door(
        [](PlayedDoor& asked, const wire::ServedMessage& message) {
            asked.send({{"m", "error"},
                        {"id", message.message.at("id")},
                        {"key", "raised"},
                        {"text", "this model is played"}});
        },
        place.path);
    auto& checkpoint = c().checkpoint;
    QString said;
    QObject::connect(&checkpoint, &CheckpointController::failed, window.get(),
                     [&](const QString& sentence) { said = sentence; });
    window->opener().openAll({QStringLiteral("served:played-window")});
    ASSERT_TRUE(waitUntil([&] { return checkpoint.isServed(); }));
    EXPECT_EQ(checkpoint.info()->parameters, 12);
    auto* page = qobject_cast<CheckpointPage*>(window->page(PageId::Checkpoint));
    ASSERT_TRUE(page && page->isVisible());
    auto* head = page->findChild<CheckpointHead*>();
    EXPECT_EQ(head->title(), QStringLiteral("small"));
    EXPECT_EQ(head->files(),
              QStringLiteral("Small \u00B7 served by door.py, step 3 \u00B7 12 parameters"));
    EXPECT_FALSE(checkpoint.evaluateDisabledReason().isEmpty());
    ASSERT_EQ(checkpoint.recent().list().size(), 1u);
    EXPECT_EQ(checkpoint.recent().list()[0].size, QStringLiteral("served"));
    // It is loaded at once; what its program answers is said.
    EXPECT_TRUE(waitUntil([&] { return said.contains("this model is played"); }));
}

TEST_F(ServedWindowTest, OneThatHasGoneIsSaid) {
    QString said;
    QObject::connect(&c().checkpoint, &CheckpointController::failed, window.get(),
                     [&](const QString& sentence) { said = sentence; });
    window->opener().openCheckpoint(QStringLiteral("served:nobody-at-all"));
    EXPECT_TRUE(waitUntil([&] { return said.contains("No process of yours serves a model"); }));
    EXPECT_FALSE(c().checkpoint.info());
}

}  // namespace
}  // namespace relascope
