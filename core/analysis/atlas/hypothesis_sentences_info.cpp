// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/atlas/hypothesis_sentences.h"

#include <algorithm>
#include <cmath>

#include "analysis/atlas/labels.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

using AtlasMap = RelationAtlas::Relation;

double strengthOf(const RelationAtlas::Fit& fit) {
    return std::isfinite(fit.auc) && std::isfinite(fit.p) ? std::abs(fit.auc - 0.5) : -1.0;
}

/// The strongest other attribute of a map; -1: there is none.
std::ptrdiff_t bestBeside(const RelationAtlas& atlas, const AtlasMap& map, std::size_t hypothesis) {
    std::ptrdiff_t best = -1;
    for (std::size_t a = 0; a < map.fits.size(); ++a)
        if (a != hypothesis && !atlas.attributes[a].ordered && strengthOf(map.fits[a]) >= 0.0 &&
            (best < 0 ||
             strengthOf(map.fits[a]) > strengthOf(map.fits[static_cast<std::size_t>(best)])))
            best = static_cast<std::ptrdiff_t>(a);
    return best;
}

/// Of a hypothesis that places decide, which no map can be told from: the AUC over all pairs.
std::string ofPlaces(const RelationAtlas& atlas, std::size_t hypothesis) {
    const auto plain = [&](const AtlasMap& map) {
        const double auc = map.fits[hypothesis].plainAuc;
        return std::isfinite(auc) ? std::abs(auc - 0.5) : -1.0;
    };
    const auto map =
        std::max_element(atlas.relations.begin(), atlas.relations.end(),
                         [&](const auto& a, const auto& b) { return plain(a) < plain(b); });
    if (map == atlas.relations.end() || plain(*map) < 0.0) return {};
    return "Your hypothesis *" + atlas.attributes[hypothesis].name +
           "* is the same in all examples at each place, so that what a map tells of it cannot be "
           "told from what it tells of places; over all pairs " +
           map->name + " has AUC " + fixedField(map->fits[hypothesis].plainAuc, 3) + ".";
}

std::string sentenceOf(const RelationAtlas& atlas, std::size_t hypothesis) {
    const AtlasMap* map = nullptr;
    for (const auto& one : atlas.relations)
        if (strengthOf(one.fits[hypothesis]) >= 0.0 &&
            (!map || strengthOf(one.fits[hypothesis]) > strengthOf(map->fits[hypothesis])))
            map = &one;
    if (!map) return ofPlaces(atlas, hypothesis);
    const auto own = namedAttribute(atlas, *map, static_cast<std::int64_t>(hypothesis));
    auto text =
        "Your hypothesis *" + own.words + "*: " + map->name + " has AUC " + aucText(own.auc);
    if (std::isfinite(own.low)) text += " [" + aucText(own.low) + ", " + aucText(own.high) + "]";
    if (std::isfinite(own.untrainedLow))
        text += " (untrained " + fixedField(own.untrainedLow, 2) + " to " +
                fixedField(own.untrainedHigh, 2) + ")";
    if (!canBeLabel(atlas, *map, hypothesis))
        return text + ", at most of all maps: no map is shown to tell it (p " +
               fixedField(map->fits[hypothesis].p, 3) + ").";
    const auto best = bestBeside(atlas, *map, hypothesis);
    if (best < 0) return text + ".";
    const auto other = namedAttribute(atlas, *map, best);
    text += "; the best that was found there is *" + other.words + "* (" + aucText(other.auc) + ")";
    if (own.auc > other.auc) text += ", less than your own";
    return text + ".";
}

}  // namespace

std::vector<std::string> hypothesisSentences(const RelationAtlas& atlas) {
    std::vector<std::string> sentences;
    for (std::size_t a = 0; a < atlas.attributes.size(); ++a)
        if (atlas.attributes[a].hypothesis)
            if (auto text = sentenceOf(atlas, a); !text.empty())
                sentences.push_back(std::move(text));
    return sentences;
}

}  // namespace relascope::core
