// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/kernels/find_library.h"

#include <dlfcn.h>
#include <elf.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "files/program_folder.h"

namespace relascope::core::kernels {
namespace {

/// Of a library that was cut off, as by a full disk: the loader would map what is not there, and
/// the program end by SIGBUS. Other damage is left to the loader.
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
