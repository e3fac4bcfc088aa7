// SPDX-License-Identifier: GPL-3.0-or-later
// Several ranks train the model that one process trains.
#include <gtest/gtest.h>

#include <torch/types.h>
#include <torch/utils.h>

#include <filesystem>

#include "checkpoint/tensor_io.h"
#include "data/text.h"
#include "files/atomic_file.h"
#include "model/model.h"
#include "support/rank_threads.h"
#include "support/tiny_run.h"
#include "support/tiny_tasks.h"
#include "support/trained.h"
#include "train/checkpoints.h"
#include "train/optimizer.h"
#include "train/rank_job.h"

namespace relascope {
namespace {

using namespace testing_support;

class RankTraining : public testing::Test {
protected:
    RankTraining() {
        m_options = tinyOptions();
        m_options.model.set("n_layers", 2), m_options.model.set("dropout_rate", 0.0);
        m_options.train.epochs = 2;
        m_options.train.evaluate_every = 4, m_options.train.capture_every = 6;
        m_data = tinyData(90, 40);  // the last batch of an epoch has 10 examples
    }
    // All runs continue from the same first step: ranks that are threads would draw their first
    // weights from one generator.
    RunFolder folder(const std::string& name) {
        const auto path = m_home / name, begun = m_home / "begun";
        if (!isRunFolder(begun)) {
            auto first = RunFolder::create(begun, m_options);
            trainIn(first, *m_control, m_data, stopAfter(1));
        }
        if (!isRunFolder(path))
            std::filesystem::copy(begun, path, std::filesystem::copy_options::recursive);
        auto opened = RunFolder::open(path);
        auto options = m_options;
        options.model = opened.options().model;  // of text: with its vocabulary
        opened.setOptions(options);
        return opened;
    }
    Trained alone(const std::string& name, const EditChoice& edits = {}) {
        auto opened = folder(name);
        return trainIn(opened, *m_control, m_data, {}, edits);
    }
    Trained onRanksOf(int size, const std::string& name,
                      const std::function<void(const TrainEvent&, std::stop_source&)>& watch = {},
                      const EditChoice& edits = {}) {
        Trained trained;
        onGoodRanks(size, [&](RankGroup& ranks) {
            std::stop_source stop;
            Control none;
            if (!ranks.leads()) {
                auto other = RunFolder::ofOtherProcess(m_options, 0);
                const auto result = train(
                    other, m_data, none, [](const TrainEvent&) {}, {}, {}, &ranks);
                EXPECT_EQ(other.path(), "");
                m_others = result.info;
                return;
            }
            auto opened = folder(name);
            trained.result = train(
                opened, m_data, *m_control,
                [&](const TrainEvent& event) {
                    if (watch) watch(event, stop);
                    trained.events.push_back(event);
                },
                stop.get_token(), edits, &ranks);
        });
        return trained;
    }
    std::string path(const std::string& name) const { return m_home / name; }
    void expectSame(const std::string& a, const std::string& b, double bound = 1e-6) const {
        const auto first = readMetrics(path(a)), second = readMetrics(path(b));
        ASSERT_EQ(first.size(), second.size());
        ASSERT_GT(first.size(), 8u);
        for (std::size_t i = 0; i < first.size(); ++i) {
            ASSERT_EQ(first[i].step, second[i].step);
            ASSERT_EQ(first[i].split, second[i].split);
            EXPECT_EQ(first[i].examples, second[i].examples);
            for (const auto& [key, value] : first[i].values) {
                if (key == "tokens_per_second") continue;
                EXPECT_NEAR(second[i].value(key), value,
                            (key == "grad_norm" ? 10 : 1) * bound * std::max(1.0, std::abs(value)))
                    << key << " at step " << first[i].step;
            }
        }
        const auto results = readRunInfo(path(a)).results, others = readRunInfo(path(b)).results;
        ASSERT_EQ(results.size(), others.size());
        for (std::size_t i = 0; i < results.size(); ++i)
            for (const auto& [key, value] : results[i].values)
                EXPECT_NEAR(others[i].value(key), value, 1e-4) << results[i].split << " " << key;
    }
    void expectSameBits(const std::string& a, const std::string& b) const {
        EXPECT_EQ(losses(path(a)), losses(path(b)));
        const auto newest = [&](const std::string& name) {
            return readTensors(newestCheckpoint(path(name) + "/checkpoints") +
                               "/model.safetensors");
        };
        const auto first = newest(a), second = newest(b);
        for (const auto& [name, tensor] : first)
            EXPECT_TRUE(torch::equal(tensor, second.at(name))) << name;
    }
    void expectAsAlone(const EditChoice& edits = {}) {
        ASSERT_EQ(alone("alone", edits).result.info.state, RunState::Done);
        for (const int size : {2, 3}) {
            const auto name = std::to_string(size);
            const auto run = onRanksOf(size, name, {}, edits);
            ASSERT_EQ(run.result.info.state, RunState::Done) << run.result.info.message;
            expectSame("alone", name);
        }
    }

