// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/atlas_gallery.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

namespace relascope::core {
namespace {

constexpr std::size_t kGallery = 24, kPictures = 8;

}  // namespace

void fillGallery(RelationAtlas::Relation& relation, const PairObjects& objects, const Dataset& data,
                 const std::vector<float>& values) {
    const auto& shape = objects.shape;
    const std::size_t n = shape.objects;
    // The pair of each example with the smallest key.
    const auto first = [&](auto key) {
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
                    if (const double k = key(values[at]); !best || k < best->key)
                        best = Found{k, at};
                }
            if (best) found.push_back(*best);
        }
        const auto most = std::min(kGallery, found.size());
        std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(most),
                          found.end(), [](const Found& a, const Found& b) {
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
    };
    relation.highest = first([](float r) { return -static_cast<double>(r); });
    relation.lowest = first([](float r) { return static_cast<double>(r); });
    if (!relation.head) relation.nearZero = first([](float r) { return std::abs(r); });
}

}  // namespace relascope::core
