// SPDX-License-Identifier: GPL-3.0-or-later
// The chip of the device: what it says of a made-up one, live while a run trains, a driver that
// does not answer, and the choice of several devices for one run.
#include <poll.h>
#include <sys/socket.h>

#include <QElapsedTimer>
#include <QMenu>
#include <atomic>
#include <deque>
#include <mutex>
#include <set>
#include <thread>

#include "app/serve/request_handler.h"
#include "tests/app/window_fixture.h"
#include "train/devices.h"
#include "widgets/bar/devices_chip.h"

namespace relascope {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

std::vector<DeviceInfo> madeUp() {
    return {{.name = "cpu", .title = "CPU, 2 threads"},
            {.name = "cuda:0",
             .title = "NVIDIA Made Up",
             .memory = 80 * kGiB,
             .capability = "9.0",
             .driver = "13.0"}};
}

/// Sessions that answer in this process, where the devices are made up.
class SessionsHere {
public:
    wire::SessionProcess start() {
        int ends[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
            throw Error("no socket pair");
        std::lock_guard lock(m_mutex);
        m_threads.emplace_back([theirs = wire::Descriptor(ends[1])](std::stop_token stop) mutable {
            run(std::move(theirs), stop);
        });
        return {wire::Descriptor(ends[0]), std::nullopt};
    }

private:
    static void run(wire::Descriptor socket, const std::stop_token& stop) {
        wire::Connection connection(std::move(socket));
        serve::RequestHandler models;
        connection.send(wire::frameBytes(wire::sessionHello()));
        bool greeted = false;
        const auto take = [&](const wire::Frame& frame) {
            if (!std::exchange(greeted, true) || frame.message.contains("cancel")) return;
            const auto id = frame.message.at("id");
            const auto send = [&](wire::Json message, const wire::Bytes& blob) {
                message["id"] = id;
                connection.send(wire::frameBytes(message, blob));
            };
            try {
                serve::Request request(frame.message, stop, send);
                const auto answer = models.answer(request);
                send({{"ok", answer.message}}, answer.blob);
            } catch (const std::exception& error) {
                send({{"error", wire::errorToJson(error)}}, {});
            }
        };
        while (!stop.stop_requested() && connection.write() && connection.read(take)) {
            pollfd waiting{connection.get(), POLLIN, 0};
            ::poll(&waiting, 1, 5);
        }
    }
    std::mutex m_mutex;
    std::deque<std::jthread> m_threads;
};

class DeviceChip : public WindowTest {
protected:
    void SetUp() override {
        fake = std::make_unique<FakeDevicesScope>(machine(), [this](const std::string& name) {
            std::lock_guard waits(driver);
            ++asked;
            if (name == "cuda:0") ++askedGpu;
            return DeviceMemory{(8 - asked.load() % 8) * kGiB, 8 * kGiB};
        });
        WindowTest::SetUp();
    }
    void TearDown() override {
        WindowTest::TearDown();
        fake.reset();
    }
    SessionsHere here;
    wire::FakeSessionsScope sessions{[this] { return here.start(); }};
    virtual std::vector<DeviceInfo> machine() const { return madeUp(); }
    QString facts() { return window->bar()->deviceFacts(); }
    DevicesChip* chip() { return window->bar()->deviceChip(); }
    bool reads(const QString& text) {
        return waitUntil([&] { return window->bar()->deviceText() == text; });
    }
    std::string wanted() { return c().experiment.options().train.device; }

