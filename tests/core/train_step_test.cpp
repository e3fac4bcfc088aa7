// SPDX-License-Identifier: GPL-3.0-or-later
// Training on a GPU played by the CPU: the host runs ahead of the device, and steps are repeated as
// a graph, with the bits of steps that are done one by one.
#include <gtest/gtest.h>
#include <torch/types.h>

#include <algorithm>
#include <limits>
#include <map>

#include "bench/benchmark.h"
#include "bench/benchmark_parts.h"
#include "checkpoint/kept_weights.h"
#include "checkpoint/tensor_io.h"
#include "data/batches.h"
#include "model/attention/cuda_check.h"
#include "model/language/language_options.h"
#include "options/estimates.h"
#include "support/host_gpu.h"
#include "support/host_kernels.h"
#include "support/small_memory.h"
#include "support/tiny_run.h"
#include "support/tiny_tasks.h"
#include "support/trained.h"
#include "train/checkpoints.h"
#include "train/devices.h"

namespace relascope {
namespace {

using namespace testing_support;

/// Optimizers, each with the decay of an average of the weights.
const std::vector<std::pair<std::string, double>> kOptimizers = {{"adam", 0.0}, {"muon", 0.9}};

class TrainStep : public testing::Test {
protected:
    void SetUp() override {
        if (!hostGpuServes()) GTEST_SKIP() << "LibTorch's CUDA library is there";
    }
    RunOptions options() const {
        auto o = tinyOptions();
        o.train.device = "cuda:0";
        o.train.epochs = 3;
        o.train.clip_norm = 0.5;
        o.train.learning_rate = 0.001953125;  // the same as float
        o.model.set("dropout_rate", 0.2);
        return o;
    }
    Trained train(const std::string& name, const RunOptions& options,
                  std::function<void(const TrainEvent&, std::stop_source&)> watch = {},
                  const DataSplits& data = tinyData()) {
        const auto path = m_home / name;
        auto folder = isRunFolder(path) ? RunFolder::open(path) : RunFolder::create(path, options);
        return trainIn(folder, m_control, data, std::move(watch));
    }
    std::string path(const std::string& name) const { return m_home / name; }
    std::vector<std::vector<double>> points(const std::string& name) const {
        std::vector<std::vector<double>> all;
        for (const auto& p : readMetrics(path(name))) {
            std::vector<double> numbers = {static_cast<double>(p.step), p.epoch,
                                           static_cast<double>(p.examples)};
            for (const auto& [key, value] : p.values) numbers.push_back(value);
            all.push_back(numbers);
        }
        return all;
    }
    void expectSameWeights(const std::string& a, const std::string& b) const {
        const auto tensors = [&](const std::string& name) {
            return readTensors(newestCheckpoint(path(name) + "/checkpoints") +
                               "/model.safetensors");
        };
        const auto first = tensors(a), second = tensors(b);
        ASSERT_EQ(first.size(), second.size());
        for (const auto& [tensor, value] : first)
            EXPECT_TRUE(torch::equal(value, second.at(tensor))) << tensor;
    }

