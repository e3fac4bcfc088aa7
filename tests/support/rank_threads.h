// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks as threads of the test: they exchange as processes do. The generator of random numbers is
// common to them, so dropout is left to the tests of processes.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "ranks/rank_group.h"
#include "support/rooms.h"

namespace relascope::testing_support {

/// Calls `work` in a thread for each of `size` ranks. Returns what each has thrown, "" if nothing.
inline std::vector<std::string> onRanks(int size, const std::function<void(RankGroup&)>& work,
                                        std::chrono::seconds timeout = std::chrono::seconds(60)) {
    // LibTorch's record of collective operations belongs to the process, and two groups that write
    // to it end in a crash now and then.
    static const int recorderOff = setenv("TORCH_FR_BUFFER_SIZE", "0", 1);
    EXPECT_EQ(recorderOff, 0);
    RankPlace first;
    first.size = size;
    first.key = randomKey();
    first.timeout = timeout;
    listenAt(first);
    std::vector<std::string> problems(static_cast<std::size_t>(size));
    std::vector<std::thread> threads;
    for (int r = 0; r < size; ++r)
        threads.emplace_back([&, r] {
            auto place = first;
            place.rank = r;
            if (r > 0) place.listening = -1;
            try {
                RankGroup ranks(place, "cpu");
                work(ranks);
            } catch (const std::exception& error) {
                problems[static_cast<std::size_t>(r)] = userMessage(error);
            }
        });
    for (auto& thread : threads) thread.join();
    return problems;
}

/// Calls `work` in a thread for each of `size` ranks, and expects that none throws.
inline void onGoodRanks(int size, const std::function<void(RankGroup&)>& work) {
    for (const auto& problem : onRanks(size, work)) EXPECT_EQ(problem, "");
}

}  // namespace relascope::testing_support
