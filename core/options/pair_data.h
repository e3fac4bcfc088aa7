// SPDX-License-Identifier: GPL-3.0-or-later
// Minimal pairs as data options.
#pragma once

#include <string>

#include "types/data_options.h"

namespace relascope::core {

/// The minimal pairs of a file or folder, `fields` as PairFields::of(); without a path 60 pairs of
/// each phenomenon of the grammar.
inline DataOptions pairData(const std::string& path = {}, const std::string& fields = {}) {
    DataOptions data;
    data.kind = "minimal-pairs";
    data.task = "twelve";
    data.path = path;
    data.text_field = fields;
    data.train_size = 60;
    return data;
}

}  // namespace relascope::core
