// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/find_cuda.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "files/home_folder.h"

namespace relascope::core {

namespace fs = std::filesystem;

namespace {

constexpr const char* kLibrary = "libtorch_cuda.so";

fs::path dataFolder() {
    const std::string named = environment("XDG_DATA_HOME"), home = environment("HOME");
    if (!named.empty()) return fs::path(named) / "relascope";
    return home.empty() ? fs::path() : fs::path(home) / ".local/share/relascope";
}

/// "2.11.0+cu130 13.0 70d99e9..." of a wheel's version.py; empty if it cannot be read.
std::string buildOf(const fs::path& torch) {
    std::ifstream file(torch / "version.py");
    std::string line, version, cuda, commit;
    // Reads the first lines only, as the file may be something else.
    for (int i = 0; i < 64 && std::getline(file, line); ++i) {
        const auto value = [&] {
            const auto begin = line.find('\''), end = line.rfind('\'');
            return begin == std::string::npos || end == begin
                       ? std::string()
                       : line.substr(begin + 1, end - begin - 1);
        };
        if (line.starts_with("__version__")) version = value();
        if (line.starts_with("cuda")) cuda = value();
        if (line.starts_with("git_version")) commit = value();
    }
    return version.empty() ? "" : version + " " + cuda + " " + commit;
}

/// The build of LibTorch that the program links: "2.11.0+cu130 13.0 70d99e9...".
const std::string& torchBuild() {
    static const std::string build = RELASCOPE_TORCH_BUILD;
    return build;
}

/// "2.11.0", as pip names it.
std::string torchVersion() {
    return torchBuild().substr(0, torchBuild().find_first_of("+ "));
}

std::string& openedFile() {
    static std::string file;
    return file;
}

/// The file of an open library; empty if it is unknown.
std::string fileOf(void* library) {
    const link_map* map = nullptr;
    const bool known = dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name;
    return known ? map->l_name : "";
}

std::string open(const std::string& file) {
    if (void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL)) {
        const auto found = fileOf(library);
        openedFile() = found.empty() ? file : found;
        return "";
    }
    const char* reason = dlerror();
    return reason ? reason : "no reason is given";
}

/// Opens the library of a folder `torch`, if that is of the same build.
std::string openOf(const fs::path& torch) {
    if (buildOf(torch).empty()) return "'" + torch.string() + "' has no version.py of LibTorch";
    if (const auto problem = torchBuildProblem(torch.string()); !problem.empty()) return problem;
    const fs::path file = torch / "lib" / kLibrary;
    const std::string reason = open(file.string());
    return reason.empty() ? "" : "'" + file.string() + "' cannot be loaded (" + reason + ")";
}

bool hasDriver() {
    void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (driver) dlclose(driver);
    return driver;
}

/// The folder `torch` of an environment: the folder itself, a site-packages, or a (virtual)
/// environment that holds it; empty if there is none.
fs::path torchFolderIn(const fs::path& place) {
    std::error_code error;
    const auto isTorch = [&](const fs::path& folder) {
        return fs::is_regular_file(folder / "version.py", error) &&
               fs::is_directory(folder / "lib", error);
    };
    for (const auto& folder : {place, place / "torch"})
        if (isTorch(folder)) return folder;
    std::vector<fs::path> found;
    for (const char* lib : {"lib", "lib64"})
        for (const auto& entry : fs::directory_iterator(place / lib, error))
            if (entry.path().filename().string().starts_with("python3"))
                for (const char* packages : {"site-packages/torch", "dist-packages/torch"})
                    if (isTorch(entry.path() / packages)) found.push_back(entry.path() / packages);
    std::sort(found.begin(), found.end());
    return found.empty() ? fs::path() : found.back();
}

std::vector<fs::path> torchEnvironments() {
    std::vector<fs::path> places;
    for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
        if (const auto value = environment(name); !value.empty()) places.emplace_back(value);
    if (const auto data = dataFolder(); !data.empty()) places.push_back(data / "torch");
    if (const auto home = environment("HOME"); !home.empty())
        places.push_back(fs::path(home) / ".local");
    places.emplace_back("/usr/local");
    return places;
}

}  // namespace

std::string torchBuildProblem(const std::string& torch) {
    const std::string build = buildOf(torch);
    if (build.empty() || build == torchBuild()) return "";
    return "'" + torch + "' is another build of LibTorch (" + build + ") than the program's (" +
           torchBuild() + "); the wheel torch==" + torchVersion() + " of PyPI fits";
}

std::string openTorchCuda() {
    if (const auto named = environment("RELASCOPE_TORCH"); !named.empty()) {
        const auto torch = torchFolderIn(named);
        return torch.empty()
                   ? "RELASCOPE_TORCH is '" + named +
                         "', where no LibTorch is; name a virtual environment or its folder "
                         "site-packages/torch"
                   : openOf(torch);
    }
    const std::string reason = open(kLibrary);
    if (reason.empty())  // by LD_LIBRARY_PATH it may be any
        return torchBuildProblem(fs::path(openedFile()).parent_path().parent_path().string());
    if (reason.find(std::string(kLibrary) + ": cannot open") == std::string::npos)
        return "the CUDA libraries of LibTorch cannot be loaded (" + reason +
               "); on a machine with an NVIDIA GPU, app/setup.sh installs them";
    if (!hasDriver()) return "no NVIDIA driver was found (libcuda.so.1)";
    std::string problem;
    for (const auto& place : torchEnvironments()) {
        const auto torch = torchFolderIn(place);
        if (torch.empty()) continue;
        const auto why = openOf(torch);
        if (why.empty()) return "";
        if (problem.empty()) problem = why;
    }
    const auto folder = (dataFolder() / "torch").string();
    return (problem.empty() ? "LibTorch's CUDA library was not found" : problem) +
           "; `python3 -m venv " + folder + " && " + folder +
           "/bin/pip install torch==" + torchVersion() +
           "` installs it (4.8 GB), or RELASCOPE_TORCH names an environment that has it";
}

const std::string& torchCudaFile() {
    return openedFile();
}

LoadedLibrary loadedLibrary(const char* name, const char* versionCall) {
    LoadedLibrary found;
    void* library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        const char* reason = dlerror();
        found.problem = reason ? reason : "no reason is given";
        return found;
    }
    found.file = fs::path(fileOf(library)).lexically_normal().string();
    if (versionCall)
        if (void* call = dlsym(library, versionCall))
            found.version = reinterpret_cast<const char* (*)()>(call)();
    return found;
}

}  // namespace relascope::core