    std::mutex driver;
    std::atomic<std::uint64_t> asked = 0, askedGpu = 0;
    std::unique_ptr<FakeDevicesScope> fake;
};

TEST_F(DeviceChip, NamesTheDeviceAndSaysWhatIsKnown) {
    ASSERT_TRUE(waitUntil([&] { return window->bar()->deviceText() == "cuda:0"; }));
    EXPECT_TRUE(facts().startsWith(
        "NVIDIA Made Up\n80.0 GiB\ncompute capability 9.0\ndriver for CUDA 13.0\n"
        "attention by Relascope's kernels for 16 bits at some published sizes\n"
        "steps one by one: "))
        << facts().toStdString();
    bool shown = false;
    for (const auto* chip : window->bar()->findChildren<Chip*>())
        if (chip->text() == "cuda:0") shown = chip->isVisible() && chip->toolTip() == facts();
    EXPECT_TRUE(shown);
}

TEST_F(DeviceChip, ShowsTheMemoryWhileARunTrains) {
    c().device.setInterval(20);
    chooseTiny();
    c().experiment.set("train.device", std::string("cpu"));
    c().experiment.start();
    ASSERT_TRUE(trains(2));
    ASSERT_TRUE(waitUntil([&] { return window->bar()->deviceText() == "cpu"; }));
    EXPECT_EQ(facts().section('\n', 0, 0), "CPU, 2 threads");
    std::set<QString> seen;
    EXPECT_TRUE(waitUntil([&] { return seen.insert(facts()), seen.size() >= 4; }));
    EXPECT_TRUE(facts().section('\n', 1, 1).endsWith(".0 of 8.0 GiB free"))
        << facts().toStdString();
    c().training.cancel();
    ASSERT_TRUE(waitUntil([&] { return !c().training.busy(); }));
    EXPECT_EQ(window->bar()->deviceText(), "cpu") << "as the form has it for the next run";
    c().experiment.set("train.device", std::string("auto"));
    EXPECT_TRUE(reads("cuda:0"));
    // Nothing trains: nothing is asked, once the form has learned what is free.
    EXPECT_TRUE(waitUntil([&] {
        const auto before = asked.load();
        QTest::qWait(200);
        return asked.load() == before;
    }));
}

TEST_F(DeviceChip, TheWindowDoesNotWaitForTheDriver) {
    c().device.setInterval(20);
    ASSERT_TRUE(waitUntil([&] { return window->bar()->deviceText() == "cuda:0"; }));
    chooseTiny();
    c().experiment.set("train.device", std::string("cpu"));
    c().experiment.start();
    ASSERT_TRUE(trains(2));
    std::unique_lock hangs(driver);
    const auto before = asked.load();
    const auto step = c().training.info().step;
    QElapsedTimer since;
    since.start();
    qint64 longest = 0;
    for (qint64 last = 0; since.elapsed() < 500; last = since.elapsed()) {
        QApplication::processEvents(QEventLoop::AllEvents, 10);
        longest = std::max(longest, since.elapsed() - last);
    }
    EXPECT_LT(longest, 400) << "the window went on";
    EXPECT_GT(c().training.info().step, step) << "and the training";
    EXPECT_EQ(asked.load(), before) << "a driver that hangs is asked once";
    hangs.unlock();
    EXPECT_TRUE(waitUntil([&] { return asked.load() > before; }));
}

TEST_F(DeviceChip, HasNoMenuWithOneGpu) {
    ASSERT_TRUE(reads("cuda:0"));
    chooseTiny();
    QTest::mouseClick(chip(), Qt::LeftButton);
    EXPECT_FALSE(chip()->menu()->isVisible());
    EXPECT_TRUE(chip()->menu()->isEmpty());
    EXPECT_EQ(chip()->focusPolicy(), Qt::NoFocus);
}

TEST_F(DeviceChip, FollowsTheForm) {
    chooseTiny();
    c().experiment.set("train.device", std::string("cpu,cpu"));
    EXPECT_TRUE(reads("2 CPU processes"));
    EXPECT_TRUE(facts().startsWith("2 processes on the CPU\nCPU, 2 threads\n"))
        << facts().toStdString();
    EXPECT_EQ(c().experiment.estimates().front().first, "Memory") << "they share it";
    c().experiment.set("train.device", std::string("cuda:0,cuda:7"));
    EXPECT_TRUE(reads("cuda:0,cuda:7"));
    EXPECT_TRUE(facts().startsWith("unknown device 'cuda:7'")) << facts().toStdString();
}

class SeveralGpus : public DeviceChip {
protected:
    std::vector<DeviceInfo> machine() const override {
        auto all = madeUp();
        all.push_back(all.back());
        all.back().name = "cuda:1", all.back().title = "NVIDIA Other";
        all.push_back(all.back());
        all.back().name = "cuda:2", all.back().usable = false, all.back().reason = "broken";
        return all;
    }
    QAction* entry(const QString& name) {
        for (QAction* action : chip()->menu()->actions())
            if (action->data().toString() == name) return action;
        return nullptr;
    }
    void tick(const QString& name) {
        QTest::mouseClick(chip()->menu(), Qt::LeftButton, {},
                          chip()->menu()->actionGeometry(entry(name)).center());
    }
    QStringList ticked() {
        QStringList names;
        for (const QAction* action : chip()->menu()->actions())
            if (action->isChecked()) names << action->data().toString();
        return names;
    }
};

TEST_F(SeveralGpus, AreTickedInTheMenuOfTheChip) {
    ASSERT_TRUE(reads("cuda:0"));
    EXPECT_TRUE(chip()->menu()->isEmpty()) << "without an experiment there is no next run";
    chooseTiny();
    QTest::mouseClick(chip(), Qt::LeftButton);
    auto* menu = chip()->menu();
    ASSERT_TRUE(menu->isVisible());
    EXPECT_EQ(entry("cuda:2"), nullptr) << "it cannot be used";
    EXPECT_EQ(entry("auto")->text(), "Automatic: the first GPU");
    EXPECT_EQ(entry("cuda:1")->text(), "cuda:1, NVIDIA Other");
    EXPECT_EQ(ticked(), QStringList{"auto"});

    tick("cuda:1");
    EXPECT_TRUE(menu->isVisible()) << "for the next tick";
    EXPECT_EQ(wanted(), "cuda:1");
    EXPECT_EQ(ticked(), QStringList{"cuda:1"});
    EXPECT_TRUE(reads("cuda:1"));
    EXPECT_EQ(c().experiment.estimates().front().first, "Memory");

    tick("cuda:0");
    EXPECT_EQ(wanted(), "cuda:0,cuda:1");
    EXPECT_EQ(ticked(), (QStringList{"cuda:0", "cuda:1"}));
    EXPECT_TRUE(reads("2 GPUs"));
    EXPECT_TRUE(
        facts().startsWith("2 devices: cuda:0, cuda:1\n"
                           "cuda:0: NVIDIA Made Up, 80.0 GiB, compute capability 9.0, "
                           "driver for CUDA 13.0\ncuda:1: NVIDIA Other, 80.0 GiB, "))
        << facts().toStdString();
    EXPECT_EQ(facts().count("attention by"), 1) << "what both have in common is said once";
    EXPECT_TRUE(chip()->toolTip().startsWith(facts()));
    EXPECT_EQ(c().experiment.estimates().front().first, "Memory per device");

    QTest::keyClick(menu, Qt::Key_Home);  // the entries can be ticked with keys
    menu->setActiveAction(entry("cuda:0"));
    QTest::keyClick(menu, Qt::Key_Space);
    EXPECT_TRUE(menu->isVisible());
    EXPECT_EQ(wanted(), "cuda:1");
    tick("cuda:1");
    EXPECT_EQ(wanted(), "auto") << "none is ticked";
    EXPECT_EQ(ticked(), QStringList{"auto"});
    tick("auto");
    EXPECT_EQ(ticked(), QStringList{"auto"}) << "it cannot be unticked";
    menu->close();
    undo();
    EXPECT_EQ(wanted(), "cuda:1") << "each tick can be undone";
}

TEST_F(SeveralGpus, MustAllHaveAShareOfTheBatch) {
    ASSERT_TRUE(reads("cuda:0"));
    chooseTiny();
    c().experiment.set("train.batch_size", std::int64_t{1});
    QTest::mouseClick(chip(), Qt::LeftButton);
    ASSERT_TRUE(chip()->menu()->isVisible());
    tick("cuda:0"), tick("cuda:1");
    chip()->menu()->close();
    ASSERT_EQ(c().experiment.problems().size(), 1u);
    EXPECT_EQ(c().experiment.problems()[0].field, "train.batch_size");
    EXPECT_FALSE(window->bar()->startButton()->isEnabled());
    bool shown = false;
    for (const auto* row : window->findChildren<FieldRow*>())
        shown |= row->state().key == "train.batch_size" && !row->problem().isEmpty();
    EXPECT_TRUE(shown) << "under the field";
    c().experiment.set("train.batch_size", std::int64_t{2});
    EXPECT_TRUE(c().experiment.problems().empty());
}

TEST_F(SeveralGpus, AreNotChosenWhileARunTrains) {
    ASSERT_TRUE(reads("cuda:0"));
    chooseTiny();
    c().experiment.set("train.device", std::string("cpu"));
    EXPECT_TRUE(ticked().isEmpty());
    c().experiment.start();
    ASSERT_TRUE(trains(2));
    QTest::mouseClick(chip(), Qt::LeftButton);
    EXPECT_FALSE(chip()->menu()->isVisible());
    c().training.cancel();
    ASSERT_TRUE(waitUntil([&] { return !c().training.busy(); }));
    QTest::mouseClick(chip(), Qt::LeftButton);
    EXPECT_TRUE(chip()->menu()->isVisible());
}

}  // namespace
}  // namespace relascope
