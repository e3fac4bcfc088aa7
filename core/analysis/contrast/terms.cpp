// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/contrast/terms.h"

#include <torch/utils.h>

#include <algorithm>
#include <cmath>

#include "analysis/contrast/term_sums.h"
#include "analysis/pairs/relation_statistics.h"

namespace relascope::core {
namespace {

constexpr double kTermValues = 3e5;  // numbers of vectors that are gathered at once

/// Adds terms of pairs up by the weights of all ways of counting examples.
class WaySums {
public:
    WaySums(const ContrastPairs& pairs, const Places& places, const PairRows& rows,
            const torch::Tensor& counts)
        : m_byOffset(pairs.byOffset),
          m_places(places),
          m_rows(rows),
          m_counts(counts),
          m_weights(weightsOf(places, counts)) {}

    /// Adds terms [last - first, terms] of the pairs from `first` on.
    void add(std::int64_t first, std::int64_t last, const torch::Tensor& terms) {
        const auto values = terms.to(torch::kDouble);
        const auto yes = m_rows.yes.slice(0, first, last);
        for (const bool kind : {true, false}) {
            const auto at = (kind ? yes : yes.logical_not()).nonzero().flatten();
            auto of = m_rows.example.slice(0, first, last).index_select(0, at),
                 where = m_rows.place.slice(0, first, last).index_select(0, at);
            auto own = values.index_select(0, at);
            if (m_byOffset && m_counts.size(0) > 1) {
                // Many pairs of an example have one place.
                auto [both, index] = at::_unique(of * m_places.count + where, true, true);
                own = torch::zeros({both.size(0), own.size(1)}, torch::kDouble)
                          .index_add_(0, index, own);
                of = torch::div(both, m_places.count, "floor"), where = both - of * m_places.count;
            }
            const auto& weights = kind ? m_weights.yes : m_weights.no;
            const auto part =
                torch::matmul(weights.index_select(1, where) * m_counts.index_select(1, of), own);
            m_sums = m_sums.defined() ? m_sums + part : part;
        }
    }
    const torch::Tensor& sums() const { return m_sums; }  ///< [ways, terms]

private:
    bool m_byOffset;
    const Places& m_places;
    const PairRows& m_rows;
    torch::Tensor m_counts;
    PlaceWeights m_weights;
    torch::Tensor m_sums;
};

// All ways of counting examples, the first has each once: [1 + ways, e].
torch::Tensor allWays(const torch::Tensor& counts, std::int64_t examples) {
    const auto once = torch::ones({1, examples}, torch::kDouble);
    return counts.defined() ? torch::cat({once, counts}) : once;
}

// Products of the rows of both sides of pairs: [pairs, left parts * right parts].
torch::Tensor products(const torch::Tensor& left, const torch::Tensor& right,
                       const torch::Tensor& ofI, const torch::Tensor& ofJ) {
    return torch::bmm(left.index_select(0, ofI), right.index_select(0, ofJ).transpose(1, 2))
        .flatten(1);
}

// The weights c of pairs for each way of counting examples, times how often each counts: [ways,
// examples, n, n].
torch::Tensor pairWeights(const ContrastPairs& pairs, const Places& places, const PlaceWeights& c,
                          const torch::Tensor& ways, std::int64_t first, std::int64_t last) {
    const auto n = pairs.yes.size(1);
    const auto at = [&](const torch::Tensor& weights) {
        return weights.index_select(1, places.of).view({-1, 1, n, n});
    };
    return (at(c.yes) * pairs.yes.slice(0, first, last) +
            at(c.no) * pairs.no.slice(0, first, last)) *
           ways.slice(1, first, last).view({ways.size(0), last - first, 1, 1});
}

/// A side for all ways of counting examples.
struct WaySide {
    torch::Tensor brought;  // [ways, places of the other object, parts, k]: sums of weights c times
                            // the vectors of the own object
    torch::Tensor shift;    // [ways, own places, parts, k]: the mean, less that of all examples
};

WaySide waySide(const ContrastPairs& pairs, const Places& places, const PairRows& rows,
                const PlaceWeights& c, const torch::Tensor& ways, const CentredSide& side,
                bool receiver, bool anew) {
    const auto e = pairs.yes.size(0), n = pairs.yes.size(1), w = ways.size(0),
               parts = side.parts.size(1), k = side.parts.size(2),
               whereabouts = pairs.byOffset ? std::int64_t{1} : n;
    const auto with = takesPart(pairs);
    // [..., i, j] as [..., own object, other].
    const auto turned = [&](const torch::Tensor& cells) {
        return receiver ? cells : cells.transpose(-1, -2);
    };
    const auto more = ways - 1.0;
    auto brought = torch::zeros({w, whereabouts, parts * k}, torch::kDouble),
         shift = torch::zeros_like(brought);
    // Where each place is one pair of an example, ways differ from the first in few examples, and
    // all the others are summed once: [own places, (yes, no) x other places, parts k].
    auto once = torch::zeros({pairs.byOffset ? 0 : n, 2 * n, parts * k}, torch::kDouble);
    const auto step =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(kTermValues) * 4 / (n * parts * k), 1,
                                 std::max<std::int64_t>(e / w, 1));
    for (std::int64_t first = 0; first < e; first += step) {
        const auto last = std::min(e, first + step), some = last - first;
        const auto own = denseOf(side.slice(rows.firstObject[static_cast<std::size_t>(first)],
                                            rows.firstObject[static_cast<std::size_t>(last)]),
                                 with, first, last)
                             .to(torch::kDouble)
                             .flatten(2);  // [some, n, parts k]
        const auto differ = more.slice(1, first, last).ne(0).any(1).nonzero().flatten();
        const auto of = pairs.byOffset ? torch::arange(w) : differ;
        const PlaceWeights weights{c.yes.index_select(0, of), c.no.index_select(0, of)};
        const auto by = turned(pairWeights(
            pairs, places, weights, (pairs.byOffset ? ways : more).index_select(0, of), first,
            last));  // [some ways, examples, own, other]
        if (pairs.byOffset) {
            brought += torch::matmul(by.sum(3).flatten(1), own.flatten(0, 1)).unsqueeze(1);
        } else {
            const auto kinds = turned(
                torch::stack({pairs.yes.slice(0, first, last), pairs.no.slice(0, first, last)}));
            once += torch::bmm(kinds.permute({2, 0, 3, 1}).reshape({n, 2 * n, some}),
                               own.transpose(0, 1));
            brought.index_add_(
                0, of,
                torch::matmul(by.permute({0, 3, 1, 2}).reshape({of.size(0) * n, some * n}),
                              own.flatten(0, 1))
                    .view({of.size(0), n, parts * k}));
        }
        if (!anew) continue;
        // Vectors are centred: those of all examples add up to 0.
        const auto times = more.index_select(0, differ).slice(1, first, last).unsqueeze(2) *
                           with.slice(0, first, last).to(torch::kDouble);  // [ways, some, n]
        shift.index_add_(
            0, differ,
            pairs.byOffset
                ? torch::matmul(times.flatten(1), own.flatten(0, 1)).unsqueeze(1)
                : torch::bmm(times.permute({2, 0, 1}), own.transpose(0, 1)).transpose(0, 1));
    }
    if (!pairs.byOffset) {
        const auto weights = turned(torch::stack({c.yes, c.no}, 1).view({w, 2, n, n}));
        brought += torch::bmm(weights.permute({3, 0, 2, 1}).reshape({n, w, 2 * n}),
                              once.view({n, 2, n, parts * k})
                                  .permute({2, 0, 1, 3})
                                  .reshape({n, 2 * n, parts * k}))
                       .transpose(0, 1);
    }
    WaySide all;
    all.brought = brought.view({w, whereabouts, parts, k});
    if (!anew) return all;
    auto count = torch::matmul(ways, with.to(torch::kDouble));  // [ways, n]
    if (pairs.byOffset) count = count.sum(1, true);
    all.shift = (shift / count.clamp_min(1.0).unsqueeze(2)).view({w, whereabouts, parts, k});
    return all;
}

// sum over pairs of their weights times <left_a(i), right_b(j)>, [a, b], of weights [e, n, n] and
// vectors [e, n, a or b, k]. The sums over i come first, so that no terms of pairs are made.
torch::Tensor weightedProducts(const torch::Tensor& weights, const torch::Tensor& left,
                               const torch::Tensor& right) {
    const auto a = left.size(2), b = right.size(2);
    const auto summed = torch::bmm(weights.to(left.scalar_type()).transpose(1, 2), left.flatten(2))
                            .view({left.size(0), left.size(1), a, left.size(3)})
                            .permute({2, 0, 1, 3});
    return torch::matmul(summed.reshape({a, -1}), right.permute({0, 1, 3, 2}).reshape({-1, b}))
        .to(torch::kDouble);
}

// Hands a few examples at once on, whose vectors have so many numbers.
template <class Work>
void eachExamples(std::int64_t examples, std::int64_t values, const Work& work) {
    const auto step = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(kTermValues / static_cast<double>(values)));
    for (std::int64_t first = 0; first < examples; first += step)
        work(first, std::min(examples, first + step));
}

