// SPDX-License-Identifier: GPL-3.0-or-later
// librelascope_cuda_graphs.so: what needs LibTorch's CUDA library, CUDA graphs and the state of its
// generator, which the program itself does not link. Opened at run time, like the kernels.
#pragma once

#include <string>

#include "model/graph/device_graph.h"
#include "model/kernels/rel_args.h"

namespace relascope::core {

/// Grows with every change of the table, of DeviceGraph or of Philox.
inline constexpr int kGraphLibraryVersion = 1;
/// The symbol, a GraphTableFunction.
inline constexpr const char* kGraphTableSymbol = "relascope_cuda_graphs";

struct GraphTable {
    std::size_t bytes = sizeof(GraphTable);
    DeviceGraph* (*makeGraph)(int device) = nullptr;  ///< the caller's to delete
    /// Takes `numbers` of each thread from the device's default generator: while a graph is
    /// recorded, places in device memory that each repetition sets.
    kernels::Philox (*drawPhilox)(int device, std::uint64_t numbers) = nullptr;
};

/// Null for a version that the library does not have, or for another LibTorch than `torch`,
/// "2.11.0".
using GraphTableFunction = const GraphTable* (*)(int version, const char* torch);

struct GraphLibrary {
    const GraphTable* table = nullptr;
    std::string problem;  ///< why there is no table; empty otherwise
};

/// Opened at the first call, beside the program or in ../lib/relascope from there; needs LibTorch's
/// CUDA library, which initDevices() loads. With RELASCOPE_CUDA_GRAPHS=off in the environment a
/// problem.
const GraphLibrary& graphLibrary();

/// Another table in its scope and for all threads. For tests.
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
