// SPDX-License-Identifier: GPL-3.0-or-later
// Training on text: what a run of a language model measures, keeps and writes, and that it resumes
// bit for bit.
#include <gtest/gtest.h>

#include <torch/types.h>

#include <cmath>
#include <cstdlib>

#include "analysis/open_model.h"
#include "data/text.h"
#include "files/atomic_file.h"
#include "model/model.h"
#include "run/captures.h"
#include "run/run_lines.h"
#include "support/rooms.h"
#include "support/tiny_run.h"
#include "train/checkpoints.h"
#include "train/optimizer.h"
#include "train/train.h"

namespace relascope {
namespace {

using namespace testing_support;

class TextTraining : public ::testing::Test {
protected:
    TextTraining() {
        makeDirectories(m_home.path());
        ::setenv("XDG_CACHE_HOME", (m_home / "cache").c_str(), 1);
        std::string text;
        for (int i = 0; i < 400; ++i)
            text += i % 3 == 0 ? "the cat sat on the mat. " : "a dog ran to the cat. ";
        writeTextFile(m_home / "text.txt", text);
        m_options = presetOptions("text", "dat");
        auto& m = m_options.model;
        m.set("d_model", 16), m.set("dff", 32), m.set("n_layers", 2), m.set("n_heads_sa", 2),
            m.set("n_heads_ra", 2);
        m.set("n_relations", 4), m.set("n_symbols", 6), m.set("symbol_heads", 2),
            m.set("max_block_size", 16);
        m_options.data.path = m_home / "text.txt";
        m_options.data.context = 16, m_options.data.validation_size = 4;
        m_options.data.pinned_text = "the cat", m_options.data.prompt = "the ";
        m_options.data.sample_tokens = 8;
        auto& t = m_options.train;
        t.batch_size = 4, t.steps = 30, t.evaluate_every = 10, t.warmup_steps = 2;
        t.learning_rate = 1e-2, t.device = "cpu";
    }
    ~TextTraining() override { ::unsetenv("XDG_CACHE_HOME"); }

    TrainResult run(const std::string& name, std::int64_t stopAt = -1) {
        const std::string path = m_home / name;
        auto folder =
            isRunFolder(path) ? RunFolder::open(path) : RunFolder::create(path, m_options);
        Control control;
        std::stop_source stop;
        return train(
            folder, openData(m_options.data), control,
            [&](TrainEvent event) {
                if (const auto* p = std::get_if<MetricPoint>(&event))
                    if (p->step == stopAt && p->split == Split::Train) stop.request_stop();
            },
            stop.get_token());
    }
    static DataSplits openData(const DataOptions& o) { return openText(o); }
    std::vector<MetricPoint> points(const std::string& name) { return readMetrics(m_home / name); }

