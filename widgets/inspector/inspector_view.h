// SPDX-License-Identifier: GPL-3.0-or-later
// What an inspector shows: the result of a probe and, if the model is edited, that of the same
// model without the edits; and the state of all controls, which a session restores.
#pragma once

#include <QString>
#include <memory>
#include <optional>
#include <vector>

#include "types/relation_map.h"
#include "types/text_alignment.h"
#include "types/view.h"
#include "widgets/maps/map_values.h"

namespace relascope::widgets {

/// A picture that stays while others are looked at: an input at a step, with or without edits.
struct PinnedResult {
    std::shared_ptr<const ProbeResult> result;  ///< null: nothing is pinned
    QString name;                               ///< "validation 12, step 96"
    /// Pairs tokens of a text that is cut differently: the pinned are the first, the shown the
    /// second. Null: both are of the same tokens.
    std::shared_ptr<const TextAlignment> tokens = nullptr;
    /// What it is of, without its map; nullopt: it cannot be said as a command.
    std::optional<View> view = {};
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

/// Whether a text is shown across the pane. Automatic: a long one is.
enum class ReadingLayout { Automatic, On, Off };

/// The maps of an edited model, those without the edits, or the first minus the second.
enum class Shown { After, Before, Difference };

struct InspectorView {
    MapKind kind = MapKind::Relation;
    int layer = 0;          ///< from 0
    int index = 0;          ///< relation or head of that kind, from 0
    int head = 0;           ///< relational head of alpha and of alpha x r beside a relation, from 0
    int source = 0;         ///< token i
    int target = 0;         ///< token j, or a symbol
    bool reversed = false;  ///< j to i: cell (i, j) shows the value of (j, i)
    Processing processing = Processing::Raw;
    Range range = Range::ThisLayer;
    /// The colours of r, and of attention in a long text, end at the 2nd and 98th percentile, so
    /// that a few large values do not hide all others; false: at the smallest and largest value.
    bool robust = true;
    int topK = 5;
    bool paper = false;                ///< green and red instead of green and purple
    MapOrder order = MapOrder::Index;  ///< order of the small maps
    bool allLayers = false;            ///< small maps of all layers instead of this one
    ReadingLayout reading = ReadingLayout::Automatic;
    Shown shown = Shown::After;  ///< without edits or a pinned picture always After
    bool beside = false;         ///< the other map is shown, too, at the left

    bool operator==(const InspectorView&) const = default;

    /// A copy in which one field differs.
    template <class Field, class Value>
    InspectorView with(Field InspectorView::*field, Value value) const {
        InspectorView changed = *this;
        changed.*field = static_cast<Field>(value);
        return changed;
    }
};

}  // namespace relascope::widgets
