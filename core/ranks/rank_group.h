// SPDX-License-Identifier: GPL-3.0-or-later
// The ranks of a run, as one of them sees the others.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ranks/communicator.h"
#include "ranks/rank_place.h"

namespace relascope::core {

/// Who a rank is.
struct RankName {
    std::string machine, device;
    std::int64_t process = 0;
};

/// Collective functions (as those of Communicator) are marked. Of one thread.
class RankGroup {
public:
    /// Why the process of a rank has ended, "killed by signal 9"; empty while it lives, or if that
    /// is not known.
    using ProcessEnd = std::function<std::string(int rank)>;

    /// Joins the others; collective. `device`: "cpu" or "cuda:1", what this rank computes with.
    /// Throws RankLost, Error naming a rank that could not join, OptionError if some compute on the
    /// CPU and some on GPUs.
    RankGroup(const RankPlace& place, const std::string& device, ProcessEnd processEnd = {});
    ~RankGroup();
    RankGroup(const RankGroup&) = delete;
    RankGroup& operator=(const RankGroup&) = delete;

    int rank() const { return m_place.rank; }
    int size() const { return m_place.size; }
    /// Whether this is rank 0, which decides and writes.
    bool leads() const { return rank() == 0; }
    const RankPlace& place() const { return m_place; }
    const std::vector<RankName>& names() const { return m_names; }
    /// "rank 1 (node7, cuda:1)".
    std::string nameOf(int rank) const;

    /// For tensors of the CPU.
    Communicator& host() { return *m_host; }
    /// For tensors of the device that the ranks compute with.
    Communicator& device() { return m_device ? *m_device : *m_host; }

    /// The numbers of every rank, by rank; as many from each. Collective.
    std::vector<std::vector<double>> gather(const std::vector<double>& own);
    /// Whether it is so on some rank. Collective.
    bool any(bool own);
    /// The text of rank 0, on all. Collective.
    std::string broadcast(const std::string& text);
    /// The texts of every rank, by rank. Collective.
    std::vector<std::string> gatherTexts(const std::string& own);
    /// The values of rank 0 into a tensor of any device, on all. Collective.
    void takeFromLeader(const torch::Tensor& tensor);

    /// Before this rank leaves the others, because of an error or of a loss that it saw: tells them
    /// why, if they can still be reached. Only the first reason counts. Not collective.
    void leave(const std::string& reason);
    /// After RankLost, whose text is `seen`: who was lost and why, as far as the others say within
    /// two seconds. "rank 1 (node7, cuda:1) was lost at step 812: reason". Not collective.
    std::string describeLoss(const std::string& seen, std::int64_t step);
    /// Whether leave() or describeLoss() was called: nothing can be exchanged any more.
    bool isLost() const { return m_lost; }
    /// Instead of joining: tells rank 0 why this process cannot.
    static void refuse(const RankPlace& place, const std::string& reason);

    /// Why an exchange will not be done, if that is known now; "" otherwise. Not collective.
    std::string lossNow();

private:
    void waitForAll();
    void requireSameOptions(const std::vector<std::vector<std::string>>& options) const;

    RankPlace m_place;
    ProcessEnd m_processEnd;
    bool m_lost = false;
    std::unique_ptr<RankStore> m_store;
    std::unique_ptr<Communicator> m_host, m_device;
    std::vector<RankName> m_names;
};

}  // namespace relascope::core
