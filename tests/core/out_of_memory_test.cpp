// SPDX-License-Identifier: GPL-3.0-or-later
// A device whose memory is not enough: the sentence, the checkpoint, and the run that continues
// with a smaller batch. The device is the CPU with a limit on its tensors.
#include "train/out_of_memory.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <filesystem>

#include "analysis/open_model.h"
#include "options/estimates.h"
#include "run/run_lines.h"
#include "support/rooms.h"
#include "support/small_memory.h"
#include "support/tiny_run.h"
#include "train/checkpoints.h"
#include "train/execute_run.h"

namespace relascope {
namespace {

using namespace testing_support;

struct Ended {
    TrainResult result;
    std::vector<std::string> failures, warnings;
};

/// Trains, and calls `watch` after each evaluation and each recorded step.
Ended trainIn(RunFolder& folder, const std::function<void(const MetricPoint&)>& watch = {},
              const DataSplits& data = tinyData(960)) {
    Ended ended;
    Control control;
    ended.result = train(folder, data, control,
                         [&](const TrainEvent& event) {
                             if (const auto* p = std::get_if<MetricPoint>(&event); p && watch)
                                 watch(*p);
                             if (const auto* failed = std::get_if<Failed>(&event))
                                 ended.failures.push_back(failed->message);
                             if (const auto* note = std::get_if<Note>(&event);
                                 note && note->level == Note::Level::Warning)
                                 ended.warnings.push_back(note->text);
                         },
                         {});
    return ended;
}

RunOptions wideOptions() {
    auto options = tinyOptions();
    options.train.batch_size = 96;  // 10 steps an epoch
    options.train.epochs = 3;
    options.train.capture_samples = 0;
    return options;
}

/// Ends the sentence: its first word is the device, and it has no second line.
void expectSentence(const std::string& text, const std::string& words) {
    EXPECT_EQ(text.rfind("cpu is out of memory (", 0), 0u) << text;
    EXPECT_NE(text.find(words), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

std::int64_t namedBatch(const std::string& text) {
    const std::string before = "lower train.batch_size to ";
    const auto at = text.find(before);
    return at == std::string::npos ? 0 : std::stoll(text.substr(at + before.size()));
}

TEST(OutOfMemory, EndsTheRunWithTheBatchThatFits) {
    TemporaryFolder home("memory");
    SmallMemory memory;
    const auto before = memory.live();
    std::int64_t fits = 0;
    // How much a single step takes depends on how many batches are read ahead of it; the most that
    // a whole run of half the batch takes is less than the least that one step of 96 does.
    auto half = wideOptions();
    half.train.batch_size = 48;
    {
        auto folder = RunFolder::create(home / "half", half);
        EXPECT_EQ(trainIn(folder).result.info.state, RunState::Done);
    }
    const std::uint64_t enough = memory.peak / 10 * 11;
    {
        auto folder = RunFolder::create(home / "run", wideOptions());
        const auto ended = trainIn(folder, [&](const MetricPoint& point) {
            if (point.step == 3) memory.limit = enough;
        });
        const auto& info = ended.result.info;
        EXPECT_EQ(info.state, RunState::Failed);
        EXPECT_EQ(info.step, 3);
        expectSentence(info.message, " KiB more were needed) with train.batch_size 96; ");
        ASSERT_EQ(ended.failures, std::vector<std::string>{info.message});
        fits = namedBatch(info.message);
        EXPECT_GE(fits, 8) << info.message;
        EXPECT_LE(fits, 48) << info.message;
        EXPECT_NE(info.message.find("; " + std::to_string(fits) + " would fit: "),
                  std::string::npos)
            << info.message;
        EXPECT_EQ(readRunInfo(home / "run").message, info.message);
        EXPECT_EQ(checkpointSteps(home / "run/checkpoints").back(), 3) << "nothing is lost";
        EXPECT_LE(memory.live(), before + (1 << 20)) << "what the run held is released";
    }
    memory.peak = 0;
    auto folder = RunFolder::open(home / "run");
    auto options = folder.options();
    options.train.batch_size = fits;
    folder.setOptions(options);
    const auto ended = trainIn(folder);
    const auto& info = ended.result.info;
    EXPECT_EQ(info.state, RunState::Done) << info.message;
    EXPECT_EQ(info.epoch, 3.0);
    EXPECT_LE(memory.peak, memory.limit);
    // Three steps of 96 are done of the first epoch; what follows begins at the batch they end in.
    const std::int64_t each = (960 + fits - 1) / fits;
    EXPECT_EQ(info.step, 3 + each - 3 * 96 / fits + 2 * each);
    ASSERT_FALSE(ended.warnings.empty());
    EXPECT_EQ(ended.warnings[0], "resumed with train.batch_size " + std::to_string(fits) +
                                     " instead of 96: the steps of an epoch are others");
}

// The estimate, which is asked first, knows nothing of the device here.
TEST(OutOfMemory, WhileTheModelIsLoadedLeavesNothingBehind) {
    TemporaryFolder home("memory-load");
    std::filesystem::create_directories(home.path());
    SmallMemory memory;
    memory.known = false;
    memory.limit = memory.live() + 1000;
    Control control;
    const DataOpener open = [](const RunOptions&, std::stop_token) { return tinyData(); };
    try {
        executeRun({home / "run", wideOptions(), 1}, open, control, [](TrainEvent) {}, {});
        FAIL();
    } catch (const OutOfMemory& refused) {
        expectSentence(refused.what(), " while the model is loaded, which takes 1 MiB; choose");
    }
    EXPECT_FALSE(std::filesystem::exists(home / "run"));
}

TEST(OutOfMemory, AnEvaluationGoesOnInSmallerBatches) {
    TemporaryFolder home("memory-evaluation");
    SmallMemory memory;
    auto options = wideOptions();
    options.train.batch_size = 4;
    options.train.steps = 3;
    DataSplits data = tinyData(16, 256);
    auto folder = RunFolder::create(home / "run", options);
    Control control;
    std::vector<std::string> warnings;
    // The estimate of a step of 8: far less than 256 examples need.
    auto eight = options;
    eight.train.batch_size = 8;
    memory.limit = memory.live() + 2 * trainingBytes(eight);
    const auto result = train(folder, data, control,
                              [&](const TrainEvent& event) {
                                  if (const auto* note = std::get_if<Note>(&event);
                                      note && note->level == Note::Level::Warning)
                                      warnings.push_back(note->text);
                              },
                              {});
    EXPECT_EQ(result.info.state, RunState::Done) << result.info.message;
    ASSERT_EQ(warnings.size(), 1u) << "said once";
    expectSentence(warnings[0],
                   " for an evaluation in batches of 256; those of train.batch_size, 4, are used");
}

TEST(OutOfMemory, AResumedRunMakesTheEvaluationThatEndedIt) {
    TemporaryFolder home("memory-due");
    const auto data = tinyData(960, 256);
    const auto evaluated = [&](const std::string& name) {
        std::vector<std::pair<std::int64_t, double>> all;
        for (const auto& p : readMetrics(home / name))
            if (p.split == Split::Validation) all.emplace_back(p.step, p.value("loss"));
        return all;
    };
    auto whole = RunFolder::create(home / "whole", wideOptions());
    trainIn(whole, {}, data);
    SmallMemory memory;
    {
        auto folder = RunFolder::create(home / "parts", wideOptions());
        const auto endEvaluation = [&](const MetricPoint& point) {
            // Enough for a checkpoint, after the last step of the second epoch.
            if (point.split == Split::Train && point.step == 20)
                memory.limit = memory.live() + (1 << 16);
        };
        const auto ended = trainIn(folder, endEvaluation, data);
        EXPECT_EQ(ended.result.info.state, RunState::Failed);
        EXPECT_EQ(ended.result.info.step, 20);
        EXPECT_EQ(checkpointSteps(home / "parts/checkpoints").back(), 20);
        EXPECT_EQ(evaluated("parts").size(), 2u) << "before training and after an epoch";
    }
    memory.limit = std::uint64_t{1} << 40;
    auto folder = RunFolder::open(home / "parts");
    EXPECT_EQ(trainIn(folder, {}, data).result.info.state, RunState::Done);
    EXPECT_EQ(evaluated("parts"), evaluated("whole"));
    ASSERT_EQ(evaluated("parts").size(), 4u);
}

TEST(OutOfMemory, RefusesAProbeAnEvaluationAndALoad) {
    TemporaryFolder home("memory-opened");
    SmallMemory memory;
    {
        auto options = tinyOptions();
        options.train.epochs = 1;
        auto folder = RunFolder::create(home / "run", options);
        ASSERT_EQ(trainIn(folder).result.info.state, RunState::Done);
    }
    OpenedModel opened(home / "run", "last", "cpu");
    const auto sample = tinyData().validation->sample(0);
    const auto sentence = [](const auto& work) -> std::string {
        try {
            work();
        } catch (const OutOfMemory& refused) {
            return refused.what();
        }
        return "nothing was refused";
    };
    memory.limit = memory.live() + (1 << 10);
    expectSentence(sentence([&] { OpenedModel again(home / "run", "last", "cpu"); }),
                   " for the weights of " + home / "run" + ", which take 1 MiB; free some");
    memory.limit = memory.live() + (1 << 14);
    expectSentence(sentence([&] { opened.probe(sample, {}); }),
                   " for the maps of this input; choose a shorter input");
    memory.limit = memory.live() + (1 << 19);
    expectSentence(sentence([&] { opened.evaluate(tinyData().validation, 32); }),
                   " with batches of 32; lower the batch size, for example to 16");
    memory.limit = std::uint64_t{1} << 40;
    EXPECT_FALSE(opened.probe(sample, {}).maps.empty()) << "the model stays usable";
}

TEST(OutOfMemory, IsKnownByItsTypeAndByItsWords) {
    EXPECT_TRUE(isOutOfMemory(std::bad_alloc()));
    EXPECT_TRUE(isOutOfMemory(std::runtime_error(
        "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`")));
    EXPECT_TRUE(isOutOfMemory(std::runtime_error("CUDA error: out of memory")));
    EXPECT_FALSE(isOutOfMemory(std::runtime_error("CUDA error: device-side assert triggered")));
    EXPECT_FALSE(isOutOfMemory(OutOfMemory("cuda:0 is out of memory"))) << "a sentence already";
    try {
        torch::empty({std::int64_t{1} << 50});
        FAIL();
    } catch (const std::exception& error) {
        EXPECT_TRUE(isOutOfMemory(error)) << error.what();
        EXPECT_EQ(shortageText("cpu", error),
                  "cpu is out of memory (4194304.0 GiB more were needed)");
    }
    EXPECT_EQ(shortageText("cuda:1", std::runtime_error("CUDA out of memory. Tried to allocate "
                                                        "2.50 GiB. GPU 1 has a total ...")),
              "cuda:1 is out of memory (2.50 GiB more were needed)");
    EXPECT_EQ(messageOn("cpu", std::bad_alloc()), "cpu is out of memory");
    EXPECT_EQ(messageOn("cpu", std::runtime_error("odd")), "odd");
    releaseDeviceMemory();  // does nothing without an accelerator
}

TEST(OutOfMemory, NamesTheBatchByTheEstimate) {
    auto options = wideOptions();
    options.train.batch_size = 512;
    const auto bytes = [&](std::int64_t batch) {
        auto with = options;
        with.train.batch_size = batch;
        return trainingBytes(with);
    };
    EXPECT_EQ(fittingBatch(options, bytes(130) / 9 * 10), 128);
    EXPECT_EQ(fittingBatch(options, bytes(120) / 9 * 10), 96);
    EXPECT_EQ(fittingBatch(options, bytes(1) / 9 * 10 + 100), 1);
    EXPECT_EQ(fittingBatch(options, bytes(1) / 2), 0);
    EXPECT_EQ(fittingBatch(options, bytes(4096)), 256) << "512 has failed, whatever is said";
    EXPECT_EQ(fittingBatch(options, 0), 256);
    const std::string shortage = "cuda:0 is out of memory (2.50 GiB more were needed)";
    EXPECT_EQ(trainingShortage(options, shortage, bytes(120) / 9 * 10),
              shortage +
                  " with train.batch_size 512; 96 would fit: lower train.batch_size to 96 "
                  "and resume");
    EXPECT_NE(trainingShortage(options, shortage, 0).find("; 256 may fit: "), std::string::npos);
    EXPECT_NE(trainingShortage(options, shortage, 1000).find("no batch fits into the 1 MiB"),
              std::string::npos);
    options.train.batch_size = 1;
    EXPECT_NE(trainingShortage(options, shortage, 0).find("there is no smaller batch"),
              std::string::npos);
    options.train.batch_size = 3;
    EXPECT_EQ(fittingBatch(options, 0), 1);
}

}  // namespace
}  // namespace relascope
