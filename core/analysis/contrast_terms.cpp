// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/contrast_terms.h"

#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/relation_statistics.h"

namespace relascope::core {
namespace {

constexpr std::int64_t kContrastChunk = 100;  // examples whose terms are in memory at once
constexpr std::int64_t kFewObjects = 8;       // with fewer, values of a fact are put together

/// The place of each cell, and the pairs of each place.
struct Places {
    torch::Tensor of;  // [n * n] int64
    std::int64_t count = 0;
    torch::Tensor yes, no;  // [e, places]
};

Places placesOf(const ContrastPairs& pairs) {
    const auto e = pairs.yes.size(0), n = pairs.yes.size(1);
    Places places;
    const auto i = torch::arange(n).view({n, 1}), j = torch::arange(n).view({1, n});
    places.of = (pairs.byOffset ? j - i + n - 1 : i * n + j).flatten().contiguous();
    places.count = pairs.byOffset ? 2 * n - 1 : n * n;
    const auto sums = [&](const torch::Tensor& cells) {
        return torch::zeros({e, places.count}, torch::kDouble)
            .index_add_(1, places.of, cells.flatten(1));
    };
    places.yes = sums(pairs.yes), places.no = sums(pairs.no);
    return places;
}

/// Vectors of the parts of all objects, less their means; the difference is made where it is
/// needed, as it would take as much memory as the vectors.
struct Centred {
    torch::Tensor parts;  // [e, n, parts, k]
    torch::Tensor mean;   // [n, parts, k], or [1, parts, k] by offset; undefined: 0

    std::int64_t count() const { return parts.size(2); }
    torch::Tensor slice(std::int64_t first, std::int64_t last) const {
        const auto x = parts.slice(0, first, last);
        return mean.defined() ? x - mean : x;
    }
    torch::Tensor part(std::int64_t at) const {  // [e, n, k]
        return parts.select(2, at) - mean.select(1, at);
    }
    torch::Tensor sum() const { return parts.sum(2) - mean.sum(1); }
};

/// The weights of yes and no at each place, for each way of counting examples: c of the difference.
struct PlaceWeights {
    torch::Tensor yes, no;  // [draws, places]
};

PlaceWeights weightsOf(const Places& places, const torch::Tensor& counts) {
    const auto yes = torch::matmul(counts, places.yes), no = torch::matmul(counts, places.no);
    const auto whole = (yes * no).sum(1, true);
    return {no / whole, -yes / whole};
}

// Whether an object takes part in a pair: [e, n].
torch::Tensor takesPart(const ContrastPairs& pairs) {
    const auto defined = pairs.yes + pairs.no;
    return (defined.sum(2) + defined.sum(1)).gt(0);
}

/// Products of left and right vectors at the pairs of all examples, summed for each way of
/// counting them.
class TermSums {
public:
    TermSums(const ContrastPairs& pairs, const Places& places, const torch::Tensor& counts)
        : m_pairs(pairs),
          m_places(places),
          m_counts(counts),
          m_weights(weightsOf(places, counts)) {}

