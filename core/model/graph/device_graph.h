// SPDX-License-Identifier: GPL-3.0-or-later
// Work of a device that is recorded once and repeated without the host: CUDA graphs. A step of a
// small model is hundreds of short kernels, which the host gives to a GPU more slowly than the GPU
// computes them; a graph is given at once.
#pragma once

#include <torch/types.h>

#include <functional>
#include <memory>
#include <vector>

namespace relascope::core {

/// One piece of recorded work. It reads and writes the tensors that `work` did, at their places in
/// memory; numbers that the host passed by value stay what they were. Random numbers are drawn from
/// the device's default generator, new ones at each repetition.
class DeviceGraph {
public:
    virtual ~DeviceGraph() = default;
    /// Runs `work` as it runs while it is recorded, but computes: CUDA asks for some such runs
    /// first, so that nothing is set up while a graph is recorded.
    virtual void rehearse(const std::function<void()>& work) = 0;
    /// Records what `work` gives to the device, without computing it. Throws what `work` throws, or
    /// an exception of LibTorch where the device cannot record it: reading a result, say. To be
    /// called once.
    void record(const std::function<void()>& work);
    /// Gives the recorded work to the device; does not wait for it.
    virtual void replay() = 0;

protected:
    virtual void recordWork(const std::function<void()>& work) = 0;

private:
    std::vector<torch::Tensor> m_kept;
};

/// A graph refers to memory, not to tensors. Tensors that a module makes once and keeps, until it
/// needs others, are given to this at every use: while a graph is recorded on this thread, the
/// graph holds them; otherwise nothing happens.
void keepForGraph(const torch::Tensor& tensor);

/// Whether a graph is being recorded on this thread.
bool isRecordingGraph();

/// Null where the device has no graphs, or their library is not loaded.
std::unique_ptr<DeviceGraph> makeDeviceGraph(const torch::Device& device);
}  // namespace relascope::core
