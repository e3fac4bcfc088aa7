// SPDX-License-Identifier: GPL-3.0-or-later
// train.device as a list: one run on several devices, a process (a rank) for each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace relascope::core {

/// The devices that train.device names, one for each rank, in its order: "cuda:0, cuda:1" gives
/// "cuda:0" and "cuda:1". "cuda" is "cuda:0"; nothing at all is "auto". A CUDA device may be named
/// once, the CPU any number of times. Whether the machine has them is not looked at. Throws
/// OptionError ("train.device").
std::vector<std::string> deviceList(const std::string& text);
/// How many devices the text names; 1 where deviceList() would throw.
std::int64_t deviceCount(const std::string& text) noexcept;
/// The inverse of deviceList(): "cuda:0,cuda:1".
std::string joinedDevices(const std::vector<std::string>& devices);
/// The devices in words: "cuda:0", "2 devices: cuda:0, cuda:1", "3 processes on the CPU".
std::string devicesText(const std::vector<std::string>& devices);

}  // namespace relascope::core