    FakeDevicesScope m_devices{
        {{.name = "cpu", .title = "CPU"}, {.name = "cuda:0", .title = "a GPU played by the CPU"}},
        [](const std::string&) {
            return DeviceMemory{std::uint64_t{8} << 30, std::uint64_t{8} << 30};
        }};
    TemporaryFolder m_home{"train-step"};
    Control m_control;
};

TEST_F(TrainStep, AGraphHasTheBitsOfStepsOneByOne) {
    for (const auto& [optimizer, average] : kOptimizers) {
        auto o = options();
        o.train.optimizer = optimizer, o.train.ema_decay = average;
        const auto one = "eager-" + optimizer, other = "graph-" + optimizer;
        const auto eager = train(one, o);
        EXPECT_EQ(eager.result.info.state, RunState::Done) << eager.result.info.message;
        EXPECT_EQ(eager.result.info.step, 18);
        Trained repeated;
        {
            const GraphTableScope graphs(hostGpuGraphs());
            repeated = train(other, o);
        }
        EXPECT_EQ(repeated.result.info.state, RunState::Done) << repeated.result.info.message;
        EXPECT_EQ(repeated.notes(), eager.notes());
        EXPECT_EQ(points(other), points(one));
        EXPECT_EQ(points(other).size(), 18u + 4u);
        expectSameWeights(other, one);
    }
}

TEST_F(TrainStep, EditsDropTheGraphAndTheirEndRecordsAnother) {
    Edit zero;
    zero.op = EditOp::Zero, zero.point = "blocks.0.rel.hook_r";
    EditList list;
    list.edits = {zero};
    auto o = options();
    o.train.evaluate_every = 1;  // the host does not run ahead of the edits
    const auto between = [&](const TrainEvent& event, std::stop_source&) {
        const auto* point = std::get_if<MetricPoint>(&event);
        if (!point || point->split != Split::Train) return;
        if (point->step == 6) m_control.setInterventions(list);
        if (point->step == 9) m_control.setInterventions({});
    };
    const auto eager = train("eager", o, between);
    EXPECT_EQ(eager.result.info.state, RunState::Done) << eager.result.info.message;
    train("plain", o);
    EXPECT_NE(points("plain"), points("eager"));
    const GraphTableScope graphs(hostGpuGraphs());
    const auto repeated = train("graph", o, between);
    EXPECT_EQ(repeated.notes(), eager.notes());
    EXPECT_EQ(points("graph"), points("eager"));
    expectSameWeights("graph", "eager");
}

TEST_F(TrainStep, AGraphNeedsFewOperations) {
    // No evaluation, capture or checkpoint between: 40 steps of one epoch.
    auto o = options();
    o.train.steps = 40, o.train.evaluate_every = 1000, o.train.capture_samples = 0;
    const auto data = tinyData(16 * 60, 16);
    const auto operations = [&](const std::string& name) {
        const auto before = hostGpuCounts().operations;
        train(name, o, {}, data);
        return hostGpuCounts().operations - before;
    };
    const auto eager = operations("eager");
    const GraphTableScope graphs(hostGpuGraphs());
    EXPECT_LT(operations("graph") * 3, eager);
    EXPECT_EQ(points("graph"), points("eager"));
}

TEST_F(TrainStep, TheCpuComesToTheSameLosses) {
    auto o = options();
    o.model.set("dropout_rate", 0.0);
    const GraphTableScope graphs(hostGpuGraphs());
    train("gpu", o);
    o.train.device = "cpu";
    train("cpu", o);
    const auto gpu = points("gpu"), cpu = points("cpu");
    ASSERT_EQ(gpu.size(), cpu.size());
    for (std::size_t i = 0; i < gpu.size(); ++i) {
        ASSERT_EQ(gpu[i].size(), cpu[i].size());
        for (std::size_t j = 0; j < gpu[i].size(); ++j)
            EXPECT_NEAR(gpu[i][j], cpu[i][j], 2e-3 * std::max(1.0, std::abs(cpu[i][j])))
                << i << " " << j;
    }
}

TEST_F(TrainStep, KeepsTheWeightsOfItsStepsWhileItRunsAhead) {
    train("eager", options());
    const GraphTableScope graphs(hostGpuGraphs());
    train("graph", options());
    const KeptWeights kept(path("eager"));
    ASSERT_GE(kept.steps().size(), 15u);
    for (const auto& step : kept.steps()) {
        const auto a = readKeptValues(keptFolder(path("eager")), step.step),
                   b = readKeptValues(keptFolder(path("graph")), step.step);
        EXPECT_EQ(a.checksum(), b.checksum()) << step.step;
    }
    const auto there = readTensors(path("graph") + "/checkpoints/step-18/model.safetensors");
    for (const auto& [name, tensor] : readTensors(path("graph") + "/weights/step-18.safetensors"))
        EXPECT_TRUE(torch::equal(tensor, there.at(name))) << name;
}

TEST_F(TrainStep, SeveralBatchesAStepAndAShortLastOne) {
    auto o = options();
    o.train.tokens_per_step = 17 * o.model.tokens();
    ASSERT_EQ(stepBatches(o), 2);
    const auto data = tinyData(16 * 5 + 3, 16);  // the last step of an epoch has 16 and 3
    train("eager", o, {}, data);
    const GraphTableScope graphs(hostGpuGraphs());
    const auto trained = train("graph", o, {}, data);
    EXPECT_EQ(trained.result.info.step, 9);
    EXPECT_EQ(points("graph"), points("eager"));
    expectSameWeights("graph", "eager");
}

TEST_F(TrainStep, ResumesBitForBit) {
    const GraphTableScope graphs(hostGpuGraphs());
    for (const auto& [optimizer, average] : kOptimizers) {
        auto o = options();
        o.train.optimizer = optimizer, o.train.ema_decay = average;
        const auto whole = "whole-" + optimizer, parts = "parts-" + optimizer;
        train(whole, o);
        train(parts, o, stopAfter(8));
        const auto trained = train(parts, o);
        EXPECT_EQ(trained.result.info.state, RunState::Done);
        EXPECT_EQ(points(parts), points(whole));
        expectSameWeights(parts, whole);
    }
}

TEST_F(TrainStep, ACancelledRunKeepsTheStepsThatWereStarted) {
    const GraphTableScope graphs(hostGpuGraphs());
    auto o = options();
    o.train.steps = 200, o.train.evaluate_every = 1000, o.train.capture_samples = 0;
    const auto data = tinyData(16 * 300, 16);
    const auto cut = train("cut", o, stopAfter(50), data);
    EXPECT_EQ(cut.result.info.state, RunState::Interrupted);
    EXPECT_GE(cut.result.info.step, 50);
    EXPECT_LT(cut.result.info.step, 200);
    train("cut", o, {}, data);
    train("whole", o, {}, data);
    EXPECT_EQ(points("cut"), points("whole"));
    expectSameWeights("cut", "whole");
}

TEST_F(TrainStep, ANewLearningRateReachesTheGraph) {
    auto o = options();
    const auto edit = [this](const TrainEvent& event, std::stop_source&) {
        const auto* point = std::get_if<MetricPoint>(&event);
        if (point && point->split == Split::Validation && point->step == 6)
            m_control.changeOption("train.learning_rate", 0.0078125);
    };
    train("eager", o, edit);
    const GraphTableScope graphs(hostGpuGraphs());
    train("graph", o, edit);
    EXPECT_EQ(points("graph"), points("eager"));
    const auto rates = points("graph");
    EXPECT_NE(rates.front(), rates.back());
    train("unchanged", o);
    EXPECT_NE(points("graph"), points("unchanged"));
}

TEST_F(TrainStep, AScheduleReachesTheGraph) {
    auto o = options();
    o.train.schedule = "cosine", o.train.warmup_steps = 4;
    train("eager", o);
    const GraphTableScope graphs(hostGpuGraphs());
    train("graph", o);
    EXPECT_EQ(points("graph"), points("eager"));
}

TEST_F(TrainStep, StopsBeforeANonFiniteUpdateAndNamesTheLayer) {
    auto o = options();
    o.train.learning_rate = 1e30, o.train.clip_norm = 0.0;
    for (const bool graph : {false, true}) {
        std::optional<GraphTableScope> graphs;
        if (graph) graphs.emplace(hostGpuGraphs());
        const std::string name = graph ? "graph" : "eager";
        const auto trained = train(name, o);
        EXPECT_EQ(trained.result.info.state, RunState::Failed);
        EXPECT_LT(trained.result.info.step, 6);
        const auto& message = trained.result.info.message;
        EXPECT_NE(
            message.find("not finite at step " + std::to_string(trained.result.info.step + 1)),
            std::string::npos)
            << message;
        EXPECT_EQ(message.find("did not show"), std::string::npos) << message;
        for (const auto& [tensor, value] :
             readTensors(newestCheckpoint(path(name) + "/checkpoints") + "/model.safetensors"))
            EXPECT_TRUE(torch::isfinite(value).all().item<bool>()) << tensor;
    }
    expectSameWeights("graph", "eager");
}

TEST_F(TrainStep, AGraphInBFloat16HasTheBitsOfStepsOneByOne) {
    auto o = options();
    o.train.epochs = 1;
    train("float32", o);
    o.train.precision = "bfloat16";
    {
        const GraphTableScope numbers(hostGpuNumbers());
        restartHostGpuNumbers();
        train("eager", o);
    }
    restartHostGpuNumbers();
    const GraphTableScope graphs(hostGpuGraphs());
    train("graph", o);
    EXPECT_EQ(points("graph"), points("eager"));
    expectSameWeights("graph", "eager");
    EXPECT_NE(points("graph"), points("float32"));
}

TEST_F(TrainStep, IsMeasuredInEachWay) {
    const CpuKernelsScope kernels(hostGpuKernels());
    const GraphTableScope graphs(hostGpuGraphs());
    const auto result = runBenchmark("relgames_transformer", "cuda:0", {.seconds = 0.0});
    std::map<std::string, double> figures(result.figures.begin(), result.figures.end());
    for (const char* way : {"libtorch", "graph"}) {
        const auto time = figures.find(std::string(way) + "_step_ms");
        ASSERT_NE(time, figures.end()) << way;
        EXPECT_GE(time->second, result.trainStepMs) << way;
    }
    EXPECT_FALSE(figures.contains("kernels_step_ms")) << "in 16 bits alone";
    EXPECT_EQ(figures.at("batch"), 512.0);
    EXPECT_GT(result.trainStepMs, 0.0);
}

TEST_F(TrainStep, AWayThatDoesNotFitLeavesOnlyItsFiguresOut) {
    SmallMemory memory;
    ModelOptions options("DualAttnTransformerLM");
    auto& m = options.get<DualAttnTransformerLMOptions>();
    m.vocab_size = 20, m.max_block_size = 128, m.d_model = m.dff = 16, m.n_layers = 1;
    m.n_heads_sa = m.n_heads_ra = 2, m.n_relations = 4, m.symbol_retrieval = "symbolic_attention";
    m.n_symbols = 4, m.symbol_heads = 1, m.dropout_rate = 0.0;
    torch::manual_seed(3);
    auto model = makeModel(options);
    model->to(hostGpu());
    model->train();
    Optimizer optimizer(*model, TrainOptions{});
    const auto tokens = torch::randint(20, {2, 128}, torch::kLong).to(hostGpu());
    const DeviceStep step{*model, optimizer, tokens, tokens};
    const auto measured = [&] {
        memory.peak = memory.live();
        BenchmarkResult result;
        measureDeviceStep(step, 0.0, result);
        std::vector<std::string> ways;
        for (const auto& [name, value] : result.figures) ways.push_back(name);
        EXPECT_GT(result.trainStepMs, 0.0);
        return ways;
    };
    const std::string libtorch = "libtorch_step_ms", graph = "graph_step_ms";
    EXPECT_EQ(measured(), std::vector{libtorch});
    const auto before = memory.live(), most = memory.peak - before;
    const GraphTableScope graphs(hostGpuGraphs());
    EXPECT_EQ(measured(), (std::vector{libtorch, graph}));
    // A recording here keeps all that a step makes.
    memory.limit = before + most / 10 * 11;
    EXPECT_EQ(measured(), std::vector{libtorch});
    EXPECT_LE(memory.live(), before) << "what the other took is released";
    memory.limit = before + most / 20;
    EXPECT_THROW(measured(), c10::OutOfMemoryError);
}

/// Pairs of which one is not a number.
class OneNotANumber : public Larger {
public:
    OneNotANumber(std::int64_t size, std::int64_t which) : Larger(size, 1), m_which(which) {}
    void read(std::int64_t index, std::span<float> objects,
              std::span<float> targets) const override {
        Larger::read(index, objects, targets);
        if (index == m_which) objects[0] = std::numeric_limits<float>::quiet_NaN();
    }

private:
    std::int64_t m_which;
};

TEST_F(TrainStep, FiniteStepsAfterOneThatIsNotChangeNothing) {
    constexpr std::int64_t size = 1024, good = 6;
    auto o = tinyPairOptions();
    o.train.device = "cuda:0", o.train.evaluate_every = 1000, o.train.capture_samples = 0;
    o.train.checkpoint_every = 1000, o.train.steps = 30;
    auto data = tinyPairs();
    // An example of the seventh batch; the steps before are recorded from the fourth on.
    data.train = std::make_shared<OneNotANumber>(
        size, shuffledOrder(size, 0, 0)[static_cast<std::size_t>(good * o.train.batch_size)]);
    const GraphTableScope graphs(hostGpuGraphs());
    const auto failed = train("failed", o, {}, data);
    EXPECT_EQ(failed.result.info.state, RunState::Failed);
    EXPECT_EQ(failed.result.info.step, good);
    EXPECT_NE(failed.result.info.message.find("the inputs are not finite"), std::string::npos)
        << failed.result.info.message;
    o.train.steps = good;
    EXPECT_EQ(train("short", o, {}, data).result.info.state, RunState::Done);
    expectSameWeights("failed", "short");
}

TEST_F(TrainStep, StepsThatCannotBeRecordedAreDoneOneByOne) {
    auto o = options();
    o.train.activation_checkpointing = true;
    train("eager", o);
    const GraphTableScope graphs(hostGpuGraphs());
    const auto trained = train("graph", o);
    EXPECT_EQ(trained.result.info.state, RunState::Done) << trained.result.info.message;
    EXPECT_EQ(points("graph"), points("eager"));
    const auto notes = trained.notes();
    EXPECT_EQ(std::count_if(notes.begin(), notes.end(),
                            [](const std::string& text) {
                                return text.find("not repeated as a CUDA graph") !=
                                           std::string::npos &&
                                       text.find("activation_checkpointing") != std::string::npos;
                            }),
              1);
}

}  // namespace
}  // namespace relascope
