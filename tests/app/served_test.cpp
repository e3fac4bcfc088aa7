// SPDX-License-Identifier: GPL-3.0-or-later
// A model that another program serves: the list of them, and the page that shows one.
#include <gtest/gtest.h>

#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QSettings>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <vector>

#include "app/opener.h"
#include "app/pages/checkpoint_details.h"
#include "app/pages/checkpoint_page.h"
#include "app/pages/served_dialog.h"
#include "app/pages/served_steps.h"
#include "interventions/edit_words.h"
#include "tests/app/far_machine.h"
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
    CheckpointPage* page() {
        return qobject_cast<CheckpointPage*>(window->page(PageId::Checkpoint));
    }
    /// Whether the maps of that step come.
    bool shows(qint64 step) {
        return waitUntil([&] {
            const auto* result = page()->inspector()->result();
            return result && !result->partial && result->step == step &&
                   !c().checkpoint.feed().task().busy();
        });
    }
    /// A cell of the first map.
    float value() {
        const auto& maps = page()->inspector()->result()->maps;
        return maps.empty() ? -1.0F : maps.front().at(0, 1);
    }
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
    EXPECT_FALSE(page->findChild<ServedSteps*>()->isVisible());  // it keeps none
    ASSERT_EQ(checkpoint.recent().list().size(), 1u);
    EXPECT_EQ(checkpoint.recent().list()[0].size, QStringLiteral("served"));
    // It is loaded at once; what its program answers is said.
    EXPECT_TRUE(waitUntil([&] { return said.contains("this model is played"); }));
}

/// A model of two heads whose patterns hold the step of the weights that a pass ran with, and whose
/// program has kept the weights of some steps.
class KeepingDoor {
public:
    explicit KeepingDoor(const std::string& path)
        : m_door([this](PlayedDoor& door,
                        const wire::ServedMessage& message) { answer(door, message.message); },
                 path, false, [this] { return declared(); }) {}

    std::atomic<bool> trained = false;  ///< a fourth step has been kept
    /// The step of each pass; 3 where it ran with the weights of now.
    std::vector<std::int64_t> passes() {
        const std::lock_guard lock(m_mutex);
        return m_passes;
    }

private:
    std::vector<std::int64_t> steps() const {
        return trained ? std::vector<std::int64_t>{5, 10, 20, 30}
                       : std::vector<std::int64_t>{5, 10, 20};
    }
    wire::Json declared() const {
        auto all = testing_support::smallDeclaration();
        all["points"] = {{{"name", "blocks.0.attn.hook_pattern"},
                          {"axes", {"batch", "head", "i", "j"}},
                          {"sizes", {-1, 2, 2, 2}},
                          {"causal", false},
                          {"gradient", false},
                          {"replace", true}}};
        all["can"] = {{"steps", steps()}};
        return all;
    }
    static wire::Json floats(const std::vector<std::int64_t>& sizes, float value,
                             wire::Bytes& blob) {
        std::size_t count = 1;
        for (const auto size : sizes) count *= static_cast<std::size_t>(size);
        const std::vector<float> values(count, value);
        blob.resize(count * sizeof value);
        std::memcpy(blob.data(), values.data(), blob.size());
        return {{"dtype", "float32"}, {"sizes", sizes}, {"at", 0}};
    }
    void answer(PlayedDoor& door, const wire::Json& asked) {
        const auto id = asked.at("id");
        const auto what = asked.at("m").get<std::string>();
        wire::Bytes blob;
        if (what == "checksum") {
            wire::Json kept = wire::Json::array();
            for (const auto step : steps()) kept.push_back({step, step});
            door.send({{"m", "checksum"},
                       {"id", id},
                       {"crc32", 77},
                       {"version", 9},
                       {"step", 3},
                       {"steps", kept}});
        } else if (what == "examples") {
            const auto count = std::ssize(asked.at("indices"));
            wire::Json tensors = wire::Json::object();
            if (!asked.contains("only")) tensors["vectors"] = floats({count, 2, 4}, 0.5F, blob);
            blob.resize((blob.size() + 63) / 64 * 64);
            tensors["labels"] = {{"dtype", "int64"}, {"sizes", {count}}, {"at", blob.size()}};
            blob.resize(blob.size() + static_cast<std::size_t>(count) * sizeof(std::int64_t));
            door.send({{"m", "examples"},
                       {"id", id},
                       {"examples", std::vector<wire::Json>(count, {{"origin", "played"}})},
                       {"tensors", tensors}},
                      blob);
        } else if (what == "forward") {
            const auto step = asked.contains("weights")
                                  ? asked.at("weights").at("step").get<std::int64_t>()
                                  : std::int64_t{3};
            {
                const std::lock_guard lock(m_mutex);
                m_passes.push_back(step);
            }
            const auto count = static_cast<std::int64_t>(asked.at("indices").size());
            for (const auto& point : asked.at("points")) {
                if (point.at(1).at("do") != "read") continue;
                const auto tensor =
                    floats({count, 2, 2, 2}, static_cast<float>(step) / 100.0F, blob);
                door.send({{"m", "point"}, {"id", id}, {"name", point.at(0)}, {"tensor", tensor}},
                          blob);
            }
            const auto scores = floats({count, 3}, static_cast<float>(step), blob);
            door.send({{"m", "scores"}, {"id", id}, {"tensor", scores}}, blob);
        }
    }