/// The sums of pairs of parts.
struct PartSums {
    torch::Tensor all;     // [parts of i, parts of j] of the first way
    torch::Tensor chosen;  // a * parts of j + b of those that further ways are computed of
    torch::Tensor ways;    // [ways, chosen]
};

// The pairs of many parts, of which further ways are those of the strongest.
PartSums strongestParts(const ContrastPairs& pairs, const Places& places, const PairRows& rows,
                        const PlaceWeights& c, const torch::Tensor& ways, const CentredSide& left,
                        const CentredSide& right, std::int64_t most) {
    const auto e = pairs.yes.size(0), n = pairs.yes.size(1), a = pairs.u.size(1),
               b = pairs.v.size(1), k = pairs.u.size(2);
    const auto with = takesPart(pairs);
    const auto dense = [&](const CentredSide& side, std::int64_t first, std::int64_t last) {
        return denseOf(side.slice(rows.firstObject[static_cast<std::size_t>(first)],
                                  rows.firstObject[static_cast<std::size_t>(last)]),
                       with, first, last);
    };
    PartSums sums;
    sums.all = torch::zeros({a, b}, torch::kDouble);
    const PlaceWeights once{c.yes.slice(0, 0, 1), c.no.slice(0, 0, 1)};
    const auto first = ways.slice(0, 0, 1);
    eachExamples(e, n * (a + b) * k, [&](std::int64_t from, std::int64_t to) {
        sums.all += weightedProducts(pairWeights(pairs, places, once, first, from, to)[0],
                                     dense(left, from, to), dense(right, from, to));
    });
    sums.chosen = std::get<1>(sums.all.abs().flatten().topk(most)).contiguous();
    if (ways.size(0) == 1) return sums;
    WaySums drawn(pairs, places, rows, ways);
    const auto of = torch::div(sums.chosen, b, "floor"), other = sums.chosen - of * b;
    eachExamples(e, most * n * (n + 2 * k), [&](std::int64_t from, std::int64_t to) {
        const auto at = rows.firstPair[static_cast<std::size_t>(from)],
                   end = rows.firstPair[static_cast<std::size_t>(to)];
        if (at == end) return;
        const auto terms = torch::matmul(dense(left, from, to).index_select(2, of).transpose(1, 2),
                                         dense(right, from, to)
                                             .index_select(2, other)
                                             .permute({0, 2, 3, 1}));  // [e, some, n, n]
        drawn.add(at, end,
                  terms.index({rows.example.slice(0, at, end) - from, torch::indexing::Slice(),
                               rows.i.slice(0, at, end), rows.j.slice(0, at, end)}));
    });
    sums.ways = drawn.sums();
    return sums;
}

