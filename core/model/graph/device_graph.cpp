// SPDX-License-Identifier: GPL-3.0-or-later
#include <dlfcn.h>
#include <torch/utils.h>
#include <torch/version.h>
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "model/graph/device_graph.h"
#include "model/kernels/plugin.h"

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

torch::Tensor KeptTensor::get(const std::vector<std::int64_t>& sizes,
                              const torch::TensorOptions& options,
                              const std::function<torch::Tensor()>& make) {
    constexpr std::size_t most = 4;  // a source and a target, in training and in evaluation
    const auto found = std::find_if(m_entries.begin(), m_entries.end(), [&](const Entry& entry) {
        return entry.sizes == sizes && entry.tensor.device() == options.device() &&
               entry.tensor.dtype() == options.dtype();
    });
    if (found != m_entries.end()) {
        keepForGraph(found->tensor);
        return found->tensor;
    }
    const torch::NoGradGuard noGrad;
    const c10::InferenceMode lasting(false);  // training may use it after an evaluation
    if (m_entries.size() == most) m_entries.pop_front();
    m_entries.push_back({sizes, make().to(options)});
    keepForGraph(m_entries.back().tensor);
    return m_entries.back().tensor;
}

namespace {

std::atomic<const GraphLibrary*> s_other = nullptr;

GraphLibrary open() {
    const char* choice = std::getenv("RELASCOPE_CUDA_GRAPHS");
    if (choice && std::string_view(choice) == "off")
        return {nullptr, "RELASCOPE_CUDA_GRAPHS is 'off'; unset it to use CUDA graphs"};
    const auto file = kernels::libraryBesideProgram("librelascope_cuda_graphs.so");
    const std::string named = "'" + file + "' ",
                      again = "; a build of Relascope with nvcc makes it";
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error))
        return {nullptr, "the library for CUDA graphs " + named + "is not there" + again};
    std::string reason;
    void* library = kernels::openLibrary(file, reason);
    if (!library)
        return {nullptr, "the library for CUDA graphs " + named + "cannot be loaded (" + reason +
                             ")" + again};
    const auto tableOf = reinterpret_cast<GraphTableFunction>(dlsym(library, kGraphTableSymbol));
    const auto* table = tableOf ? tableOf(kGraphLibraryVersion, TORCH_VERSION) : nullptr;
    if (table && table->bytes == sizeof(GraphTable)) return {table, {}};
    dlclose(library);
    return {nullptr, "the library for CUDA graphs " + named +
                         "was built for another version of Relascope or of LibTorch" + again};
}

}  // namespace

GraphTableScope::GraphTableScope(const GraphTable& table) : m_library{&table, {}} {
    s_other = &m_library;
}
GraphTableScope::~GraphTableScope() {
    s_other = nullptr;
}

const GraphLibrary& graphLibrary() {
    if (const auto* other = s_other.load()) return *other;
    static const GraphLibrary none{nullptr, "LibTorch's CUDA library is not loaded"};
    if (!kernels::torchCudaIsLoaded()) return none;
    static const GraphLibrary library = open();
    return library;
}

}  // namespace relascope::core
