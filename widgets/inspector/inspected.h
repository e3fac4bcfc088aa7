// SPDX-License-Identifier: GPL-3.0-or-later
// What an inspector shows: the result of a probe and, where the model is edited, that of the same
// model without the edits.
#pragma once

#include <QString>
#include <memory>
#include <vector>

#include "types/relation_map.h"
#include "widgets/maps/map_measures.h"

namespace relascope::widgets {

struct Inspected {
    std::shared_ptr<const ProbeResult> result;  ///< with the edits, if there are any
    std::shared_ptr<const ProbeResult> before;  ///< without them; null: nothing is edited
    std::vector<MapId> moved;                   ///< maps that the edits change, sorted
    std::vector<MapId> out;                     ///< maps that are taken out, sorted
    QString words;  ///< the edits: "layer 2 relation 3 zero; layer 1 symbols zero"

    bool edited() const { return before != nullptr; }
};

}  // namespace relascope::widgets
