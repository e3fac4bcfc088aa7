// SPDX-License-Identifier: GPL-3.0-or-later
// A device like a GPU whose memory and arithmetic are the CPU's, so that what the program does on a
// GPU is tested without one: tensors of another device, and what CUDA graphs allow and forbid.
#pragma once

#include <torch/types.h>

#include <memory>

#include "model/graph/device_graph.h"

namespace relascope::testing_support {

/// The device of the host GPU, "cuda:0". Operations between it and the CPU fail as on a GPU, except
/// for tensors without dimensions.
torch::Device hostGpu();
/// Whether the host GPU can be used. False if LibTorch's CUDA library is installed, which is tested
/// then; RELASCOPE_TORCH=none in the environment leaves it out.
bool hostGpuServes();

struct HostGpuCounts {
    std::int64_t operations = 0;
    std::int64_t reads = 0;    ///< copies to the CPU: the host waits for the device
    std::int64_t uploads = 0;  ///< copies from the CPU
};
HostGpuCounts hostGpuCounts();

/// Graphs of the device as CUDA's are: while one is recorded nothing is computed, reading a number
/// or copying from the host is an error, and what the host passes by value is frozen.
class HostGpuGraph : public core::DeviceGraph {
public:
    HostGpuGraph();
    ~HostGpuGraph() override;
    void rehearse(const std::function<void()>& work) override { work(); }
    void replay() override;

    struct Recording;

protected:
    void recordWork(const std::function<void()>& work) override;

private:
    std::unique_ptr<Recording> m_recording;
};

/// Starts one of the program's own kernels on the host GPU: runs `launch` and returns its result.
/// The kernel becomes part of a graph that is being recorded.
int launchOnHostGpu(const std::function<int()>& launch);

/// The host GPU's replacement of the library for CUDA graphs: its graphs, and random numbers by a
/// seed and an offset that each call and each repetition of a graph advances. For
/// core::GraphTableScope.
const core::GraphTable& hostGpuGraphs();
/// A table as hostGpuGraphs(), without graphs.
const core::GraphTable& hostGpuNumbers();
/// Restarts the random numbers of both tables.
void restartHostGpuNumbers();

}  // namespace relascope::testing_support
