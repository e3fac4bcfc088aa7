// SPDX-License-Identifier: GPL-3.0-or-later
// The Relation Network (Santoro et al. 2017): f( sum_ij g(x_i, x_j) ), over the patches of an
// image.
#pragma once

#include <cstdint>
#include <vector>

#include "types/option_groups.h"

namespace relascope::core {

struct RelationNetworkOptions : StreamOptions, ImageInput {
    std::vector<std::int64_t> relation_layers = {256, 256, 64};  // widths of g; the last: relations
    std::vector<std::int64_t> hidden_layers = {256};             // widths of f

    /// Input of g: two objects, each with its position as the last number.
    std::vector<std::int64_t> relationWidths() const {
        std::vector<std::int64_t> widths = {2 * (d_model + 1)};
        widths.insert(widths.end(), relation_layers.begin(), relation_layers.end());
        return widths;
    }
    /// The widths of f, from the sum of all relations to the classes.
    std::vector<std::int64_t> answerWidths() const {
        return mlpWidths(relation_layers.back(), hidden_layers, num_classes);
    }
    bool operator==(const RelationNetworkOptions&) const = default;
};

}  // namespace relascope::core
