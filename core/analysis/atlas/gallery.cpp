// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/atlas/gallery.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

namespace relascope::core {
namespace {

constexpr std::size_t kGallery = 24, kPictures = 8, kEvidence = 4;

/// The pairs with the smallest keys, one of an example; a pair without a key is left out.
template <class Key>
std::vector<RelationAtlas::Pair> firstPairs(const PairObjects& objects, const Dataset& data,
                                            const std::vector<float>& values, std::size_t most,
                                            Key key) {
    const auto& shape = objects.shape;
    const std::size_t n = shape.objects;
    struct Found {
        double key;
        std::size_t entry;
    };
    std::vector<Found> found;
    for (std::size_t e = 0; e < shape.examples; ++e) {
        std::optional<Found> best;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < (shape.causal ? i : n); ++j) {
                const std::size_t at = (e * n + i) * n + j;
                if (i == j) continue;
                const std::optional<double> k = key(at);
                if (k && (!best || *k < best->key)) best = Found{*k, at};
            }
        if (best) found.push_back(*best);
    }
    most = std::min(most, found.size());
    std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(most), found.end(),
                      [](const Found& a, const Found& b) {
                          return std::tie(a.key, a.entry) < std::tie(b.key, b.entry);
                      });
    std::vector<RelationAtlas::Pair> pairs;
    for (std::size_t k = 0; k < most; ++k) {
        const auto at = found[k].entry;
        const std::size_t e = at / (n * n), i = at / n % n, j = at % n;
        pairs.push_back({objects.examples[e], static_cast<std::int64_t>(i),
                         static_cast<std::int64_t>(j), static_cast<double>(values[at]),
                         pairText(objects, data, e, i, j),
                         k < kPictures ? pairPicture(objects, data, e, i, j) : Image(),
                         positionOf(objects, e, i), positionOf(objects, e, j)});
        if (pairs.back().picture.pixels.empty()) pairs.back().picture = {};
    }
    return pairs;
}

}  // namespace

void fillGallery(RelationAtlas::Relation& relation, const PairObjects& objects, const Dataset& data,
                 const std::vector<float>& values) {
    const auto first = [&](auto key) {
        return firstPairs(objects, data, values, kGallery, [&](std::size_t at) {
            return std::optional(key(static_cast<double>(values[at])));
        });
    };
    relation.highest = first([](double r) { return -r; });
    relation.lowest = first([](double r) { return r; });
    if (!relation.head) relation.nearZero = first([](double r) { return std::abs(r); });
}

void fillEvidence(RelationAtlas::Relation& relation, const PairObjects& objects,
                  const Dataset& data, const std::vector<float>& values, PairTruth truth) {
    relation.evidence.clear();
    const std::size_t n = objects.shape.objects;
    for (auto* list : {&relation.highest, &relation.lowest, &relation.nearZero})
        for (auto& pair : *list) {
            const auto e = static_cast<std::size_t>(
                std::find(objects.examples.begin(), objects.examples.end(), pair.example) -
                objects.examples.begin());
            const auto at =
                (e * n + static_cast<std::size_t>(pair.i)) * n + static_cast<std::size_t>(pair.j);
            pair.holds = truth.empty() || truth[at] == kPairUndefined ? -1 : truth[at] == kPairYes;
        }
    if (truth.empty()) return;
    const bool yes = relation.fits[static_cast<std::size_t>(relation.labelled)].auc >= 0.5;
    relation.evidence =
        firstPairs(objects, data, values, kEvidence, [&](std::size_t at) -> std::optional<double> {
            if (truth[at] != (yes ? kPairYes : kPairNo)) return std::nullopt;
            return -static_cast<double>(values[at]);
        });
    for (auto& pair : relation.evidence) pair.holds = yes;
}

}  // namespace relascope::core
