// SPDX-License-Identifier: GPL-3.0-or-later
// The orders of threads in which a problem of the kernel tests runs.
#pragma once

#include <span>

#include "model/kernels/host_cuda.h"

namespace relascope::core::kernels {

/// Those after HostOrder::Forward, whose results are to have its bits. None in the sanitized
/// program: an address depends on the order only where a race lets it, which the other program
/// finds, and each order takes as long as the first.
std::span<const HostOrder> furtherOrders();

}  // namespace relascope::core::kernels
