// SPDX-License-Identifier: GPL-3.0-or-later
// What measuring edits gives: changes of metrics with intervals, ablation tables, patching maps;
// and what measuring would take.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "types/edit.h"

namespace relascope {

/// A metric with and without edits, on the same examples.
struct PairedChange {
    std::string metric;  ///< "loss", "accuracy", "mean_error"
    double base = 0.0, edited = 0.0;
    double change = 0.0;  ///< edited - base; means over targets, as the metric is
    /// 95 % interval by bootstrap over examples; of a fraction never of width 0.
    double low = 0.0, high = 0.0;
    bool operator==(const PairedChange&) const = default;
};

/// The effect of edits over a data set.
struct EditEffect {
    std::int64_t examples = 0, answers = 0;
    std::vector<PairedChange> changes;
    std::int64_t rightToWrong = 0, wrongToRight = 0;  ///< of the answers
    double changedAnswers = 0.0;                      ///< fraction of answers that differ
};

/// One part of a model in an ablation table.
struct AblationRow {
    std::string part;   ///< "layer 2 relation 3"
    std::string group;  ///< "heads", "relations", "columns", "paths", "mlp", "symbols"
    Edit edit;          ///< that takes it out (op zero)
    double partNorm = 0.0, streamNorm = 0.0;  ///< mean length over positions; stream 0: none
    struct Way {
        EditOp how = EditOp::Zero;
        PairedChange change;
        double changedAnswers = 0.0;
        bool operator==(const Way&) const = default;
    };
    std::vector<Way> ways;
    bool operator==(const AblationRow&) const = default;
};

struct AblationTable {
    std::string metric;
    std::int64_t examples = 0, wanted = 0;  ///< measured so far, of how many
    double base = 0.0;
    bool text = false;              ///< examples are windows of text
    std::int64_t shift = 1;         ///< of resample, in the first draw
    std::vector<AblationRow> rows;  ///< by the largest |change|, descending
    /// The metric with the first 1, 2, ... parts out, the least important first (`cumulativeWay`).
    std::vector<std::pair<std::string, double>> cumulative;
    EditOp cumulativeWay = EditOp::Mean;
    /// Of the ten strongest parts: joint change - sum of the two.
    struct Pair {
        std::string first, second;
        double joint = 0.0, interaction = 0.0;
    };
    std::vector<Pair> pairs;
};

/// Effects of patching points of one kind from a clean input A into a corrupted one B:
/// (m(B with T from A) - m(B)) / (m(A) - m(B)).
struct PatchMap {
    std::string over;                        ///< "resid", "attn", "mlp", "heads", "relations"
    std::string point;                       ///< "hook_resid_pre"
    std::vector<std::string> rows, columns;  ///< layers; positions, heads or relations
    /// [rows, columns]; NaN where there is none (yet).
    std::vector<double> estimate, exact;
};

struct PatchResult {
    std::string metric;
    double clean = 0.0, corrupted = 0.0;  ///< m(A), m(B)
    std::vector<PatchMap> maps;
    /// What stands at the columns of maps by position: of a language model the tokens of A, with
    /// those of B behind a slash where they differ; otherwise empty.
    std::vector<std::string> positions;
    std::int64_t done = 0, total = 0;  ///< exact cells
    /// Of the cells with both: correlation of estimate and exact, NaN below three.
    double agreement = 0.0;
};

/// What an analysis would take, as far as its options do not say.
struct AnalysisCost {
    std::map<std::string, int> parts;  ///< of the model, by their group
    double seconds = 0.0;              ///< for one example with one part changed
    double more = 0.0;                 ///< for one example, beside its passes
    std::string noun;                  ///< "images"
    std::int64_t examples = 0;         ///< of the data
};

}  // namespace relascope
