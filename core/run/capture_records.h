// SPDX-License-Identifier: GPL-3.0-or-later
// The maps of a run's captures as records of an event file, within the bounds of a run.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace relascope::core {

/// Cells that the images of a run have together; a cell takes about two bytes of a file.
constexpr std::int64_t kMostCellsOfRun = 128 << 20;

class CaptureRecords {
public:
    /// `folder` holds the captures of the run; `mostCells` is kMostCellsOfRun but in tests.
    explicit CaptureRecords(std::string folder, std::int64_t mostCells = kMostCellsOfRun);

    /// Of these steps, ascending, as many as fit: spread evenly, the first and the last included.
    std::vector<std::int64_t> fitting(const std::vector<std::int64_t>& steps);
    /// The images of a capture, unless those of the run would have too many cells; `wanted` is
    /// asked before each. A file that cannot be read is left out.
    std::string of(std::int64_t step, double wall, const std::function<bool()>& wanted);

    int images() const { return m_images; }
    /// What was left out, and why, since the last call; each sentence once.
    std::vector<std::string> takeRemarks();

private:
    void remark(const std::string& sentence);

    std::string m_folder;
    std::int64_t m_mostCells, m_cells = 0;
    int m_images = 0;
    bool m_full = false;
    std::set<std::string> m_said;
    std::vector<std::string> m_remarks;
};

}  // namespace relascope::core
