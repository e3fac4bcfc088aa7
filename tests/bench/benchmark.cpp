// SPDX-License-Identifier: GPL-3.0-or-later
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <malloc.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <torch/utils.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>

#include "bench/benchmark.h"
#include "bench/benchmark_parts.h"
#include "bench/inspect_benchmark.h"
#include "bench/rank_benchmark.h"
#include "bench/step_trace.h"
#include "evaluate/evaluate.h"
#include "evaluate/scoring.h"
#include "files/memory.h"
#include "files/processor.h"
#include "model/attention/cuda_check.h"
#include "model/attention/relational_attention.h"
#include "model/blocks/bfloat16.h"
#include "model/blocks/parameters.h"
#include "model/decode/generate.h"
#include "model/graph/device_graph.h"
#include "model/language/language_options.h"
#include "model/model.h"
#include "model/vision/vision_options.h"
#include "options/estimates.h"
#include "options/presets.h"
#include "train/devices.h"
#include "train/optimizer.h"
#include "train/out_of_memory.h"
#include "types/suggest.h"

namespace relascope::core {

double medianOf(std::vector<double> values) {
    std::nth_element(values.begin(),
                     values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

std::vector<double> timesOf(double seconds, const torch::Device& device,
                            const std::function<void()>& work) {
    using Clock = std::chrono::steady_clock;
    const auto once = [&] {
        const auto start = Clock::now();
        work();
        if (!device.is_cpu())
            c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
        return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    };
    once(), once();
    std::vector<double> times;
    for (double total = 0; total < seconds * 1000 || times.size() < 3;)
        total += times.emplace_back(once());
    return times;
}

std::string lastFormOf(const ModelImpl& model) {
    std::string form = "none";
    for (const auto& module : model.modules())
        if (const auto* heads = dynamic_cast<const RelationalHeadsImpl*>(module.get()))
            form = heads->lastForm();
    return form;
}

namespace {

// Megabytes of the device that tensors took at most since the last call; 0 where LibTorch does not
// count them.
double takePeakMb(const torch::Device& device) {
    auto* allocator = dynamic_cast<c10::DeviceAllocator*>(c10::GetAllocator(device.type()));
    if (!allocator) return 0.0;
    const auto peak = allocator->getDeviceStats(device.index()).allocated_bytes[0].peak;
    allocator->resetPeakStats(device.index());
    return static_cast<double>(peak) / 1048576.0;
}

void runOnce(const DeviceStep& step, const torch::Tensor& rate, const torch::Tensor& failed) {
    step.optimizer.zeroGradients();
    torch::Tensor scores;
    {
        const AutocastScope autocast(step.half, step.targets.device().type());
        scores = step.model.forward(step.input).to(torch::kFloat);
    }
    crossEntropy(scores, step.targets).backward();
    step.optimizer.step(rate, step.optimizer.gradientNorm(), failed);
}

}  // namespace

double ownMb(const char* name) {
    return static_cast<double>(memoryFigure("/proc/self/status", name)) / 1048576.0;
}

void measureDeviceStep(const DeviceStep& step, double seconds, BenchmarkResult& result) {
    const auto device = step.targets.device();
    const auto number = torch::TensorOptions().dtype(torch::kFloat).device(device);
    const auto rate = torch::full({}, 1e-3, number), failed = torch::zeros({}, number);
    const auto work = [&] { runOnce(step, rate, failed); };
    double best = 0.0;
    std::exception_ptr failure;
    const auto measure = [&](const std::string& way, const std::function<void()>& repeated) {
        repeated();
        takePeakMb(device);
        const auto times = timesOf(seconds, device, repeated);
        const double ms = medianOf(times);
        result.figures.emplace_back(way + "_step_ms", ms);
        if (const double mb = takePeakMb(device); mb > 0)
            result.figures.emplace_back(way + "_peak_mb", mb);
        if (best > 0.0 && ms >= best) return;
        best = result.trainStepMs = ms;
        result.trainStepBestMs = *std::min_element(times.begin(), times.end());
        result.steps = static_cast<int>(times.size());
        result.form = lastFormOf(step.model);
    };
    // The ways need different amounts of memory: one that fails leaves only its own figures out.
    const auto attempt = [&](const char* what, const std::function<void()>& measured) {
        try {
            measured();
            return;
        } catch (const std::exception& error) {
            failure = std::current_exception();
            const auto text = messageOn(device.str(), error);
            std::fprintf(stderr, "relascope: %s: %s\n", what,
                         text.substr(0, text.find('\n')).c_str());
        }
        step.optimizer.zeroGradients();
        releaseDeviceMemory();
    };
    attempt("the step by LibTorch's attention is not measured", [&] {
        const NoCudaKernelsScope without;
        measure("libtorch", work);
    });
    if (step.half && checkedKernels(device).table)
        attempt("the step by the program's own kernels is not measured",
                [&] { measure("kernels", work); });
    if (const auto graph = makeDeviceGraph(device))
        attempt("the step is not repeated as a CUDA graph", [&] {
            for (int i = 0; i < 3; ++i) graph->rehearse(work);
            graph->record(work);
            measure("graph", [&] { graph->replay(); });
        });
    if (best == 0.0) std::rethrow_exception(failure);
}

std::int64_t largestBatch(std::int64_t most, const std::function<DeviceStep(std::int64_t)>& step) {
    std::int64_t fits = 0;
    for (std::int64_t batch = 1; batch <= most; batch *= 2) {
        try {
            const auto tried = step(batch);
            const auto number =
                torch::TensorOptions().dtype(torch::kFloat).device(tried.targets.device());
            runOnce(tried, torch::zeros({}, number), torch::zeros({}, number));
            fits = batch;
        } catch (const std::exception& error) {
            if (fits == 0 || !isOutOfMemory(error)) throw;
            break;
        }
    }
    releaseDeviceMemory();
    return fits;
}

namespace {

struct Workload {
    ModelOptions model;
    std::int64_t batch = 0;
};

// CPU time of all threads so far, in milliseconds.
double processMs() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

// d 512, vocabulary 8192, sa 4 + ra 4, 32 relations, symbolic attention (benchmarks.md).
ModelOptions languageModel(std::int64_t layers, std::int64_t context) {
    ModelOptions options("DualAttnTransformerLM");
    auto& m = options.get<DualAttnTransformerLMOptions>();
    m.vocab_size = 8192, m.max_block_size = context;
    m.d_model = 512, m.n_layers = layers, m.dff = 2048;
    m.n_heads_sa = m.n_heads_ra = 4;
    m.n_relations = 32, m.symmetric_rels = false;
    m.symbol_retrieval = "symbolic_attention", m.n_symbols = 512, m.symbol_heads = 4;
    m.activation = "gelu", m.dropout_rate = 0.0, m.pos_enc_type = "RoPE";
    return options;
}

Workload workload(const std::string& name) {
    if (name == "relgames_dat" || name == "contended") {
        auto m = presetOptions("relational-games-between", "dat").model;
        m.set("rel_proj_dim",
              0L);  // the width in the published package, for comparison
        return {m, 512};
    }
    if (name == "relgames_transformer")
        return {presetOptions("relational-games-between", "transformer").model, 512};
    if (name == "cifar_vidat") {
        ModelOptions options("VisionDualAttnTransformer");
        auto& m = options.get<VisionDualAttnTransformerOptions>();
        m.image_shape = {3, 32, 32};
        m.patch_size = {4, 4};
        m.num_classes = 10;
        m.d_model = m.dff = 384;
        m.n_layers = 8;
        m.n_heads_sa = m.n_heads_ra = 6;
        m.sa_n_kv_heads = m.ra_n_kv_heads = 3;
        m.activation = "gelu";
        m.dropout_rate = 0.0;
        m.bias = true;
        m.symbol_retrieval = "position_relative";
        m.symmetric_rels = true;
        return {options, 32};
    }
    if (name == "lm_dat_512" || name == "generate_256" || name == "ranks")
        return {languageModel(4, 512), 2};
    if (name == "lm_dat_512_dropout") {
        auto m = languageModel(4, 512);
        m.set("dropout_rate", 0.1);
        return {m, 2};
    }
    if (name == "lm_dat_1024") return {languageModel(2, 1024), 2};
    if (name == "lm_dat_memory") return {languageModel(2, 2048), 1};
    if (name == "lm_transformer_512") {
        auto m = languageModel(4, 512);
        m.setArchitecture("TransformerLM");
        m.set("n_heads_sa", 8L);
        return {m, 2};
    }
    if (name == "lm_hadamard_512") {
        auto m = languageModel(4, 512);
        m.setArchitecture("HadamardTransformerLM");
        return {m, 2};
    }
    // An alphabet of 85, sources of 161 characters and targets of 31.
    if (name == "mathematics") return {presetOptions("math-linear-1d", "dat").model, 32};
    if (name == "lm_dat_343m" || name == "generate_343m")
        return {presetOptions("lm-343m", "dat").model, 8};
    throw OptionError("name", unknownName("benchmark", name, benchmarkNames()));
}

ModelInput randomBatch(const ModelOptions& o, std::int64_t batch, std::int64_t tokens,
                       const torch::Device& device) {
    const auto ids = [&](std::int64_t count, std::int64_t length) {
        return torch::randint(count, {batch, length}, torch::kLong).to(device);
    };
    if (o.input() == InputKind::Tokens) return ids(o.outputs(), tokens);
    if (o.input() == InputKind::Pairs) {
        const auto& pair = o.get<PairInput>();
        return {ids(pair.input_size, pair.in_block_size),
                ids(pair.output_size, pair.out_block_size)};
    }
    const auto& shape = o.get<ImageInput>().image_shape;
    return torch::rand({batch, shape[0], shape[2], shape[1]}).to(device);
}

// A busy loop in a session of its own, as any other program on a desktop is: the scheduler shares a
// core evenly between sessions, so `nice` would not help this process.
class BusyNeighbour {
public:
    BusyNeighbour() {
        // The loop ends with this process, also if that is killed.
        const std::string loop = "while kill -0 " + std::to_string(getpid()) +
                                 "; do i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; done";
        std::string shell = "sh", option = "-c", script = loop + " 2>/dev/null";
        char* words[] = {shell.data(), option.data(), script.data(), nullptr};
        posix_spawnattr_t attributes;
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
        const int error = posix_spawn(&m_process, "/bin/sh", nullptr, &attributes, words, environ);
        posix_spawnattr_destroy(&attributes);
        if (error != 0) throw Error("contended: no busy process could be started");
    }
    ~BusyNeighbour() {
        kill(m_process, SIGKILL);
        waitpid(m_process, nullptr, 0);
    }
    BusyNeighbour(const BusyNeighbour&) = delete;
    BusyNeighbour& operator=(const BusyNeighbour&) = delete;

private:
    pid_t m_process = 0;
};

// The peak memory that a step adds to what is there, in megabytes.
double memoryOfStep(const std::function<void()>& step) {
    malloc_trim(0);  // memory that the allocator still holds would hide the need of the step
    std::ofstream("/proc/self/clear_refs") << "5";  // resets the peak
    const double before = ownMb("VmRSS");
    step();
    return ownMb("VmHWM") - before;
}

// The peak memory that one step adds, for texts of growing length.
void measureMemory(ModelImpl& model, const ModelOptions& options, Optimizer& optimizer,
                   BenchmarkResult& result) {
    for (const std::int64_t n : {256, 256, 512, 1024, 2048}) {  // the first one warms up
        const auto tokens = torch::randint(options.outputs(), {1, n}, torch::kLong);
        optimizer.zeroGradients();
        const double added =
            memoryOfStep([&] { crossEntropy(model.forward(tokens), tokens).backward(); });
        const std::string name = "step_mb_" + std::to_string(n);
        if (!result.figures.empty() && result.figures.back().first == name)
            result.figures.back().second = added;
        else
            result.figures.emplace_back(name, added);
        optimizer.step(1e-3);
    }
}

// A prompt of 32 tokens and 224 more, one at a time.
double tokensPerSecond(ModelImpl& model, const ModelOptions& options, double seconds) {
    std::string problem;
    torch::manual_seed(1);
    const auto prompt = torch::randint(options.outputs(), {32}, torch::kLong);
    const std::int64_t count = 224;
    const auto times = timesOf(seconds, model.parameters().front().device(), [&] {
        LanguageReader reader(model, options);
        GenerateOptions greedy;
        greedy.temperature = 0.0, greedy.alternatives = 0;
        TokenSampler sampler(greedy);
        std::vector<std::int64_t> next(prompt.const_data_ptr<std::int64_t>(),
                                       prompt.const_data_ptr<std::int64_t>() + prompt.numel());
        for (std::int64_t i = 0; i < count; ++i)
            next = {sampler.sample(reader.read(next)).chosen.id};
        problem = reader.graphProblem();
    });
    if (!problem.empty())
        std::fprintf(stderr, "relascope: a token is not repeated as a CUDA graph: %s\n",
                     problem.c_str());
    return static_cast<double>(count) * 1000.0 / medianOf(times);
}

void measureGeneration(ModelImpl& model, const ModelOptions& options, double seconds,
                       BenchmarkResult& result) {
    const torch::NoGradGuard noGrad;
    const auto device = model.parameters().front().device();
    result.figures.emplace_back("tokens_per_s", tokensPerSecond(model, options, seconds));
    const auto text = torch::randint(options.outputs(), {1, 256}, torch::kLong).to(device);
    const auto exact = model.forward(text);
    castToBFloat16(model);
    result.figures.emplace_back("bf16_tokens_per_s", tokensPerSecond(model, options, seconds));
    const auto rounded = model.forward(text);
    result.figures.emplace_back("bf16_largest_error",
                                ((rounded - exact).abs().max() / exact.abs().max()).item<double>());
    result.figures.emplace_back(
        "bf16_same_likeliest",
        rounded.argmax(-1).eq(exact.argmax(-1)).to(torch::kDouble).mean().item<double>());
}

/// A batch for a step, and its targets, on the device.
struct StepBatch {
    ModelInput input;
    torch::Tensor targets;
};
StepBatch stepBatch(const ModelOptions& options, std::int64_t batch, const torch::Device& device) {
    StepBatch made{randomBatch(options, batch, options.tokens(), device), {}};
    std::vector<std::int64_t> shape = {batch};
    if (options.input() == InputKind::Tokens) shape.push_back(options.tokens());
    if (made.input.target.defined()) shape.push_back(made.input.target.size(1));
    made.targets = torch::randint(options.outputs(), shape, torch::kLong).to(device);
    return made;
}

void measureStep(const std::string& name, ModelImpl& model, const ModelOptions& options,
                 std::int64_t batch, Optimizer& optimizer, const BenchmarkOptions& how,
                 BenchmarkResult& result) {
    const torch::Device device(result.device);
    const double seconds = how.seconds;
    const bool half = how.bfloat16 || (name == "lm_dat_343m" && device.is_cuda());
    const auto deviceStep = [&](std::int64_t count) {
        auto made = stepBatch(options, count, device);
        return DeviceStep{model, optimizer, std::move(made.input), std::move(made.targets), half};
    };
    if (half && device.is_cuda()) batch = largestBatch(64, deviceStep);
    const auto [input, targets] = stepBatch(options, batch, device);
    const auto scores = [&, &input = input] {
        const AutocastScope autocast(half, device.type());
        return widenedScores(model.forward(input));
    };
    if (device.is_cuda()) {
        result.figures.emplace_back("batch", static_cast<double>(batch));
        measureDeviceStep({model, optimizer, input, targets, half}, seconds, result);
    } else {
        const auto step = [&, &targets = targets] {
            optimizer.zeroGradients();
            // The scores are given up before the backward pass, as in training.
            const auto loss = crossEntropy(scores(), targets);
            loss.backward();
            optimizer.step(1e-3);
        };
        std::vector<double> cpuTimes;
        const auto steps = timesOf(seconds, device, [&] {
            const double before = processMs();
            step();
            cpuTimes.push_back(processMs() - before);
        });
        result.form = lastFormOf(model);
        if (name == "contended") {
            const BusyNeighbour busy;
            const double beside = medianOf(timesOf(seconds, device, step));
            result.figures.emplace_back("beside_busy_ms", beside);
            result.figures.emplace_back("beside_by_alone", beside / medianOf(steps));
        }
        result.trainStepMs = medianOf(steps);
        result.trainStepBestMs = *std::min_element(steps.begin(), steps.end());
        result.steps = static_cast<int>(steps.size());
        result.figures.emplace_back("train_step_cpu_ms",
                                    *std::min_element(cpuTimes.begin(), cpuTimes.end()));
        std::vector<double> added;
        for (int i = 0; i < 5; ++i) {
            optimizer.zeroGradients();  // which a step makes again
            added.push_back(memoryOfStep(step));
        }
        result.figures.emplace_back("step_mb", medianOf(added));
        if (!how.trace.empty()) {
            torch::Tensor loss;
            writeStepTrace(model,
                           {[&, &targets = targets] {
                                optimizer.zeroGradients();
                                loss = crossEntropy(scores(), targets);
                            },
                            [&] { loss.backward(); }, [&] { optimizer.step(1e-3); }},
                           how.trace);
        }
    }
    model.eval();
    result.forwardMs = medianOf(timesOf(std::min(seconds, 2.0), device, [&] {
        const torch::NoGradGuard noGrad;
        scores();
    }));
    if (options.input() == InputKind::Tokens)
        result.figures.emplace_back(
            "tokens_per_s", static_cast<double>(targets.numel()) * 1000.0 / result.trainStepMs);
}

// Workloads that measure something else than a training step.
bool hasTrainingStep(const std::string& name) {
    return name != "ranks" && name != "lm_dat_memory" && !name.starts_with("generate");
}

BenchmarkResult runWorkload(const std::string& name, const std::string& deviceName,
                            const BenchmarkOptions& how) {
    const auto [options, batch] = workload(name);
    const torch::Device device(deviceName);
    const double seconds = how.seconds;
    if (how.bfloat16 && device.is_cpu() && !hasBFloat16Products())
        throw OptionError("--bf16", std::string(kNoBFloat16Products) + "; leave it out");
    if (name == "ranks") {
        BenchmarkResult result;
        result.name = name;
        result.device = "cpu";
        result.parameters = parameterCount(options);
        measureRanks({options, batch, options.tokens(), static_cast<int>(2.0 + seconds)}, result);
        result.peakRssMb = ownMb("VmHWM");
        return result;
    }
    torch::manual_seed(0);
    auto model = makeModel(options);
    model->to(device);
    model->train();
    TrainOptions train;
    train.optimizer = "adamw";
    Optimizer optimizer(*model, train);
    BenchmarkResult result;
    result.name = name;
    result.device = deviceName;
    result.parameters = parameterCount(options);
    if (name == "lm_dat_memory") {
        measureMemory(*model, options, optimizer, result);
        result.form = lastFormOf(*model);
    } else if (name == "generate_256" || name == "generate_343m") {
        model->eval();
        measureGeneration(*model, options, seconds, result);
        result.form = lastFormOf(*model);
    } else {
        measureStep(name, *model, options, batch, optimizer, how, result);
    }
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    result.peakRssMb = static_cast<double>(usage.ru_maxrss) / 1024.0;
    return result;
}

}  // namespace

const std::vector<std::string>& benchmarkNames() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all = {"relgames_dat",
                                        "relgames_transformer",
                                        "cifar_vidat",
                                        "lm_dat_512",
                                        "lm_dat_512_dropout",
                                        "lm_transformer_512",
                                        "lm_hadamard_512",
                                        "lm_dat_1024",
                                        "mathematics",
                                        "generate_256",
                                        "lm_dat_memory",
                                        "contended",
                                        "ranks"};
        const auto& inspect = inspectBenchmarkNames();
        all.insert(all.end(), inspect.begin(), inspect.end());
        if (devices().back().usable && devices().size() > 1)
            all.insert(all.end(), {"lm_dat_343m", "generate_343m"});
        return all;
    }();
    return names;
}

BenchmarkResult runBenchmark(const std::string& name, const std::string& deviceName,
                             const BenchmarkOptions& options) {
    const auto& inspect = inspectBenchmarkNames();
    const bool inspects = std::find(inspect.begin(), inspect.end(), name) != inspect.end();
    if ((options.bfloat16 || !options.trace.empty()) && (inspects || !hasTrainingStep(name)))
        throw OptionError(name, "has no training step; leave --bf16 and --trace out");
    if (!options.trace.empty() && deviceName != "cpu")
        throw OptionError("--trace", "shows the work of the CPU; leave it out on " + deviceName);
    if (inspects) return runInspectBenchmark(name, options.seconds);
    return withinMemory(
        deviceName, [&] { return runWorkload(name, deviceName, options); },
        [&name] { return " for the benchmark " + name + "; free some of its memory"; });
}

}  // namespace relascope::core
