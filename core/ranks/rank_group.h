// SPDX-License-Identifier: GPL-3.0-or-later
// The ranks of a run, from the view of one rank.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ranks/communicator.h"
#include "ranks/rank_place.h"

namespace relascope::core {

/// The identity of a rank.
struct RankName {
    std::string machine, device;
    std::int64_t process = 0;
};

/// Collective functions (as those of Communicator) are marked. For one thread.
class RankGroup {
public:
    /// Why the process of a rank has ended, "killed by signal 9"; empty while it lives, or if that
    /// is not known.
    using ProcessEnd = std::function<std::string(int rank)>;

    /// Joins the other ranks; collective. `device`: "cpu" or "cuda:1", on which this rank computes.
    /// Throws RankLost, Error naming a rank that could not join, OptionError if some ranks compute
    /// on the CPU and some on GPUs.
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
    /// The name of a rank in messages: "rank 1 (node7, cuda:1)".
    std::string nameOf(int rank) const;

    /// The communicator for tensors of the CPU.
    Communicator& host() { return *m_host; }
    /// The communicator for tensors of the devices that the ranks compute on.
    Communicator& device() { return m_device ? *m_device : *m_host; }

    /// The numbers of every rank, by rank; each gives the same count. Collective.
    std::vector<std::vector<double>> gather(const std::vector<double>& own);
    /// Whether `own` is true on any rank. Collective.
    bool any(bool own);
    /// The text of rank 0, returned on all ranks. Collective.
    std::string broadcast(const std::string& text);
    /// The texts of every rank, by rank. Collective.
    std::vector<std::string> gatherTexts(const std::string& own);
    /// Replaces the values of a tensor on any device by those of rank 0, on all ranks. Collective.
    void takeFromLeader(const torch::Tensor& tensor);

    /// Called before this rank leaves the others, because of an error or a loss that it saw: tells
    /// them why, if they can still be reached. Only the first reason counts. Not collective.
    void leave(const std::string& reason);
    /// After RankLost with the text `seen`: the rank that was lost and why, as far as the others
    /// tell within two seconds: "rank 1 (node7, cuda:1) was lost at step 812: reason". Not
    /// collective.
    std::string describeLoss(const std::string& seen, std::int64_t step);
    /// Whether leave() or describeLoss() was called: nothing can be exchanged any more.
    bool isLost() const { return m_lost; }
    /// Called instead of joining: tells rank 0 why this process cannot join.
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
