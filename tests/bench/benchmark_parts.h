// SPDX-License-Identifier: GPL-3.0-or-later
// Code shared by the benchmarks: times, and a training step on a device.
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
/// The times of `work` in milliseconds: after two calls to warm up, as many as fit into `seconds`,
/// three at least. Each call is waited for on the device.
std::vector<double> timesOf(double seconds, const torch::Device& device,
                            const std::function<void()>& work);
/// The form by which the relational heads computed last (RelationalHeadsImpl::lastForm()); "none"
/// without relational heads.
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
/// ("kernels_step_ms") in 16 bits, and repeated as a CUDA graph ("graph_step_ms") where there
/// are graphs, for about `seconds` each; and the most memory of the device that each took
/// ("libtorch_peak_mb" and so on), for weights, optimizer and step. The form that the relational
/// heads chose and the time of the fastest way are entered into the result. A way that fails, for
/// want of memory say, is reported on stderr and leaves its figures out; if all fail, the exception
/// of the last one is thrown.
void measureDeviceStep(const DeviceStep& step, double seconds, BenchmarkResult& result);

/// The largest power of two of examples whose step fits into the memory of the device, up to
/// `most`; `step` makes a step of a number of examples. Throws as the step with one example.
std::int64_t largestBatch(std::int64_t most, const std::function<DeviceStep(std::int64_t)>& step);

}  // namespace relascope::core
