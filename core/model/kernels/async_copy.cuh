// SPDX-License-Identifier: GPL-3.0-or-later
// Copies from global to shared memory that go on beside the computation (sm_80 and later).
#pragma once

#include <cstdint>

#include "model/kernels/platform.cuh"

namespace relascope::core::kernels {

// A thread sees the bytes of its own copies after waitForCopies, the others after a barrier that
// follows. Both addresses are multiples of 16 bytes.
#if defined(__CUDACC__)

/// 16 bytes, of which those from `bytes` on become 0 and are not read.
__device__ inline void copyAsync(void* shared, const void* global, int bytes = 16) {
    const auto to = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(to), "l"(__cvta_generic_to_global(global)), "r"(bytes)
                 : "memory");
}
/// Ends a group: the thread's copies since the last one.
__device__ inline void commitCopies() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}
/// Waits until at most `Groups` of the thread's last groups are under way.
template <int Groups>
__device__ inline void waitForCopies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory");
}

#else

inline void copyAsync(void* shared, const void* global, int bytes = 16,
                      Where where = Where::current()) {
    hostCopyAsync(shared, global, bytes, where);
}
inline void commitCopies() {
    hostCommitCopies();
}
template <int Groups>
void waitForCopies() {
    hostWaitForCopies(Groups);
}

#endif

}  // namespace relascope::core::kernels
