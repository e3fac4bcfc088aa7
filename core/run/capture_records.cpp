// SPDX-License-Identifier: GPL-3.0-or-later
#include "run/capture_records.h"

#include <algorithm>
#include <utility>

#include "run/event_records.h"
#include "types/error.h"

namespace relascope::core {

CaptureRecords::CaptureRecords(std::string folder, std::int64_t mostCells)
    : m_folder(std::move(folder)), m_mostCells(mostCells) {}

std::vector<std::int64_t> CaptureRecords::fitting(const std::vector<std::int64_t>& steps) {
    std::int64_t cells = 0;  // of the largest of some: inputs may change where a run is resumed
    for (const std::size_t k : {std::size_t{0}, steps.size() / 2, steps.size() - 1}) {
        if (k >= steps.size()) break;
        try {
            cells = std::max(cells, CaptureSheets(m_folder, steps[k]).cells());
        } catch (const Error&) {  // said by of()
        }
    }
    const auto fit = static_cast<std::size_t>(
        std::max<std::int64_t>(1, m_mostCells / std::max<std::int64_t>(1, cells)));
    if (steps.size() <= fit) return steps;
    std::vector<std::int64_t> chosen;
    for (std::size_t k = 0; k < fit; ++k)
        chosen.push_back(steps[fit == 1 ? steps.size() - 1 : k * (steps.size() - 1) / (fit - 1)]);
    remark("the images are those of " + std::to_string(fit) + " of " +
           std::to_string(steps.size()) + " captures, since all would make the file too large");
    return chosen;
}

std::string CaptureRecords::of(std::int64_t step, double wall,
                               const std::function<bool()>& wanted) {
    std::string records;
    if (m_full) return records;
    try {
        const CaptureSheets capture(m_folder, step);
        if (m_cells + capture.cells() > m_mostCells) {
            m_full = true;
            remark("the images end before step " + std::to_string(step) +
                   ", since more would make the file too large");
            return records;
        }
        m_cells += capture.cells();
        if (capture.leftOut() > 0)
            remark("of each capture " + std::to_string(capture.sheets()) + " of " +
                   std::to_string(capture.sheets() + capture.leftOut()) +
                   " images of maps are here");
        capture.draw([&](const MapSheet& sheet) {
            if (!wanted()) return false;
            if (sheet.maps > kMostSheetMaps)
                remark("the image " + sheet.name + " has the first " +
                       std::to_string(kMostSheetMaps) + " of " + std::to_string(sheet.maps) +
                       " maps");
            records += sheetRecord(sheet, step, wall);
            ++m_images;
            return true;
        });
    } catch (const FileError& error) {
        remark("without the images of step " + std::to_string(step) + ": " + error.what());
    }
    return records;
}

std::vector<std::string> CaptureRecords::takeRemarks() {
    return std::exchange(m_remarks, {});
}

void CaptureRecords::remark(const std::string& sentence) {
    if (m_said.insert(sentence).second) m_remarks.push_back(sentence);
}

}  // namespace relascope::core