// The sums of pairs of facts for all ways: [ways, facts + rest, facts + rest]. `shifts` [ways,
// places, k] are those of the means of both sides; undefined: means and effects are those of the
// first way. `whole` [ways]: the sum of everything.
torch::Tensor factSums(const ContrastPairs& pairs, const Places& places, const PlaceWeights& c,
                       const torch::Tensor& ways, const CentredSide& left, const CentredSide& right,
                       const torch::Tensor& shiftI, const torch::Tensor& shiftJ,
                       const torch::Tensor& whole) {
    const auto e = pairs.yes.size(0), n = pairs.yes.size(1), facts = pairs.facts.size(2),
               whereabouts = pairs.byOffset ? std::int64_t{1} : n;
    const auto with = takesPart(pairs);
    const auto columns = factColumns(pairs);
    const auto taken = with.flatten().nonzero().flatten(), owner = taken.div(n, "floor");
    const auto everything = torch::arange(owner.size(0));
    // One column of 0 and 1 for each value: [objects, columns], [e, n, columns].
    const auto values = torch::zeros({owner.size(0), columns.count()})
                            .scatter_(1, columns.of, 1.0)
                            .mul_(columns.known.unsqueeze(1)),
               indicators = denseOf(values, with, 0, e);
    const bool one = right.parts.is_same(left.parts);
    const auto vectorsI = left.whole.to(torch::kFloat),
               vectorsJ = one ? vectorsI : right.whole.to(torch::kFloat);
    const auto sumsOf = [&](const CentredSide& side) {
        ColumnSums sums(columns, side.whole.size(1), whereabouts);
        sums.add(columns, everything, side.whole, side.place,
                 torch::ones({owner.size(0)}, torch::kDouble));
        return sums;
    };
    const auto sumsI = sumsOf(left), sumsJ = one ? sumsI : sumsOf(right);
    // The sums over the columns of each fact.
    const auto byFact = [&](const torch::Tensor& values) {
        std::vector<torch::Tensor> all;
        for (std::size_t f = 0; f < columns.ends.size(); ++f)
            all.push_back(values.slice(0, f > 0 ? columns.ends[f - 1] : 0, columns.ends[f]).sum(0));
        return torch::stack(all);
    };
    torch::Tensor effectsI, effectsJ;
    std::vector<torch::Tensor> all;
    for (std::int64_t w = 0; w < ways.size(0); ++w) {
        const auto shiftOf = [&](const torch::Tensor& shift) {
            return shift.defined() ? shift[w] : shift;
        };
        if (w == 0 || shiftI.defined()) {
            const auto more = (ways[w] - 1.0).index_select(0, owner);
            const auto differ = more.nonzero().flatten();
            const auto effectsOf = [&](const CentredSide& side, const ColumnSums& sums,
                                       const torch::Tensor& shift) {
                auto own = sums.clone();
                own.add(columns, differ, side.whole.index_select(0, differ),
                        side.place.index_select(0, differ), more.index_select(0, differ));
                return own.effects(columns, shiftOf(shift));
            };
            effectsI = effectsOf(left, sumsI, shiftI);
            effectsJ = one ? effectsI : effectsOf(right, sumsJ, shiftJ);
        }
        const PlaceWeights own{c.yes.slice(0, w, w + 1), c.no.slice(0, w, w + 1)};
        const auto weights =
            pairWeights(pairs, places, own, ways.slice(0, w, w + 1), 0, e)[0].to(torch::kFloat);
        // The weights of each value of the other object: [objects, columns].
        const auto weighted = [&](const torch::Tensor& by) {
            return torch::bmm(by, indicators).flatten(0, 1).index_select(0, taken);
        };
        const auto ofI = weighted(weights.transpose(1, 2)), ofJ = weighted(weights);
        const auto met = torch::matmul(ofI.t(), values).to(torch::kDouble);
        // The products of what each value does with the whole vectors of the other objects.
        const auto withOthers = [&](const torch::Tensor& of, const torch::Tensor& vectors,
                                    const torch::Tensor& shift, const torch::Tensor& effects) {
            auto sums = torch::matmul(of.t(), vectors).to(torch::kDouble);  // [columns, k]
            if (shift.defined()) {
                const auto at = torch::zeros({whereabouts, of.size(1)})
                                    .index_add_(0, left.place, of)
                                    .to(torch::kDouble);  // [places, columns]
                sums -= torch::matmul(at.t(), shift[w]);
            }
            return byFact((sums * effects).sum(1));
        };
        const auto pairsOfFacts =
            byFact(byFact(met * torch::matmul(effectsI, effectsJ.t())).t()).t();
        auto sum = torch::zeros({facts + 1, facts + 1}, torch::kDouble);
        sum.slice(0, 0, facts).slice(1, 0, facts).copy_(pairsOfFacts);
        sum.slice(0, 0, facts)
            .select(1, facts)
            .copy_(withOthers(ofI, vectorsJ, shiftJ, effectsI) - pairsOfFacts.sum(1));
        sum[facts]
            .slice(0, 0, facts)
            .copy_(withOthers(ofJ, vectorsI, shiftI, effectsJ) - pairsOfFacts.sum(0));
        sum[facts][facts] = whole[w] - sum.sum();
        all.push_back(sum);
    }
    return torch::stack(all);
}

}  // namespace

