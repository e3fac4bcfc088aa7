// SPDX-License-Identifier: GPL-3.0-or-later
// What the benchmarks share: times, and a training step on a device. Private to core/bench.
#pragma once

#include <torch/types.h>
#include <functional>
#include <string>
#include <vector>

#include "bench/benchmark.h"
#include "model/model.h"
#include "train/optimizer.h"

namespace relascope::core {

/// A memory figure of this process ("VmRSS", "VmHWM"), in megabytes.
double ownMb(const char* name);
double medianOf(std::vector<double> values);
/// The times of `work` in milliseconds: after two runs to warm up, as many as fit into the time,
/// three at least. Each is waited for on its device.
std::vector<double> timesOf(double seconds, const torch::Device& device,
                            const std::function<void()>& work);
/// What the relational heads computed last by, as they say; "none" where there are none.
std::string lastFormOf(const ModelImpl& model);

/// One step: zero gradients, forward pass (in bfloat16 by autocast if `half`), cross entropy,
/// backward pass, AdamW, all of it on the device.
struct DeviceStep {
    ModelImpl& model;
    Optimizer& optimizer;
    ModelInput input;
    torch::Tensor targets;
    bool half = false;
};

/// Times the step with LibTorch's attention ("libtorch_step_ms"), with the program's own kernels
/// ("kernels_step_ms") where they serve, and repeated as a CUDA graph ("graph_step_ms") where there
/// are graphs, for about `seconds` each; and the most memory of the device that each took
/// ("libtorch_peak_mb" and so on), of weights, optimizer and step. The form that the relational
/// heads chose and the time of the fastest become those of the result. A way that fails, for want
/// of memory say, is said on stderr and leaves its figures out; where all do, the last one's
/// exception is thrown.
void measureDeviceStep(const DeviceStep& step, double seconds, BenchmarkResult& result);

/// The largest power of two of examples whose step fits into the memory of the device, up to
/// `most`; `step` makes a step of that many. Throws what the step with one example throws.
std::int64_t largestBatch(std::int64_t most, const std::function<DeviceStep(std::int64_t)>& step);

}  // namespace relascope::core
