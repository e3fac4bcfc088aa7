// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that keep their weights along training: what is kept, that training is not changed by it,
// and what becomes of it when a run is resumed, branches, or cannot write.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include <torch/types.h>

#include "analysis/open_model.h"
#include "checkpoint/kept_weights.h"
#include "checkpoint/tensor_io.h"
#include "options/estimates.h"
#include "run/run_folder.h"
#include "support/bytes_of.h"
#include "support/rooms.h"
#include "support/tiny_run.h"
#include "support/trained.h"
#include "train/branch.h"

namespace relascope {
namespace {

using namespace testing_support;
namespace fs = std::filesystem;

std::string trained(const TemporaryFolder& home, const std::string& name, const RunOptions& options,
                    std::int64_t stop = -1) {
    auto folder = RunFolder::create(home / name, options);
    Control control;
    if (stop < 0)
        trainIn(folder, control);
    else
        trainIn(folder, control, tinyData(), stopAfter(stop));
    return home / name;
}

Trained resumed(const std::string& run, std::int64_t epochs = 0) {
    auto folder = RunFolder::open(run);
    auto options = folder.options();
    if (epochs > 0) options.train.epochs = epochs;
    folder.setOptions(options);
    Control control;
    return trainIn(folder, control);
}

std::vector<std::int64_t> keptStepsOf(const std::string& run) {
    std::vector<std::int64_t> steps;
    for (const auto& kept : KeptWeights(run).steps()) steps.push_back(kept.step);
    return steps;
}

ModelPtr keptModel(const std::string& run, std::int64_t step) {
    auto model = makeModel(readRunOptions(run).model);
    loadWeights(*model, *KeptWeights(run).load(step));
    return model;
}

void expectEqual(ModelImpl& a, ModelImpl& b) {
    const auto x = stateOf(a), y = stateOf(b);
    ASSERT_EQ(x.size(), y.size());
    for (std::size_t i = 0; i < x.size(); ++i)
        EXPECT_TRUE(torch::equal(x[i].tensor, y[i].tensor)) << x[i].name;
}

ModelPtr modelAt(const std::string& run, std::int64_t step) {
    auto model = makeModel(readRunOptions(run).model);
    loadWeights(*model, run + "/checkpoints/step-" + std::to_string(step) + "/model.safetensors");
    return model;
}

int countNotes(const Trained& trained, const std::string& words) {
    int count = 0;
    for (const auto& note : trained.notes()) count += note.find(words) != std::string::npos;
    return count;
}

TEST(WeightKeeper, KeepsTheWeightsOfARunThatStoppedThere) {
    TemporaryFolder home("keeper");
    const auto whole = trained(home, "whole", tinyOptions());
    const auto planned = keptSteps(24, 8);
    const auto kept = keptStepsOf(whole);
    EXPECT_EQ(kept.front(), 0);
    EXPECT_EQ(kept.back(), 24);
    EXPECT_TRUE(std::includes(planned.begin(), planned.end(), kept.begin(), kept.end()));
    expectEqual(*keptModel(whole, 24), *modelAt(whole, 24));
    for (const std::int64_t stop : {1, 8, 13}) {
        const auto stopped = trained(home, "stopped-" + std::to_string(stop), tinyOptions(), stop);
        EXPECT_EQ(keptStepsOf(stopped).back(), stop);
        if (std::count(kept.begin(), kept.end(), stop))
            expectEqual(*keptModel(whole, stop), *modelAt(stopped, stop));
    }
}

TEST(WeightKeeper, ChangesNoLoss) {
    TemporaryFolder home("keeper-off");
    auto options = tinyOptions();
    const auto on = trained(home, "on", options);
    options.train.keep_mib = 0;
    const auto off = trained(home, "off", options);
    EXPECT_FALSE(fs::exists(off + "/weights"));
    EXPECT_FALSE(losses(on).empty());
    EXPECT_EQ(losses(on), losses(off));
    expectEqual(*modelAt(on, 24), *modelAt(off, 24));
}

// Rounded to nearest, ties to even, by another rule than LibTorch's.
float rounded(float value) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, 4);
    const std::uint32_t below = bits & 0xffff0000, rest = bits & 0xffff;
    const bool up = rest > 0x8000 || (rest == 0x8000 && (below & 0x10000));
    bits = below + (up ? 0x10000 : 0);
    std::memcpy(&value, &bits, 4);
    return value;
}