torch::Tensor takesPart(const ContrastPairs& pairs) {
    const auto defined = pairs.yes + pairs.no;
    return (defined.sum(2) + defined.sum(1)).gt(0);
}

torch::Tensor selectPaired(const ContrastPairs& pairs, const torch::Tensor& all) {
    return all.flatten(0, 1).index_select(0, takesPart(pairs).flatten().nonzero().flatten());
}

PartMeans meansOf(const ContrastPairs& pairs) {
    const auto with = takesPart(pairs);
    const auto at = with.flatten().nonzero().flatten();
    const auto place = objectPlaces(pairs, at.remainder(with.size(1)));
    auto count = with.sum(0, false, torch::kDouble);
    if (pairs.byOffset) count = count.sum(0, true);
    PartMeans means;
    means.u = meanOf(pairs.u, place, count);
    // Symmetric maps have one side.
    means.v = pairs.v.is_same(pairs.u) ? means.u : meanOf(pairs.v, place, count);
    means.known = count.gt(0);
    return means;
}

ContrastTerms contrastTerms(const ContrastPairs& pairs, const torch::Tensor& counts,
                            std::int64_t most, bool held) {
    const torch::NoGradGuard noGrad;
    const auto places = placesOf(pairs);
    const auto rows = rowsOf(pairs, places);
    const auto e = pairs.yes.size(0), a = pairs.u.size(1), b = pairs.v.size(1), k = pairs.u.size(2);
    const auto ways = allWays(counts, e);
    const auto c = weightsOf(places, ways);
    const bool anew = !held && ways.size(0) > 1;
    const auto means = meansOf(pairs);
    const auto place = objectPlaces(pairs, rows.object);
    // Symmetric maps have one side.
    const auto left = sideOf(pairs.u, means.u, place);
    const auto right = pairs.v.is_same(pairs.u) ? left : sideOf(pairs.v, means.v, place);
    const auto sideI = waySide(pairs, places, rows, c, ways, left, true, anew),
               sideJ = waySide(pairs, places, rows, c, ways, right, false, anew);
    // What one object is to the whole mean of the other, and what the means of a way take off pairs
    // of parts. Weights add up to 0 at each place, so that means x means has none.
    const auto alone = [](const torch::Tensor& brought, const torch::Tensor& mean,
                          const torch::Tensor& shift) {
        const auto whole =
            shift.defined() ? mean.unsqueeze(0) + shift.sum(2) : mean.unsqueeze(0);  // [ways, p, k]
        return (brought * whole.unsqueeze(2)).sum({1, 3});
    };
    const auto receiver = alone(sideI.brought, means.v.sum(1), sideJ.shift),
               sender = alone(sideJ.brought, means.u.sum(1), sideI.shift);
    torch::Tensor moved;  // [ways, a, b]
    if (anew) {
        const auto flat = [](const torch::Tensor& side) {  // [ways, parts, places k]
            return side.transpose(1, 2).flatten(2);
        };
        moved = torch::bmm(flat(sideI.brought), flat(sideJ.shift).transpose(1, 2)) +
                torch::bmm(flat(sideI.shift), flat(sideJ.brought).transpose(1, 2));
    }
    const bool some = a * b > most;
    // The terms of a pair, side by side: both objects as a whole, and pairs of parts.
    WaySums sums(pairs, places, rows, ways);
    const auto pairsEach = static_cast<double>(rows.example.size(0)) / static_cast<double>(e);
    const auto step = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(
               kTermValues / (1.0 + pairsEach * static_cast<double>((some ? 2 : a + b) * k))));
    for (std::int64_t example = 0; example < e; example += step) {
        const auto end = static_cast<std::size_t>(std::min(e, example + step)),
                   begin = static_cast<std::size_t>(example);
        const auto first = rows.firstPair[begin], last = rows.firstPair[end];
        const auto from = rows.firstObject[begin], to = rows.firstObject[end];
        if (first == last) continue;
        const auto ofI = rows.ofI.slice(0, first, last) - from,
                   ofJ = rows.ofJ.slice(0, first, last) - from;
        const auto whole = [&](const CentredSide& side, const torch::Tensor& at) {
            return side.whole.slice(0, from, to).index_select(0, at);
        };
        auto terms = (whole(left, ofI) * whole(right, ofJ)).sum(1, true);
        if (!some)
            terms = torch::cat(
                {terms, products(left.slice(from, to), right.slice(from, to), ofI, ofJ)}, 1);
        sums.add(first, last, terms);
    }
    auto whole = sums.sums().select(1, 0);  // [ways]
    if (anew) whole = whole - moved.sum({1, 2});
    torch::Tensor both;
    if (!some) {
        both = sums.sums().slice(1, 1).view({-1, a, b});
        if (anew) both = both - moved;
    } else {
        const auto strongest = strongestParts(pairs, places, rows, c, ways, left, right, most);
        both = torch::full({ways.size(0), a * b}, NAN, torch::kDouble);
        if (strongest.ways.defined())
            both.index_copy_(
                1, strongest.chosen,
                anew ? strongest.ways - moved.flatten(1).index_select(1, strongest.chosen)
                     : strongest.ways);
        both[0].copy_(strongest.all.flatten());
        both = both.view({-1, a, b});
    }
    ContrastTerms result;
    const auto sides = torch::stack({receiver.sum(1), sender.sum(1), whole}, 1) * pairs.scale;
    result.difference = sides.sum(1);
    const auto share = [&](const torch::Tensor& terms) {
        std::vector<std::int64_t> shape(static_cast<std::size_t>(terms.dim()), 1);
        shape[0] = -1;
        return terms / result.difference.view(shape);
    };
    result.sides = share(sides);
    result.receiver = share(receiver * pairs.scale), result.sender = share(sender * pairs.scale);
    result.both = share(both * pairs.scale);
    for (const auto& shares : {result.receiver, result.sender, result.both})
        result.cancellation += shares[0].abs().sum().item<double>();
    if (pairs.facts.defined() && pairs.facts.size(2) > 0) {
        const auto ofAll = [&](const torch::Tensor& shift) {
            return shift.defined() ? shift.sum(2) : shift;
        };
        result.facts = share(factSums(pairs, places, c, ways, left, right, ofAll(sideI.shift),
                                      ofAll(sideJ.shift), whole) *
                             pairs.scale);
    }
    return result;
}

