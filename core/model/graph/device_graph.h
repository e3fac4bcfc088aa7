// SPDX-License-Identifier: GPL-3.0-or-later
// Work of a device that is recorded once and repeated without the host: CUDA graphs. A step of a
// small model is hundreds of short kernels, which the host gives to a GPU more slowly than the GPU
// computes them; a graph is given at once.
#pragma once

#include <torch/types.h>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/kernels/rel_args.h"

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

/// A graph of a device; null where it has no graphs, or their library is not loaded.
std::unique_ptr<DeviceGraph> makeDeviceGraph(const torch::Device& device);

// Tensors that depend on sizes alone: positions, indices. Made on the CPU, they would be copied to
// the device at every step, which waits for the host and cannot be part of a graph.

/// The tensors of the last few sizes asked for. Not for several threads at a time.
class KeptTensor {
public:
    /// The tensor that `make` returns, on the device and of the type of `options`. Never requires a
    /// gradient.
    torch::Tensor get(const std::vector<std::int64_t>& sizes, const torch::TensorOptions& options,
                      const std::function<torch::Tensor()>& make);

private:
    struct Entry {
        std::vector<std::int64_t> sizes;
        torch::Tensor tensor;
    };
    std::deque<Entry> m_entries;
};

// librelascope_cuda_graphs.so: code that needs LibTorch's CUDA library, for CUDA graphs and the
// state of its generator; the program itself does not link it. Opened at run time, like kernels.

/// Grows with every change of the table, of DeviceGraph or of Philox.
inline constexpr int kGraphLibraryVersion = 1;
/// The name of the library's symbol, a GraphTableFunction.
inline constexpr const char* kGraphTableSymbol = "relascope_cuda_graphs";

struct GraphTable {
    std::size_t bytes = sizeof(GraphTable);
    DeviceGraph* (*makeGraph)(int device) = nullptr;  ///< the caller's to delete
    /// Takes `numbers` of each thread from the device's default generator: while a graph is
    /// recorded, places in device memory that each repetition sets.
    kernels::Philox (*drawPhilox)(int device, std::uint64_t numbers) = nullptr;
};

/// Returns the table; null for a version that the library does not have, or if it was built for
/// another LibTorch than `torch`, "2.11.0".
using GraphTableFunction = const GraphTable* (*)(int version, const char* torch);

struct GraphLibrary {
    const GraphTable* table = nullptr;
    std::string problem;  ///< why there is no table; empty otherwise
};

/// The library of graphs, opened at the first call, beside the program or in ../lib/relascope from
/// there; needs LibTorch's CUDA library, which initDevices() loads. With RELASCOPE_CUDA_GRAPHS=off
/// in the environment it is a problem without a table.
const GraphLibrary& graphLibrary();

/// Replaces the table while it exists, for all threads. For tests.
class GraphTableScope {
public:
    explicit GraphTableScope(const GraphTable& table);
    ~GraphTableScope();
    GraphTableScope(const GraphTableScope&) = delete;
    GraphTableScope& operator=(const GraphTableScope&) = delete;

private:
    GraphLibrary m_library;
};

}  // namespace relascope::core
