// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/out_of_memory.h"

#include <ATen/DeviceAccelerator.h>

#include <new>
#include <regex>

#include "files/memory.h"
#include "options/estimates.h"

namespace relascope::core {

bool isOutOfMemory(const std::exception& error) {
    if (dynamic_cast<const Error*>(&error)) return false;  // a sentence already
    if (dynamic_cast<const c10::OutOfMemoryError*>(&error) ||
        dynamic_cast<const std::bad_alloc*>(&error))
        return true;
    // Libraries with memory of their own, the CUDA runtime, and LibTorch's allocator on the CPU.
    const std::string text = userMessage(error);
    for (const char* words : {"_STATUS_ALLOC_FAILED", "CUDA error: out of memory",
                              "CUDA out of memory", "DefaultCPUAllocator: "})
        if (text.find(words) != std::string::npos) return true;
    return false;
}

std::string shortageText(const std::string& device, const std::exception& error) {
    const std::string text = error.what();
    std::smatch found;
    std::string wanted;
    if (std::regex_search(text, found, std::regex("ried to allocate ([0-9.]+ (bytes|[KMGT]iB))")))
        wanted = found[1];
    if (const auto unit = wanted.find(" bytes"); unit != std::string::npos)
        wanted = byteText(std::stoull(wanted.substr(0, unit)));
    return device + " is out of memory" +
           (wanted.empty() ? "" : " (" + wanted + " more were needed)");
}

std::string messageOn(const std::string& device, const std::exception& error) {
    return isOutOfMemory(error) ? shortageText(device, error) : userMessage(error);
}

void releaseDeviceMemory() {
    const auto type = at::accelerator::getAccelerator();
    if (!type || *type == c10::DeviceType::CPU) return;
    try {
        auto* allocator = at::getDeviceAllocator(*type);
        if (allocator->initialized()) allocator->emptyCache();
    } catch (const std::exception&) {  // it is the driver that fails, and says so where it is used
    }
}

std::string trainingShortage(const RunOptions& options, const std::string& shortage,
                             std::uint64_t free, std::optional<Ranks> ranks) {
    const auto batch = options.train.batch_size;
    const std::string what = shortage + " with train.batch_size " + std::to_string(batch);
    const auto fits = fittingBatch(options, free, ranks);
    if (fits == 0)
        return what +
               (free > 0 ? ", and by the estimate no batch fits into the " + byteText(free) +
                               " that are free"
                         : std::string(", and there is no smaller batch")) +
               "; start again with a smaller model or train.activation_checkpointing, or resume on "
               "another device";
    return what + "; " + std::to_string(fits) + (free > 0 ? " would fit" : " may fit") +
           ": lower train.batch_size to " + std::to_string(fits) + " and resume";
}

}  // namespace relascope::core
