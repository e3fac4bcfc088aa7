// SPDX-License-Identifier: GPL-3.0-or-later
// The network that learns to classify the attributes of cards and turns their pictures into vectors
// (ABS 4.5). Does not include torch.
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "data/dataset.h"

namespace relascope::core {

/// One picture of every card, with the values of its attributes.
struct CardPictures {
    std::int64_t height = 0, width = 0;       ///< at least 36 pixels both
    std::int64_t attributes = 0, values = 0;  ///< each attribute has one of `values` values
    std::vector<std::uint8_t> pixels;         ///< [cards, height, width, 3]
    std::vector<int> answers;                 ///< [cards, attributes], 0 .. values - 1
};

struct CardNetworkOptions {
    std::int64_t embedding = 64;   ///< width of the vectors
    std::uint64_t seed = 0;        ///< for drawing the cards, the weights and the order
    std::int64_t examples = 1000;  ///< cards drawn, each shifted by up to two pixels
    std::int64_t epochs = 8;       ///< over these; more until no attribute is misclassified
};

struct CardTable {
    std::int64_t width = 0;
    std::vector<float> vectors;  ///< [cards, width], -1 .. 1
    double accuracy = 0.0;       ///< fraction of attributes classified correctly, 0 .. 1
    std::int64_t epochs = 0;     ///< epochs of training that were needed
};

/// Trains conv 32 5x5 relu, max-pool 4, twice; Linear 64 relu; Linear `embedding` tanh, the vector;
/// a sigmoid for every value of every attribute. Always uses one thread, so that a seed gives the
/// same table on one machine; does not touch torch's generators. Throws OptionError if some
/// attribute of some card is still classified wrongly at the end, Cancelled.
CardTable trainCardNetwork(const CardPictures& cards, const CardNetworkOptions& options,
                           const ProgressCallback& progress = {}, std::stop_token stop = {});

}  // namespace relascope::core