    TemporaryFolder m_home{"rank_training"};
    RunOptions m_options;
    DataSplits m_data;
    std::unique_ptr<Control> m_control = std::make_unique<Control>();
    RunInfo m_others;  ///< how the run has ended for a rank that is not 0
};

TEST_F(RankTraining, LossesAreThoseOfOneProcess) {
    expectAsAlone();
}

TEST_F(RankTraining, WithActivationCheckpointing) {
    m_options.train.activation_checkpointing = true;
    expectAsAlone();
}

TEST_F(RankTraining, WithMixedImages) {
    m_data.mix = "either";
    expectAsAlone();
}

TEST_F(RankTraining, WithEdits) {
    EditList list;
    Edit edit;
    edit.op = EditOp::Zero, edit.point = "blocks.0.rel.hook_r",
    edit.selection["relation"] = {{0}, {}, {}};
    list.edits.push_back(edit);
    edit.op = EditOp::Resample, edit.shift = 3, edit.point = "blocks.1.rel.hook_r";
    list.edits.push_back(edit);
    expectAsAlone([list](const std::vector<PointInfo>&) { return list; });
}

TEST_F(RankTraining, WithEarlyStoppingAndTheBestWeights) {
    m_options.train.epochs = 6;
    auto& stopping = m_options.train.early_stopping;
    stopping.metric = "loss", stopping.patience = 2, stopping.restore_best = true;
    m_options.train.learning_rate = 0.05;
    m_data.tests = {{"test", std::make_shared<HalfBright>(30, 5000)}};
    ASSERT_EQ(alone("alone").result.info.state, RunState::Done);
    const auto run = onRanksOf(2, "ranks");
    ASSERT_EQ(run.result.info.state, RunState::Done) << run.result.info.message;
    expectSame("alone", "ranks", 1e-4);
    EXPECT_EQ(readRunInfo(path("alone")).step, readRunInfo(path("ranks")).step);
}

TEST_F(RankTraining, SequencesWithFreeRunning) {
    m_options = tinySpellingOptions();
    m_options.train.epochs = 2;
    m_data = tinySpelling();
    expectAsAlone();
}

TEST_F(RankTraining, RegressionsAndObjects) {
    m_options = tinyPairOptions();
    m_options.train.epochs = 1;
    m_data = tinyPairs();
    expectAsAlone();
}

TEST_F(RankTraining, TextWithUnevenAccumulation) {
    makeDirectories(m_home.path());
    std::string text;
    for (int i = 0; i < 300; ++i) text += i % 3 == 0 ? "the cat sat on it. " : "a dog ran here. ";
    writeTextFile(m_home / "text.txt", text);
    m_options = presetOptions("text", "dat");
    auto& m = m_options.model;
    m.set("d_model", 16), m.set("dff", 32), m.set("n_layers", 1), m.set("n_heads_sa", 2),
        m.set("n_heads_ra", 2), m.set("n_relations", 4), m.set("n_symbols", 6),
        m.set("symbol_heads", 2), m.set("max_block_size", 16), m.set("dropout_rate", 0.0);
    m_options.data.path = m_home / "text.txt";
    m_options.data.context = 16, m_options.data.validation_size = 4;
    m_options.data.pinned_text = "the cat", m_options.data.prompt = "the ";
    m_options.data.sample_tokens = 4;
    auto& t = m_options.train;
    t.batch_size = 4, t.steps = 16, t.evaluate_every = 5, t.capture_every = 6, t.device = "cpu";
    t.tokens_per_step = 6 * 4 * 16;  // six batches a step, and four in the last of an epoch
    m_data = openText(m_options.data);
    expectAsAlone();
}

TEST_F(RankTraining, SharedMomentsGiveTheSameWeights) {
    onRanksOf(3, "plain");
    m_options.train.sharded_moments = true;
    onRanksOf(3, "shared");
    expectSame("plain", "shared");
    // The checkpoint is that of any run: one process resumes it.
    m_options.train.sharded_moments = false;
    const auto tensors = readTensors(newestCheckpoint(path("shared") + "/checkpoints") +
                                     "/optimizer.safetensors"),
               plain = readTensors(newestCheckpoint(path("plain") + "/checkpoints") +
                                   "/optimizer.safetensors");
    for (const auto& [name, tensor] : plain) {
        if (name.rfind("generator", 0) == 0) continue;
        ASSERT_TRUE(tensors.count(name)) << name;
        EXPECT_TRUE(torch::allclose(tensors.at(name), tensor, 1e-4, 1e-7)) << name;
    }
}

TEST_F(RankTraining, AResumedRunIsTheSameToTheLastBit) {
    for (const bool sharded : {false, true}) {
        m_options.train.sharded_moments = sharded;
        const std::string name = sharded ? "sharded" : "plain";
        onRanksOf(2, name);
        const auto cut = onRanksOf(2, name + "-cut", stopAfter(5));
        EXPECT_EQ(cut.result.info.state, RunState::Interrupted);
        EXPECT_EQ(m_others.state, RunState::Interrupted);
        const auto whole = onRanksOf(2, name + "-cut");
        ASSERT_EQ(whole.result.info.state, RunState::Done) << whole.result.info.message;
        expectSameBits(name, name + "-cut");
    }
}

TEST_F(RankTraining, AnotherNumberOfRanksIsNoted) {
    onRanksOf(2, "run", stopAfter(5));
    const auto resumed = alone("run");
    EXPECT_EQ(resumed.result.info.state, RunState::Done);
    const auto notes = resumed.notes();
    EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const auto& text) {
        return text ==
               "resumed with one process instead of 2 ranks: losses will not be "
               "bit-for-bit identical";
    }));
    alone("whole");
    expectSame("whole", "run");
}