torch::Tensor termOf(const torch::Tensor& u, const torch::Tensor& v, const PartMeans& means,
                     std::int64_t a, std::int64_t b, double scale) {
    const auto known = means.known.to(torch::kDouble).unsqueeze(1);
    const auto du = (u.select(2, a) - means.u.select(1, a)) * known,
               dv = (v.select(2, b) - means.v.select(1, b)) * known;
    return torch::matmul(du, dv.transpose(1, 2)) * scale;
}

namespace {

// Scores of one vector of each object that takes part, [e, n, n].
torch::Tensor scoresOfRows(const ContrastPairs& pairs, const torch::Tensor& u,
                           const torch::Tensor& v) {
    const auto with = takesPart(pairs);
    const auto e = with.size(0), n = with.size(1);
    auto scores = torch::empty({e, n, n}, torch::kDouble);
    std::int64_t from = 0;
    constexpr std::int64_t kExamples = 100;
    for (std::int64_t first = 0; first < e; first += kExamples) {
        const auto last = std::min(e, first + kExamples),
                   to = from + with.slice(0, first, last).sum().item<std::int64_t>();
        const auto of = [&](const torch::Tensor& rows) {
            return denseOf(rows.slice(0, from, to), with, first, last);
        };
        scores.slice(0, first, last).copy_(torch::matmul(of(u), of(v).transpose(1, 2)));
        from = to;
    }
    return scores.mul_(pairs.scale);
}

}  // namespace

