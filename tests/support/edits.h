// SPDX-License-Identifier: GPL-3.0-or-later
// Edits as the tests write them.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "types/edit.h"

namespace relascope::testing_support {

inline Edit edit(EditOp op, const std::string& point,
                 std::map<std::string, AxisSelection> selection = {}) {
    Edit e;
    e.op = op, e.point = point, e.selection = std::move(selection);
    return e;
}

inline EditList listOf(std::vector<Edit> edits) {
    EditList list;
    list.edits = std::move(edits);
    return list;
}

}  // namespace relascope::testing_support
