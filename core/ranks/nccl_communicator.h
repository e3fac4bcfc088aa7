// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks on GPUs: NVIDIA's NCCL, opened at run time. LibTorch's CUDA library brings it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "ranks/communicator.h"

namespace relascope::core {

/// Asked while an exchange is not done: why it will not be, or empty. May throw RankLost.
using LossWatch = std::function<std::string()>;

/// Collective; the ranks of `host` meet through it. `device`: "cuda:1". An exchange that is not
/// done within `timeout` throws RankLost. Throws OptionError("--devices", ...) where there is no
/// NCCL, RankLost.
std::unique_ptr<Communicator> makeNcclCommunicator(Communicator& host, const std::string& device,
                                                   std::chrono::seconds timeout, LossWatch watch);

}  // namespace relascope::core
