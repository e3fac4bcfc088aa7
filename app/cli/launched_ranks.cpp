// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/launched_ranks.h"

#include <CLI/CLI.hpp>
#include <iostream>

#include "datasets/registry.h"
#include "files/machine_limits.h"
#include "options/device_list.h"
#include "ranks/child_ranks.h"
#include "ranks/rank_place.h"
#include "train/devices.h"
#include "train/rank_run.h"

namespace relascope::cli {
namespace {

struct RankArguments {
    std::string device = "auto";
    int threads = 0;
};

// The place of this process among launched ranks. It is determined only once, as ranks that meet
// through a file then have opened their port.
const std::optional<core::RankPlace>& launched(const std::string& rendezvous) {
    static const auto place = core::launchedPlace(core::processEnvironment(), rendezvous);
    return place;
}

// Follows rank 0. `says`: reports the error that ends this rank; a rank that rank 0 has started
// leaves that to rank 0.
int follow(const core::RankPlace& place, const std::string& device, int threads, bool says) {
    core::followParent();
    core::initDevices(threads);
    try {
        const auto ranks = core::joinRanks(place, device);
        core::followRuns(*ranks, [](const RunOptions& options, std::stop_token token) {
            return datasets::openRunData(options, {}, std::move(token));
        });
    } catch (const core::RankLost& lost) {
        if (says)
            std::cerr << "relascope-cli: rank " << place.rank << " ends: " << lost.what() << "\n";
        return kExitFailed;
    }
    return 0;
}

int threadsOf(const core::RankPlace& place, int wanted) {
    if (wanted > 0) return wanted;
    return std::max(1, core::usableCores() / place.localSize);
}

// The options that must be the same for all ranks; devices and threads may differ between machines.
std::vector<std::string> sharedOptions(const TrainArguments& a) {
    std::vector<std::string> all = {"train"};
    const auto add = [&](const std::string& name, const std::string& value) {
        if (!value.empty()) all.push_back(name + value);
    };
    const auto number = [&](const std::string& name, std::int64_t value, std::int64_t none) {
        if (value != none) all.push_back(name + std::to_string(value));
    };
    add("", a.preset), add("--model ", a.model), add("--data ", a.data);
    add("--out ", a.out), add("--resume ", a.resume);
    for (const auto& setting : a.settings) add("--set ", setting);
    for (const auto& edit : a.edits) add("--edit ", edit);
    number("--epochs ", a.epochs, 0), number("--steps ", a.steps, 0);
    number("--seed ", a.seed, -1), number("--capture-every ", a.captureEvery, -1);
    return all;
}

std::string wantedDevice(const TrainArguments& a) {
    return !a.devices.empty() ? a.devices : a.device.empty() ? "auto" : a.device;
}

}  // namespace

bool isOtherRank(const std::string& rendezvous) {
    const auto& place = launched(rendezvous);
    return place && place->rank > 0;
}

int followAsRank(const TrainArguments& a) {
    auto place = *launched(a.rendezvous);
    place.timeout = std::chrono::seconds(a.rankTimeout);
    place.options = sharedOptions(a);
    return follow(place, wantedDevice(a), threadsOf(place, a.threads), true);
}

std::string deviceArgument(const TrainArguments& a) {
    if (!a.devices.empty() && !a.device.empty())
        throw OptionError("--devices", "and --device exclude each other; give one");
    const auto devices = core::deviceList(a.devices.empty() ? a.device : a.devices);
    if (a.ranks == 0) return a.devices.empty() ? a.device : a.devices;
    const auto count = static_cast<std::size_t>(a.ranks);
    if (devices.size() > 1) {
        if (devices.size() != count)
            throw OptionError("--ranks", std::to_string(count) +
                                             " contradicts --devices, which "
                                             "names " +
                                             std::to_string(devices.size()));
        return core::joinedDevices(devices);
    }
    const auto first = core::resolveDevice(devices[0]);
    if (count == 1) return first;
    std::vector<std::string> each(count, first);
    if (first != "cpu") {
        each.clear();
        for (const auto& device : core::devices())
            if (device.usable && device.name != "cpu" && each.size() < count)
                each.push_back(device.name);
        if (each.size() < count)
            throw OptionError("--ranks", std::to_string(count) + " are more than the " +
                                             std::to_string(each.size()) +
                                             " CUDA devices of this machine; give --device cpu to "
                                             "train on the CPU");
    }
    return core::joinedDevices(each);
}

std::shared_ptr<core::RankGroup> joinLaunchedRanks(const TrainArguments& a) {
    auto place = launched(a.rendezvous);
    if (!place) {
        if (!a.rendezvous.empty())
            throw OptionError("--rendezvous",
                              "is for ranks that mpirun, srun or torchrun has started; none of "
                              "their variables is set");
        return nullptr;
    }
    if (a.ranks > 0)
        throw OptionError("--ranks", "is for one machine; the launcher has started " +
                                         std::to_string(place->size) + " ranks already");
    if (a.restarts > 0)
        throw OptionError("--restarts",
                          "needs --ranks or --devices: here the launcher would have to start the "
                          "ranks again");
    place->timeout = std::chrono::seconds(a.rankTimeout);
    place->options = sharedOptions(a);
    return core::joinRanks(*place, wantedDevice(a));
}

namespace {

int rank(const RankArguments& a, const Call&) {
    const auto& place = launched("");
    if (!place || place->rank == 0)
        throw OptionError("rank", "is started by `train --ranks` alone; use that");
    return follow(*place, a.device, a.threads, false);
}

void rankOptions(CLI::App& command, RankArguments& a) {
    command.group("");  // not shown in the help
    command.add_option("--device", a.device, "cpu, cuda:0");
    command.add_option("--threads", a.threads, "CPU threads");
}

}  // namespace

Command rankCommand() {
    return commandOf("rank", "takes part in the run of the process that started this one",
                     rankOptions, rank);
}

}  // namespace relascope::cli
