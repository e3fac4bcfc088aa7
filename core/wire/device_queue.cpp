// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/device_queue.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "files/atomic_file.h"
#include "wire/socket.h"

namespace relascope::wire {

DeviceClaim::DeviceClaim(std::vector<std::string> devices, std::string name)
    : m_name(std::move(name)) {
    std::sort(devices.begin(), devices.end());
    devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
    const std::string folder = runtimeFolder();
    for (auto& device : devices) {
        std::string file = device;
        std::replace(file.begin(), file.end(), ':', '-');
        m_devices.push_back({std::move(device), folder + "/device-" + file + ".lock", {}});
    }
}

bool DeviceClaim::take() {
    for (auto& device : m_devices) {
        if (device.lock.held()) continue;
        device.lock = core::FileLock(device.file);
        if (!device.lock.held()) return false;
        device.lock.write(m_name + "\n");
    }
    return true;
}

std::string DeviceClaim::heldByOther() const {
    for (const auto& device : m_devices) {
        if (device.lock.held()) continue;
        std::string name;
        try {
            name = core::readTextFile(device.file, 4096);
        } catch (const FileError&) {  // it has just been given back
        }
        name = name.substr(0, name.find('\n'));
        return device.name + ": " + (name.empty() ? "another run" : name) + " trains there";
    }
    return {};
}

void DeviceClaim::wait(const std::function<bool(const std::string&)>& goesOn) {
    while (!take() && goesOn(heldByOther()))
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
}

}  // namespace relascope::wire
