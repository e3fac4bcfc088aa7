// SPDX-License-Identifier: GPL-3.0-or-later
// The atlas of relations: what each relation r_ij of a model, and the attention of each head, says
// of pairs of objects, over the examples of a data set. Distribution, symmetry, ranks, shares of
// content and place, attributes of pairs that it tells apart, beside what chance and untrained
// weights give and what the model loses without it; and a label that sums this up. Does not include
// torch.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "types/image.h"

namespace relascope {

struct AblationTable;

struct RelationAtlas {
    struct Attribute {
        std::string name;      ///< "same object"
        bool ordered = false;  ///< it has values: Spearman's correlation in place of an AUC
        /// Members of a conjunction, and whether each must hold; empty: it is none.
        std::vector<std::pair<std::int64_t, bool>> members = {};
        bool hypothesis = false;  ///< the user's own
    };
    /// How well a relation tells an attribute: P(r_yes > r_no) + half of the ties. NaN where there
    /// is nothing to tell, or not measured (yet).
    struct Fit {
        double plainAuc = 0.0;         ///< over all pairs
        double auc = 0.0;              ///< within each place, weighted by n_yes n_no: the headline
        double low = 0.0, high = 0.0;  ///< 95 % interval of `auc` by bootstrap over examples
        /// How often permuted attributes come as far from 0.5, at best over all relations and
        /// attributes: (1 + such permutations) / (1 + permutations).
        double p = 0.0;
        double untrained = 0.0;  ///< mean AUC over untrained models, and its range
        double untrainedLow = 0.0, untrainedHigh = 0.0;
        double initial = 0.0;  ///< AUC of this relation before the first step
        /// Further from 0.5 than any map of the layer of any untrained model is, for any attribute
        /// that can be a label, and than these furthest ones spread.
        bool exceedsUntrained = false;
    };
    /// A metric without the relation, and without its layer's relations (or all its attention).
    struct Use {
        std::string how;  ///< "zero", "mean", "resample"
        double change = 0.0, low = 0.0, high = 0.0;
        double groupChange = 0.0, groupLow = 0.0, groupHigh = 0.0;  ///< NaN: has no group
    };
    struct Distribution {
        double mean = 0.0, sd = 0.0, positive = 0.0, low = 0.0, high = 0.0;
        std::vector<double> quantiles;   ///< 1, 5, 25, 50, 75, 95, 99 %
        std::vector<std::int64_t> bins;  ///< 64 of equal width from low to high
    };
    struct Pair {
        std::int64_t example = 0, i = 0, j = 0;  ///< number in the split; objects from 0
        double value = 0.0;
        std::string text;  ///< "patch (0, 1) <- patch (2, 1)", or both tokens in their contexts
        Image picture;     ///< may be empty
        std::int64_t row = 0, column = 0;  ///< position of the pair in the map of this example
        std::int64_t holds = -1;  ///< the attribute of the label: 1 yes, 0 no; -1: undefined
    };
    struct Relation {
        std::string name;              ///< "layer 2 relation 1"
        std::string layer;             ///< "layer 2"
        std::string point;             ///< hook point
        std::int64_t index = 0;        ///< from 0
        std::int64_t layerIndex = -1;  ///< in the inspector, from 0; -1: it has no such layer
        bool head = false;             ///< attention of a head, which has no sign
        Distribution values;
        Distribution sent;            ///< values of alpha r; without bins: no head attends with it
        double symmetry = 0.0;        ///< |R + R^T| / |R - R^T|; infinity: symmetric
        double weightSymmetry = 0.0;  ///< symmetry of Wq Wk^T; NaN: not known
        double rank = 0.0;            ///< effective rank of R, averaged over examples
        double weightRank = 0.0;      ///< effective rank of Wq Wk^T; NaN: not known
        std::vector<double> shares;   ///< variance shares: place, example, receiver, sender, pair
        std::vector<Fit> fits;        ///< by attribute
        std::vector<Use> uses;        ///< empty: not measured
        std::int64_t group = 0;       ///< number of its group: maps correlated by 0.7 and more
        std::vector<Pair> highest, lowest, nearZero;  ///< at most one of an example
        /// The highest pairs for which the label is true (of an AUC below 0.5: whose attribute does
        /// not hold), at most one of an example; empty without a label.
        std::vector<Pair> evidence;

        std::int64_t attribute = -1;  ///< the strongest, of the label or not; -1: none
        std::int64_t labelled = -1;   ///< that of the label; -1: no label
        /// Others that do as well, or that hold their own given that one; the strongest first.
        std::vector<std::int64_t> also;
        /// Attributes whose AUC is not shown to be nearer to 0.5 than that of the label: paired
        /// differences in the bootstrap.
        std::vector<std::int64_t> asGood;
        /// Conjunctions that are further from 0.5 than each of their members, likewise.
        std::vector<std::int64_t> beatMembers;
        /// Largest |AUC - 0.5| of a map of the layer in untrained models, over attributes that can
        /// be labels; NaN: not measured.
        double untrainedFarthest = 0.0;
        /// What explains the map without an attribute: "reads i alone, not the pair (0.95 of its
        /// variance)"; empty: nothing does. It has no label then.
        std::string reading;
        /// The answer in whose examples alone a head's label holds, ", for 'occurs'", and the AUCs,
        /// "in examples of 'occurs' 0.83, in the others 0.52"; may be empty.
        std::string condition, conditionProof;
        std::string origin;  ///< "learned", "inborn"; empty: neither is shown
        /// partUseName(), or "needed only together with the others of layer 2"; empty: not
        /// measured.
        std::string use;
        std::string label;  ///< "same object, learned, needed"; "no label"
        /// Kept steps between which its attribute makes more than half of its way from 0.5; -1:
        /// it does not, or was not measured.
        std::int64_t appearedAfter = -1, appearedBy = -1;
        /// "appeared between steps 60 and 120", or "rose from 0.970 to 0.997 along training";
        /// empty: it was not followed, or neither can be said.
        std::string development;
    };
    /// The attribute of each relation along training, and the model's accuracy (of numbers: error).
    struct Step {
        std::int64_t step = 0;
        double accuracy = 0.0;
        std::vector<double> fits;  ///< AUC of Relation::attribute by relation; NaN without one
    };
    /// Two clusters of the tree of all maps by |correlation|, the closest first: a map, or from the
    /// number of maps on the joins before.
    struct Join {
        std::int64_t first = 0, second = 0;
        double correlation = 0.0;
    };