torch::Tensor termOf(const ContrastPairs& pairs, const PartMeans& means, std::int64_t a,
                     std::int64_t b) {
    const auto with = takesPart(pairs);
    const auto place =
        objectPlaces(pairs, with.flatten().nonzero().flatten().remainder(with.size(1)));
    const auto own = [&](const torch::Tensor& parts, const torch::Tensor& mean, std::int64_t part) {
        return parts.select(1, part) - mean.select(1, part).index_select(0, place);
    };
    return scoresOfRows(pairs, own(pairs.u, means.u, a), own(pairs.v, means.v, b));
}

torch::Tensor factTermOf(const ContrastPairs& pairs, const PartMeans& means, std::int64_t f,
                         std::int64_t g) {
    const auto with = takesPart(pairs);
    const auto at = with.flatten().nonzero().flatten();
    const auto place = objectPlaces(pairs, at.remainder(with.size(1)));
    const auto columns = factColumns(pairs);
    const auto effect = [&](const torch::Tensor& parts, const torch::Tensor& mean,
                            std::int64_t fact) {
        const auto whole = sideOf(parts, mean, place).whole;
        ColumnSums sums(columns, whole.size(1), means.u.size(0));
        sums.add(columns, torch::arange(whole.size(0)), whole, place,
                 torch::ones({whole.size(0)}, torch::kDouble));
        return sums.effects(columns, {}).index_select(0, columns.of.select(1, fact)) *
               columns.known.to(torch::kDouble).unsqueeze(1);
    };
    return scoresOfRows(pairs, effect(pairs.u, means.u, f), effect(pairs.v, means.v, g));
}

