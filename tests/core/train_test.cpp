// SPDX-License-Identifier: GPL-3.0-or-later
// The loop: it learns, obeys, and stops before it does harm. Resuming: resume_test.cpp.
#include "train/train.h"

#include <gtest/gtest.h>

#include <thread>

#include <torch/types.h>

#include "analysis/open_model.h"
#include "checkpoint/tensor_io.h"
#include "files/atomic_file.h"
#include "options/metrics.h"
#include "run/captures.h"
#include "run/run_lines.h"
#include "support/rooms.h"
#include "support/tiny_run.h"
#include "support/trained.h"
#include "train/checkpoints.h"

namespace relascope {
namespace {

using namespace testing_support;

TEST(Train, LearnsAndLeavesAWholeRun) {
    TemporaryFolder home("learns");
    auto options = tinyOptions();
    options.train.epochs = 20;
    options.model.set("dropout_rate", 0);
    auto folder = RunFolder::create(home / "run", options);
    folder.info().seed = 3;
    Control control;
    const auto trained = trainIn(folder, control);
    EXPECT_EQ(trained.result.info.state, RunState::Done);
    EXPECT_EQ(trained.result.info.step, 120);
    EXPECT_GT(trained.result.lastValidation.value("accuracy"), 0.9);

    const auto info = readRunInfo(home / "run");
    EXPECT_EQ(info.state, RunState::Done);
    EXPECT_EQ(info.seed, 3);
    EXPECT_EQ(info.last.values, trained.result.lastValidation.values);
    EXPECT_EQ(info.kept, info.last) << "without early stopping the last weights are kept";
    EXPECT_EQ(info.kept.step, 120);
    EXPECT_EQ(info.evaluations, 20);
    EXPECT_EQ(readRunOptions(home / "run"), options);
    const auto points = readMetrics(home / "run");
    std::int64_t trainPoints = 0, validationPoints = 0;
    for (const auto& p : points) (p.split == Split::Train ? trainPoints : validationPoints)++;
    EXPECT_EQ(trainPoints, 120);
    EXPECT_EQ(validationPoints, 21);  // before the first step, then once an epoch
    EXPECT_EQ(points.back().step, 120);
    EXPECT_NEAR(points.back().epoch, 20.0, 1e-9);

    const auto steps = captureSteps(home / "run/captures");
    EXPECT_EQ(steps,
              (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 8, 11, 16, 22, 32, 45, 64, 90, 120}));
    OpenedModel model(home / "run", "last", "cpu");
    const auto sample = tinyData().validation->sample(2);
    const auto live = model.probe(sample, {"left", "right"}),
               kept = loadCapture(home / "run/captures", 120, 2);
    EXPECT_EQ(kept.sample.image, sample.image);
    EXPECT_EQ(kept.maps, live.maps) << "a capture is exact";
    EXPECT_EQ(kept.probabilities, live.probabilities);
    EXPECT_EQ(kept.classNames, live.classNames);
    EXPECT_EQ(live.count(MapKind::Relation, 0), 1);
    EXPECT_EQ(live.count(MapKind::SensoryAttention, 0), 1);
    EXPECT_EQ(live.count(MapKind::RelationalAttention, 0), 1);
    EXPECT_EQ(live.count(MapKind::Symbols, 0), 1);
    const auto* r = live.find(MapKind::Relation, 0, 0);
    EXPECT_FLOAT_EQ(r->at(2, 5), r->at(5, 2)) << "symmetric relations";
    EXPECT_EQ(model.evaluate(tinyData().validation, 16).accuracy, info.kept.value("accuracy"));
    EXPECT_THROW(OpenedModel(home / "run", "700", "cpu"), FileError);
    EXPECT_THROW(OpenedModel(home.path(), "", "cpu"), FileError);
    EXPECT_THROW(RunFolder::create(home / "run", options), FileError)
        << "a run is never written over";
}

TEST(Train, TwoSeedsDifferAndOneSeedRepeats) {
    TemporaryFolder home("seeds");
    std::vector<std::vector<double>> all;
    for (const int seed : {0, 0, 1}) {
        auto folder = RunFolder::create(home / std::to_string(all.size()), tinyOptions());
        folder.info().seed = seed;
        Control control;
        trainIn(folder, control);
        all.push_back(losses(folder.path()));
    }
    EXPECT_EQ(all[0], all[1]);
    EXPECT_NE(all[0], all[2]);
}

TEST(Train, PausesStepsEditsAnswersAndStops) {
    TemporaryFolder home("control");
    auto options = tinyOptions();
    options.train.epochs = 1000;
    auto folder = RunFolder::create(home / "run", options);
    Control control;
    control.pause();
    std::atomic<std::int64_t> lastStep{0};
    std::atomic<bool> paused{false};
    std::optional<ProbeAnswer> answer;
    std::mutex mutex;
    std::thread user([&] {
        const auto until = [](auto condition) {
            for (int i = 0; i < 2000 && !condition(); ++i)
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
            EXPECT_TRUE(condition());
        };
        until([&] { return paused.load(); });
        EXPECT_EQ(lastStep, 0);
        control.step();
        until([&] { return lastStep == 1; });
        control.changeOption("train.learning_rate", 5e-4);
        control.changeOption("train.learning_rate", -1.0);
        control.changeOption("train.batch_size", std::int64_t{3});
        control.probe(7, tinyData().validation->sample(1));
        until([&] {
            std::lock_guard lock(mutex);
            return answer.has_value();
        });
        EXPECT_EQ(lastStep, 1) << "a probe is answered while paused";
        control.resume();
        until([&] { return lastStep > 20; });
        control.stopAfterEpoch();
    });
    const auto trained =
        trainIn(folder, control, tinyData(), [&](const TrainEvent& event, std::stop_source&) {
            if (const auto* changed = std::get_if<RunChanged>(&event))
                paused = changed->info.state == RunState::Paused;
            if (const auto* point = std::get_if<MetricPoint>(&event);
                point && point->split == Split::Train)
                lastStep = point->step;
            if (const auto* a = std::get_if<ProbeAnswer>(&event)) {
                std::lock_guard lock(mutex);
                answer = *a;
            }
        });
    user.join();
    EXPECT_EQ(trained.result.info.state, RunState::Stopped);
    EXPECT_EQ(trained.result.info.step % 6, 0) << "stop finishes the epoch";
    EXPECT_EQ(answer->request, 7u);
    EXPECT_EQ(answer->result.step, 1);
    EXPECT_EQ(answer->error, "");
    const auto points = readMetrics(home / "run");
    for (const auto& p : points)
        EXPECT_TRUE(p.split != Split::Train ||
                    p.value("learning_rate") == (p.step <= 1 ? 1e-3 : 5e-4));
    std::string all;
    for (const auto& note : trained.notes()) all += note + "\n";
    EXPECT_NE(all.find("Learning rate 0.001 → 5e-4"), std::string::npos) << all;
    EXPECT_NE(all.find("train.learning_rate: -1 is below 0"), std::string::npos) << all;
    EXPECT_NE(all.find("train.batch_size: cannot be changed during training"), std::string::npos)
        << all;
    bool edit = false;
    for (const auto& note : readEvents(home / "run"))
        edit = edit || note.level == Note::Level::Edit;
    EXPECT_TRUE(edit) << "events.jsonl has the edit";
    EXPECT_EQ(readRunOptions(home / "run").train.learning_rate, 5e-4);
}

TEST(Train, PausesWhileItIsStopping) {
    TemporaryFolder home("stopping");
    auto options = tinyOptions();
    options.train.epochs = 1000;
    auto folder = RunFolder::create(home / "run", options);
    Control control;
    std::vector<RunState> states;
    const auto trained =
        trainIn(folder, control, tinyData(), [&](const TrainEvent& event, std::stop_source&) {
            if (const auto* changed = std::get_if<RunChanged>(&event)) {
                states.push_back(changed->info.state);
                if (changed->info.state == RunState::Paused)
                    control.probe(1, tinyData().validation->sample(1));
            }
            if (const auto* answer = std::get_if<ProbeAnswer>(&event)) {
                if (answer->request == 1)
                    control.probe(2, tinyData().validation->sample(2));
                else
                    control.resume();
            }
            const auto* p = std::get_if<MetricPoint>(&event);
            if (!p || p->split != Split::Train || p->step != 2) return;
            control.stopAfterEpoch();
            control.pause();
        });
    EXPECT_EQ(trained.result.info.state, RunState::Stopped);
    EXPECT_EQ(trained.result.info.step, 6);
    EXPECT_EQ(std::count(states.begin(), states.end(), RunState::Paused), 1);
}

TEST(Train, StopsBeforeANonFiniteUpdateAndNamesTheLayer) {
    TemporaryFolder home("nan");
    auto options = tinyOptions();
    options.train.learning_rate = 1e30;
    options.model.set("dropout_rate", 0.2);
    auto folder = RunFolder::create(home / "run", options);
    Control control;
    const auto trained = trainIn(folder, control);
    EXPECT_EQ(trained.result.info.state, RunState::Failed);
    EXPECT_LT(trained.result.info.step, 6);
    const auto& message = trained.result.info.message;
    EXPECT_NE(message.find("not finite"), std::string::npos) << message;
    EXPECT_TRUE(message.find("encoder_blocks.0") != std::string::npos ||
                message.find("final_out") != std::string::npos ||
                message.find("symbol_retriever") != std::string::npos ||
                message.find("embedding") != std::string::npos)
        << message;
    const auto weights =
        readTensors(newestCheckpoint(home / "run/checkpoints") + "/model.safetensors");
    ASSERT_FALSE(weights.empty());
    for (const auto& [name, tensor] : weights)
        EXPECT_TRUE(torch::isfinite(tensor).all().item<bool>())
            << name << ": the last good weights are kept";
}

TEST(Train, StopsEarlyAndRestoresTheBest) {
    TemporaryFolder home("early");
    auto options = tinyOptions();
    options.train.epochs = 60;
    options.train.learning_rate = 3e-3;
    options.train.early_stopping = {"loss", "auto", 2, 0.0, 3, true};
    auto folder = RunFolder::create(home / "run", options);
    Control control;
    // Labels of the validation set are independent of the images: its loss soon rises.
    auto data = tinyData();
    class Contrary : public ImageDataset {
    public:
        const DatasetInfo& info() const override { return m_data.info(); }
        std::int64_t read(std::int64_t i, std::span<std::uint8_t> pixels) const override {
            return 1 - m_data.read(i, pixels);
        }
        HalfBright m_data{32, 5000};
    };
    data.validation = std::make_shared<Contrary>();
    const auto trained = trainIn(folder, control, data);
    EXPECT_EQ(trained.result.info.state, RunState::Done);
    EXPECT_LT(trained.result.info.step, 60 * 6);
    EXPECT_GE(trained.result.info.step, 3 * 6);
    EXPECT_NE(trained.result.info.message.find("early"), std::string::npos);
    // What is said of the run is what the weights do that it leaves.
    const auto info = readRunInfo(home / "run");
    OpenedModel kept(home / "run", "", "cpu");
    const auto measured = kept.evaluate(data.validation, evaluationBatch(options));
    EXPECT_EQ(info.kept.step, kept.step());
    EXPECT_LT(kept.step(), info.step);
    EXPECT_EQ(info.kept.value("loss"), measured.loss);
    EXPECT_EQ(info.kept.value("accuracy"), measured.accuracy);
    EXPECT_EQ(info.last.step, info.step);
    EXPECT_GT(info.last.value("loss"), info.kept.value("loss"));
    EXPECT_TRUE(info.keptByChoice());
    EXPECT_EQ(trained.result.info.kept, info.kept);
}

TEST(Train, RefusesWhatCannotWorkBeforeTheFirstStep) {
    TemporaryFolder home("refuse");
    auto options = tinyOptions();
    options.model.set("image_shape", std::vector<std::int64_t>{3, 24, 24});
    auto folder = RunFolder::create(home / "shape", options);
    Control control;
    EXPECT_THROW(trainIn(folder, control), OptionError);
    options = tinyOptions();
    options.train.device = "cuda:7";
    auto other = RunFolder::create(home / "device", options);
    EXPECT_THROW(trainIn(other, control), OptionError);
    EXPECT_THROW(RunFolder::create("/proc/nowhere/run", tinyOptions()), FileError);
    EXPECT_THROW(RunFolder::create(home / std::string(300, 'x'), tinyOptions()), FileError);
    EXPECT_THROW(RunFolder::open(home.path()), FileError);
    class BadLabels : public HalfBright {
    public:
        using HalfBright::HalfBright;
        std::int64_t read(std::int64_t i, std::span<std::uint8_t> pixels) const override {
            return HalfBright::read(i, pixels) + 5;
        }
    };
    auto data = tinyData();
    data.validation = std::make_shared<BadLabels>(16);
    auto labels = RunFolder::create(home / "labels", tinyOptions());
    const auto trained = trainIn(labels, control, data);
    EXPECT_EQ(trained.result.info.state, RunState::Failed);
    EXPECT_NE(trained.result.info.message.find("outside the model's 2 classes"), std::string::npos);
}

}  // namespace
}  // namespace relascope
