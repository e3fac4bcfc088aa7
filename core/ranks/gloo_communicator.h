// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks on the CPU: gloo, through the c10d of LibTorch's library, and the store of texts through
// which they find each other. Nothing of it is encrypted: for a network that is trusted.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "ranks/communicator.h"
#include "ranks/rank_place.h"

namespace relascope::core {

/// Texts by key, held by rank 0. Thread-safe. Every function throws RankLost if rank 0 is gone.
class RankStore {
public:
    virtual ~RankStore() = default;
    virtual void set(const std::string& key, const std::string& text) = 0;
    /// The text, if there is one now.
    virtual std::optional<std::string> find(const std::string& key) = 0;
    /// Waits for it. Throws RankLost after `timeout`.
    virtual std::string wait(const std::string& key, std::chrono::milliseconds timeout) = 0;
};

/// Of rank 0 it serves the store, at the address of `place` alone. Throws RankLost where rank 0
/// does not answer within the timeout, Error.
std::unique_ptr<RankStore> openRankStore(const RankPlace& place);

/// Connects all ranks with each other; each has called this. Tensors are on the CPU.
std::unique_ptr<Communicator> makeGlooCommunicator(RankStore& store, const RankPlace& place);

}  // namespace relascope::core
