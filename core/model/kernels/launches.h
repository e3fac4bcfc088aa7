// SPDX-License-Identifier: GPL-3.0-or-later
// The table of a library of kernels: its launches, and the facts of devices from the CUDA library
// or its stand-in on the CPU.
#pragma once

#include "model/kernels/kernel_table.h"

namespace relascope::core::kernels {

constexpr KernelTable tableOfLaunches(int (*deviceCount)(int*),
                                      int (*deviceLimits)(int, DeviceLimits*),
                                      const char* (*errorText)(int)) {
    KernelTable table;
    table.deviceCount = deviceCount;
    table.deviceLimits = deviceLimits;
    table.errorText = errorText;
    table.relTensorForward = launchRelTensorForward;
    table.relTensorBackward = launchRelTensorBackward;
    table.tensorServes = relTensorServes;
    table.tensorWorkspace = relTensorWorkspaceBytes;
    table.tensorServesBackward = relTensorServesBackward;
    table.decode = launchDecode;
    table.decodeShared = decodeSharedBytes;
    table.decodeWorkspace = decodeWorkspaceBytes;
    return table;
}

}  // namespace relascope::core::kernels
