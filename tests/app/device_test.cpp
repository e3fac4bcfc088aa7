// SPDX-License-Identifier: GPL-3.0-or-later
// The chip of the device: what it says of a made-up one, live while a run trains, and a driver that
// does not answer.
#include <QElapsedTimer>
#include <atomic>
#include <mutex>
#include <set>

#include "tests/app/window_fixture.h"
#include "train/devices.h"

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

class DeviceChip : public WindowTest {
protected:
    void SetUp() override {
        fake = std::make_unique<FakeDevicesScope>(madeUp(), [this](const std::string& name) {
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
    QString facts() { return window->bar()->deviceFacts(); }

    std::mutex driver;
    std::atomic<std::uint64_t> asked = 0, askedGpu = 0;
    std::unique_ptr<FakeDevicesScope> fake;
};

TEST_F(DeviceChip, NamesTheDeviceAndSaysWhatIsKnown) {
    ASSERT_TRUE(waitUntil([&] { return window->bar()->deviceText() == "cuda:0"; }));
    EXPECT_TRUE(facts().startsWith(
        "NVIDIA Made Up\n80.0 GiB\ncompute capability 9.0\ndriver for CUDA 13.0\n"
        "attention by Relascope's kernels for float32, and for 16 bits at some published "
        "sizes\nsteps one by one: "))
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
    EXPECT_TRUE(facts().endsWith(".0 of 8.0 GiB free")) << facts().toStdString();
    c().training.cancel();
    ASSERT_TRUE(waitUntil([&] { return !c().training.busy(); }));
    EXPECT_TRUE(waitUntil([&] { return window->bar()->deviceText() == "cuda:0"; }));
    // Nothing trains: nothing is asked.
    QTest::qWait(600);  // the form asks once more what is free
    const auto before = asked.load();
    QTest::qWait(200);
    EXPECT_EQ(asked.load(), before);
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

}  // namespace
}  // namespace relascope
