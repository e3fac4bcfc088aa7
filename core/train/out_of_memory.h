// SPDX-License-Identifier: GPL-3.0-or-later
// A device that is out of memory: recognises the error, releases memory, and reports it in one
// sentence with a way out. Does not include torch.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>

#include "options/step_share.h"
#include "types/error.h"
#include "types/run_options.h"

namespace relascope::core {

/// The memory of a device, or of the machine, was not enough.
class OutOfMemory : public Error {
public:
    using Error::Error;
};

/// Whether an exception of LibTorch, CUDA or the standard library says that memory is missing.
bool isOutOfMemory(const std::exception& error);
/// "cuda:0 is out of memory", with the amount that was asked for if the exception tells it:
/// " (2.50 GiB more were needed)". Without a way out.
std::string shortageText(const std::string& device, const std::exception& error);
/// The message of any exception for the user, of missing memory by shortageText().
std::string messageOn(const std::string& device, const std::exception& error);

/// Gives the memory that LibTorch keeps for later use back to the devices. Call it where no
/// exception and no tensor of the failed work is left.
void releaseDeviceMemory();

/// The end of a training without memory: `shortage`, the batch, and the one that fits into `free`
/// bytes (0: unknown) by the estimate (estimates.h), of the `ranks` or those that train.device
/// names.
std::string trainingShortage(const RunOptions& options, const std::string& shortage,
                             std::uint64_t free, std::optional<Ranks> ranks = {});

/// Returns the result of `work`. If it runs out of memory, releases the device's memory and throws
/// OutOfMemory with the shortage and `advice()`, which begins with "; " or " while ...".
template <class Work, class Advice>
auto withinMemory(const std::string& device, Work work, Advice advice) {
    std::string shortage;
    try {
        return work();
    } catch (const std::exception& error) {
        if (!isOutOfMemory(error)) throw;
        shortage = shortageText(device, error);
    }
    releaseDeviceMemory();
    throw OutOfMemory(shortage + advice());
}

}  // namespace relascope::core