    std::mutex m_mutex;
    std::vector<std::int64_t> m_passes;
    PlayedDoor m_door;  // last: its thread uses the others
};

TEST_F(ServedWindowTest, TheTimeCursorShowsKeptSteps) {
    const Door place;
    KeepingDoor door(place.path);
    window->opener().openAll({QStringLiteral("served:played-window")});
    auto& checkpoint = c().checkpoint;
    ASSERT_TRUE(waitUntil([&] { return checkpoint.isServed(); }));
    auto* time = page()->findChild<ServedSteps*>();
    auto* track = time->track();
    EXPECT_TRUE(time->isVisible());
    EXPECT_EQ(track->steps(), (std::vector<qint64>{5, 10, 20}));
    ASSERT_TRUE(shows(3));
    EXPECT_FALSE(track->chosen());
    EXPECT_FLOAT_EQ(value(), 0.03F);

    // The keys move the cursor, and the program is asked for that step.
    track->setFocus();
    QTest::keyClick(track, Qt::Key_Home);
    ASSERT_TRUE(shows(5)) << page()->errorSentence().toStdString() << " step "
                          << page()->inspector()->result()->step << " chosen "
                          << track->chosen().value_or(-1) << " wanted "
                          << checkpoint.step().value_or(-1) << " busy "
                          << checkpoint.feed().task().busy() << " passes " << door.passes().size()
                          << " loaded " << checkpoint.loaded();
    EXPECT_FLOAT_EQ(value(), 0.05F);
    QTest::keyClick(track, Qt::Key_Right);
    ASSERT_TRUE(shows(10));
    EXPECT_FLOAT_EQ(value(), 0.1F);
    EXPECT_EQ(track->chosen(), 10);
    EXPECT_EQ(checkpoint.shownCheckpoint(), "10");

    // Edits are of the step that is shown.
    const auto before = door.passes().size();
    EditList edits;
    edits.edits = {core::editFromWords("blocks.0.attn.hook_pattern head 1 scale 2",
                                       *c().checkpointEdits.points())};
    c().checkpointEdits.change(edits, QStringLiteral("Scale"));
    ASSERT_TRUE(waitUntil([&] { return page()->inspector()->choice().inspected().edited(); }));
    const auto passes = door.passes();
    ASSERT_GT(passes.size(), before);
    for (auto k = before; k < passes.size(); ++k) EXPECT_EQ(passes[k], 10);

    // A step that was kept in the meantime comes with the next map, and Live goes back.
    door.trained = true;
    c().checkpointEdits.change({}, QStringLiteral("Clear"));
    track->setFocus();
    QTest::keyClick(track, Qt::Key_L);
    ASSERT_TRUE(shows(3));
    EXPECT_EQ(checkpoint.shownCheckpoint(), "");
    EXPECT_TRUE(waitUntil([&] { return track->steps().size() == 4; }));
    EXPECT_FALSE(track->chosen());
}

TEST_F(ServedWindowTest, OneOnAnotherMachineIsAskedThere) {
    const FarMachine machine(folder.path().toStdString(), "gpu1");
    machine.setReachable(true);
    const auto run = machine.home() + "/run";
    std::filesystem::create_directories(run + "/relascope");
    std::filesystem::permissions(run + "/relascope", std::filesystem::perms::owner_all);
    auto host = machine.host();
    host.reach = "env XDG_RUNTIME_DIR=" + run + " " + host.reach;
    c().hosts.setHosts({host});
    {
        KeepingDoor door(run + "/relascope/small.served");
        window->opener().openAll({QStringLiteral("served:small@gpu1")});
        ASSERT_TRUE(waitUntil([&] { return c().checkpoint.isServed(); }))
            << page()->errorSentence().toStdString();
        EXPECT_EQ(
            page()->head()->files(),
            QStringLiteral("Small \u00B7 served by door.py on gpu1, step 3 \u00B7 12 parameters"));
        ASSERT_TRUE(shows(3)) << page()->errorSentence().toStdString();
        EXPECT_TRUE(waitUntil([&] { return c().checkpoint.data() != nullptr; }, 10000));
        auto* track = page()->findChild<ServedSteps*>()->track();
        track->setFocus();
        QTest::keyClick(track, Qt::Key_End);
        ASSERT_TRUE(shows(20));
        EXPECT_FLOAT_EQ(value(), 0.2F);
    }
    QString said;
    QObject::connect(&c().checkpoint, &CheckpointController::failed, window.get(),
                     [&](const QString& sentence) { said = sentence; });
    window->opener().openCheckpoint(QStringLiteral("served:small@nowhere"));
    EXPECT_TRUE(waitUntil([&] { return said.contains("nowhere"); })) << said.toStdString();
    c().hosts.setHosts({});
    QSettings().clear();
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