TEST(WeightKeeper, RoundsToTheBudget) {
    TemporaryFolder home("keeper-bf16");
    auto options = tinyOptions();
    options.model.set("d_model", 64), options.model.set("dff", 64);
    const auto parameters = parameterCount(options.model);
    for (const auto form : {KeptForm::BFloat16, KeptForm::Xor}) {
        for (options.train.keep_mib = 1;; ++options.train.keep_mib) {
            const auto plan = planKeptWeights(
                parameters, 24, static_cast<std::uint64_t>(options.train.keep_mib) << 20);
            if (!plan.steps.empty() && plan.form == form) break;
            ASSERT_LT(options.train.keep_mib, 20) << parameters;
        }
        const auto run = trained(home, keptFormName(form), options);
        const KeptWeights kept(run);
        EXPECT_GT(kept.steps().size(), 5U);
        EXPECT_EQ(kept.steps().back().form, form);
        EXPECT_EQ(kept.steps().back().step, 24);
        const auto there = keptModel(run, 24), exact = modelAt(run, 24);
        const auto a = stateOf(*there), b = stateOf(*exact);
        for (std::size_t i = 0; i < a.size(); ++i) {
            const auto x = a[i].tensor.flatten(), y = b[i].tensor.flatten();
            for (std::int64_t k = 0; k < x.numel(); ++k)
                ASSERT_EQ(x[k].item<float>(), rounded(y[k].item<float>())) << a[i].name;
        }
    }
}

TEST(WeightKeeper, AResumedRunKeepsAsOneThatNeverStopped) {
    TemporaryFolder home("keeper-resumed");
    const auto whole = trained(home, "whole", tinyOptions());
    const auto parts = trained(home, "parts", tinyOptions(), 8);
    EXPECT_LE(keptStepsOf(parts).back(), 8);
    // Of a process that was killed after its last checkpoint.
    fs::copy_file(whole + "/weights/step-24.safetensors", parts + "/weights/step-9.safetensors");
    fs::copy_file(whole + "/weights/step-24.safetensors", parts + "/weights/step-24.safetensors");
    writeBytes(parts + "/weights/step-10.safetensors.tmp-1-1", "half");
    resumed(parts);
    EXPECT_EQ(losses(parts), losses(whole));
    for (const auto& entry : fs::directory_iterator(parts + "/weights"))
        EXPECT_GE(keptFileStep(entry.path().filename().string()), 0) << entry.path();
    EXPECT_TRUE(KeptWeights(parts).problems().empty());
    const auto both = keptStepsOf(whole);
    for (const auto step : keptStepsOf(parts))
        if (std::count(both.begin(), both.end(), step))
            expectEqual(*keptModel(parts, step), *keptModel(whole, step));
}

TEST(WeightKeeper, AProlongedRunStaysWithinItsBudget) {
    TemporaryFolder home("keeper-longer");
    auto options = tinyOptions();
    options.model.set("d_model", 64), options.model.set("dff", 64);
    const auto parameters = static_cast<std::uint64_t>(parameterCount(options.model));
    options.train.keep_mib = static_cast<std::int64_t>((parameters * 4 * 22 >> 20) + 1);
    const auto run = trained(home, "run", options);
    const auto before = keptStepsOf(run);
    EXPECT_EQ(KeptWeights(run).steps().back().form, KeptForm::Float32);
    markKeptStep(run, before[before.size() / 2], true);
    resumed(run, 20);
    const KeptWeights kept(run);
    std::uint64_t bytes = 0;
    for (const auto& step : kept.steps()) {
        bytes += step.bytes;
        keptModel(run, step.step);
    }
    EXPECT_LE(bytes, static_cast<std::uint64_t>(options.train.keep_mib) << 20);
    EXPECT_EQ(kept.steps().front().step, 0);
    EXPECT_EQ(kept.steps().back().step, 120);
    EXPECT_TRUE(kept.find(before[before.size() / 2])) << "marked";
}

TEST(WeightKeeper, AFailureStopsKeepingAndNotTraining) {
    TemporaryFolder home("keeper-fails");
    auto folder = RunFolder::create(home / "run", tinyOptions());
    writeBytes(home / "run/weights", "a file in the way");
    Control control;
    const auto trained = trainIn(folder, control);
    EXPECT_EQ(trained.result.info.state, RunState::Done);
    EXPECT_EQ(countNotes(trained, "weights are no longer kept along training"), 1);
    EXPECT_EQ(countNotes(trained, "run/weights: cannot be created as a folder"), 1);
}

TEST(WeightKeeper, ABranchTakesWhatWasKeptUpToIt) {
    TemporaryFolder home("keeper-branch");
    auto folder = RunFolder::create(home / "run", tinyOptions());
    Control control;
    trainIn(folder, control, tinyData(), [&](const TrainEvent& event, std::stop_source&) {
        const auto* p = std::get_if<MetricPoint>(&event);
        if (p && p->split == Split::Train && p->step == 8)
            control.changeOption("train.learning_rate", 5e-2);
    });
    branchRun(home / "run", 8, home / "branch");
    const auto kept = keptStepsOf(home / "branch");
    ASSERT_FALSE(kept.empty());
    EXPECT_LE(kept.back(), 8);
    for (const auto step : kept)
        expectEqual(*keptModel(home / "branch", step), *keptModel(home / "run", step));
    resumed(home / "branch");
    EXPECT_EQ(keptStepsOf(home / "branch").back(), 24);
}

