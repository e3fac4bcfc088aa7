// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/graph/device_graph.h"

#include "model/graph/graph_library.h"

namespace relascope::core {
namespace {

thread_local std::vector<torch::Tensor>* s_kept = nullptr;

struct KeepingScope {
    explicit KeepingScope(std::vector<torch::Tensor>& tensors) { s_kept = &tensors; }
    ~KeepingScope() { s_kept = nullptr; }
};

}  // namespace

void DeviceGraph::record(const std::function<void()>& work) {
    const KeepingScope scope(m_kept);
    recordWork(work);
}

void keepForGraph(const torch::Tensor& tensor) {
    if (s_kept) s_kept->push_back(tensor);
}

bool isRecordingGraph() {
    return s_kept != nullptr;
}

std::unique_ptr<DeviceGraph> makeDeviceGraph(const torch::Device& device) {
    if (!device.is_cuda()) return nullptr;
    const auto* library = graphLibrary().table;
    return library ? std::unique_ptr<DeviceGraph>(library->makeGraph(device.index())) : nullptr;
}

}  // namespace relascope::core
