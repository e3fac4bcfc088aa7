// SPDX-License-Identifier: GPL-3.0-or-later
// How the maps of two models go together over pairs of objects of many examples: the numbers of
// relation_statistics.h and relation_matching.h from sums over the examples, so that no map of a
// language model with hundreds of them is kept.
#pragma once

#include <torch/types.h>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/pairs/relation_statistics.h"

namespace relascope::core {

/// Maps of one model, layer after layer.
struct LayeredMaps {
    std::vector<std::int64_t> layers;  ///< how many maps each layer has
    std::int64_t all() const;
    std::int64_t first(std::size_t layer) const;  ///< index of its first map
};

class PairMoments {
public:
    /// `shape`: PairShape::examples has no meaning here.
    PairMoments(const PairShape& shape, LayeredMaps ours, LayeredMaps theirs);

    /// Adds examples: values [b, maps, objects, objects] of both models, on any device. Example
    /// `first` of the batch decides which half (PairMoments::explained) the examples are of.
    void add(const torch::Tensor& ours, const torch::Tensor& theirs, std::int64_t first);

    /// Correlation over all pairs, the mean of each place removed, [ours, theirs]; as
    /// correlationWithoutPlace(). NaN beside a map that place alone determines.
    std::vector<double> correlation() const;
    /// Held-out R^2 of a linear map from the others of their layer to the maps of our layer, place
    /// removed, fitted on every second example. `back`: from ours to
    /// theirs. NaN for fewer than four examples and where nothing varies.
    double explained(std::size_t layer, std::size_t theirLayer, bool back = false) const;

private:
    /// Sums over one half of the examples, in double precision.
    struct Half {
        std::int64_t examples = 0;
        torch::Tensor ours, theirs;                           ///< at each place [places, maps]
        torch::Tensor between;                                ///< products [ours, theirs]
        std::vector<torch::Tensor> oursWithin, theirsWithin;  ///< products within each layer
    };
    void add(Half& half, const torch::Tensor& ours, const torch::Tensor& theirs) const;

    LayeredMaps m_ours, m_theirs;
    torch::Tensor m_cells;   ///< the cell of each pair, [pairs]
    torch::Tensor m_places;  ///< the place of each pair, [pairs]
    torch::Tensor m_pairs;   ///< how many pairs each place has in one example, [places, 1]
    Half m_halves[2];
};

}  // namespace relascope::core
