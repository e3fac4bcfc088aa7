// SPDX-License-Identifier: GPL-3.0-or-later
// Records which training uses which device of this machine, for trainings that wait for their turn.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "files/file_lock.h"

namespace relascope::wire {

/// The devices that a training of this process uses: held (runtimeFolder()/device-NAME.lock) until
/// it is destroyed. A device that another training holds is used beside it, unless one waits for
/// it.
class DeviceClaim {
public:
    /// `name`: the name of the run, shown to trainings that wait. Devices are taken in the order of
    /// their names, so that two trainings never wait for each other.
    DeviceClaim(std::vector<std::string> devices, std::string name);

    DeviceClaim(DeviceClaim&&) = default;
    DeviceClaim& operator=(DeviceClaim&&) = default;

    /// Takes every device that is free. True if all are held.
    bool take();
    /// The first device that is not free, and the run on it: "cuda:0: between-dat-s0 trains there".
    std::string heldByOther() const;
    /// Calls take() until all are held or `goesOn` returns false; `goesOn` is called five times a
    /// second with heldByOther().
    void wait(const std::function<bool(const std::string& heldByOther)>& goesOn);

private:
    struct Device {
        std::string name, file;
        core::FileLock lock;
    };
    std::vector<Device> m_devices;
    std::string m_name;
};

}  // namespace relascope::wire
