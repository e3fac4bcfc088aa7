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

/// A picture that stays while others are looked at: an input at a step, with or without edits.
struct PinnedResult {
    std::shared_ptr<const ProbeResult> result;  ///< null: nothing is pinned
    QString name;                               ///< "validation 12, step 96"
};

struct Inspected {
    std::shared_ptr<const ProbeResult> result;  ///< with the edits, if there are any
    std::shared_ptr<const ProbeResult> before;  ///< without them; null: nothing is edited
    std::vector<MapId> moved;                   ///< maps that the edits change, sorted
    std::vector<MapId> out;                     ///< maps that are taken out, sorted
    QString words;  ///< the edits: "layer 2 relation 3 zero; layer 1 symbols zero"

    PinnedResult pinned;  ///< "A": shown in place of the result without edits

    bool edited() const { return before != nullptr; }
    /// What the result is compared with: the pinned one, or that without edits; null: nothing.
    const std::shared_ptr<const ProbeResult>& other() const {
        return pinned.result ? pinned.result : before;
    }
};

}  // namespace relascope::widgets