    /// [ways, parts of left, parts of right]; `select`: of flattened pairs of parts these alone,
    /// [ways, selected].
    torch::Tensor of(const Centred& left, const Centred& right,
                     const torch::Tensor& select = {}) const {
        const auto e = left.parts.size(0), n = left.parts.size(1), a = left.count(),
                   b = right.count();
        torch::Tensor sums;
        for (std::int64_t first = 0; first < e; first += kContrastChunk) {
            const auto last = std::min(e, first + kContrastChunk);
            const auto l = left.slice(first, last), r = right.slice(first, last);
            torch::Tensor terms;  // [chunk, n, n, terms]
            if (select.defined()) {
                const auto of = torch::div(select, b, "floor");
                terms = torch::einsum("eisk,ejsk->eijs",
                                      {l.index_select(2, of), r.index_select(2, select - of * b)});
            } else {
                const auto k = l.size(3);
                terms = torch::matmul(l.reshape({last - first, n * a, k}),
                                      r.reshape({last - first, n * b, k}).transpose(1, 2))
                            .view({last - first, n, a, n, b})
                            .permute({0, 1, 3, 2, 4})
                            .flatten(3);
            }
            const auto part = chunk(terms.flatten(1, 2), first, last);
            sums = sums.defined() ? sums + part : part;
        }
        sums = sums * m_pairs.scale;
        return select.defined() ? sums : sums.view({sums.size(0), a, b});
    }

private:
    // terms [chunk, cells, terms] -> [ways, terms].
    torch::Tensor chunk(const torch::Tensor& terms, std::int64_t first, std::int64_t last) const {
        const auto counts = m_counts.slice(1, first, last);  // [ways, chunk]
        torch::Tensor sums;
        for (const bool yes : {true, false}) {
            const auto& cells = yes ? m_pairs.yes : m_pairs.no;
            const auto& weights = yes ? m_weights.yes : m_weights.no;
            // The cells that count, [rows]: often few of all.
            const auto at = cells.slice(0, first, last).flatten().nonzero().flatten();
            const auto examples = torch::div(at, m_places.of.size(0), "floor"),
                       places = m_places.of.index_select(0, at - examples * m_places.of.size(0));
            auto rows = terms.flatten(0, 1).index_select(0, at);  // [rows, terms]
            auto of = examples, where = places;
            if (m_pairs.byOffset && m_counts.size(0) > 1) {
                // Many cells of an example have one place.
                const auto both = examples * m_places.count + places;
                rows = torch::zeros({(last - first) * m_places.count, rows.size(1)}, torch::kDouble)
                           .index_add_(0, both, rows);
                const auto all = torch::arange(rows.size(0));
                of = torch::div(all, m_places.count, "floor"), where = all - of * m_places.count;
            }
            const auto part =
                torch::matmul(weights.index_select(1, where) * counts.index_select(1, of), rows);
            sums = sums.defined() ? sums + part : part;
        }
        return sums;
    }

