// SPDX-License-Identifier: GPL-3.0-or-later
// The results of measuring edits: changes of metrics with intervals, tables of parts taken out,
// maps of patched points; and the cost of a measurement.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "types/edit.h"

namespace relascope {

/// A metric with and without edits, on the same examples.
struct PairedChange {
    std::string metric;  ///< "loss", "accuracy", "mean_error"
    double base = 0.0, edited = 0.0;
    double change = 0.0;  ///< edited - base; means over targets, as the metric is
    /// 95 % interval (pairedChange(), evaluate/paired_change.h); for a fraction never of width 0.
    double low = 0.0, high = 0.0;
    bool operator==(const PairedChange&) const = default;
};

/// The effect of edits over a data set.
struct EditEffect {
    std::int64_t examples = 0, answers = 0;
    std::int64_t different = 0;  ///< distinct examples, by what they show; 0: not known
    std::vector<PairedChange> changes;
    /// Changes with a head that is fitted anew behind the edits; empty: not measured.
    std::vector<PairedChange> refit = {};
    std::int64_t rightToWrong = 0, wrongToRight = 0;  ///< how many answers changed
    double changedAnswers = 0.0;                      ///< fraction of answers that differ
};

/// One part of a model, and what taking it out changes.
struct AblationRow {
    std::string part;   ///< "layer 2 relation 3"
    std::string group;  ///< "heads", "relations", "columns", "paths", "mlp", "symbols"
    Edit edit;          ///< takes the part out (op zero)
    double partNorm = 0.0, streamNorm = 0.0;  ///< mean lengths of part and stream; 0: no stream
    struct Way {
        EditOp how = EditOp::Zero;
        PairedChange change;
        double changedAnswers = 0.0;
        /// The change with a head that is fitted anew behind it, where that was measured.
        std::optional<PairedChange> refit = {};
        bool operator==(const Way&) const = default;
    };
    std::vector<Way> ways;
    /// What it adds to its group (all relations of its layer, all heads of its attention): from the
    /// metric with all of the group at zero to that with all but this part. Measured of parts whose
    /// group costs and that do not themselves.
    std::optional<PairedChange> adds = {};
    bool operator==(const AblationRow&) const = default;
};

struct AblationTable {
    std::string metric;
    std::int64_t examples = 0, wanted = 0;  ///< examples measured so far, and in all
    double base = 0.0;
    bool text = false;              ///< examples are windows of text
    std::int64_t available = 0;     ///< examples in the data; 0: not known
    std::int64_t different = 0;     ///< distinct examples among the measured; 0: not known
    std::int64_t meanOf = 0;        ///< examples that means are taken over; 0: not known
    bool oneAnswer = false;         ///< each example has one answer, right or wrong
    std::int64_t shift = 1;         ///< Edit::shift of the first draw of Resample
    std::vector<double> untrained;  ///< the metric of models with fresh weights; empty: not known
    std::vector<AblationRow> rows;  ///< by the largest |change|, descending
    /// The metric with the first 1, 2, ... parts out, the least important first (`cumulativeWay`).
    std::vector<std::pair<std::string, double>> cumulative;
    EditOp cumulativeWay = EditOp::Mean;
    /// A pair of the ten strongest parts: the change with both out - the sum of their changes.
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
    /// Labels of the columns of maps by position: for a language model the tokens of A, followed
    /// by a slash and the token of B where they differ; of an image "patch (0, 1)"; otherwise
    /// empty.
    std::vector<std::string> positions;
    bool places = false;               ///< the labels name the positions, and not what stands there
    std::int64_t done = 0, total = 0;  ///< exact cells so far, and in all
    /// Correlation of estimate and exact over the cells with both; NaN for fewer than three.
    double agreement = 0.0;
};

/// The numbers that the cost of an analysis follows from, besides its options.
struct AnalysisCost {
    std::map<std::string, int> parts;  ///< how many parts the model has, by group
    double seconds = 0.0;              ///< time for one example with one part changed
    double more = 0.0;                 ///< time for one example, besides its passes
    std::string noun;                  ///< noun for examples: "images"
    std::int64_t examples = 0;         ///< how many examples the data have
};

}  // namespace relascope
