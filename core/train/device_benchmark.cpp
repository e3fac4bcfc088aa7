// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/device_benchmark.h"

#include <c10/core/CachingDeviceAllocator.h>

#include <algorithm>
#include <cstdio>

#include "model/attention/cuda_check.h"
#include "model/graph/device_graph.h"
#include "train/benchmark_parts.h"
#include "train/cross_entropy.h"
#include "train/evaluate.h"
#include "train/out_of_memory.h"

namespace relascope::core {
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
        const AutocastScope autocast(step.half);
        scores = step.model.forward(step.input).to(torch::kFloat);
    }
    crossEntropy(scores, step.targets).backward();
    step.optimizer.step(rate, step.optimizer.gradientNorm(), failed);
}

}  // namespace

void measureDeviceStep(const DeviceStep& step, double seconds, BenchmarkResult& result) {
    const auto device = step.targets.device();
    const auto number = torch::TensorOptions().dtype(torch::kFloat).device(device);
    const auto rate = torch::full({}, 1e-3, number), failed = torch::zeros({}, number);
    const auto work = [&] { runOnce(step, rate, failed); };
    double best = 0.0;
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
    {
        const NoCudaKernelsScope without;
        measure("libtorch", work);
    }
    if (checkedKernels(device).table) measure("kernels", work);
    const auto graph = makeDeviceGraph(device);
    if (!graph) return;
    try {
        for (int i = 0; i < 3; ++i) graph->rehearse(work);
        graph->record(work);
    } catch (const std::exception& error) {
        if (isOutOfMemory(error)) throw;
        const std::string text = error.what();
        std::fprintf(stderr, "relascope: the step is not repeated as a CUDA graph: %s\n",
                     text.substr(0, text.find('\n')).c_str());
        return;
    }
    measure("graph", [&] { graph->replay(); });
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

}  // namespace relascope::core
