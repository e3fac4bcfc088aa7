// SPDX-License-Identifier: GPL-3.0-or-later
// Phenomena: which heads and relations of a language model carry which phenomenon. Each part is
// taken out, and the pair accuracy on the minimal pairs of each phenomenon is measured again
// (interventions.md section 11). Does not include torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/pairs/pair_preference.h"
#include "types/edit_results.h"

namespace relascope {

struct Phenomena {
    /// A part taken out in one way, on the pairs of one phenomenon.
    struct Change {
        PairedChange accuracy;
        PairedChange difference;  ///< change of score(good) - score(worst wrong one), nats
    };
    struct Cell {
        int part = 0, phenomenon = 0;
        Change zero, mean;
        /// The mildest of the two costs more than `least`, corrected over all cells.
        bool carries = false;
    };
    std::vector<AblationRow> parts;  ///< without ways, in the order of the forward pass
    std::vector<PairPreference> phenomena;
    std::vector<double> least;  ///< by phenomenon: the loss of accuracy that matters
    std::vector<Cell> cells;    ///< part by part
    std::vector<std::string> findings;
    PairPreference all;
    std::string score;
    std::int64_t comparisons = 0;  ///< cells that were decided on

    const Cell& cell(std::size_t part, std::size_t phenomenon) const {
        return cells[part * phenomena.size() + phenomenon];
    }
};

struct PhenomenonOptions {
    std::int64_t examples = 60;  ///< pairs of a phenomenon, at most; 0: all
    std::vector<std::string> what = {"heads", "relations"};  ///< groups of AblationRow
    std::string score = "sum";                               ///< or "mean", per token
    std::int64_t untrained = 4;
};

}  // namespace relascope

namespace relascope::core {

/// Decides which parts carry which phenomena, and says so. Of a phenomenon whose good sentences the
/// model does not prefer (prefersGood()) no part is said to carry it, nor that none does.
void findCarriers(Phenomena& phenomena);

/// The table as an answer: "findings", "parts" (a column for each phenomenon: the change of the
/// mildest way), "phenomena", and "cells" with everything.
Answer answerOf(const Phenomena& phenomena);
const FieldTable<PhenomenonOptions>& phenomenonFields();

}  // namespace relascope::core
