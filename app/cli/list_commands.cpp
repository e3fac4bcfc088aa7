// SPDX-License-Identifier: GPL-3.0-or-later
// presets, families, datasets, devices, verify: commands that print.
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "analysis/verify/verify.h"
#include "app/cli/commands.h"
#include "app/cli/plain_output.h"
#include "app/cli/run_text.h"
#include "datasets/readers/image_folder.h"
#include "datasets/registry.h"
#include "model/kernels/plugin.h"
#include "options/estimates.h"
#include "options/family_ledger.h"
#include "options/field_text.h"
#include "options/presets.h"
#include "train/devices.h"
#include "train/find_cuda.h"
#include "types/data_kind.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::cli {
namespace {

struct ListArguments {
    bool json = false;
};

using Json = nlohmann::ordered_json;

Json finite(double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

int listPresets(const ListArguments& a, const Call&) {
    const bool json = a.json;
    Json list = Json::array();
    for (const auto& preset : core::presets()) {
        if (!json)
            print("%-32s %s\n%32s models: %s\n", preset.name.c_str(), preset.help.c_str(), "",
                  joined(preset.variants).c_str());
        Json models = Json::array();
        for (const auto& variant : preset.variants) {
            const auto options = core::presetOptions(preset.name, variant);
            models.push_back({{"name", variant},
                              {"parameters", core::parameterCount(options.model)},
                              {"model", core::modelText(options.model)}});
        }
        list.push_back({{"name", preset.name},
                        {"family", preset.family},
                        {"title", preset.title},
                        {"help", preset.help},
                        {"notes", preset.notes},
                        {"models", models}});
    }
    if (json) std::cout << list.dump(2) << "\n";
    return 0;
}

struct FamiliesArguments {
    bool json = false, markdown = false;
};

int listFamilies(const FamiliesArguments& a, const Call&) {
    const auto facts = core::familyLedger();
    const auto unopened = core::unopenedFamilies();
    if (a.json) {
        Json open = Json::array(), closed = Json::array();
        for (const auto& one : facts)
            open.push_back({{"model_type", one.type},
                            {"title", one.title},
                            {"generation", one.generation},
                            {"qk_attribution", one.qkAttribution},
                            {"attribution", one.attribution},
                            {"training", one.training}});
        for (const auto& [type, part] : unopened)
            closed.push_back({{"model_type", type}, {"text", part}});
        std::cout << Json({{"families", open}, {"not_opened", closed}}).dump(2) << "\n";
        return 0;
    }
    const char* row =
        a.markdown ? "| `%s` | %s | %s | %s | %s | %s |\n" : "%-22s %-33s %-16s %-14s %-12s %s\n";
    if (a.markdown) {
        print(
            "| `model_type` | Family | Generation | QK attribution | Attribution | Training |\n"
            "|---|---|---|---|---|---|\n");
    } else {
        print(
            "Maps, edits, ablation, patching, lens, qk-components and scan work on all of "
            "these.\n\n");
        print(row, "model_type", "family", "generation", "qk-attribution", "attribution",
              "training");
    }
    for (const auto& one : facts)
        print(row, one.type.c_str(), one.title.c_str(), one.generation.c_str(),
              one.qkAttribution.c_str(), one.attribution.c_str(), one.training.c_str());
    if (a.markdown) return 0;
    print("\nThese do not open:\n\n");
    for (const auto& [type, part] : unopened) print("%-22s %s\n", type.c_str(), part.c_str());
    return 0;
}

int listDatasets(const ListArguments& a, const Call&) {
    const bool json = a.json;
    Json list = Json::array();
    for (const auto& entry : relascope::datasets::listDatasets()) {
        if (!json)
            print("%-16s %s\n%16s families: %s; labels: %s\n", entry.name.c_str(),
                  entry.help.c_str(), "", joined(entry.families).c_str(),
                  joined(entry.classNames).c_str());
        list.push_back({{"kind", entry.kind},
                        {"name", entry.name},
                        {"title", entry.title},
                        {"help", entry.help},
                        {"attributes", dataKind(entry.kind).attributes},
                        {"families", entry.families},
                        {"labels", entry.classNames}});
    }
    if (json) std::cout << list.dump(2) << "\n";
    return 0;
}

Json deviceJson(const core::DeviceInfo& device, const core::DeviceMemory& memory) {
    Json object = {{"name", device.name},
                   {"title", device.title},
                   {"usable", device.usable},
                   {"reason", device.reason}};
    const auto known = [&](const char* key, const auto& value) {
        if (value != std::decay_t<decltype(value)>()) object[key] = value;
    };
    known("memory_total", memory.total > 0 ? memory.total : device.memory);
    known("memory_free", memory.free);
    known("compute_capability", device.capability);
    known("multiprocessors", device.multiprocessors);
    known("driver", device.driver);
    known("runtime", device.runtime);
    if (device.name == "cpu") return object;
    known("library", core::torchCudaFile());
    const bool serves = device.kernelsProblem.empty();
    object["kernels"] = serves ? core::kernels::kernelPluginFile() : "";
    object["kernels_reason"] = device.kernelsProblem;
    const auto found = core::kernelProblems(device);
    object["kernel_types"] = core::kernelTypes(device, found);
    for (const auto& problem : {found.decoding, found.tensor})
        if (!problem.empty()) object["kernel_problems"].push_back(problem);
    object["graphs_reason"] = core::graphsProblem(device);
    return object;
}

/// Where the libraries that are not this program's come from: with packages of Python it is theirs.
void printLibraries() {
    const auto printOne = [](const char* title, const core::LoadedLibrary& library) {
        print("%s: %s%s\n", title, library.file.c_str(),
              library.version.empty() ? "" : (" (" + library.version + ")").c_str());
    };
    printOne("LibTorch", core::loadedLibrary("libtorch_cpu.so"));
    if (const auto& file = core::torchCudaFile(); !file.empty())
        print("LibTorch's CUDA library: %s\n", file.c_str());
    const auto qt = core::loadedLibrary("libQt6Core.so.6", "qVersion");
    if (qt.file.empty())
        print("Qt: cannot be loaded (%s); only the window needs it\n", qt.problem.c_str());
    else
        printOne("Qt", qt);
}

int listDevices(const ListArguments& a, const Call&) {
    const bool json = a.json;
    Json list = Json::array();
    for (const auto& device : core::devices()) {
        const auto memory = device.usable ? core::deviceMemory(device.name) : core::DeviceMemory{};
        core::checkKernels(device);
        list.push_back(deviceJson(device, memory));
        if (json) continue;
        print("%-8s %s", device.name.c_str(), joined(core::deviceFacts(device, memory)).c_str());
        for (const auto& text : {core::attentionText(device), core::stepsText(device)})
            if (!text.empty()) print("; %s", text.c_str());
        print("\n");
    }
    if (json)
        std::cout << list.dump(2) << "\n";
    else
        printLibraries();
    return 0;
}

int verify(const Asked& a, const Call& call) {
    const bool json = call.json;
    const auto& folders = a.question.subjects;
    const auto& given = folders.front().device;
    const auto device = core::resolveDevice(given.empty() ? "cpu" : given);
    bool ok = true;
    Json all = Json::array();
    for (const auto& of : folders) {
        const auto& folder = of.path;
        const auto report =
            core::verifyFolder(folder, device, a.question.text("models"), datasets::readImageFile);
        Json keys = Json::array();
        for (const auto& line : report.lines) {
            if (!json)
                print("%-72s abs %9.3g  rel %9.3g  %s%s\n", plainName(line.name).c_str(),
                      line.absolute, line.relative, line.ok ? "ok" : "NOT OK",
                      line.note.empty() ? "" : (" (" + line.note + ")").c_str());
            keys.push_back({{"name", line.name},
                            {"abs", finite(line.absolute)},
                            {"rel", finite(line.relative)},
                            {"ok", line.ok}});
        }
        if (!json)
            print("%s: %s, %zu compared, largest difference %.3g\n", plainName(folder).c_str(),
                  report.ok ? "verified" : "NOT verified", report.lines.size(), report.worst);
        Json object = {{"ok", report.ok}, {"worst", finite(report.worst)}, {"keys", keys}};
        if (folders.size() > 1) object["folder"] = folder;
        all.push_back(object);
        ok = ok && report.ok;
    }
    if (json) std::cout << (folders.size() == 1 ? all[0] : all).dump(2) << "\n";
    return ok ? 0 : kExitFailed;
}

}  // namespace

Command presetsCommand() {
    return commandOf<ListArguments>(
        "presets", "lists the experiments and their models", [](CLI::App&, ListArguments&) {},
        listPresets);
}

Command familiesCommand() {
    return commandOf<FamiliesArguments>(
        "families", "lists the public families of models that open, and what works on each",
        [](CLI::App& command, FamiliesArguments& a) {
            command.add_flag("--markdown", a.markdown, "prints the table of models.md");
        },
        listFamilies);
}

Command datasetsCommand() {
    return commandOf<ListArguments>(
        "datasets", "lists the data that can be generated", [](CLI::App&, ListArguments&) {},
        listDatasets);
}

Command devicesCommand() {
    return commandOf<ListArguments>(
        "devices", "lists the devices, and why a device cannot be used",
        [](CLI::App&, ListArguments&) {}, listDevices, Needs::Threads);
}

Command verifyCommand() {
    return questionCommand("verify", nullptr, verify, Needs::Threads);
}

}  // namespace relascope::cli
