// SPDX-License-Identifier: GPL-3.0-or-later
// The other ranks of a run on this machine: processes that rank 0 starts and ends. Does not include
// torch.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "ranks/rank_place.h"

namespace relascope::core {

class ChildRanks {
public:
    /// Starts ranks 1, 2, ... of `devices` (the first is the device of rank 0): `program rank`,
    /// which finds its place in its environment (launchedPlace). Each uses `threads` threads.
    /// `place` is the place of rank 0, listening. The ranks end with the thread that has started
    /// them, however it ends. Throws Error.
    ChildRanks(const RankPlace& place, const std::vector<std::string>& devices, int threads,
               const std::string& program);
    /// Waits two seconds for ranks that still run, then kills them.
    ~ChildRanks();
    ChildRanks(const ChildRanks&) = delete;
    ChildRanks& operator=(const ChildRanks&) = delete;

    /// How a rank has ended: "killed by signal 9", "its process ended with 1"; empty while it runs
    /// or if it has ended well.
    std::string endOf(int rank);

private:
    struct Child {
        pid_t process = -1;
        bool ended = false;
        std::string end;
    };
    void look(Child& child);
    void killAll();
    std::vector<Child> m_children;
};

/// The program that is to be started: relascope-cli beside this program, else this one.
std::string rankProgram();
/// To be called first by a started rank: it ends when its parent has ended, and Ctrl+C in the
/// terminal is for rank 0 alone, which lets the other ranks end well.
void followParent();

}  // namespace relascope::core
