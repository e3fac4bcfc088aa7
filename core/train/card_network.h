// SPDX-License-Identifier: GPL-3.0-or-later
// The network that turns the pictures of cards into vectors, by learning to tell their attributes
// (ABS 4.5). No torch here.
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "data/dataset.h"

namespace relascope::core {

/// Every card once, with the values of its attributes.
struct CardPictures {
    std::int64_t height = 0, width = 0;       ///< at least 36 pixels both
    std::int64_t attributes = 0, values = 0;  ///< each attribute has one of `values` values
    std::vector<std::uint8_t> pixels;         ///< [cards, height, width, 3]
    std::vector<int> answers;                 ///< [cards, attributes], 0 .. values - 1
};

struct CardNetworkOptions {
    std::int64_t embedding = 64;   ///< width of the vectors
    std::uint64_t seed = 0;        ///< of the cards drawn, of the weights and of the order
    std::int64_t examples = 1000;  ///< cards drawn, each moved by up to two pixels
    std::int64_t epochs = 8;       ///< over these; more until every attribute is told
};

struct CardTable {
    std::int64_t width = 0;
    std::vector<float> vectors;  ///< [cards, width], -1 .. 1
    double accuracy = 0.0;       ///< fraction of attributes told from these pictures, 0 .. 1
    std::int64_t epochs = 0;     ///< that it took
};

/// Trains conv 32 5x5 relu, max-pool 4, twice; Linear 64 relu; Linear `embedding` tanh, the vector;
/// a sigmoid for every value of every attribute. Takes one thread whatever the program may use, so
/// that a seed names one table on a machine; leaves torch's generators alone. Throws OptionError
/// where not every attribute of every card is told in the end, Cancelled.
CardTable trainCardNetwork(const CardPictures& cards, const CardNetworkOptions& options,
                           const ProgressCallback& progress = {}, std::stop_token stop = {});

}  // namespace relascope::core
