// SPDX-License-Identifier: GPL-3.0-or-later
// A file of its own, since what compares results is compiled once for both programs.
#include "kernels/orders.h"

namespace relascope::core::kernels {

std::span<const HostOrder> furtherOrders() {
#if defined(__SANITIZE_ADDRESS__)
    return {};
#else
    static constexpr HostOrder orders[] = {HostOrder::Backward, HostOrder::Shuffled};
    return orders;
#endif
}

}  // namespace relascope::core::kernels