TEST_F(RankTraining, AllDoWhatRank0IsAsked) {
    EditList list;
    Edit edit;
    edit.op = EditOp::Zero, edit.point = "blocks.0.rel.hook_r";
    list.edits.push_back(edit);
    for (const bool sharded : {false, true}) {
        m_options.train.sharded_moments = sharded;
        m_options.train.epochs = 4;
        const std::string name = sharded ? "sharded" : "plain";
        m_control = std::make_unique<Control>();
        int paused = 0;
        std::thread resumer;
        const auto run = onRanksOf(2, name, [&](const TrainEvent& event, std::stop_source&) {
            const auto* point = std::get_if<MetricPoint>(&event);
            if (point && point->split == Split::Train) {
                if (point->step == 2) m_control->changeOption("train.learning_rate", 0.01);
                if (point->step == 5) m_control->setInterventions(list);
                if (point->step == 7) m_control->pause();
                if (point->step == 9) m_control->stopAfterEpoch();
            }
            if (const auto* changed = std::get_if<RunChanged>(&event))
                if (changed->info.state == RunState::Paused && ++paused == 1)
                    resumer = std::thread([this] {
                        std::this_thread::sleep_for(std::chrono::milliseconds(1300));
                        m_control->step();
                        std::this_thread::sleep_for(std::chrono::milliseconds(100));
                        m_control->resume();
                    });
        });
        resumer.join();
        EXPECT_EQ(run.result.info.state, RunState::Stopped) << run.result.info.message;
        EXPECT_EQ(m_others.state, RunState::Stopped);
        EXPECT_GT(paused, 0);
        const auto metrics = readMetrics(path(name));
        for (const auto& point : metrics)
            if (point.split == Split::Train && point.step > 4) {
                EXPECT_EQ(point.value("learning_rate"), 0.01);
            }
        EXPECT_EQ(readRunInfo(path(name)).edits, list);
    }
}

