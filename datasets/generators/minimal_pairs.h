// SPDX-License-Identifier: GPL-3.0-or-later
// Minimal pairs of English sentences from a small grammar, with words of the text that comes with
// the program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/minimal_pairs.h"

namespace relascope::datasets {

/// A phenomenon that the grammar has sentences of.
struct PairPhenomenon {
    const char *name, *field, *term;  ///< as in BLiMP: UID, field, linguistics_term
};
/// All twelve, the tasks of the data.
const std::vector<PairPhenomenon>& pairPhenomena();

struct PairGrammar {
    std::string phenomenon = {};  ///< a name; empty: all
    std::int64_t pairs = 60;      ///< pairs of each phenomenon
    std::int64_t distance = 1;    ///< phrases or adjectives between the words that belong together
    bool attractors = true;       ///< nouns in them have the other number or gender
    std::uint64_t seed = 0;
};

/// Different pairs, the same for the same grammar. Throws OptionError for an unknown phenomenon, or
/// for more pairs than there are.
std::vector<core::MinimalPair> generatePairs(const PairGrammar& grammar);

}  // namespace relascope::datasets
