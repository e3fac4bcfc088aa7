// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/graph/graph_library.h"

#include <dlfcn.h>
#include <torch/version.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "model/kernels/find_library.h"

namespace relascope::core {
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