TEST(WeightKeeper, AModelOpensAtTheNearestKeptStep) {
    TemporaryFolder home("keeper-open");
    const auto run = trained(home, "run", tinyOptions());
    fs::remove(run + "/weights/step-7.safetensors");
    fs::remove(run + "/weights/step-6.safetensors");
    EXPECT_EQ(stepToOpen(run, 5).kept, "step 5 (kept)");
    EXPECT_EQ(OpenedModel(run, stepToOpen(run, 5).checkpoint, "cpu").step(), 5);
    EXPECT_EQ(stepToOpen(run, 7).kept, "step 8 (kept nearest to 7)");
    EXPECT_EQ(OpenedModel(run, stepToOpen(run, 7).checkpoint, "cpu").step(), 8);
    EXPECT_EQ(stepToOpen(run, 24).kept, "") << "there is a checkpoint";
    EXPECT_EQ(stepToOpen(run, 24).checkpoint, "24");
    EXPECT_THROW(OpenedModel(run, "7", "cpu"), FileError) << "exactly that step";
    fs::remove_all(run + "/weights");
    EXPECT_THROW(OpenedModel(run, "5", "cpu"), FileError);
}

// Any byte of any of the files may be another one: a sentence, or weights that pass their checksum.
TEST(WeightKeeper, SurvivesTenThousandMutatedFiles) {
    TemporaryFolder home("keeper-mutated");
    auto options = tinyOptions();
    auto model = makeModel(options.model);
    const auto run = home / "run", folder = keptFolder(run);
    fs::create_directories(folder);
    const auto values = [&](double change) {
        WeightValues all;
        for (const auto& entry : stateOf(*model)) {
            if (!entry.aliasOf.empty()) continue;
            const auto half = (entry.tensor * (1.0 + change)).to(torch::kBFloat16).contiguous();
            const auto* bytes = static_cast<const std::uint8_t*>(half.const_data_ptr());
            all.tensors.push_back({entry.name, "BF16", half.sizes().vec(),
                                   std::vector<std::uint8_t>(bytes, bytes + half.nbytes())});
        }
        std::sort(all.tensors.begin(), all.tensors.end(),
                  [](const auto& a, const auto& b) { return a.name < b.name; });
        return all;
    };
    const auto first = values(0.0), second = values(0.01);
    writePacked(keptFilePath(folder, 1), packWeights(1, KeptForm::Xor, first));
    writePacked(keptFilePath(folder, 2), packWeights(2, KeptForm::Xor, second, 1, &first));
    writePacked(keptFilePath(folder, 3), packWeights(3, KeptForm::BFloat16, second));
    std::map<std::int64_t, std::string> whole;
    for (const std::int64_t step : {1, 2, 3}) {
        std::ifstream file(keptFilePath(folder, step), std::ios::binary);
        whole[step] = {std::istreambuf_iterator<char>(file), {}};
    }
    const KeptWeights kept(run);
    std::mt19937 random(11);
    int refused = 0;
    for (int i = 0; i < 10000; ++i) {
        const std::int64_t step = 1 + i % 3;
        auto bytes = whole[step];
        const auto header = std::min<std::size_t>(
            bytes.size(), 8 + littleEndian(reinterpret_cast<const std::uint8_t*>(bytes.data()), 8));
        // Most of them in the header, where structure is.
        const auto place = [&] { return random() % (random() % 4 ? header : bytes.size()); };
        switch (random() % 5) {
            case 0:
                bytes.resize(random() % bytes.size());
                break;
            case 1:
                bytes.erase(place(), 1 + random() % 8);
                break;
            case 2:
                bytes.insert(place(), std::string(1 + random() % 8, static_cast<char>(random())));
                break;
            default:
                for (auto n = 1 + random() % 4; n > 0; --n)
                    bytes[place()] = static_cast<char>(random());
        }
        writeBytes(keptFilePath(folder, step), bytes);
        try {
            loadWeights(*model, *kept.load(step == 1 ? 2 : step));
        } catch (const FileError& error) {
            ++refused;
            EXPECT_NE(std::string(error.what()).find("step-"), std::string::npos);
        }
        writeBytes(keptFilePath(folder, step), whole[step]);
    }
    EXPECT_GT(refused, 9000) << "few changes hit the padding or nothing that counts";
    EXPECT_NO_THROW(loadWeights(*model, *kept.load(2)));
}

}  // namespace
}  // namespace relascope
