// SPDX-License-Identifier: GPL-3.0-or-later
// A scan looks through a whole model in three passes: first-order estimates of what each part does
// for the answers, exact effects of the strongest parts, and attributes of pairs of objects that
// the maps among them tell apart. What is left is a handful of findings, each a sentence. Does not
// include torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/atlas/atlas.h"
#include "types/edit_results.h"

namespace relascope {

struct ModelScan {
    struct Component {
        std::string title;      ///< "layer 2, relation 1"
        AblationRow row;        ///< its ways by mean and resampling; none: not measured exactly
        double estimate = 0.0;  ///< estimated change of the loss without it; NaN: not yet
        double estimatedSize = 0.0;  ///< estimate without signs, by which parts are ordered
        bool together = false;       ///< several parts at once: all relations of a layer
        std::string use;             ///< partUseName(); empty: not measured
    };
    struct Finding {
        /// What it means, at most 25 words and three numbers; names of attributes between
        /// asterisks.
        std::string text;
        /// The numbers behind it, with their intervals; may be empty.
        std::string proof;
        std::string part;                ///< AblationRow::part that it is about
        std::vector<std::int64_t> maps;  ///< maps of `atlas`, the best first; empty: no map
        double effect = 0.0;  ///< what the mildest replacement changes, or what misleads does
        /// Edits that confirm it: what the metric is with each, on the examples of the scan.
        struct Check {
            std::string edit;  ///< "layer 1 attention zero"
            double value = 0.0;
            bool operator==(const Check&) const = default;
        };
        std::vector<Check> checks;
        /// Checks for people: "eval --examples 500 --edit 'layer 1 attention zero' gives 87.6 %".
        std::string confirm;
        /// 0..1: how much of what untrained models miss of its attribute the map has; 0 without
        /// one.
        double selectivity = 0.0;
        // Its best example with two positions, and the map in the inspector; -1: none.
        std::int64_t example = -1, i = -1, j = -1;
        std::int64_t layer = -1, index = -1;
        bool head = false;
    };
    /// What a contrast says of a map of a finding; `text` may be empty.
    struct Explanation {
        std::string map;      ///< AblationRow::part
        std::string text;     ///< its sentences
        std::string command;  ///< the options of the contrast that gives their numbers
        struct Bar {
            std::string of;  ///< "facts", "parts"
            std::string label;
            double share = 0.0, low = 0.0, high = 0.0, untrainedLow = 0.0, untrainedHigh = 0.0;
            bool operator==(const Bar&) const = default;
        };
        std::vector<Bar> bars;  ///< the largest shares
    };
    std::string data, noun;  ///< "occurs, pentos", "images"
    std::string where;       ///< AnalysisSubject::where
    /// "500 images (100 different, 80 of them trained on) of occurs, accuracy 94.6 %, beside 8
    /// untrained models (47.1 to 52.4 %)"; empty: not measured yet.
    std::string heading;
    std::int64_t step = 0;        ///< step of the weights
    std::string metric;           ///< "accuracy", "mean_error"
    double base = 0.0;            ///< metric of the whole model; NaN: not yet
    bool text = false;            ///< examples are windows of text
    std::int64_t tokens = 0;      ///< tokens of each window, at most; 0: all
    std::int64_t wanted = 0;      ///< examples of the second pass, and of the maps
    std::int64_t measured = 0;    ///< examples measured so far
    std::int64_t available = 0;   ///< that the data have
    std::int64_t different = 0;   ///< different measured examples, by what they show; 0: not known
    std::int64_t trainedOn = -1;  ///< different examples that were trained on; -1: not known
    std::int64_t meanOf = 0;      ///< examples that means are taken over; 0: not known
    bool oneAnswer = false;       ///< each example has one answer, right or wrong
    /// Examples of the first pass, so far and in all: others, so that parts are not chosen and
    /// measured on the same ones.
    std::int64_t estimated = 0, choosing = 0;
    std::int64_t shift = 1;               ///< shift to the example whose values are taken
    std::int64_t exact = 0;               ///< parts that are measured exactly
    std::int64_t untrained = 0;           ///< models that are compared
    std::int64_t otherExamples = 0;       ///< examples that these answer
    bool along = false;                   ///< maps are followed along training
    std::int64_t passes = 0;              ///< that are done, of three
    std::vector<std::string> described;   ///< maps whose attributes are looked for; empty: not yet
    std::int64_t allMaps = 0;             ///< that the model has
    std::vector<Component> parts;         ///< by the largest effect, then by the estimate
    RelationAtlas atlas;                  ///< atlas of the described maps
    double least = 0.0;                   ///< what a part has to cost to matter
    std::int64_t comparisons = 0;         ///< parts with a claim
    double expectedFalsePositives = 0.0;  ///< false claims of uncorrected 95 % intervals, at most
    std::vector<Finding> findings;        ///< the best first, at most twelve
    std::vector<Explanation> explanations;  ///< explanations of maps of findings
    bool explained = false;                 ///< all that there was time for are measured
    std::vector<std::string> notFound;      ///< sentences on what is not there
    std::string remark;                     ///< what time did not suffice for; may be empty
    std::string basis;  ///< basisOf() what it is measured on, with which alone it is continued
};

struct ScanOptions {
    std::int64_t seconds = 60;
    std::int64_t examples = 0;
    std::int64_t exact = 0;
    std::int64_t untrained = 8;
    std::int64_t tokens = 0;
    std::string attributes;
    std::vector<std::string> hypothesis = {};
    std::string classes = {};
    bool operator==(const ScanOptions&) const = default;
};

}  // namespace relascope

namespace relascope::core {

const FieldTable<ScanOptions>& scanFields();

/// Writes findings and what was not found from the numbers, by the rules of interventions.md
/// section 8.
void concludeScan(ModelScan& scan);

/// What a contrast says of the first map of a finding; null: nothing.
const ModelScan::Explanation* explanationOf(const ModelScan& scan,
                                            const ModelScan::Finding& finding);

/// How many parts were looked at, and what chance gives of them.
std::string comparisonsText(const ModelScan& scan);

/// The parts that are measured exactly.
AblationTable measuredTable(const ModelScan& scan);
/// What was measured, and how well the model answers.
std::string scanHeading(const ModelScan& scan);

/// "layer 2 relation 1" -> "layer 2, relation 1".
std::string partTitle(const std::string& part);

/// The files of Analysis::report.
std::vector<ReportFile> scanReport(const ModelScan& scan, const std::string& name,
                                   const std::string& subject,
                                   const std::vector<std::string>& command);

}  // namespace relascope::core