    std::vector<Attribute> attributes;
    std::vector<Relation> relations;  ///< in the order of the forward pass
    std::vector<double> correlation;  ///< [relations, relations], place removed; empty: not yet
    std::vector<Join> tree;           ///< average linkage of these
    std::string data;                 ///< "occurs, pentos"
    std::string noun;                 ///< noun for the examples: "images"
    std::int64_t examples = 0;        ///< measured so far
    std::int64_t objects = 0;         ///< objects of each example that pairs are made of
    std::int64_t columns = 0;         ///< columns of the grid of the objects; 0: none
    bool causal = false;
    std::int64_t permutations = 0;        ///< 0: not yet
    std::int64_t untrainedModels = 0;     ///< measured so far
    std::vector<double> untrainedFits;    ///< Fit::auc of each [models, relations, attributes]
    std::vector<double> untrainedScores;  ///< accuracy of each (of numbers: mean error)
    bool initial = false;                 ///< the weights before the first step are measured
    bool fresh = false;                   ///< these are the weights before the first step
    std::int64_t conjunctions = 0;        ///< that were asked, of each map
    std::int64_t different = 0;           ///< drawn examples that differ; copies are left out
    std::string guard;                    ///< why nothing is said of uses; empty otherwise
    std::vector<std::string> hypotheses;  ///< how those of one's own stand, a sentence each
    std::string metric;                   ///< metric of the uses; empty: not measured
    double base = 0.0;                    ///< that metric of the whole model
    std::int64_t usedExamples = 0;        ///< that it is measured on
    std::vector<Step> steps;              ///< along training, ascending
    std::string remark;                   ///< what was left out, one sentence; may be empty
    std::string basis;  ///< basisOf() what it is measured on, with which alone it is continued
};

struct AtlasOptions {
    static constexpr std::int64_t kOther = 500;   ///< examples of other weights, at most
    static constexpr std::int64_t kTextUse = 32;  ///< divisor of use_examples for text
    static constexpr std::int64_t kUsual = 1000;  ///< examples, of a scan, too
    std::int64_t examples = kUsual;
    std::vector<std::string> what = {"relations", "heads"};
    std::int64_t untrained = 8;
    std::int64_t use_examples = 1000;
    bool along = false;
    std::string attributes;                    ///< a CSV file; empty: those of the data
    std::vector<std::string> hypothesis = {};  ///< own statements about pairs (hypothesis.h)
    std::string classes = {};                  ///< a CSV file of classes of tokens for these
    // What a scan sets besides.
    std::vector<std::string> only;        ///< names of maps that are described; empty: by `what`
    std::int64_t otherExamples = kOther;  ///< examples for other weights, whose AUCs differ by more
    std::int64_t batchSize = 0;           ///< 0: by what the model reads
    bool operator==(const AtlasOptions&) const = default;
};

}  // namespace relascope

namespace relascope::core {

struct AnalysisSubject;  // run_analysis.h
template <class Result>
struct Watch;  // run_analysis.h

const FieldTable<AtlasOptions>& atlasFields();

/// An atlas. `measured`: in place of the atlas' own measurement of parts taken out, whose rows have
/// the names of the maps, or take them or their layer out; null: use_examples of AtlasOptions.
RelationAtlas describeRelations(AnalysisSubject& subject, const AtlasOptions& options,
                                const Watch<RelationAtlas>& watch,
                                const AblationTable* measured = nullptr);

/// The AUC of attribute a for relation l within the answers of attribute `rival`; NaN where they
/// cannot be told apart.
using ConditionalFit = std::function<double(std::size_t l, std::size_t a, std::size_t rival)>;

/// The strongest attribute, the label and its words for each relation, from what is measured:
/// p < 0.01, an AUC with place held fixed at least 0.1 from 0.5, and not explained by a rival,
/// within whose answers it stays at least 0.1 from 0.5 on the same side (two that explain each
/// other are both named). A conjunction is a label only if it beats each of its members. Others are
/// named, too, whatever their origin, if they are as good, or stay 0.1 from 0.5 within the answers
/// of the first. "Learned" is further from 0.5 than untrained models by 0.05, or by half of what
/// they miss, and apart from the furthest of their maps, and than before the first step likewise.
/// A relation with a plain reading has no label.
void labelRelations(RelationAtlas& atlas, const ConditionalFit& conditional);

}  // namespace relascope::core
