// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/contrast_terms.h"

#include <torch/utils.h>

#include <algorithm>
#include <cmath>

#include "analysis/relation_statistics.h"

namespace relascope::core {
namespace {

constexpr double kTermValues = 3e5;      // numbers of vectors that are gathered at once
constexpr std::int64_t kFewObjects = 8;  // with fewer, values of a fact are put together

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

/// The weights of yes and no at each place, for each way of counting examples: c of the difference.
struct PlaceWeights {
    torch::Tensor yes, no;  // [ways, places]
};

PlaceWeights weightsOf(const Places& places, const torch::Tensor& counts) {
    const auto yes = torch::matmul(counts, places.yes), no = torch::matmul(counts, places.no);
    const auto whole = (yes * no).sum(1, true);
    return {no / whole, -yes / whole};
}

/// The pairs and the objects that take part in them, each by example, and where the vectors of both
/// objects of a pair are.
struct PairRows {
    torch::Tensor example, i, j, place, yes;           // [pairs]
    torch::Tensor ofI, ofJ;                            // [pairs]: rows of u and v
    torch::Tensor object;                              // [objects]: the object of its example
    std::vector<std::int64_t> firstPair, firstObject;  // [e + 1], of each example
};

// Where each example begins, of `sorted` examples.
std::vector<std::int64_t> beginnings(const torch::Tensor& sorted, std::int64_t examples) {
    const auto at = torch::searchsorted(sorted.contiguous(), torch::arange(examples + 1));
    const auto* first = at.const_data_ptr<std::int64_t>();
    return {first, first + examples + 1};
}

PairRows rowsOf(const ContrastPairs& pairs, const Places& places) {
    const auto e = pairs.yes.size(0), n = pairs.yes.size(1);
    const auto with = takesPart(pairs).flatten().nonzero().flatten();
    const auto row =
        torch::full({e * n}, -1, torch::kLong).index_put_({with}, torch::arange(with.size(0)));
    PairRows rows;
    const auto cell = (pairs.yes + pairs.no).flatten().nonzero().flatten();
    rows.example = torch::div(cell, n * n, "floor");
    const auto inside = cell - rows.example * (n * n);
    rows.i = torch::div(inside, n, "floor"), rows.j = inside - rows.i * n;
    rows.place = places.of.index_select(0, inside);
    rows.yes = pairs.yes.flatten().index_select(0, cell).gt(0);
    rows.ofI = row.index_select(0, rows.example * n + rows.i);
    rows.ofJ = row.index_select(0, rows.example * n + rows.j);
    const auto owner = torch::div(with, n, "floor");
    rows.object = with - owner * n;
    rows.firstPair = beginnings(rows.example, e), rows.firstObject = beginnings(owner, e);
    return rows;
}

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

// Hands parts [objects, parts, k] on in double, a few objects at once.
template <class Work>
void inDouble(const torch::Tensor& parts, Work work) {
    constexpr std::int64_t kRows = 512;
    for (std::int64_t first = 0; first < parts.size(0); first += kRows) {
        const auto last = std::min(parts.size(0), first + kRows);
        work(first, last, parts.slice(0, first, last).to(torch::kDouble));
    }
}

// Means over objects, [n or 1, parts, k].
torch::Tensor meanOf(const torch::Tensor& parts, const torch::Tensor& place,
                     const torch::Tensor& count) {
    auto sums = torch::zeros({count.size(0), parts.size(1), parts.size(2)}, torch::kDouble);
    inDouble(parts, [&](std::int64_t first, std::int64_t last, const torch::Tensor& own) {
        sums.index_add_(0, place.slice(0, first, last), own);
    });
    return sums / count.clamp_min(1.0).view({-1, 1, 1});
}

// The sum of all parts of each object, [objects, k] double.
torch::Tensor sumOf(const torch::Tensor& parts) {
    auto sums = torch::empty({parts.size(0), parts.size(2)}, torch::kDouble);
    inDouble(parts, [&](std::int64_t first, std::int64_t last, const torch::Tensor& own) {
        sums.slice(0, first, last).copy_(own.sum(1));
    });
    return sums;
}

/// The facts of objects as columns, one for each value of each fact, and what each column does.
struct FactFit {
    torch::Tensor known;    // [objects]: all facts are
    torch::Tensor columns;  // [objects, facts]: the column of each fact's value
    torch::Tensor effects;  // [columns, k]: less the mean of the fact's
};

FactFit fitOf(const ContrastPairs& pairs, const torch::Tensor& x) {
    const auto with = takesPart(pairs).flatten().nonzero().flatten();
    const auto values = pairs.facts.flatten(0, 1).index_select(0, with);  // [objects, facts]
    FactFit fit;
    fit.known = values.ge(0).all(1);
    fit.columns = torch::zeros_like(values);
    const auto rows = fit.known.nonzero().flatten();
    const auto own = values.index_select(0, rows);
    std::int64_t next = 0;
    std::vector<std::int64_t> ends;
    for (std::int64_t f = 0; f < values.size(1); ++f) {
        const auto [value, index, count] = at::_unique2(own.select(1, f), true, true, true);
        // Rare values have one column together.
        const auto rare = count.lt(kFewObjects);
        auto column = rare.logical_not().to(torch::kLong).cumsum(0) - 1;
        const auto common = rare.logical_not().sum().item<std::int64_t>();
        column.masked_fill_(rare, common);
        fit.columns.select(1, f).index_put_({rows}, column.index_select(0, index) + next);
        next += common + (rare.any().item<bool>() ? 1 : 0);
        ends.push_back(next);
    }
    fit.effects = torch::zeros({std::max<std::int64_t>(next, 1), x.size(1)}, torch::kDouble);
    if (rows.size(0) == 0) return fit;
    const auto chosen = fit.columns.index_select(0, rows);
    const auto design = torch::zeros({rows.size(0), next}, torch::kDouble).scatter_(1, chosen, 1.0);
    const auto squares = torch::matmul(design.t(), design);
    fit.effects = torch::matmul(at::linalg_pinv(squares, 1e-10, true),
                                torch::matmul(design.t(), x.index_select(0, rows)));
    const auto share = squares.diagonal() / static_cast<double>(rows.size(0));
    for (std::size_t f = 0; f < ends.size(); ++f) {
        const auto first = f > 0 ? ends[f - 1] : 0;
        auto own = fit.effects.slice(0, first, ends[f]);
        own -= torch::matmul(share.slice(0, first, ends[f]), own);
    }
    return fit;
}

// The effects of facts on some of the vectors x [objects, k], and the rest: [objects, facts + 1,
// k].
torch::Tensor factEffects(const FactFit& fit, const torch::Tensor& x, std::int64_t first,
                          std::int64_t last) {
    const auto columns = fit.columns.slice(0, first, last);
    const auto own = x.slice(0, first, last);
    auto effects = fit.effects.index_select(0, columns.flatten())
                       .view({columns.size(0), columns.size(1), x.size(1)}) *
                   fit.known.slice(0, first, last).to(torch::kDouble).view({-1, 1, 1});
    return torch::cat({effects, (own - effects.sum(1)).unsqueeze(1)}, 1);
}

/// One side of all pairs.
struct CentredSide {
    const torch::Tensor& parts;  // [objects, parts, k]
    torch::Tensor mean;          // [n or 1, parts, k]
    torch::Tensor place;         // [objects]
    torch::Tensor whole;         // [objects, k]: the sum of all parts, centred

