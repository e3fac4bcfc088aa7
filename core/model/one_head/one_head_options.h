// SPDX-License-Identifier: GPL-3.0-or-later
// Options of single heads with feature maps and of the inner-product relation (DAT 2.4).
#pragma once

#include <cstdint>

#include "types/option_groups.h"

namespace relascope::core {

enum class HeadKind { Relational, Sensory, RelationalCross };

struct OneHeadOptions : StreamOptions, ObjectInput {
    HeadKind kind = HeadKind::Relational;  ///< fixed by the architecture
    std::int64_t n_relations = 0;
    std::int64_t rel_proj_dim = 0;
    std::int64_t key_dim = 0;     // 0: d_model
    std::int64_t symbol_dim = 0;  // 0: d_model

    std::int64_t keyDim() const { return key_dim > 0 ? key_dim : d_model; }
    std::int64_t symbolDim() const { return symbol_dim > 0 ? symbol_dim : d_model; }
    bool operator==(const OneHeadOptions&) const = default;
};

/// The width of the feature maps: d_model for the relational head; for the others the width with
/// the closest number of parameters.
std::int64_t featureWidth(const OneHeadOptions& options);

struct InnerProductOptions : StreamOptions, ObjectInput {
    std::int64_t rel_proj_dim = 0;
    bool symmetric_rels = true;
    bool operator==(const InnerProductOptions&) const = default;
};

}  // namespace relascope::core
