// SPDX-License-Identifier: GPL-3.0-or-later
// Fits a bilinear relation to a fact of pairs on a frozen stream (interventions.md section 18): the
// directions of the stream, a convex fit with one minimum, and the relation by rank. In double
// precision, but for the steps of the fit.
#pragma once

#include <torch/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/fitted/fact_pairs.h"
#include "interventions/projection.h"

namespace relascope::core {

/// The form of a relation of z_i and z_j.
enum class RelationForm {
    Symmetric,  ///< z_i' W z_j with W = W'
    Any,        ///< z_i' W z_j
    Diagonal,   ///< sum over c of w_c z_ic z_jc, in the stream's own axes
    Distance,   ///< -(z_i - z_j)' W (z_i - z_j)
    OneSide     ///< a' z_i + c' z_j: what either object says alone
};
/// The names of forms in files: "symmetric", "any", "diagonal", "distance".
const std::vector<std::string>& relationForms();
RelationForm relationForm(const std::string& name);
/// Whether both orders of a pair have the same number.
inline bool isSymmetric(RelationForm form) {
    return form == RelationForm::Symmetric || form == RelationForm::Diagonal ||
           form == RelationForm::Distance;
}

/// Which rows of a stream are of which objects: those that take part, in order.
struct ObjectRows {
    torch::Tensor example, object;  ///< [rows] int64
    torch::Tensor at;               ///< [examples, objects] int64: the row; -1: takes no part

    explicit ObjectRows(const FactPairs& facts);
    std::int64_t size() const { return example.size(0); }
    /// These rows, [rows, d], of a stream [examples, objects, d].
    torch::Tensor of(const torch::Tensor& stream) const;
};

/// The axes in which a stream is read.
struct StreamAxes {
    torch::Tensor mean;        ///< [objects, d] of each place, or [1, d]
    torch::Tensor axes;        ///< [d, k], orthonormal columns
    torch::Tensor values;      ///< [k]: the variance along each
    torch::Tensor scale;       ///< [k]: z = axes' (x - mean) / scale
    double variance = 0.0;     ///< total variance, over all directions
    torch::Tensor covariance;  ///< [d, d] of the rows to fit
    bool diagonal = false;     ///< these are the stream's own axes

    /// The mean of each row, [rows, d].
    torch::Tensor meanOf(const ObjectRows& rows) const;
};
struct AxesOptions {
    std::string scale = "stream";  ///< or "white"
    std::int64_t most = 64;        ///< directions
    double least = 1e-4;           ///< least variance of a direction, as a fraction of the largest
    bool onePlace = false;         ///< one mean for all places, as of blocks of a text
};
/// The axes of a stream [rows, d], from the examples to fit. Throws OptionError("fact", ...) where
/// the stream does not differ among them.
StreamAxes streamAxes(const torch::Tensor& stream, const ObjectRows& rows, const FactPairs& facts,
                      RelationForm form, const AxesOptions& options);
/// z [rows, k].
torch::Tensor coordinates(const torch::Tensor& stream, const ObjectRows& rows,
                          const StreamAxes& axes);

/// Pairs of one split as matrices, an example each, over the objects that take part. Examples with
/// about as many objects are a block, whose matrices fit into a processor's cache.
class PairBlocks {
public:
    PairBlocks(const ObjectRows& rows, const PairList& pairs);
    std::size_t size() const { return m_blocks.size(); }
    /// z [rows, k] by block: [examples, most objects, k]; zeros where there is no object.
    std::vector<torch::Tensor> of(const torch::Tensor& z) const;
    /// Numbers of all pairs [pairs], by block.
    std::vector<torch::Tensor> split(const torch::Tensor& values) const;
    /// And back.
    torch::Tensor join(const std::vector<torch::Tensor>& values) const;
    /// Numbers of a block's pairs as [examples, most, most], and back.
    torch::Tensor spread(std::size_t block, const torch::Tensor& values) const;
    torch::Tensor gather(std::size_t block, const torch::Tensor& matrices) const;

private:
    struct Block {
        torch::Tensor rows, there;  // [examples, most]
        torch::Tensor pairs;        // [pairs of the block] of all pairs
        torch::Tensor at;           // and of the flat matrices
    };
    std::vector<Block> m_blocks;
};

/// W [k, k]; of a diagonal form its diagonal, too, of OneSide [2, k]: a and c.
struct FittedForm {
    RelationForm form = RelationForm::Symmetric;
    torch::Tensor weights;
    double bias = 0.0, loss = 0.0, ridge = 0.0;
    bool converged = true;
};
/// One fit after another, each from the last ridge's.
struct RidgePath {
    struct Step {
        FittedForm fit;
        double chosen = 0.0;  ///< AUC on the examples to choose
    };
    std::vector<Step> steps;
    std::size_t best = 0;  ///< index of the best step; of ties the larger ridge
    const FittedForm& fit() const { return steps[best].fit; }
};
const std::vector<double>& usualRidges();

/// How far a fit goes: to this largest part of the gradient. The numbers of a relation that is kept
/// need the first; an AUC alone is the same to 1e-4 with the second, in a fifth of the passes.
inline constexpr double kGradientOfRelation = 1e-7, kGradientOfAuc = 1e-5;

/// Everything that fits of one set of pairs share.
class PairFitter {
public:
    PairFitter(const FactPairs& facts, const ObjectRows& rows, RelationForm form);

    const PairList& pairs(std::uint8_t split) const { return m_pairs[split]; }
    RelationForm form() const { return m_form; }
    /// `progress` gets the fraction done, at least every few passes; it may throw.
    RidgePath path(const torch::Tensor& z, const std::vector<double>& ridges,
                   const std::function<void(double)>& progress = {},
                   double gradient = kGradientOfRelation) const;
    /// The numbers r + b of the pairs of a split.
    std::vector<double> scores(const torch::Tensor& z, const FittedForm& fit,
                               std::uint8_t split) const;
    double auc(const std::vector<double>& scores, std::uint8_t split) const;
    /// sum v y z_i z_j', symmetrised where the form is: [k, k].
    torch::Tensor moment(const torch::Tensor& z) const;

private:
    RelationForm m_form;
    PairList m_pairs[3];
    std::vector<PairBlocks> m_blocks;
    torch::Tensor m_weights, m_sign;  // [pairs to fit]
};

/// The AUC of what either object says alone, of the smallest ridge: as much as there is to say.
double oneSideAuc(const PairFitter& sides, const torch::Tensor& z,
                  const std::vector<double>& ridges);

/// W as a sum of terms, the largest first: r = sum over l of (left_l z_i) (right_l z_j).
struct RankedForm {
    torch::Tensor left, right;  ///< [k, terms]; left has the sign
    std::int64_t terms() const { return left.size(1); }
    torch::Tensor weights(std::int64_t rank) const;
};
RankedForm rankedForm(const FittedForm& fit);
/// The AUCs of ranks 1 to all on a split.
std::vector<double> aucByRank(const PairFitter& fitter, const torch::Tensor& z,
                              const RankedForm& ranked, double bias, std::uint8_t split);
/// The least rank whose AUC is within `within` of the whole's.
std::int64_t keptRank(const std::vector<double>& byRank, double whole, double within = 0.005);

StreamRelation streamRelation(const StreamAxes& axes, const RankedForm& ranked, std::int64_t rank,
                              double bias, RelationForm form);

}  // namespace relascope::core