    const ContrastPairs& m_pairs;
    const Places& m_places;
    torch::Tensor m_counts;
    PlaceWeights m_weights;
};

// How often each example is in each draw, after a first way that has each once: [1 + draws, e].
torch::Tensor countsOf(const torch::Tensor& draws, std::int64_t examples) {
    auto once = torch::ones({1, examples}, torch::kDouble);
    if (!draws.defined()) return once;
    const auto drawn = torch::zeros({draws.size(0), examples}, torch::kDouble)
                           .scatter_add_(1, draws, torch::ones(draws.sizes(), torch::kDouble));
    return torch::cat({once, drawn});
}

// Shares [ways, ...] with the first as their value.
ContrastShares sharesOf(const torch::Tensor& terms, const torch::Tensor& difference) {
    std::vector<std::int64_t> shape(static_cast<std::size_t>(terms.dim()), 1);
    shape[0] = -1;
    const auto all = terms / difference.view(shape);
    ContrastShares shares{all[0], {}};
    if (all.size(0) > 1)
        shares.interval =
            at::nanquantile(all.slice(0, 1), torch::tensor({0.025, 0.975}, torch::kDouble), 0);
    return shares;
}

Centred centred(const ContrastPairs& pairs, const torch::Tensor& parts) {
    const auto with = takesPart(pairs).to(torch::kDouble);  // [e, n]
    auto sums = torch::einsum("enak,en->nak", {parts, with}), count = with.sum(0).view({-1, 1, 1});
    if (pairs.byOffset) sums = sums.sum(0, true), count = count.sum(0, true);
    return {parts, sums / count.clamp_min(1.0)};
}

// The effects of facts on vectors x [e, n, k] of the objects that take part: [e, n, facts + rest,
// k].
torch::Tensor factEffects(const ContrastPairs& pairs, const torch::Tensor& x) {
    const auto count = pairs.facts.size(2), k = x.size(2);
    const auto known = takesPart(pairs).logical_and(pairs.facts.ge(0).all(2)).flatten();  // [e n]
    const auto rows = known.nonzero().flatten();
    const auto values = pairs.facts.flatten(0, 1).index_select(0, rows);  // [rows, facts]
    std::vector<torch::Tensor> columns;
    std::vector<std::int64_t> ends;
    for (std::int64_t f = 0; f < count; ++f) {
        auto fact = values.select(1, f).contiguous();
        std::map<std::int64_t, std::int64_t> objects;
        for (std::int64_t r = 0; r < fact.size(0); ++r)
            ++objects[fact.const_data_ptr<std::int64_t>()[r]];
        torch::Tensor rare;
        for (const auto& [value, number] : objects) {
            const auto has = fact.eq(value).to(torch::kDouble);
            if (number >= kFewObjects)
                columns.push_back(has);
            else
                rare = rare.defined() ? rare + has : has;
        }
        if (rare.defined()) columns.push_back(rare);
        ends.push_back(static_cast<std::int64_t>(columns.size()));
    }
    auto effects = torch::zeros({x.size(0) * x.size(1), count + 1, k}, torch::kDouble);
    if (rows.size(0) > 0) {
        const auto design = torch::stack(columns, 1);  // [rows, columns]
        const auto y = x.flatten(0, 1).index_select(0, rows);
        const auto fit =
            torch::matmul(at::linalg_pinv(torch::matmul(design.t(), design), 1e-10, true),
                          torch::matmul(design.t(), y));
        for (std::int64_t f = 0; f < count; ++f) {
            const auto first = f > 0 ? ends[static_cast<std::size_t>(f - 1)] : 0,
                       last = ends[static_cast<std::size_t>(f)];
            const auto effect =
                torch::matmul(design.slice(1, first, last), fit.slice(0, first, last));
            effects.select(1, f).index_copy_(0, rows, effect - effect.mean(0, true));
        }
    }
    effects.select(1, count).copy_(x.flatten(0, 1) - effects.sum(1));
    return effects.view({x.size(0), x.size(1), count + 1, k});
}

}  // namespace

ContrastTerms contrastTerms(const ContrastPairs& pairs, const torch::Tensor& draws,
                            std::int64_t most) {
    const torch::NoGradGuard noGrad;
    const auto places = placesOf(pairs);
    const auto e = pairs.u.size(0), n = pairs.u.size(1);
    const auto once = countsOf({}, e), counts = countsOf(draws, e);
    const TermSums value(pairs, places, once), all(pairs, places, counts);
    const auto du = centred(pairs, pairs.u), dv = centred(pairs, pairs.v);
    const auto everywhere = [&](const torch::Tensor& mean) {  // the sum of all means, as one part
        const auto sum = mean.sum(1, true);
        return Centred{sum.unsqueeze(0).expand({e, n, 1, sum.size(2)}), {}};
    };
    const auto wholeU = du.sum(), wholeV = dv.sum();
    const auto nu = everywhere(dv.mean), mu = everywhere(du.mean);
    const auto receiver = all.of(du, nu).squeeze(2), sender = all.of(mu, dv).squeeze(1);
    const auto together =
        all.of({wholeU.unsqueeze(2), {}}, {wholeV.unsqueeze(2), {}}).flatten(1).sum(1);
    const auto difference = receiver.sum(1) + sender.sum(1) + together;  // [ways]
    ContrastTerms result;
    result.difference = difference[0].item<double>();
    if (draws.defined()) {
        const auto range =
            at::nanquantile(difference.slice(0, 1), torch::tensor({0.025, 0.975}, torch::kDouble));
        result.low = range[0].item<double>(), result.high = range[1].item<double>();
    }
    result.receiver = sharesOf(receiver, difference);
    result.sender = sharesOf(sender, difference);
    const auto a = du.count(), b = dv.count();
    if (a * b <= most) {
        result.both = sharesOf(all.of(du, dv), difference);
    } else {
        // The sums over i first, so that no terms of all pairs of objects are made.
        const auto c = weightsOf(places, once);
        const auto weights = c.yes.index_select(1, places.of).view({1, n, n}) * pairs.yes +
                             c.no.index_select(1, places.of).view({1, n, n}) * pairs.no;
        auto sums = torch::zeros({a, b}, torch::kDouble);
        for (std::int64_t first = 0; first < e; first += kContrastChunk) {
            const auto last = std::min(e, first + kContrastChunk);
            const auto left = torch::einsum("eij,eiak->ejak",
                                            {weights.slice(0, first, last), du.slice(first, last)});
            sums += torch::einsum("ejak,ejbk->ab", {left, dv.slice(first, last)});
        }
        result.both.value = sums * pairs.scale / result.difference;
        const auto strongest = std::get<1>(result.both.value.abs().flatten().topk(most));
        for (std::int64_t k = 0; k < most; ++k)
            result.drawn.push_back(strongest[k].item<std::int64_t>());
        if (draws.defined()) {
            const auto some = sharesOf(all.of(du, dv, strongest), difference).interval;
            result.both.interval = torch::full({2, a * b}, NAN, torch::kDouble)
                                       .index_copy(1, strongest, some)
                                       .view({2, a, b});
        }
    }
    result.cancellation = result.receiver.value.abs().sum().item<double>() +
                          result.sender.value.abs().sum().item<double>() +
                          result.both.value.abs().sum().item<double>();
    if (pairs.facts.defined() && pairs.facts.size(2) > 0)
        result.facts = sharesOf(
            all.of({factEffects(pairs, wholeU), {}}, {factEffects(pairs, wholeV), {}}), difference);
    return result;
}

torch::Tensor termOf(const ContrastPairs& pairs, std::int64_t a, std::int64_t b) {
    const auto du = centred(pairs, pairs.u).part(a), dv = centred(pairs, pairs.v).part(b);
    return torch::matmul(du, dv.transpose(1, 2)) * pairs.scale;
}

torch::Tensor scoresOf(const ContrastPairs& pairs) {
    return torch::matmul(pairs.u.sum(2), pairs.v.sum(2).transpose(1, 2)) * pairs.scale;
}

torch::Tensor hasMean(const ContrastPairs& pairs) {
    const auto with = takesPart(pairs);
    const auto any = pairs.byOffset ? with.any() : with.any(0).unsqueeze(0);
    return any.expand(with.sizes());
}

torch::Tensor throughShares(const ContrastPairs& pairs, const PartTokens& ofI,
                            const PartTokens& ofJ, double difference) {
    const auto places = placesOf(pairs);
    const auto e = pairs.yes.size(0), n = pairs.yes.size(1), k = ofI.whole.size(2);
    const auto c = weightsOf(places, countsOf({}, e));
    const auto weights = c.yes.index_select(1, places.of).view({1, n, n}) * pairs.yes +
                         c.no.index_select(1, places.of).view({1, n, n}) * pairs.no;
    const auto defined = (pairs.yes + pairs.no).flatten(1);  // [e, cells]
    auto count = torch::zeros({places.count}, torch::kDouble);
    count.index_add_(0, places.of, defined.sum(0));
    // The parts of each pair, [e, i, j, 3, k].
    const auto split = [&](const PartTokens& part, bool receiver) {
        const auto ofPairs = [&](const torch::Tensor& x) {
            return (receiver ? x.unsqueeze(2) : x.unsqueeze(1)).expand({e, n, n, k});
        };
        const auto itself = ofPairs(part.tokens.diagonal(0, 1, 2).transpose(1, 2));
        const auto other = receiver ? part.tokens : part.tokens.transpose(1, 2);
        const auto rest = ofPairs(part.whole) - itself - other;
        const auto parts = torch::stack({itself, other, rest}, 3).flatten(1, 2);
        auto sums = torch::zeros({places.count, 3, k}, torch::kDouble);
        sums.index_add_(0, places.of, (parts * defined.unsqueeze(2).unsqueeze(3)).sum(0));
        const auto mean = sums / count.clamp_min(1.0).view({-1, 1, 1});
        return (parts - mean.index_select(0, places.of)).view({e, n, n, 3, k});
    };
    const auto left = split(ofI, true), right = split(ofJ, false);
    return torch::einsum("eijsk,eijtk->st", {left * weights.unsqueeze(3).unsqueeze(4), right}) *
           pairs.scale / difference;
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
