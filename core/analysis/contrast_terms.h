// SPDX-License-Identifier: GPL-3.0-or-later
// What makes a map tell pairs apart: the difference of its scores between pairs that have an
// attribute and pairs that have not, as a sum over parts of the streams (interventions.md section
// 14). The numerator of the field's contrastive covariance (Lee et al. 2026) is the sum of its
// pairs of parts.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace relascope::core {

/// Vectors of the parts of i and j of many examples, and the pairs that are compared.
struct ContrastPairs {
    torch::Tensor yes;  ///< [e, n, n] double: 1 where i and j have the attribute
    torch::Tensor no;   ///< likewise: 1 where they do not. Both 0: it is not defined, or i = j
    /// The parts of i and of j of the objects that take part in a pair, by example: [objects,
    /// parts, k]. Terms are computed in their type.
    torch::Tensor u, v;
    torch::Tensor facts;    ///< [e, n, facts] int64, -1: not known; or undefined
    double scale = 1.0;     ///< of <u, v>
    bool byOffset = false;  ///< the place of a pair is j - i, and all objects have one mean
};

/// Which objects take part in a pair: [e, n].
torch::Tensor takesPart(const ContrastPairs& pairs);

/// Of vectors of all objects, [e, n, ...], those of the objects that take part: [objects, ...].
torch::Tensor ofThoseThatTakePart(const ContrastPairs& pairs, const torch::Tensor& all);

/// What parts are centred by: means over the objects that take part, [n, parts, k], or [1, parts,
/// k] by offset. `known` [n] or [1]: whether there is one.
struct PartMeans {
    torch::Tensor u, v, known;
};
PartMeans meansOf(const ContrastPairs& pairs);

/// Shares of the difference, with the 2.5th and 97.5th percentile over drawn sets of examples
/// where there are any: [2, ...].
struct ContrastShares {
    torch::Tensor value, interval;
};

struct ContrastTerms {
    double difference = 0.0;  ///< weighted mean over places of mean(yes) - mean(no) of the score
    double low = 0.0, high = 0.0;
    ContrastShares receiver, sender;  ///< [parts of i], [parts of j]: what one object alone does
    ContrastShares both;              ///< [parts of i, parts of j]
    ContrastShares sides;             ///< [3]: the sums of these three
    ContrastShares facts;             ///< [facts + rest, facts + rest]: the sum of `both` by facts
    double cancellation = 0.0;        ///< sum |shares|
    /// The pairs of parts whose interval was drawn, as a x parts of j + b; all where it is empty.
    std::vector<std::int64_t> drawn;
};

/// `draws` [draws, e] int64: the examples of each draw; undefined: no intervals. The means that
/// parts are centred by, and the effects of facts, are those of all examples. `most`: of how many
/// pairs of parts intervals are drawn, the strongest first.
ContrastTerms contrastTerms(const ContrastPairs& pairs, const torch::Tensor& draws,
                            std::int64_t most = 4096);

/// The term of parts a and b, scale <du_a(i), dv_b(j)>, [e, n, n]: of the objects that take part,
/// the others are 0.
torch::Tensor termOf(const ContrastPairs& pairs, const PartMeans& means, std::int64_t a,
                     std::int64_t b);
/// The same of all objects that have a mean, from vectors u, v [e, n, parts, k] of any examples.
torch::Tensor termOf(const torch::Tensor& u, const torch::Tensor& v, const PartMeans& means,
                     std::int64_t a, std::int64_t b, double scale);
/// The term of facts f and g, scale <effect of f on i, effect of g on j>, of the objects that take
/// part and whose facts are known, the others are 0: [e, n, n].
torch::Tensor factTermOf(const ContrastPairs& pairs, const PartMeans& means, std::int64_t f,
                         std::int64_t g);
/// The scores themselves, of the objects that take part.
torch::Tensor scoresOf(const ContrastPairs& pairs);

/// A part of both sides by where it brought its vectors from: `tokens` [e, n, n, k] of each other
/// object, `whole` [e, n, k] of everything.
struct PartTokens {
    torch::Tensor tokens, whole;
};
/// The shares of the term of that part on both sides, by where it came from: the object itself, the
/// other of the pair, the rest; each less its mean at the place. [3, 3].
torch::Tensor throughShares(const ContrastPairs& pairs, const PartTokens& ofI,
                            const PartTokens& ofJ, double difference);

/// The AUC of scores [e, n, n], place held fixed.
double placeFixedAucOf(const ContrastPairs& pairs, const torch::Tensor& scores, bool causal);

}  // namespace relascope::core
