// SPDX-License-Identifier: GPL-3.0-or-later
// Checks whether the kernels of model/kernels may be used on a device: it may be newer than any
// device that they were tested on, so that a small problem is computed with them first.
#pragma once

#include <c10/core/Device.h>

#include <optional>

#include "model/kernels/plugin.h"

namespace relascope::core {

/// Computes a small problem for each kind of kernel that serves the device, its gradients too, with
/// the table's kernels and with LibTorch. Draws no random numbers; takes part of a second.
kernels::KernelProblems cudaKernelProblems(const kernels::KernelTable& table,
                                           const c10::Device& device);

/// The kernels for a device, and the device's limits: asked once, since every call of a layer needs
/// them.
struct CheckedKernels {
    const kernels::KernelTable* table = nullptr;  ///< null: none run on the device
    kernels::DeviceLimits limits;
    kernels::KernelProblems problems;
};
/// The kernels for a device, checked at the first call for it, which also prints a problem to
/// stderr. Other threads wait for the check.
const CheckedKernels& checkedKernels(const c10::Device& device);
/// The problems that this check found on a CUDA device; empty optional if it was not made yet.
std::optional<kernels::KernelProblems> foundKernelProblems(int device);

/// LibTorch's forms everywhere, in its scope and for all threads: to compare them.
class NoCudaKernelsScope {
public:
    NoCudaKernelsScope();
    ~NoCudaKernelsScope();
    NoCudaKernelsScope(const NoCudaKernelsScope&) = delete;
    NoCudaKernelsScope& operator=(const NoCudaKernelsScope&) = delete;
};

/// Has the table serve tensors on the CPU, and on a GPU that the CPU plays, in its scope and for
/// all threads, as if the check had found `problems`. For tests, with the kernels compiled for the
/// CPU.
class CpuKernelsScope {
public:
    explicit CpuKernelsScope(const kernels::KernelTable& table,
                             kernels::KernelProblems problems = {});
    ~CpuKernelsScope();
    CpuKernelsScope(const CpuKernelsScope&) = delete;
    CpuKernelsScope& operator=(const CpuKernelsScope&) = delete;

private:
    CheckedKernels m_kernels;
};

}  // namespace relascope::core
