// SPDX-License-Identifier: GPL-3.0-or-later
// The launches of a library of kernels as a table, without the functions that ask the devices: the
// CUDA library and its stand-in on the CPU add their own.
#pragma once

#include "model/kernels/kernel_table.h"

namespace relascope::core::kernels {

constexpr KernelTable tableOfLaunches() {
    KernelTable table;
    table.relForward = launchRelForward;
    table.relDelta = launchRelDelta;
    table.relBackwardRows = launchRelBackwardRows;
    table.relBackwardColumns = launchRelBackwardColumns;
    table.relBackwardLibrary = launchRelBackwardLibrary;
    table.relBackward = launchRelBackward;
    table.maps = launchMaps;
    table.relShared = relSharedBytes;
    table.mapWorkspace = mapWorkspaceBytes;
    return table;
}

}  // namespace relascope::core::kernels
