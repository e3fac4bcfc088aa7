// SPDX-License-Identifier: GPL-3.0-or-later
// The loop: it learns, obeys, resumes bit for bit, and stops before it does harm.
#include "train/train.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include <torch/torch.h>

#include "checkpoint/tensor_io.h"
#include "files/atomic_file.h"
#include "run/captures.h"
#include "run/run_lines.h"
#include "run/run_list.h"
#include "support/rooms.h"
#include "support/tiny_run.h"
#include "train/branch.h"
#include "train/checkpoints.h"
#include "train/devices.h"
#include "train/open_model.h"
#include "train/optimizer.h"

namespace relascope {
namespace {

using namespace testing_support;

struct Trained {
    TrainResult result;
    std::vector<TrainEvent> events;
    std::vector<std::string> notes() const {
        std::vector<std::string> texts;
        for (const auto& event : events)
            if (const auto* note = std::get_if<Note>(&event)) texts.push_back(note->text);
        return texts;
    }
};

Trained trainIn(RunFolder& folder, Control& control, const DataSplits& data = tinyData(),
                std::function<void(const TrainEvent&, std::stop_source&)> watch = {}) {
    std::stop_source stop;
    Trained trained;
    trained.result = train(
        folder, data, control,
        [&](TrainEvent event) {
            if (watch) watch(event, stop);
            trained.events.push_back(std::move(event));
        },
        stop.get_token());
    return trained;
}

std::vector<double> losses(const std::string& run) {
    std::vector<double> all;
    for (const auto& p : readMetrics(run)) all.push_back(p.value("loss"));
    return all;
}

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
    EXPECT_EQ(info.lastAccuracy, trained.result.lastValidation.value("accuracy"));
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
    EXPECT_EQ(model.evaluate(tinyData().validation, 16).accuracy, info.lastAccuracy);
    EXPECT_THROW(OpenedModel(home / "run", "7", "cpu"), FileError);
    EXPECT_THROW(OpenedModel(home.path(), "", "cpu"), FileError);
    EXPECT_THROW(RunFolder::create(home / "run", options), FileError)
        << "a run is never written over";
}

// Interrupted in the middle of an epoch, with dropout: the same losses to the last bit.
TEST(Train, ResumesBitForBit) {
    TemporaryFolder home("resume");
    auto options = tinyOptions();
    options.train.evaluate_every = 5;
    auto whole = RunFolder::create(home / "whole", options);
    Control none;
    trainIn(whole, none);

    {
        auto first = RunFolder::create(home / "parts", options);
        Control control;
        const auto trained = trainIn(
            first, control, tinyData(), [](const TrainEvent& event, std::stop_source& stop) {
                const auto* point = std::get_if<MetricPoint>(&event);
                if (point && point->split == Split::Train && point->step == 8) stop.request_stop();
            });
        EXPECT_EQ(trained.result.info.state, RunState::Interrupted);
        EXPECT_EQ(readRunInfo(home / "parts").state, RunState::Interrupted);
        EXPECT_EQ(trained.result.info.step, 8);
        EXPECT_THROW(RunFolder::open(home / "parts"), FileError) << "still held";
    }
    {
        auto second = RunFolder::open(home / "parts");
        Control control;
        const auto trained = trainIn(second, control);
        EXPECT_EQ(trained.result.info.state, RunState::Done);
    }
    EXPECT_EQ(losses(home / "parts"), losses(home / "whole"));
    const auto a = readTensors(home / "whole/checkpoints/step-24/model.safetensors"),
               b = readTensors(home / "parts/checkpoints/step-24/model.safetensors");
    ASSERT_FALSE(a.empty());
    for (const auto& [name, tensor] : a) EXPECT_TRUE(torch::equal(tensor, b.at(name))) << name;

    {  // Resumed once more, a finished run stays as it is.
        auto again = RunFolder::open(home / "parts");
        Control control;
        const auto trained = trainIn(again, control);
        EXPECT_EQ(trained.result.info.state, RunState::Done);
        EXPECT_EQ(trained.result.lastValidation.step, 24);
    }
    EXPECT_EQ(losses(home / "parts"), losses(home / "whole"));

    // A finished run goes on when it is given more epochs.
    auto longer = RunFolder::open(home / "parts");
    auto more = longer.options();
    more.train.epochs = 5;
    longer.setOptions(more);
    Control control;
    EXPECT_EQ(trainIn(longer, control).result.info.step, 30);
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
        control.edit("train.learning_rate", 5e-4);
        control.edit("train.learning_rate", -1.0);
        control.edit("train.batch_size", std::int64_t{3});
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

// The checkpoint before an edit is kept, and a run that starts from it continues as if
// nothing had been edited, to the last bit.
TEST(Train, ABranchStartsBeforeTheEdit) {
    TemporaryFolder home("branch");
    auto options = tinyOptions();
    options.train.epochs = 8;
    options.train.checkpoint_every = 6;
    auto whole = RunFolder::create(home / "whole", options);
    Control none;
    trainIn(whole, none);
    {
        auto edited = RunFolder::create(home / "edited", options);
        Control control;
        const auto trained =
            trainIn(edited, control, tinyData(), [&](const TrainEvent& event, std::stop_source&) {
                const auto* p = std::get_if<MetricPoint>(&event);
                if (!p || p->split != Split::Train) return;
                if (p->step == 8) control.edit("train.learning_rate", 5e-2);
                if (p->step == 9)  // nothing new: no mark
                    control.edit("train.learning_rate", 5e-2);
                if (p->step == 10) control.edit("train.learning_rate", 0.0);
            });
        EXPECT_EQ(trained.result.info.state, RunState::Done);
        std::string all;
        for (const auto& note : trained.notes()) all += note + "\n";
        EXPECT_NE(all.find("train.learning_rate: must be greater than 0"), std::string::npos);
    }
    const std::string edited = home / "edited", branch = home / "branch";
    std::vector<std::int64_t> edits;
    for (const auto& note : readEvents(edited))
        if (note.level == Note::Level::Edit) edits.push_back(note.step);
    EXPECT_EQ(edits, std::vector<std::int64_t>{8});
    EXPECT_TRUE(hasKeptCheckpoint(edited, 8)) << "later checkpoints do not prune it";
    EXPECT_NE(losses(edited), losses(home / "whole"));

    EXPECT_THROW(branchRun(edited, 12, branch), FileError) << "there was no edit";
    EXPECT_FALSE(std::filesystem::exists(branch));
    branchRun(edited, 8, branch);
    const auto info = readRunInfo(branch);
    EXPECT_EQ(info.state, RunState::Stopped);
    EXPECT_EQ(info.step, 8);
    EXPECT_EQ(readRunOptions(branch).train.learning_rate, 1e-3);
    EXPECT_EQ(readMetrics(branch).back().step, 8);
    EXPECT_EQ(captureSteps(branch + "/captures").back(), 8);
    EXPECT_FALSE(hasKeptCheckpoint(branch, 8)) << "nothing was edited in it";
    for (const auto& note : readEvents(branch)) EXPECT_NE(note.level, Note::Level::Edit);
    {
        auto folder = RunFolder::open(branch);
        Control control;
        EXPECT_EQ(trainIn(folder, control).result.info.state, RunState::Done);
    }
    EXPECT_EQ(losses(branch), losses(home / "whole"));
    EXPECT_EQ(readRunInfo(branch).bestLoss, readRunInfo(home / "whole").bestLoss);
}

// What is changed in the form while a run stands still is in force when it is resumed, and marked.
TEST(Train, AResumedRunTakesTheOptionsItIsGiven) {
    TemporaryFolder home("given");
    auto options = tinyOptions();
    {
        auto first = RunFolder::create(home / "run", options);
        Control control;
        trainIn(first, control, tinyData(), [](const TrainEvent& event, std::stop_source& stop) {
            const auto* p = std::get_if<MetricPoint>(&event);
            if (p && p->split == Split::Train && p->step == 8) stop.request_stop();
        });
    }
    auto second = RunFolder::open(home / "run");
    options.train.learning_rate = 2e-3;
    second.setOptions(options);
    Control control;
    trainIn(second, control);
    for (const auto& p : readMetrics(home / "run"))
        if (p.split == Split::Train) {
            EXPECT_EQ(p.value("learning_rate"), p.step <= 8 ? 1e-3 : 2e-3) << p.step;
        }
    std::string edit;
    for (const auto& note : readEvents(home / "run"))
        if (note.level == Note::Level::Edit) edit += note.text;
    EXPECT_EQ(edit, "Learning rate 0.001 → 0.002");
    EXPECT_TRUE(hasKeptCheckpoint(home / "run", 8));
}

// A file of data may have been replaced while the run stood still.
TEST(Train, ResumesWithFewerData) {
    TemporaryFolder home("fewer");
    auto options = tinyOptions();
    options.train.steps = 14;
    {
        auto first = RunFolder::create(home / "run", options);
        Control control;
        trainIn(first, control, tinyData(96), [](const TrainEvent& event, std::stop_source& stop) {
            const auto* p = std::get_if<MetricPoint>(&event);
            if (p && p->split == Split::Train && p->step == 8) stop.request_stop();
        });
    }
    auto second = RunFolder::open(home / "run");
    Control control;
    // 2 batches of the second epoch are done, which has no more of them now.
    const auto trained = trainIn(second, control, tinyData(32));
    EXPECT_EQ(trained.result.info.state, RunState::Done);
    EXPECT_EQ(trained.result.info.step, 14);
    EXPECT_EQ(trained.result.info.epoch, 5) << "2 + 6 steps of 2 an epoch";
    std::string warnings;
    for (const auto& note : readEvents(home / "run"))
        if (note.level == Note::Level::Warning) warnings += note.text;
    EXPECT_EQ(warnings, "the training data have become smaller, to 32 examples: epoch 2 ends here");
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
    OpenedModel best(home / "run", "", "cpu");
    EXPECT_NEAR(best.evaluate(data.validation, 32).loss, trained.result.info.bestLoss, 1e-6);
    EXPECT_LT(best.step(), trained.result.info.step);
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

TEST(Checkpoints, AFlippedBitIsNoticedAndTheOlderOneUsed) {
    TemporaryFolder home("flip");
    auto options = tinyOptions();
    options.train.checkpoint_every = 6;
    {
        auto folder = RunFolder::create(home / "run", options);
        Control control;
        trainIn(folder, control);
    }
    const std::string checkpoints = home / "run/checkpoints";
    const auto steps = checkpointSteps(checkpoints);
    ASSERT_GE(steps.size(), 2u);
    ASSERT_LE(steps.size(), 3u) << "the last two and the best are kept";
    const std::string file = checkpoints + "/step-24/model.safetensors";
    {
        std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
        bytes.seekg(5000);
        char c = 0;
        bytes.get(c);
        bytes.seekp(5000);
        bytes.put(static_cast<char>(c ^ 4));
    }
    std::vector<std::string> problems;
    const auto newest = newestCheckpoint(checkpoints, &problems);
    EXPECT_NE(newest, checkpoints + "/step-24");
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0], "step-24: model.safetensors does not match its checksum");
    auto folder = RunFolder::open(home / "run");
    Control control;
    const auto trained = trainIn(folder, control);
    EXPECT_EQ(trained.result.info.state, RunState::Done);
    EXPECT_EQ(readMetrics(home / "run").back().step, 24);
}

}  // namespace
}  // namespace relascope
