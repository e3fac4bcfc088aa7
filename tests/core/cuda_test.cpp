// SPDX-License-Identifier: GPL-3.0-or-later
// The same checks on a CUDA device. They are registered only where one is usable; the run says how
// many.
#include <c10/core/CachingDeviceAllocator.h>
#include <gtest/gtest.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <cstdio>
#include <optional>

#include "analysis/open_model.h"
#include "analysis/verify/verify.h"
#include "evaluate/evaluate.h"
#include "model/attention/relational_attention.h"
#include "model/graph/device_graph.h"
#include "model/kernels/plugin.h"
#include "run/run_lines.h"
#include "support/form_results.h"
#include "support/golden_cases.h"
#include "support/rooms.h"
#include "support/tensor_dropout.h"
#include "support/tiny_run.h"
#include "support/trained.h"
#include "train/devices.h"
#include "train/out_of_memory.h"
#include "train/train.h"

namespace relascope {
namespace {

using namespace testing_support;

TrainResult trainOn(RunFolder& folder, const std::string& device, std::int64_t epochs,
                    const std::string& precision = "float32") {
    auto options = folder.options();
    options.train.device = device, options.train.epochs = epochs,
    options.train.precision = precision;
    folder.setOptions(options);
    Control control;
    return train(folder, tinyData(), control, [](TrainEvent) {}, {});
}

void goldenCasesVerify() {
    auto cases = goldenCases();
    for (const auto& name : whyCases()) cases.push_back(name);
    for (const auto& name : cases) {
        const auto report =
            verifyFolder(std::string(RELASCOPE_FIXTURES) + "/golden/" + name, "cuda:0");
        for (const auto& line : report.lines)
            EXPECT_TRUE(line.ok) << name << " " << line.name << " " << line.absolute << " "
                                 << line.note;
    }
}

void trainsResumesAndIsInspected() {
    TemporaryFolder home("cuda");
    {
        auto folder = RunFolder::create(home / "run", tinyOptions());
        EXPECT_EQ(trainOn(folder, "cuda:0", 2).info.state, RunState::Done);
    }
    {
        auto folder = RunFolder::open(home / "run");
        EXPECT_EQ(trainOn(folder, "cuda:0", 4).info.step, 24);
    }
    OpenedModel cuda(home / "run", "last", "cuda:0"), cpu(home / "run", "last", "cpu");
    const auto sample = tinyData().validation->sample(1);
    const auto a = cuda.probe(sample, {}), b = cpu.probe(sample, {});
    ASSERT_EQ(a.maps.size(), b.maps.size());
    for (std::size_t i = 0; i < a.maps.size(); ++i)
        EXPECT_TRUE(torch::allclose(torch::tensor(a.maps[i].all()), torch::tensor(b.maps[i].all()),
                                    1e-4, 1e-4))
            << "map " << i;
}

Tensors moved(Tensors all, torch::Device device) {
    for (auto& x : all)
        if (x.defined()) x = x.to(device);
    return all;
}

// The published sizes, under autocast as training has it.
void ownTensorKernelsAgree() {
    ASSERT_EQ(kernels::kernelsProblem(0), "");
    const auto* gpu = findDevice("cuda:0");
    checkKernels(*gpu);
    const auto found = kernelProblems(*gpu);
    EXPECT_EQ(found.decoding + found.tensor, "");
    if (std::atof(gpu->capability.c_str()) < 8.0)
        GTEST_SKIP() << "tensor cores of compute capability 8.0 are needed";
    for (const int groups : {1, 2})
        for (const std::int64_t n : {37, 200}) {
            RelationalOptions o;
            o.d_model = 64, o.n_heads = 8 * groups, o.head_dim = 64, o.n_kv_heads = 4 * groups;
            o.n_relations = 64 * groups, o.rel_proj_dim = 8;
            o.causal = o.rope = true;
            torch::manual_seed(3);
            RelationalAttentionImpl module(o);
            const Tensors in = {torch::randn({2, n, 64}), torch::randn({2, n, 64})};
            const auto forward = [&](const Tensors& x) {
                return module.forward(x[0], {x[1], -1}).to(torch::kFloat);
            };
            const auto plain = explicitResultsOf(module, in, forward);
            module.to(torch::kCUDA);
            module.form = AttentionForm::Automatic;
            const AutocastScope autocast(true);
            const auto own =
                moved(resultsOf(module, moved(in, torch::kCUDA), forward), torch::kCPU);
            // Consumer devices lack the shared memory for the larger model.
            if (groups == 1) {
                EXPECT_EQ(module.lastForm(), "cuda, tensor cores");
            }
            for (std::size_t i = 0; i < own.size(); ++i) {
                const auto difference = own[i].to(torch::kDouble) - plain[i].to(torch::kDouble);
                EXPECT_LT(difference.norm().item<double>(), 0.03 * plain[i].norm().item<double>())
                    << n << " tokens, " << groups << " groups, tensor " << i;
            }
        }
}

// With dropout, and in both 16-bit types.
void ownKernelsDropTheSame() {
    if (std::atof(findDevice("cuda:0")->capability.c_str()) < 8.0)
        GTEST_SKIP() << "tensor cores of compute capability 8.0 are needed";
    expectSameDropout(torch::Device("cuda:0"), 200);
}

void resumesBitForBit() {
    TemporaryFolder home("cuda-resume");
    std::vector<double> losses[2];
    for (const bool parts : {false, true}) {
        const std::string path = home / (parts ? "parts" : "whole");
        {
            auto folder = RunFolder::create(path, tinyOptions());
            trainOn(folder, "cuda:0", parts ? 2 : 4);
        }
        if (parts) {
            auto folder = RunFolder::open(path);
            trainOn(folder, "cuda:0", 4);
        }
        for (const auto& p : readMetrics(path))
            if (p.split == Split::Train) losses[parts].push_back(p.value("loss"));
    }
    EXPECT_EQ(losses[0], losses[1]);
}

// Steps as a graph have the bits of steps one by one.
void graphsRepeatSteps() {
    const auto* library = graphLibrary().table;
    ASSERT_NE(library, nullptr) << graphLibrary().problem;
    static const GraphTable eager{sizeof(GraphTable), [](int) -> DeviceGraph* { return nullptr; },
                                  library->drawPhilox};
    TemporaryFolder home("cuda-graph");
    auto options = tinyOptions();
    options.model.set("dropout_rate", 0.2);
    std::vector<double> found[2];
    for (const bool graph : {false, true}) {
        const std::string path = home / (graph ? "graph" : "eager");
        auto folder = RunFolder::create(path, options);
        std::optional<GraphTableScope> without;
        if (!graph) without.emplace(eager);
        EXPECT_EQ(trainOn(folder, "cuda:0", 20).info.step, 120);
        for (const auto& note : readEvents(path))
            EXPECT_EQ(note.text.find("not repeated as a CUDA graph"), std::string::npos)
                << note.text;
        found[graph] = losses(path);
    }
    EXPECT_EQ(found[0], found[1]);
}

// CUDA itself ends a recording that reads a number. Random numbers, memory and the next recording
// are as if it had not been tried.
void aFailedRecordingLeavesNothing() {
    const torch::Device gpu("cuda:0");
    const auto x = torch::ones({1 << 20}, gpu);
    const auto drop = [&] { return torch::dropout(x, 0.5, true); };
    torch::manual_seed(4);
    const auto first = drop(), second = drop(), third = drop();
    torch::manual_seed(4);
    EXPECT_TRUE(torch::equal(drop(), first));
    auto* allocator = dynamic_cast<c10::DeviceAllocator*>(c10::GetAllocator(gpu.type()));
    ASSERT_NE(allocator, nullptr);
    const auto reserved = [&] {
        releaseDeviceMemory();
        return allocator->getDeviceStats(0).reserved_bytes[0].current;
    };
    const auto before = reserved();
    {
        const auto graph = makeDeviceGraph(gpu);
        ASSERT_NE(graph, nullptr) << graphLibrary().problem;
        EXPECT_ANY_THROW(graph->record([&] { (void)drop().sum().item<float>(); }));
    }
    EXPECT_EQ(reserved(), before) << "memory is released as before";
    EXPECT_TRUE(torch::equal(drop(), second));
    const auto graph = makeDeviceGraph(gpu);
    torch::Tensor result;
    graph->record([&] { result = drop(); });
    graph->replay();
    EXPECT_TRUE(torch::equal(result, third));
}

// It can take nothing that the steps before have left in the allocator.
void aGraphMayTakeMostOfTheMemory() {
    const auto bytes = torch::TensorOptions(torch::kByte).device("cuda:0");
    releaseDeviceMemory();
    const auto most = static_cast<std::int64_t>(freeMemory("cuda:0") / 10 * 6);
    ASSERT_GT(most, 0);
    const auto work = [&] { torch::zeros({most}, bytes); };
    const auto graph = makeDeviceGraph(torch::Device("cuda:0"));
    ASSERT_NE(graph, nullptr) << graphLibrary().problem;
    graph->rehearse(work);
    EXPECT_NO_THROW(graph->record(work));
    graph->replay();
}

void movesBetweenDevices() {
    TemporaryFolder home("cuda-move");
    {
        auto folder = RunFolder::create(home / "run", tinyOptions());
        trainOn(folder, "cpu", 1);
    }
    for (const auto& [device, epochs] : {std::pair{"cuda:0", 2}, std::pair{"cpu", 3}}) {
        auto folder = RunFolder::open(home / "run");
        EXPECT_EQ(trainOn(folder, device, epochs).info.step, 6 * epochs);
    }
    bool warned = false;
    for (const auto& note : readEvents(home / "run"))
        warned = warned || note.level == Note::Level::Warning;
    EXPECT_TRUE(warned) << "the change of device is said";
}

void bfloat16Trains() {
    TemporaryFolder home("cuda-bf16");
    auto folder = RunFolder::create(home / "run", tinyOptions());
    const auto result = trainOn(folder, "cuda:0", 20, "bfloat16");
    EXPECT_EQ(result.info.state, RunState::Done);
    EXPECT_GT(result.lastValidation.value("accuracy"), 0.8);
}

class CudaTest : public testing::Test {
public:
    explicit CudaTest(void (*body)()) : m_body(body) {}
    void TestBody() override { m_body(); }

private:
    void (*m_body)();
};

// Before main: the devices are asked once, and the tests exist only where there is one.
const int registered = [] {
    initDevices(1);  // one thread: the same speed on a busy machine
    int count = 0;
    for (const auto& device : devices()) {
        if (device.name != "cuda:0" || !device.usable) continue;
        const std::pair<const char*, void (*)()> tests[] = {
            {"GoldenCasesVerify", goldenCasesVerify},
            {"TrainsResumesAndIsInspected", trainsResumesAndIsInspected},
            {"ResumesBitForBit", resumesBitForBit},
            {"GraphsRepeatSteps", graphsRepeatSteps},
            {"AFailedRecordingLeavesNothing", aFailedRecordingLeavesNothing},
            {"AGraphMayTakeMostOfTheMemory", aGraphMayTakeMostOfTheMemory},
            {"MovesBetweenDevices", movesBetweenDevices},
            {"Bfloat16Trains", bfloat16Trains},
            {"OwnTensorKernelsAgree", ownTensorKernelsAgree},
            {"OwnKernelsDropTheSame", ownKernelsDropTheSame}};
        for (const auto& [name, body] : tests) {
            testing::RegisterTest("Cuda", name, nullptr, nullptr, __FILE__, __LINE__,
                                  [body = body]() -> testing::Test* { return new CudaTest(body); });
            ++count;
        }
    }
    std::printf("CUDA tests: %d registered%s\n", count, count ? "" : " (no usable CUDA device)");
    return count;
}();

TEST(Devices, SayWhyCudaIsNotUsable) {
    ASSERT_FALSE(devices().empty());
    EXPECT_EQ(devices()[0].name, "cpu");
    EXPECT_TRUE(devices()[0].usable);
    EXPECT_EQ(resolveDevice("cpu"), "cpu");
    EXPECT_EQ(resolveDevice("auto"), registered ? "cuda:0" : "cpu");
    EXPECT_THROW(resolveDevice("gpu"), OptionError);
    for (const auto& device : devices()) EXPECT_EQ(device.usable, device.reason.empty());
    if (registered) return;
    ASSERT_EQ(devices().size(), 2u);
    EXPECT_FALSE(devices()[1].reason.empty());
    EXPECT_THROW(resolveDevice("cuda:0"), OptionError);
}

}  // namespace
}  // namespace relascope