    torch::Tensor slice(std::int64_t first, std::int64_t last) const {
        const auto own = parts.slice(0, first, last);
        return own - mean.index_select(0, place.slice(0, first, last)).to(own.scalar_type());
    }
};

CentredSide sideOf(const torch::Tensor& parts, const torch::Tensor& mean,
                   const torch::Tensor& place) {
    return {parts, mean, place, sumOf(parts).sub_(mean.sum(1).index_select(0, place))};
}

// Products of the rows of both sides of pairs: [pairs, left parts * right parts].
torch::Tensor products(const torch::Tensor& left, const torch::Tensor& right,
                       const torch::Tensor& ofI, const torch::Tensor& ofJ) {
    return torch::bmm(left.index_select(0, ofI), right.index_select(0, ofJ).transpose(1, 2))
        .flatten(1);
}

// Rows of the objects that take part, where examples first to last have them, else 0: [examples,
// n, ...].
torch::Tensor denseOf(const torch::Tensor& rows, const torch::Tensor& with, std::int64_t first,
                      std::int64_t last) {
    const auto own = with.slice(0, first, last);
    auto shape = rows.sizes().vec();
    shape[0] = own.numel();
    auto all = torch::zeros(shape, rows.options());
    all.index_copy_(0, own.flatten().nonzero().flatten(), rows);
    return all.unflatten(0, {last - first, with.size(1)});
}

torch::Tensor objectPlaces(const ContrastPairs& pairs, const torch::Tensor& object) {
    return pairs.byOffset ? torch::zeros_like(object) : object;
}

// The pairs of many parts: the sums over i come first, so that no terms of all pairs of objects are
// made, and intervals are those of the strongest.
void addStrongest(const ContrastPairs& pairs, const Places& places, const PairRows& rows,
                  const CentredSide& left, const CentredSide& right, const torch::Tensor& counts,
                  const torch::Tensor& difference, std::int64_t most, ContrastTerms& result) {
    const auto e = pairs.yes.size(0), n = pairs.yes.size(1), a = pairs.u.size(1),
               b = pairs.v.size(1), k = pairs.u.size(2);
    const auto with = takesPart(pairs);
    const auto c = weightsOf(places, counts.slice(0, 0, 1));
    const auto weights = c.yes.index_select(1, places.of).view({1, n, n}) * pairs.yes +
                         c.no.index_select(1, places.of).view({1, n, n}) * pairs.no;
    const auto each = [&](std::int64_t values, const auto& work) {
        const auto step = std::max<std::int64_t>(
            1, static_cast<std::int64_t>(kTermValues / static_cast<double>(values)));
        for (std::int64_t first = 0; first < e; first += step) {
            const auto last = std::min(e, first + step);
            const auto from = rows.firstObject[static_cast<std::size_t>(first)],
                       to = rows.firstObject[static_cast<std::size_t>(last)];
            work(first, last, denseOf(left.slice(from, to), with, first, last),
                 denseOf(right.slice(from, to), with, first, last));
        }
    };
    auto sums = torch::zeros({a, b}, torch::kDouble);
    each(n * (a + b) * k, [&](std::int64_t first, std::int64_t last, const torch::Tensor& du,
                              const torch::Tensor& dv) {
        const auto own = weights.slice(0, first, last).to(du.scalar_type());
        const auto summed = torch::bmm(own.transpose(1, 2), du.flatten(2))
                                .view({last - first, n, a, k})
                                .permute({2, 0, 1, 3});
        sums += torch::matmul(summed.reshape({a, -1}), dv.permute({0, 1, 3, 2}).reshape({-1, b}));
    });
    result.both.value = sums * pairs.scale / difference[0];
    const auto strongest = std::get<1>(result.both.value.abs().flatten().topk(most)).contiguous();
    const auto* chosen = strongest.const_data_ptr<std::int64_t>();
    result.drawn.assign(chosen, chosen + most);
    if (counts.size(0) == 1) return;
    WaySums drawn(pairs, places, rows, counts);
    const auto of = torch::div(strongest, b, "floor"), other = strongest - of * b;
    each(most * n * (n + 2 * k), [&](std::int64_t first, std::int64_t last, const torch::Tensor& du,
                                     const torch::Tensor& dv) {
        const auto at = rows.firstPair[static_cast<std::size_t>(first)],
                   end = rows.firstPair[static_cast<std::size_t>(last)];
        if (at == end) return;
        const auto terms =
            torch::matmul(du.index_select(2, of).transpose(1, 2),
                          dv.index_select(2, other).permute({0, 2, 3, 1}));  // [e, some, n, n]
        drawn.add(at, end,
                  terms.index({rows.example.slice(0, at, end) - first, torch::indexing::Slice(),
                               rows.i.slice(0, at, end), rows.j.slice(0, at, end)}));
    });
    result.both.interval =
        torch::full({2, a * b}, NAN, torch::kDouble)
            .index_copy(1, strongest, sharesOf(drawn.sums() * pairs.scale, difference).interval)
            .view({2, a, b});
}

}  // namespace

torch::Tensor takesPart(const ContrastPairs& pairs) {
    const auto defined = pairs.yes + pairs.no;
    return (defined.sum(2) + defined.sum(1)).gt(0);
}

torch::Tensor ofThoseThatTakePart(const ContrastPairs& pairs, const torch::Tensor& all) {
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

ContrastTerms contrastTerms(const ContrastPairs& pairs, const torch::Tensor& draws,
                            std::int64_t most) {
    const torch::NoGradGuard noGrad;
    const auto places = placesOf(pairs);
    const auto rows = rowsOf(pairs, places);
    const auto e = pairs.yes.size(0), a = pairs.u.size(1), b = pairs.v.size(1), k = pairs.u.size(2);
    const auto type = pairs.u.scalar_type();
    const auto means = meansOf(pairs);
    const auto place = objectPlaces(pairs, rows.object);
    // Symmetric maps have one side.
    const bool one = pairs.v.is_same(pairs.u);
    const auto left = sideOf(pairs.u, means.u, place);
    const auto right = one ? left : sideOf(pairs.v, means.v, place);
    // What each part of one object is to the means of the other, at each of its places.
    const auto muAll = means.u.sum(1), nuAll = means.v.sum(1);  // [n or 1, k]
    const bool some = a * b > most;
    const bool facts = pairs.facts.defined() && pairs.facts.size(2) > 0;
    FactFit fitI, fitJ;
    if (facts) fitI = fitOf(pairs, left.whole), fitJ = one ? fitI : fitOf(pairs, right.whole);
    // The terms of a pair, side by side.
    const auto counts = countsOf(draws, e);
    WaySums sums(pairs, places, rows, counts);
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
        const auto of = [&](const torch::Tensor& all) { return all.slice(0, first, last); };
        const auto ofI = of(rows.ofI) - from, ofJ = of(rows.ofJ) - from;
        const auto du = left.slice(from, to), dv = right.slice(from, to);
        std::vector<torch::Tensor> terms;
        const auto alone = [&](const torch::Tensor& parts, const torch::Tensor& others,
                               const torch::Tensor& own, const torch::Tensor& other) {
            const auto at = torch::matmul(parts, others.t().to(type));  // [objects, parts, n or 1]
            return at.transpose(1, 2).flatten(0, 1).index_select(
                0, own * others.size(0) + (pairs.byOffset ? torch::zeros_like(other) : other));
        };
        terms.push_back(alone(du, nuAll, ofI, of(rows.j)));
        terms.push_back(alone(dv, muAll, ofJ, of(rows.i)));
        const auto whole = [&](const CentredSide& side, const torch::Tensor& at) {
            return side.whole.slice(0, from, to).index_select(0, at);
        };
        terms.push_back((whole(left, ofI) * whole(right, ofJ)).sum(1, true));
        if (!some) terms.push_back(products(du, dv, ofI, ofJ));
        if (facts)
            terms.push_back(products(factEffects(fitI, left.whole, from, to).to(type),
                                     factEffects(fitJ, right.whole, from, to).to(type), ofI, ofJ));
        sums.add(first, last, torch::cat(terms, 1));
    }
    const auto all = sums.sums() * pairs.scale;  // [ways, terms]
    std::int64_t at = 0;
    const auto next = [&](std::int64_t count) {
        at += count;
        return all.slice(1, at - count, at);
    };
    const auto receiver = next(a), sender = next(b);
    const auto sides = torch::stack({receiver.sum(1), sender.sum(1), next(1).squeeze(1)}, 1);
    const auto difference = sides.sum(1);  // [ways]
    ContrastTerms result;
    result.difference = difference[0].item<double>();
    if (draws.defined()) {
        const auto range =
            at::nanquantile(difference.slice(0, 1), torch::tensor({0.025, 0.975}, torch::kDouble));
        result.low = range[0].item<double>(), result.high = range[1].item<double>();
    }
    result.sides = sharesOf(sides, difference);
    result.receiver = sharesOf(receiver, difference);
    result.sender = sharesOf(sender, difference);
    if (!some) {
        result.both = sharesOf(next(a * b).view({-1, a, b}), difference);
    } else {
        addStrongest(pairs, places, rows, left, right, counts, difference, most, result);
    }
    result.cancellation = result.receiver.value.abs().sum().item<double>() +
                          result.sender.value.abs().sum().item<double>() +
                          result.both.value.abs().sum().item<double>();
    if (facts) {
        const auto f = pairs.facts.size(2) + 1;
        result.facts = sharesOf(next(f * f).view({-1, f, f}), difference);
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
    const auto effect = [&](const torch::Tensor& parts, const torch::Tensor& mean,
                            std::int64_t fact) {
        const auto whole = sideOf(parts, mean, place).whole;
        return factEffects(fitOf(pairs, whole), whole, 0, whole.size(0)).select(1, fact);
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
    const auto c = weightsOf(places, countsOf({}, pairs.yes.size(0)));
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
