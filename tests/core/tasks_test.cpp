// SPDX-License-Identifier: GPL-3.0-or-later
// Training on objects and on sequences: what is scored, what is told, what is kept.
#include <gtest/gtest.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <cmath>
#include <map>

#include "analysis/open_model.h"
#include "data/batches.h"
#include "evaluate/evaluate.h"
#include "run/captures.h"
#include "run/run_folder.h"
#include "run/run_lines.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "support/tiny_run.h"
#include "support/tiny_tasks.h"
#include "train/checkpoints.h"
#include "train/init_from.h"
#include "train/train.h"

namespace relascope {
namespace {

using namespace testing_support;

TrainResult trained(const std::string& path, const RunOptions& options, const DataSplits& data,
                    std::vector<TrainEvent>* events = nullptr) {
    auto folder = isRunFolder(path) ? RunFolder::open(path) : RunFolder::create(path, options);
    folder.setOptions(options);
    Control control;
    return train(folder, data, control,
                 [&](TrainEvent event) {
                     if (events) events->push_back(std::move(event));
                 },
                 {});
}

Batch batchOf(torch::Tensor targets, TargetKind kind) {
    Batch batch;
    batch.targets = std::move(targets);
    batch.kind = kind;
    return batch;
}

TEST(Scoring, EveryKindOfTargetHasItsLoss) {
    const auto scores = torch::tensor({{2.0F, -1.0F, 0.5F}, {0.0F, 1.0F, -2.0F}});
    const auto classes = batchOf(torch::tensor(std::vector<std::int64_t>{0, 2}), TargetKind::Class);
    const auto log = torch::log_softmax(scores, 1);
    EXPECT_NEAR(lossOf(scores, classes, -1).item<double>(),
                -(log[0][0].item<double>() + log[1][2].item<double>()) / 2, 1e-6);

    const auto yes = torch::tensor({{0.7F}, {-0.3F}});
    const auto binary = batchOf(torch::tensor(std::vector<std::int64_t>{1, 1}), TargetKind::Class);
    const auto cost = [](double x, double t) {
        return std::log1p(std::exp(-x)) * t + std::log1p(std::exp(x)) * (1 - t);
    };
    EXPECT_NEAR(lossOf(yes, binary, -1).item<double>(), (cost(0.7, 1) + cost(-0.3, 1)) / 2, 1e-6);

    const auto bits =
        batchOf(torch::tensor({{1.0F, 0.0F, 1.0F}, {0.0F, 0.0F, 1.0F}}), TargetKind::MultiLabel);
    EXPECT_NEAR(
        lossOf(scores, bits, -1).item<double>(),
        (cost(2, 1) + cost(-1, 0) + cost(0.5, 1) + cost(0, 0) + cost(1, 0) + cost(-2, 1)) / 6,
        1e-6);

    const auto numbers = batchOf(torch::zeros({2, 3}), TargetKind::Regression);
    EXPECT_NEAR(lossOf(scores, numbers, -1).item<double>(), (4 + 1 + 0.25 + 0 + 1 + 4) / 6, 1e-6);

    // Padding (id 2) counts neither in the loss nor in the accuracy.
    auto tokens =
        batchOf(torch::tensor(std::vector<std::int64_t>{0, 2}).view({1, 2}), TargetKind::Tokens);
    EXPECT_NEAR(lossOf(scores.unsqueeze(0), tokens, 2).item<double>(), -log[0][0].item<double>(),
                1e-6);
    MetricAccumulator tally(3, 2);
    tally.add(scores.unsqueeze(0), tokens);
    EXPECT_EQ(tally.accuracy(), 1.0);
    EXPECT_EQ(answersIn(tokens, 2), 1);
}

TEST(Scoring, TalliesAnswersAndErrors) {
    MetricAccumulator two(1, -1);
    auto binary = batchOf(torch::tensor(std::vector<std::int64_t>{1, 1, 0}), TargetKind::Class);
    two.add(torch::tensor({{0.7F}, {-0.3F}, {-1.0F}}), binary);
    EXPECT_NEAR(two.accuracy(), 2.0 / 3.0, 1e-12);
    EXPECT_EQ(two.classAccuracy(), (std::vector<double>{1.0, 0.5}));

    MetricAccumulator numbers(2, -1);
    auto near = batchOf(torch::tensor({{1.0F, 2.0F}, {0.0F, 0.0F}}), TargetKind::Regression);
    numbers.add(torch::tensor({{1.0005F, 2.0F}, {0.0F, 0.25F}}), near);
    EXPECT_TRUE(std::isnan(numbers.accuracy()));
    const auto values = numbers.values();
    const std::map<std::string, double> named(values.begin(), values.end());
    EXPECT_NEAR(named.at("mean_error"), (0.0005 + 0.25) / 4, 1e-6);
    EXPECT_NEAR(named.at("largest_error"), 0.25, 1e-6);
    EXPECT_NEAR(named.at("recovered"), 0.5, 1e-12);
}

TEST(Scoring, RefusesLabelsThatAreNoClass) {
    auto batch = batchOf(torch::tensor(std::vector<std::int64_t>{2}), TargetKind::Class);
    EXPECT_THROW(requireLabels(batch, 1), OptionError);
    EXPECT_THROW(requireLabels(batch, 2), OptionError);
    EXPECT_NO_THROW(requireLabels(batch, 3));
    batch.targets = torch::tensor(std::vector<std::int64_t>{-1});
    EXPECT_THROW(requireLabels(batch, 3), OptionError);
}

TEST(Mixing, KeepsSharesAndIsTheSameForASeed) {
    const auto make = [] {
        Batch batch;
        batch.inputs = torch::stack(
            {torch::zeros({3, 8, 8}), torch::ones({3, 8, 8}), torch::full({3, 8, 8}, 2.0)});
        batch.targets = torch::tensor(std::vector<std::int64_t>{0, 1, 2});
        return batch;
    };
    for (const char* how : {"cutmix", "mixup", "either"}) {
        int moved = 0;
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            auto a = make(), b = make();
            mixImages(a, how, 4, seed);
            mixImages(b, how, 4, seed);
            EXPECT_TRUE(torch::equal(a.inputs, b.inputs));
            ASSERT_EQ(a.mixed.sizes(), (std::vector<std::int64_t>{3, 4}));
            EXPECT_TRUE(torch::allclose(a.mixed.sum(1), torch::ones({3})));
            // The mean pixel of an image is the mean of its classes' pixels by the same shares.
            const auto shade = torch::tensor({0.0F, 1.0F, 2.0F, 9.0F});
            EXPECT_TRUE(
                torch::allclose(a.inputs.mean({1, 2, 3}), a.mixed.matmul(shade), 1e-4, 1e-4))
                << how << " " << seed;
            moved += !torch::equal(a.inputs, make().inputs);
        }
        EXPECT_GT(moved, 5) << how;
    }
    auto same = make();
    mixImages(same, "none", 4, 1);
    EXPECT_FALSE(same.mixed.defined());
}

TEST(Tasks, ModelsOfSetsStartAsTheirFrameworkDoes) {
    for (const char* model : {"corelnet", "abstractor", "mlp", "transformer", "predinet"}) {
        torch::manual_seed(1);
        const auto built = makeModel(presetOptions("pairwise-order", model).model);
        for (const auto& item : built->named_parameters()) {
            const auto& t = item.value();
            const bool linear = item.key().find("norm") == std::string::npos;
            if (t.dim() == 1 && linear) {
                EXPECT_EQ(t.abs().max().item<double>(), 0.0) << item.key();
            }
            if (t.dim() != 2 || item.key() == "symbols") continue;
            const double glorot =
                std::sqrt(6.0 / static_cast<double>(t.size(0) + t.size(1)));  // uniform's bound
            EXPECT_LE(t.abs().max().item<double>(), glorot) << item.key();
            if (t.numel() > 500) {
                EXPECT_GT(t.abs().max().item<double>(), 0.95 * glorot) << model << item.key();
            }
        }
    }
}

TEST(Tasks, PairsAreLearnedAndTested) {
    TemporaryFolder home("pairs");
    const std::string run = home / "run";
    const auto result = trained(run, tinyPairOptions(), tinyPairs());
    ASSERT_EQ(result.info.state, RunState::Done) << result.info.message;
    EXPECT_GT(result.lastValidation.value("accuracy"), 0.9);
    const auto info = readRunInfo(run);
    ASSERT_EQ(info.results.size(), 1u);
    EXPECT_EQ(info.results[0].split, "test");
    EXPECT_EQ(info.results[0].examples, 128);
    EXPECT_GT(info.results[0].value("accuracy"), 0.9);
    EXPECT_EQ(info.metric, "accuracy");
    OpenedModel opened(run, "", "cpu");
    const auto again = opened.evaluate(tinyPairs().tests[0].second, 64);
    EXPECT_NEAR(again.loss, info.results[0].value("loss"), 1e-5);
    EXPECT_THROW(opened.evaluate(tinySpelling().validation, 64), OptionError);
}

TEST(Tasks, NumbersAreFitted) {
    TemporaryFolder home("numbers");
    auto options = tinyPairOptions();
    options.train.epochs = 30;
    const auto result = trained(home / "run", options, tinyPairs(TargetKind::Regression));
    ASSERT_EQ(result.info.state, RunState::Done) << result.info.message;
    EXPECT_TRUE(std::isnan(result.lastValidation.value("accuracy")));
    EXPECT_LT(result.lastValidation.value("mean_error"), 0.3);
    for (const auto& point : readMetrics(home / "run"))
        for (const auto& [key, value] : point.values) EXPECT_NE(key, "accuracy");
}

TEST(Tasks, SequencesAreAnsweredFreely) {
    TemporaryFolder home("spelling");
    const std::string run = home / "run";
    const auto result = trained(run, tinySpellingOptions(), tinySpelling());
    ASSERT_EQ(result.info.state, RunState::Done) << result.info.message;
    EXPECT_GT(result.lastValidation.value("accuracy"), 0.9);
    EXPECT_GT(result.lastValidation.value("sequence_accuracy"), 0.8);
    const auto info = readRunInfo(run);
    EXPECT_EQ(info.metric, "sequence_accuracy");
    EXPECT_EQ(info.bestMetric, [&] {
        double best = 0.0;
        for (const auto& p : readMetrics(run))
            if (p.split == Split::Validation && p.step > 0)
                best = std::max(best, p.value("sequence_accuracy"));
        return best;
    }());
    // Answering freely cannot be better at an element than with the right ones before it here, and
    // a sequence counts only when all of its elements do.
    const auto& test = info.results.at(0);
    EXPECT_LE(test.value("sequence_accuracy"), test.value("element_accuracy"));

    // Captures keep vectors, words and pictures of both sides.
    const auto steps = captureSteps(run + "/captures");
    ASSERT_FALSE(steps.empty());
    ASSERT_EQ(captureSamples(run + "/captures", steps.back()), 4);
    const auto kept = loadCapture(run + "/captures", steps.back(), 2);
    const auto wanted = tinySpelling().validation->sample(2);
    EXPECT_EQ(kept.sample.source, wanted.source);
    EXPECT_EQ(kept.sample.target, wanted.target);
    EXPECT_EQ(kept.sides.at(1).labels, wanted.target.labels);
}

TEST(Tasks, EndsAndPaddingOfFreeAnswersCountAsTheyShould) {
    TemporaryFolder home("ends");
    auto options = tinySpellingOptions();
    options.model.set("out_dim", 6), options.model.set("output_size", 6),
        options.model.set("out_block_size", 4);
    options.model.set("loss_ignore_idx", 5);
    options.train.epochs = 1;
    const auto data = tinySpelling(true);
    ASSERT_EQ(trained(home / "run", options, data).info.state, RunState::Done);
    OpenedModel opened(home / "run", "", "cpu");
    const auto e = opened.evaluate(data.validation, 16);
    double free = -1.0;
    for (const auto& [key, value] : e.values)
        if (key == "element_accuracy") free = value;
    EXPECT_GE(free, 0.0);
    EXPECT_LE(free, 1.0);
    EXPECT_EQ(answersIn(makeBatch(*data.validation, plainOrder(2).data(), 2), 5), 7);
}

TEST(Tasks, StopOnTheTrainingLoss) {
    TemporaryFolder home("train-loss");
    auto options = tinyPairOptions();
    options.train.epochs = 200;
    options.train.learning_rate = 0.0;  // never improves
    options.train.early_stopping.metric = "train_loss";
    options.train.early_stopping.patience = 3;
    options.train.early_stopping.min_delta = 0.5;
    const auto result = trained(home / "run", options, tinyPairs());
    EXPECT_EQ(result.info.state, RunState::Done);
    EXPECT_EQ(result.info.step, 4 * 16);
}

TEST(Tasks, AStageBeforeHandsItsWeightsOn) {
    TemporaryFolder home("stages");
    auto options = tinySpellingOptions();
    options.train.pretrain = "train.epochs=3 train.learning_rate=0.003";
    options.train.start_from = "all";
    options.train.epochs = 1;
    auto data = tinySpelling();
    data.pretraining = std::make_shared<const DataSplits>(tinySpelling());
    std::vector<TrainEvent> events;
    const std::string run = home / "run";
    ASSERT_EQ(trained(run, options, data, &events).info.state, RunState::Done);
    EXPECT_EQ(readRunInfo(run + "/before").state, RunState::Done);
    EXPECT_EQ(readRunOptions(run + "/before").train.epochs, 3);
    // The second stage begins where the first ended.
    const auto before = readMetrics(run + "/before"), own = readMetrics(run);
    const MetricPoint *last = nullptr, *first = nullptr;
    for (const auto& p : before)
        if (p.split == Split::Validation) last = &p;
    for (const auto& p : own)
        if (p.split == Split::Validation && !first) first = &p;
    ASSERT_TRUE(last && first);
    EXPECT_EQ(first->step, 0);
    EXPECT_NEAR(first->value("loss"), last->value("loss"), 1e-6);
    for (const auto& event : events)  // curves of the stage stay with it
        if (const auto* point = std::get_if<MetricPoint>(&event)) {
            EXPECT_LE(point->epoch, 1.0);
        }

    const auto other = [&](const std::string& which) {
        auto model = makeModel(options.model);
        initFrom(run + "/before", which, *model);
        return model;
    };
    EXPECT_THROW(other("nothing."), OptionError);
    EXPECT_THROW(other("final_out.>target_embedder."), OptionError);
    torch::manual_seed(4);
    const auto fresh = makeModel(options.model);
    torch::manual_seed(4);
    const auto some = other("abstractor.");
    const auto a = fresh->named_parameters(), b = some->named_parameters();
    EXPECT_TRUE(torch::equal(a["final_out.weight"], b["final_out.weight"]));
    EXPECT_FALSE(torch::equal(a["abstractor.layers.0.rca.wq.weight"],
                              b["abstractor.layers.0.rca.wq.weight"]));
}

TEST(Tasks, AStoppedStageIsGoneOnWith) {
    TemporaryFolder home("stopped-stage");
    auto options = tinySpellingOptions();
    options.train.pretrain = "train.epochs=6";
    options.train.start_from = "all";
    options.train.epochs = 1;
    auto data = tinySpelling();
    data.pretraining = std::make_shared<const DataSplits>(tinySpelling());
    const std::string run = home / "run";
    {
        std::stop_source stop;
        auto folder = RunFolder::create(run, options);
        Control control;
        const auto result = train(
            folder, data, control,
            [&](TrainEvent event) {
                if (const auto* p = std::get_if<Progress>(&event); p && p->step >= 5)
                    stop.request_stop();
            },
            stop.get_token());
        EXPECT_EQ(result.info.state, RunState::Interrupted);
        EXPECT_EQ(readRunInfo(run + "/before").state, RunState::Interrupted);
    }
    EXPECT_EQ(trained(run, options, data).info.state, RunState::Done);
    EXPECT_EQ(readRunInfo(run + "/before").state, RunState::Done);
}

TEST(Stages, AreOptionsOfTheirOwn) {
    auto options = presetOptions("sort-prelearn", "use-rel-model-decoder");
    const auto second = options.pretraining();
    ASSERT_TRUE(second);
    EXPECT_EQ(second->data.task, "permuted-argsort");
    EXPECT_EQ(second->model.architecture(), "Seq2SeqAbstractor");
    const auto first = second->pretraining();
    ASSERT_TRUE(first);
    EXPECT_EQ(first->data.kind, "pairs");
    EXPECT_EQ(first->model.number("object_dim"), 12);
    EXPECT_EQ(first->model.number("n_objects"), 2);
    EXPECT_FALSE(first->pretraining());
    EXPECT_EQ(second->initFrom().find("decoder"), std::string::npos);
    EXPECT_NE(options.initFrom().find("decoder"), std::string::npos);
    options.train.pretrain = "data.nothing=1";
    EXPECT_THROW(options.pretraining(), OptionError);
    options.train.pretrain = "words";
    EXPECT_THROW(options.pretraining(), OptionError);
}

}  // namespace
}  // namespace relascope