    TemporaryFolder m_home{"text-training"};
    RunOptions m_options;
};

TEST_F(TextTraining, LearnsAndMeasuresPerplexityAndTokens) {
    m_options.train.steps = 120;
    const auto result = run("run");
    ASSERT_EQ(result.info.state, RunState::Done) << result.info.message;
    const auto all = points("run");
    const double first = all.front().value("loss"), last = result.lastValidation.value("loss");
    EXPECT_LT(last, 0.6 * first);
    for (const auto& p : all) {
        EXPECT_NEAR(p.value("perplexity"), std::exp(p.value("loss")), 1e-9);
        EXPECT_EQ(p.value("tokens"), static_cast<double>(p.step * 4 * 16));
    }
    EXPECT_EQ(readRunInfo(m_home / "run").metric, "perplexity");
    // The vocabulary is that of the text: its 14 characters and the unknown one.
    EXPECT_EQ(readRunOptions(m_home / "run").model.number("vocab_size"), 15);
}

TEST_F(TextTraining, KeepsThePinnedSentenceAndASampleAlongTheRun) {
    run("run");
    const auto steps = captureSteps(m_home / "run/captures");
    ASSERT_GE(steps.size(), 3u);
    const auto captured = loadCapture(m_home / "run/captures", steps.back(), 0);
    EXPECT_EQ(captured.sample.source.labels,
              (std::vector<std::string>{"t", "h", "e", " ", "c", "a", "t"}));
    EXPECT_TRUE(captured.sample.source.text);
    ASSERT_NE(captured.find(MapKind::Relation, 1, 3), nullptr);
    EXPECT_TRUE(captured.find(MapKind::Relation, 1, 3)->causal);
    int samples = 0;
    for (const auto& note : readEvents(m_home / "run"))
        if (note.level == Note::Level::Sample) {
            EXPECT_EQ(note.text.rfind("the ", 0), 0u) << note.text;
            EXPECT_GE(note.text.size(), 12u);
            ++samples;
        }
    EXPECT_EQ(samples, 4);  // before the first step, then at 10, 20 and 30
    OpenedModel opened(m_home / "run", "", "cpu");
    ASSERT_TRUE(opened.tokenizer());
    const auto looked = opened.probe(opened.textInput("the cat"), {});
    EXPECT_EQ(looked.find(MapKind::Relation, 1, 3)->values,
              captured.find(MapKind::Relation, 1, 3)->values);
    // Likeliest next characters by name.
    EXPECT_EQ(looked.classNames.front().size(), 1u);
    EXPECT_THROW(opened.textInput(""), OptionError);
    EXPECT_EQ(opened.textInput(std::string(100, 'a')).source.size(), 16);  // the model's context
}

TEST_F(TextTraining, ResumesBitForBitWithDropoutAndAccumulation) {
    m_options.model.set("dropout_rate", 0.1);
    m_options.train.tokens_per_step = 2 * 4 * 16;
    m_options.train.checkpoint_every = 5;
    run("whole");
    EXPECT_EQ(run("parts", 13).info.state, RunState::Interrupted);
    EXPECT_EQ(run("parts", 21).info.state, RunState::Interrupted);
    EXPECT_EQ(run("parts").info.state, RunState::Done);
    const auto whole = points("whole"), parts = points("parts");
    ASSERT_EQ(whole.size(), parts.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
        EXPECT_EQ(whole[i].value("loss"), parts[i].value("loss")) << "step " << whole[i].step;
        EXPECT_EQ(whole[i].value("tokens"), static_cast<double>(whole[i].step) * 2 * 4 * 16);
    }
}

TEST_F(TextTraining, AddedUpBatchesAreOneLargeOne) {
    m_options.train.steps = 8;
    m_options.train.batch_size = 8;
    run("large");
    m_options.train.batch_size = 2, m_options.train.tokens_per_step = 8 * 16;
    run("added");
    const auto large = points("large"), added = points("added");
    ASSERT_EQ(large.size(), added.size());
    for (std::size_t i = 0; i < large.size(); ++i)
        EXPECT_NEAR(large[i].value("loss"), added[i].value("loss"), 2e-4) << large[i].step;
}

TEST_F(TextTraining, RecomputedActivationsChangeNothing) {
    m_options.train.steps = 6;
    m_options.model.set("dropout_rate", 0.1);
    run("kept");
    m_options.train.activation_checkpointing = true;
    run("again");
    const auto kept = points("kept"), again = points("again");
    ASSERT_EQ(kept.size(), again.size());
    for (std::size_t i = 0; i < kept.size(); ++i)
        EXPECT_NEAR(kept[i].value("loss"), again[i].value("loss"), 1e-5);
}

TEST_F(TextTraining, RefusesWhatDoesNotFitBeforeItTrains) {
    m_options.data.context = 17;  // the model's is 16
    EXPECT_THROW(m_options.check(), OptionError);
    m_options.data.context = 16;
    m_options.data.tokenizer = "gpt2";
    m_options.train.steps = 1;
    run("grown");  // a new model takes the tokenizer's vocabulary
    EXPECT_EQ(readRunOptions(m_home / "grown").model.number("vocab_size"), 50257);
    // Shards whose ids are beyond the vocabulary.
    std::string shard(1024, '\0');
    const auto put = [&shard](std::size_t at, std::uint32_t value) {
        for (int i = 0; i < 4; ++i)
            shard[at + static_cast<std::size_t>(i)] = static_cast<char>(value >> 8 * i);
    };
    put(0, 20240520), put(4, 1), put(8, 400);
    for (int i = 0; i < 400; ++i) {
        const int id = i == 390 ? 60000 : i;
        shard += static_cast<char>(id & 255), shard += static_cast<char>(id >> 8);
    }
    writeTextFile(m_home / "shard.bin", shard);
    m_options.data.path = m_home / "shard.bin";
    try {
        run("beyond");
        FAIL() << "token 60000 was taken";
    } catch (const std::exception& error) {
        const std::string what = error.what();
        EXPECT_NE(what.find("shard.bin"), std::string::npos) << what;
        EXPECT_NE(what.find("60000"), std::string::npos) << what;
        EXPECT_NE(what.find(std::to_string(1024 + 2 * 390)), std::string::npos) << what;
    }
}

TEST(Optimizer, DecaysMatricesAlone) {
    auto options = presetOptions("text", "dat").model;
    options.set("d_model", 16), options.set("dff", 32), options.set("n_layers", 1),
        options.set("bias", true);
    options.set("n_heads_sa", 2), options.set("n_heads_ra", 2), options.set("n_relations", 4);
    options.set("n_symbols", 6), options.set("symbol_heads", 2);
    auto model = makeModel(options);
    TrainOptions t = presetOptions("text", "dat").train;
    t.weight_decay = 0.5;
    Optimizer optimizer(*model, t);
    std::vector<torch::Tensor> before;
    for (auto& p : model->parameters()) {
        p.mutable_grad() = torch::zeros_like(p);
        before.push_back(p.detach().clone());
    }
    optimizer.step(0.1);
    std::size_t i = 0, matrices = 0;
    for (const auto& item : model->named_parameters()) {
        const auto& p = item.value();
        const double factor = p.dim() >= 2 ? 1.0 - 0.1 * 0.5 : 1.0;
        matrices += p.dim() >= 2;
        EXPECT_LT((p.detach() - before[i] * factor).abs().max().item<double>(), 1e-6) << item.key();
        ++i;
    }
    EXPECT_GT(matrices, 10u);
    EXPECT_LT(matrices, i);
}

}  // namespace
}  // namespace relascope
