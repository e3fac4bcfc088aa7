// SPDX-License-Identifier: GPL-3.0-or-later
// Maps of relations and of attention for the inspector, made from their factors on the device.
// Never called by training.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/kernels/rel_args.h"

namespace relascope::core::kernels {

/// What a map contains, its hidden cells left out.
struct MapStatistics {
    double mean = 0.0;
    float least = 0.0f, most = 0.0f;
};

/// Maps of one sequence, in float32: act(scale <q_i, k_j>) of each relation, or the weights
/// exp(scale <q_i, k_j> - lse_i) of each head.
struct MapArgs {
    std::int32_t queries = 0, keys = 0, width = 0;
    std::int32_t maps = 0;        ///< relations or heads
    std::int32_t mapsPerKey = 1;  ///< consecutive maps share a head of k
    std::int32_t first = 0;       ///< position of query 0
    bool causal = false;          ///< keys beyond first + i are hidden
    Activation activation = Activation::Identity;
    double scale = 1.0;
    View q;                      ///< [1, queries, maps, width]
    View k;                      ///< [1, keys, maps / mapsPerKey, width]
    const float* lse = nullptr;  ///< [maps, queries]: weights instead of relations

    float* values = nullptr;  ///< [maps, queries, keys], NaN where hidden; null: not wanted
    /// [maps, thumbRows, thumbColumns]: of the cells that fall on one, that of largest size with
    /// its sign; NaN where all are hidden. Cell (i, j) falls on (i thumbRows / queries, j
    /// thumbColumns / keys); no more rows than queries and columns than keys.
    float* thumbnails = nullptr;
    std::int32_t thumbRows = 0, thumbColumns = 0;
    MapStatistics* statistics = nullptr;  ///< [maps]
    void* workspace = nullptr;            ///< mapWorkspaceBytes of device memory, on 8 bytes
};

std::size_t mapWorkspaceBytes(const MapArgs& args);

/// All maps; returns a cudaError_t as the launches of rel_ffma.h do.
extern "C" int launchMaps(const MapArgs* args, void* stream);

}  // namespace relascope::core::kernels
