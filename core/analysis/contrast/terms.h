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
    torch::Tensor facts;      ///< [e, n, facts] int64, -1: not known; or undefined
    std::int64_t fewest = 2;  ///< values of a fact with fewer objects have one effect together
                              ///< (8, where there are more than 100)
    double scale = 1.0;       ///< factor of <u, v>
    bool byOffset = false;    ///< the place of a pair is j - i, and all objects have one mean
};

/// Which objects take part in a pair: [e, n].
torch::Tensor takesPart(const ContrastPairs& pairs);

/// The vectors of the objects that take part, [objects, ...], from those of all, [e, n, ...].
torch::Tensor selectPaired(const ContrastPairs& pairs, const torch::Tensor& all);

/// What parts are centred by: means over the objects that take part, [n, parts, k], or [1, parts,
/// k] by offset. `known` [n] or [1]: whether there is one.
struct PartMeans {
    torch::Tensor u, v, known;
};
PartMeans meansOf(const ContrastPairs& pairs);

/// The difference and its shares for each way of counting the examples: [ways, ...]. In the first
/// way each example counts once.
struct ContrastTerms {
    torch::Tensor difference;        ///< weighted mean over places of mean(yes) - mean(no), [ways]
    torch::Tensor receiver, sender;  ///< [ways, parts]: what one object alone does
    torch::Tensor both;              ///< [ways, parts of i, parts of j]
    torch::Tensor sides;             ///< [ways, 3]: the sums of these three
    /// [ways, facts + rest, facts + rest]: the sum of `both` by facts; undefined without any.
    torch::Tensor facts;
    double cancellation = 0.0;  ///< sum |shares| of the first way
};

/// `counts` [further ways, e] double: how often each example counts; undefined: none. For each way
/// the means that parts are centred by and the effects of facts are computed anew, or those of the
/// first way are `held`. `most`: of how many pairs of parts further ways are computed, the
/// strongest first; the others are NaN there.
ContrastTerms contrastTerms(const ContrastPairs& pairs, const torch::Tensor& counts = {},
                            std::int64_t most = 4096, bool held = false);

/// Ways of counting examples that leave one block out each: [blocks, e], 0 and 1. `groups` [e]
/// int64: examples of one number stay in one block, as copies of one example do. Blocks are about
/// equally large; there are fewer of them than `blocks` where there are fewer groups.
torch::Tensor withoutBlocks(const torch::Tensor& groups, std::int64_t blocks);

/// A number, less what it owes to the examples being few, and the ends of its 95 % interval. NaN
/// where a way has none.
struct JackknifeEstimate {
    torch::Tensor value, low, high;
};
/// The jackknife that leaves out blocks of unequal size (Busing, Meijer and van der Leeden 1999,
/// Statistics and Computing 9, equations 2 to 4) of numbers [1 + blocks, ...] by the ways of
/// withoutBlocks(). The interval is Student's t. Where a way has no number, the value is that of
/// all examples.
JackknifeEstimate jackknifed(const torch::Tensor& ways, const torch::Tensor& counts);

/// The term of parts a and b, scale <du_a(i), dv_b(j)>, [e, n, n]: of the objects that take part,
/// the others are 0.
torch::Tensor termOf(const ContrastPairs& pairs, const PartMeans& means, std::int64_t a,
                     std::int64_t b);
/// The term of all objects that have a mean, from vectors u, v [e, n, parts, k] of any examples.
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
