// SPDX-License-Identifier: GPL-3.0-or-later
// Libraries that are like librelascope_cuda.so, and wrong in one point each: compiled once for each
// of the macros below. Their devices are made up.
#include "model/kernels/kernel_table.h"

#include <cstring>

namespace relascope::core::kernels {

#if defined(FAKE_NEEDS_SYMBOL)
int notDefinedAnywhere();
int use() {
    return notDefinedAnywhere();
}
#endif

#if !defined(FAKE_NO_SYMBOL)
namespace {

int deviceCount(int* count) {
    *count = 3;
    return 0;
}

/// Device 0 is served, device 1 is older than the kernels, device 2 fails.
int deviceLimits(int device, DeviceLimits* limits) {
    *limits = {7, device == 0 ? 5 : 2, 40, 65536};
    return device == 2 ? 46 : 0;
}

int deviceFacts(int device, DeviceFacts* facts) {
    std::strcpy(facts->name, device == 0 ? "NVIDIA Made Up" : "NVIDIA Made Up Old");
    facts->memoryBytes = std::size_t{16} << 30;
    return device == 2 ? 46 : 0;
}

int versions(int* driver, int* runtime) {
    *driver = 13020, *runtime = 13000;
    return 0;
}

const char* errorText(int) {
    return "device busy";
}

constexpr KernelTable makeTable() {
    KernelTable table;
    table.deviceCount = deviceCount, table.deviceLimits = deviceLimits;
    table.deviceFacts = deviceFacts, table.versions = versions;
    table.errorText = errorText;
#if defined(FAKE_OTHER_TABLE)
    table.bytes += 8;
#elif defined(FAKE_OTHER_ARGUMENTS)
    table.argumentBytes -= 8;
#endif
    return table;
}

constexpr KernelTable kTable = makeTable();

}  // namespace

extern "C" __attribute__((visibility("default"))) const KernelTable* relascope_kernels(
    int version) {
#if defined(FAKE_OTHER_VERSION)
    return version == kKernelTableVersion + 1 ? &kTable : nullptr;
#else
    return version == kKernelTableVersion ? &kTable : nullptr;
#endif
}
#endif

}  // namespace relascope::core::kernels
