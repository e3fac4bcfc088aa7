// SPDX-License-Identifier: GPL-3.0-or-later
// What the ranks of one run exchange: the processes that train one model together, one for each
// device. No header of c10d, gloo or NCCL is seen here.
#pragma once

#include <torch/types.h>

#include <memory>

#include "ranks/rank_lost.h"

namespace relascope::core {

/// An exchange that was started.
class Pending {
public:
    virtual ~Pending() = default;
    /// Until the tensor of the exchange has its new values; on a GPU, until work that is given to
    /// the current stream from here on finds them. Throws RankLost.
    virtual void wait() = 0;
};

/// All ranks call the same functions, in the same order, with tensors of the same size. Tensors are
/// contiguous and must live until the exchange is done. Of one thread.
class Communicator {
public:
    Communicator(int rank, int size) : m_rank(rank), m_size(size) {}
    virtual ~Communicator() = default;
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    int rank() const { return m_rank; }
    int size() const { return m_size; }

    /// The sum over all ranks in place, with the same bits on each.
    virtual std::unique_ptr<Pending> allReduce(torch::Tensor flat) = 0;
    /// The values of `root` in place.
    virtual void broadcast(torch::Tensor flat, int root) = 0;
    /// `own` [n] of every rank in `all` [size * n], in the order of the ranks.
    virtual void allGather(torch::Tensor all, torch::Tensor own) = 0;

private:
    int m_rank, m_size;
};

}  // namespace relascope::core
