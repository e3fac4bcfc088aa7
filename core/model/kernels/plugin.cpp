// SPDX-License-Identifier: GPL-3.0-or-later
#include <dlfcn.h>
#include <elf.h>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "files/program_folder.h"
#include "model/kernels/plugin.h"

namespace relascope::core::kernels {
namespace {

constexpr const char* kName = "librelascope_cuda.so";
constexpr const char* kBuildAgain =
    "; a build of Relascope with nvcc makes it (RELASCOPE_CUDA=ON bash app/setup.sh installs nvcc)";

std::string deviceProblem(const KernelTable& table, int device) {
    const std::string name = "NVIDIA GPU " + std::to_string(device);
    DeviceLimits limits;
    if (const int error = table.deviceLimits(device, &limits); error != 0)
        return name + " does not tell its properties (" + table.errorText(error) +
               "); nvidia-smi may say why";
    if (limits.major > kLeastMajor || (limits.major == kLeastMajor && limits.minor >= kLeastMinor))
        return {};
    return name + " has compute capability " + std::to_string(limits.major) + "." +
           std::to_string(limits.minor) + ", and Relascope's CUDA kernels need " +
           std::to_string(kLeastMajor) + "." + std::to_string(kLeastMinor) + " or newer";
}

void askForDevices(KernelPlugin& plugin) {
    int count = 0;
    if (const int error = plugin.table->deviceCount(&count); error != 0)
        plugin.problem = std::string("no CUDA device answers (") + plugin.table->errorText(error) +
                         "); an NVIDIA GPU with driver 580 or newer is needed";
    for (int device = 0; device < count; ++device)
        plugin.deviceProblems.push_back(deviceProblem(*plugin.table, device));
}

}  // namespace

std::string KernelPlugin::problemOn(int device) const {
    if (!problem.empty()) return problem;
    if (device < 0 || device >= static_cast<int>(deviceProblems.size()))
        return "there is no CUDA device " + std::to_string(device) +
               "; relascope-cli devices lists those there are";
    return deviceProblems[static_cast<std::size_t>(device)];
}

KernelPlugin openKernelPlugin(const std::string& file) {
    KernelPlugin plugin{file, nullptr, {}, {}};
    if (file.empty()) {
        plugin.problem = "RELASCOPE_CUDA_PLUGIN is 'off'; unset it to use Relascope's CUDA kernels";
        return plugin;
    }
    const std::string named = "'" + file + "' ";
    std::error_code error;
    // A bare name would be looked for in the folders of system libraries.
    const auto path = std::filesystem::absolute(file, error);
    if (error || !std::filesystem::is_regular_file(path, error)) {
        plugin.problem = "Relascope's CUDA kernels " + named + "are not there" + kBuildAgain;
        return plugin;
    }
    std::string reason;
    void* library = openLibrary(path, reason);
    if (!library) {
        plugin.problem =
            "Relascope's CUDA kernels " + named + "cannot be loaded (" + reason + ")" + kBuildAgain;
        return plugin;
    }
    const auto tableOf = reinterpret_cast<KernelTableFunction>(dlsym(library, kKernelTableSymbol));
    const KernelTable* table = tableOf ? tableOf(kKernelTableVersion) : nullptr;
    if (!tableOf) {
        plugin.problem = named + "is no library of Relascope's CUDA kernels: it has no " +
                         kKernelTableSymbol + kBuildAgain;
    } else if (!table || table->bytes != sizeof(KernelTable) ||
               table->argumentBytes != sizeof(RelArgs) ||
               table->decodeArgumentBytes != sizeof(DecodeArgs)) {
        plugin.problem =
            "Relascope's CUDA kernels " + named +
            "were built for another version of Relascope (this one needs their version " +
            std::to_string(kKernelTableVersion) + ")" + kBuildAgain;
    } else {
        plugin.table = table;
        askForDevices(plugin);
        return plugin;
    }
    dlclose(library);
    return plugin;
}

std::string kernelPluginFile() {
    if (const char* named = std::getenv("RELASCOPE_CUDA_PLUGIN"); named && *named)
        return std::string(named) == "off" ? "" : named;
    return libraryBesideProgram(kName);
}

const KernelPlugin& kernelPlugin() {
    static const KernelPlugin none{"", nullptr, "LibTorch's CUDA library is not loaded", {}};
    if (!torchCudaIsLoaded()) return none;
    static const KernelPlugin plugin = openKernelPlugin(kernelPluginFile());
    return plugin;
}

const KernelTable* kernelTable(int device) {
    const auto& plugin = kernelPlugin();
    return plugin.problemOn(device).empty() ? plugin.table : nullptr;
}

std::string kernelsProblem(int device) {
    return kernelPlugin().problemOn(device);
}

namespace {

/// Whether a library was cut off, as by a full disk: the loader would map bytes beyond its end, and
/// the program would end by SIGBUS. Other damage is left to the loader.
bool isCutOff(const std::filesystem::path& path) {
    std::error_code error;
    const std::uint64_t size = std::filesystem::file_size(path, error);
    std::ifstream file(path, std::ios::binary);
    Elf64_Ehdr header{};
    if (!file.read(reinterpret_cast<char*>(&header), sizeof header) ||
        std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return false;
    file.seekg(static_cast<std::streamoff>(header.e_phoff));
    for (int i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr part{};
        if (!file.read(reinterpret_cast<char*>(&part), sizeof part)) return true;
        if (part.p_offset > size || part.p_filesz > size - part.p_offset) return true;
    }
    return false;
}

}  // namespace

bool torchCudaIsLoaded() {
    static std::atomic<bool> loaded = false;
    if (!loaded)
        if (void* library = dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_NOLOAD)) {
            dlclose(library);
            loaded = true;
        }
    return loaded;
}

std::string libraryBesideProgram(const char* name) {
    std::error_code error;
    const auto folder = programFolder();
    const auto beside = folder / name, installed = folder.parent_path() / "lib/relascope" / name;
    const bool useInstalled =
        !std::filesystem::exists(beside, error) && std::filesystem::exists(installed, error);
    return (useInstalled ? installed : beside).string();
}

void* openLibrary(const std::string& file, std::string& reason) {
    if (isCutOff(file)) {
        reason = "the file is shorter than it says";
        return nullptr;
    }
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library) return library;
    const char* why = dlerror();
    reason = why ? why : "no reason is given";
    return nullptr;
}

}  // namespace relascope::core::kernels
