// SPDX-License-Identifier: GPL-3.0-or-later
// The exchange between the ranks of one run: the processes that train one model together, one for
// each device. No header of c10d, gloo or NCCL is seen here.
#pragma once

#include <torch/types.h>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "ranks/rank_lost.h"
#include "ranks/rank_place.h"

namespace relascope::core {

/// An exchange that was started.
class Pending {
public:
    virtual ~Pending() = default;
    /// Waits until the tensor of the exchange has its new values; on a GPU, until work that is
    /// queued on the current stream from here on finds them. Throws RankLost.
    virtual void wait() = 0;
};

/// All ranks call the same functions, in the same order, with tensors of the same size. Tensors are
/// contiguous and must live until the exchange is done. For one thread.
class Communicator {
public:
    Communicator(int rank, int size) : m_rank(rank), m_size(size) {}
    virtual ~Communicator() = default;
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    int rank() const { return m_rank; }
    int size() const { return m_size; }

    /// Sums over all ranks in place, with the same bits on each.
    virtual std::unique_ptr<Pending> allReduce(torch::Tensor flat) = 0;
    /// Replaces the values by those of rank `root`.
    virtual void broadcast(torch::Tensor flat, int root) = 0;
    /// Collects `own` [n] of every rank in `all` [size * n], in the order of the ranks.
    virtual void allGather(torch::Tensor all, torch::Tensor own) = 0;

private:
    int m_rank, m_size;
};

// Ranks on the CPU: gloo, through the c10d of LibTorch's library, and the store of texts through
// which they find each other. Nothing is encrypted: for trusted networks only.

/// Texts by key, held by rank 0. Thread-safe. Every function throws RankLost if rank 0 is gone.
class RankStore {
public:
    virtual ~RankStore() = default;
    virtual void set(const std::string& key, const std::string& text) = 0;
    /// The text of a key, if there is one now.
    virtual std::optional<std::string> find(const std::string& key) = 0;
    /// Waits for the text of a key. Throws RankLost after `timeout`.
    virtual std::string wait(const std::string& key, std::chrono::milliseconds timeout) = 0;
};

/// Connects to the store; rank 0 serves it, at the address of `place` alone. Throws RankLost where
/// rank 0 does not answer within the timeout, Error.
std::unique_ptr<RankStore> openRankStore(const RankPlace& place);

/// Connects all ranks with each other; every rank must call this. Tensors are on the CPU.
std::unique_ptr<Communicator> makeGlooCommunicator(RankStore& store, const RankPlace& place);

// Ranks on GPUs: NVIDIA's NCCL, opened at run time. LibTorch's CUDA library brings it.

/// Called while an exchange is not done: returns why it never will be, or "". May throw RankLost.
using LossWatch = std::function<std::string()>;

/// Connects the GPUs of the ranks, which meet through `host`. Collective. `device`: "cuda:1". An
/// exchange that is not done within `timeout` throws RankLost. Throws OptionError("--devices", ...)
/// where there is no NCCL, RankLost.
std::unique_ptr<Communicator> makeNcclCommunicator(Communicator& host, const std::string& device,
                                                   std::chrono::seconds timeout, LossWatch watch);

}  // namespace relascope::core