TEST_F(RankTraining, WeightsThatDifferAreAnError) {
    const auto problems = onRanks(2, [&](RankGroup& ranks) {
        auto own = RunFolder::ofOtherProcess(m_options, 0);
        const EventSink sink = [](const TrainEvent&) {};
        TrainJob job(own, m_data, sink, {}, &ranks);
        torch::manual_seed(5);
        job.model = makeModel(m_options.model);
        job.optimizer = std::make_unique<Optimizer>(*job.model, m_options.train);
        shareWeights(job, {});
        requireEqualChecksums(job, ranks.gather(weightsChecksum(job)), 0);
        if (ranks.rank() == 1) {
            const torch::NoGradGuard noGrad;
            auto weight = job.optimizer->parameters().back();
            weight.view(-1)[0].add_(1e-6);
        }
        requireEqualChecksums(job, ranks.gather(weightsChecksum(job)), 0);
    });
    for (const auto& problem : problems) {
        EXPECT_NE(problem.find("the weights of rank 1 ("), std::string::npos) << problem;
        EXPECT_NE(problem.find("differ from those of rank 0 at step 0"), std::string::npos);
    }
}

// A set that cannot be read from some example on.
class Unreadable : public HalfBright {
public:
    using HalfBright::HalfBright;
    std::int64_t read(std::int64_t index, std::span<std::uint8_t> pixels) const override {
        if (index == 50) throw Error("images.npz: ends before image 50");
        return HalfBright::read(index, pixels);
    }
};

TEST_F(RankTraining, ARankThatFailsSaysWhy) {
    std::string said;
    const auto problems = onRanks(2, [&](RankGroup& ranks) {
        auto data = m_data;
        Control control;
        if (ranks.leads()) {
            auto opened = RunFolder::create(m_home / "run", m_options);
            said = train(
                       opened, data, control, [](const TrainEvent&) {}, {}, {}, &ranks)
                       .info.message;
            return;
        }
        data.train = std::make_shared<Unreadable>(90);
        auto other = RunFolder::ofOtherProcess(m_options, 0);
        const auto info = train(
                              other, data, control, [](const TrainEvent&) {}, {}, {}, &ranks)
                              .info;
        EXPECT_EQ(info.state, RunState::Failed);
        EXPECT_TRUE(ranks.isLost());
        ranks.leave("");  // as followRuns() does
    });
    EXPECT_EQ(problems, std::vector<std::string>(2));
    EXPECT_NE(said.find(", cpu) was lost at step "), std::string::npos) << said;
    EXPECT_NE(said.find(": images.npz: ends before image 50"), std::string::npos) << said;
    EXPECT_EQ(readRunInfo(path("run")).state, RunState::Failed);
}

TEST_F(RankTraining, DataOfDifferentSizesAreAnError) {
    const auto problems = onRanks(2, [&](RankGroup& ranks) {
        auto own = RunFolder::ofOtherProcess(m_options, 0);
        const auto data = tinyData(90 + ranks.rank(), 40);
        Control control;
        train(
            own, data, control, [](const TrainEvent&) {}, {}, {}, &ranks);
    });
    EXPECT_NE(problems[0].find("has 91 training examples, rank 0 90"), std::string::npos)
        << problems[0];
}

TEST_F(RankTraining, StepsThatDoNotDivideAreRefused) {
    m_options.train.batch_size = 2;
    const auto problems = onRanks(3, [&](RankGroup& ranks) {
        auto own = RunFolder::ofOtherProcess(m_options, 0);
        Control control;
        train(
            own, m_data, control, [](const TrainEvent&) {}, {}, {}, &ranks);
    });
    EXPECT_EQ(problems[0].rfind("train.batch_size: ", 0), 0u) << problems[0];
}

TEST(ShareOf, AllExamplesOnceInOrder) {
    for (const std::int64_t size : {0, 1, 2, 7, 64})
        for (const int ranks : {1, 2, 3, 8}) {
            std::int64_t next = 0;
            for (int r = 0; r < ranks; ++r) {
                const auto share = shareOf(size, r, ranks);
                EXPECT_EQ(share.first, next);
                EXPECT_LE(share.last - share.first, size / ranks + 1);
                next = share.last;
            }
            EXPECT_EQ(next, size);
        }
}

}  // namespace
}  // namespace relascope
