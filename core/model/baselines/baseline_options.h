// SPDX-License-Identifier: GPL-3.0-or-later
// Options of the relational baselines: CoRelNet (Kerg et al. 2022), PrediNet (Shanahan et al.
// 2020), and a Transformer and an MLP over sets of objects.
#pragma once

#include <cstdint>
#include <vector>

#include "model/blocks/stack_options.h"
#include "types/option_groups.h"

namespace relascope::core {

struct CoRelNetOptions : StreamOptions, ImageInput {
    bool softmax = false;  ///< fixed by the architecture: CoRelNetSoftmax
    bool operator==(const CoRelNetOptions&) const = default;
};

struct PrediNetOptions : StreamOptions, ImageInput {
    std::int64_t n_heads_sa = 1;
    std::int64_t n_relations = 0;
    std::int64_t key_dim = 0;  // 0: d_model / heads

    std::int64_t keyDim() const { return key_dim > 0 ? key_dim : d_model / n_heads_sa; }
    bool operator==(const PrediNetOptions&) const = default;
};

struct ObjectCoRelNetOptions : StreamOptions, ObjectInput {
    bool symmetric_rels = true;
    bool relation_softmax = true;
    std::int64_t key_dim = 0;  // 0: d_model
    std::int64_t hidden = 32;

    std::int64_t keyDim() const { return key_dim > 0 ? key_dim : d_model; }
    bool operator==(const ObjectCoRelNetOptions&) const = default;
};

struct ObjectPrediNetOptions : ObjectInput {
    std::int64_t n_heads_sa = 1;
    std::int64_t n_relations = 0;
    std::int64_t key_dim = 0;  // 0: object_dim
    std::int64_t hidden = 32;

    std::int64_t keyDim() const { return key_dim > 0 ? key_dim : object_dim; }
    bool operator==(const ObjectPrediNetOptions&) const = default;
};

struct ObjectTransformerOptions : StreamOptions, StackDepth, ObjectInput, BlockOptions {
    std::int64_t hidden = 32;
    bool operator==(const ObjectTransformerOptions&) const = default;
};

struct MlpOptions : ObjectInput {
    std::vector<std::int64_t> hidden_layers = {32, 32};

    /// The widths of all layers: input, hidden ones, output.
    std::vector<std::int64_t> widths() const {
        return mlpWidths(n_objects * object_dim, hidden_layers, out_dim);
    }
    bool operator==(const MlpOptions&) const = default;
};

StackOptions stackOf(const ObjectTransformerOptions& options);

}  // namespace relascope::core
