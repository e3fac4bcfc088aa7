// SPDX-License-Identifier: GPL-3.0-or-later
// The kept weights of a run that trains: written within a budget, and dropped. Does not include
// torch; for one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/kept_weights.h"

namespace relascope::core {

/// Every so many differences one file stands alone.
constexpr int kKeptChain = 16;

class KeptRing {
public:
    /// Takes over what the folder has. `mayGo` says of a step other than the first, the last and
    /// the marked ones whether it may be dropped when the budget is full.
    KeptRing(const std::string& run, std::uint64_t budget,
             std::function<bool(std::int64_t)> mayGo = {});

    /// Writes the weights of a step after all others, in place of an older file of that step; false
    /// if that exceeds the budget and nothing may be dropped for it. `reserve` bytes are left free
    /// on the disk. Whatever moment the process ends at, every step of the folder can be read.
    /// Throws DiskFull, FileError.
    bool add(std::int64_t step, KeptForm form, WeightValues values, std::uint64_t reserve = 0);

    const std::vector<KeptStep>& steps() const { return m_steps; }
    std::uint64_t bytes() const;

private:
    bool makeRoom(std::uint64_t bytes);
    void drop(std::size_t index);

    std::string m_folder;
    std::uint64_t m_budget;
    std::function<bool(std::int64_t)> m_mayGo;
    std::vector<KeptStep> m_steps;
    /// Of the last step that was added with KeptForm::Xor, and how many differences it is away from
    /// a file that stands alone.
    std::optional<WeightValues> m_last;
    std::int64_t m_lastStep = -1;
    int m_chain = 0;
};

/// Removes the kept weights after a step, which a run that continues from there makes again, and
/// what a killed process left behind. Nothing is thrown: what cannot be removed stays.
void dropKeptAfter(const std::string& run, std::int64_t step);

/// Copies the kept weights up to a step into another run; `from` may be training. Throws DiskFull,
/// FileError.
void copyKept(const std::string& from, const std::string& to, std::int64_t step);

}  // namespace relascope::core
