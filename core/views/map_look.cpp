// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/map_look.h"

namespace relascope::core {

const FieldTable<MapLook>& mapLookFields() {
    static const FieldTable<MapLook> table = {
        fields::integer(&MapLook::head, "head", "Head",
                        "of attention-x-relation: the relational head, from 1", 1, 100000),
        fields::choice(&MapLook::form, "form", "Form", "of a picture: how values are shown",
                       {"raw", "tanh", "sigmoid", "softmax", "top", "sign"}),
        fields::integer(&MapLook::top, "top", "Largest",
                        "with --form top: the entries of each row that are kept", 1, 1 << 20),
        fields::choice(&MapLook::range, "range", "Range",
                       "of a picture: the values that share its colours",
                       {"map", "layer", "model", "fixed"}),
        fields::boolean(&MapLook::unclipped, "unclipped", "Unclipped",
                        "colours end at the extremes, not at the 2nd and 98th percentile"),
        fields::boolean(&MapLook::green_red, "green_red", "Green and red",
                        "the colours of the papers"),
        fields::choice(&MapLook::order, "order", "Order", "of the small maps",
                       {"number", "magnitude", "symmetry", "entropy", "spread", "previous",
                        "duplicate", "induction", "itself", "first", "class-token", "neighbours"}),
        fields::texts(&MapLook::parts, "parts", "Parts",
                      "of a picture: the input, the map, the small maps of its layer",
                      {"source", "map", "small"})};
    return table;
}

}  // namespace relascope::core