torch::Tensor scoresOf(const ContrastPairs& pairs) {
    const auto u = sumOf(pairs.u);
    return scoresOfRows(pairs, u, pairs.v.is_same(pairs.u) ? u : sumOf(pairs.v));
}

torch::Tensor throughShares(const ContrastPairs& pairs, const PartTokens& ofI,
                            const PartTokens& ofJ, double difference) {
    const auto places = placesOf(pairs);
    const auto rows = rowsOf(pairs, places);
    const auto c = weightsOf(places, allWays({}, pairs.yes.size(0)));
    const auto weights = torch::where(rows.yes, c.yes[0].index_select(0, rows.place),
                                      c.no[0].index_select(0, rows.place));
    const auto k = ofI.whole.size(2), count = rows.place.size(0);
    // The parts of some pairs, [pairs, 3, k].
    const auto split = [&](const PartTokens& part, bool receiver, std::int64_t first,
                           std::int64_t last) {
        const auto of = [&](const torch::Tensor& all) { return all.slice(0, first, last); };
        const auto e = of(rows.example), own = of(receiver ? rows.i : rows.j),
                   other = of(receiver ? rows.j : rows.i);
        const auto itself = part.tokens.index({e, own, own}),
                   theirs = part.tokens.index({e, own, other});
        return torch::stack({itself, theirs, part.whole.index({e, own}) - itself - theirs}, 1)
            .to(torch::kDouble);
    };
    const auto step = std::max<std::int64_t>(1, static_cast<std::int64_t>(kTermValues) / (6 * k));
    const auto each = [&](const auto& work) {
        for (std::int64_t first = 0; first < count; first += step)
            work(first, std::min(count, first + step));
    };
    auto meanI = torch::zeros({places.count, 3, k}, torch::kDouble), meanJ = meanI.clone();
    each([&](std::int64_t first, std::int64_t last) {
        const auto place = rows.place.slice(0, first, last);
        meanI.index_add_(0, place, split(ofI, true, first, last));
        meanJ.index_add_(0, place, split(ofJ, false, first, last));
    });
    const auto times = torch::bincount(rows.place, {}, places.count).clamp_min(1).view({-1, 1, 1});
    meanI /= times, meanJ /= times;
    auto sums = torch::zeros({3, 3}, torch::kDouble);
    each([&](std::int64_t first, std::int64_t last) {
        const auto place = rows.place.slice(0, first, last);
        const auto left = split(ofI, true, first, last) - meanI.index_select(0, place),
                   right = split(ofJ, false, first, last) - meanJ.index_select(0, place);
        sums += torch::einsum("psk,ptk->st",
                              {left * weights.slice(0, first, last).view({-1, 1, 1}), right});
    });
    return sums * pairs.scale / difference;
}

double placeFixedAucOf(const ContrastPairs& pairs, const torch::Tensor& scores, bool causal) {
    PairShape shape;
    shape.examples = static_cast<std::size_t>(scores.size(0));
    shape.objects = static_cast<std::size_t>(scores.size(1));
    shape.causal = causal, shape.byOffset = pairs.byOffset;
    const auto values = scores.to(torch::kFloat).contiguous();
    const auto truth = torch::where(pairs.yes.gt(0), static_cast<int>(kPairYes),
                                    torch::where(pairs.no.gt(0), static_cast<int>(kPairNo),
                                                 torch::tensor(static_cast<int>(kPairUndefined))))
                           .to(torch::kByte)
                           .contiguous();
    const std::span all(values.const_data_ptr<float>(), shape.values());
    const std::span known(truth.const_data_ptr<std::uint8_t>(), shape.values());
    return placeFixedAuc(SortedPairs(shape, pairPlaces(shape), all), known);
}

}  // namespace relascope::core
