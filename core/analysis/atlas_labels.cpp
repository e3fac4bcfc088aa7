// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/atlas_labels.h"

#include <algorithm>
#include <cmath>

#include "types/metric.h"

namespace relascope::core {

namespace {

constexpr double kSignificant = 0.01, kFromChance = 0.1, kNearly = 0.02, kBeatsUntrained = 0.05,
                 kCosts = 0.05;
using Fit = RelationAtlas::Fit;
using Relation = RelationAtlas::Relation;

double fromChance(const Fit& fit) {
    return std::isnan(fit.fixed) ? 0.0 : std::abs(fit.fixed - 0.5);
}

// Attributes with yes and no, the strongest first.
std::vector<std::size_t> byStrength(const RelationAtlas& atlas, const Relation& relation) {
    std::vector<std::size_t> order;
    for (std::size_t a = 0; a < relation.fits.size(); ++a)
        if (!atlas.attributes[a].ordered && std::isfinite(relation.fits[a].fixed) &&
            std::isfinite(relation.fits[a].p))
            order.push_back(a);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
        return fromChance(relation.fits[a]) > fromChance(relation.fits[b]);
    });
    return order;
}

// Further from chance than other weights by 0.05, or by half of what they miss.
bool beats(double fixed, double other) {
    const bool yes = fixed > 0.5;
    const double here = yes ? fixed : 1.0 - fixed, there = yes ? other : 1.0 - other;
    return here - there >= kBeatsUntrained || 1.0 - here <= 0.5 * (1.0 - there);
}

std::string originOf(const Fit& fit) {
    const bool fresh = std::isfinite(fit.untrained), first = std::isfinite(fit.initial);
    if (!fresh && !first) return {};
    bool learned = true;
    if (fresh) learned = fit.apart && beats(fit.fixed, fit.untrained);
    if (first)
        learned = learned && beats(fit.fixed, fit.initial) &&
                  (fit.initial < fit.low || fit.initial > fit.high || std::isnan(fit.low));
    return learned ? "learned" : "inborn";
}

bool costs(const RelationAtlas& atlas, double change, double low, double high) {
    if (!std::isfinite(change)) return false;
    const bool worse = metricInfo(atlas.metric).lowerIsBetter ? low > 0 : high < 0;
    return worse && std::abs(change) >= kCosts;
}

std::string useOf(const RelationAtlas& atlas, const Relation& relation) {
    if (relation.uses.empty()) return {};
    bool alone = false, together = false;
    for (const auto& use : relation.uses) {
        alone = alone || costs(atlas, use.change, use.low, use.high);
        together = together || costs(atlas, use.groupChange, use.groupLow, use.groupHigh);
    }
    if (alone) return "used";
    if (!together) return "not used";
    int others = -1;
    for (const auto& other : atlas.relations)
        others += other.layer == relation.layer && other.head == relation.head;
    // Attention is taken out with all other attention of the layer, relational heads as well.
    if (relation.head) return "used together with the other attention of " + relation.layer;
    return others > 0 ? "used together with the others of " + relation.layer : "used";
}

std::string withNot(const Relation& relation, std::size_t attribute, const std::string& name) {
    return (relation.fits[attribute].fixed < 0.5 ? "not " : "") + name;
}

}  // namespace

void labelRelations(RelationAtlas& atlas, const ConditionalFit& conditional) {
    for (std::size_t l = 0; l < atlas.relations.size(); ++l) {
        auto& relation = atlas.relations[l];
        relation.attribute = relation.labelled = relation.second = -1;
        relation.origin.clear();
        relation.use = useOf(atlas, relation);
        const auto explained = [&](std::size_t a) {
            const bool yes = relation.fits[a].fixed > 0.5;
            for (std::size_t rival = 0; rival < atlas.attributes.size(); ++rival) {
                if (rival == a || atlas.attributes[rival].ordered) continue;
                const double auc = conditional(l, a, rival);
                if (yes ? auc < 0.5 + kFromChance : auc > 0.5 - kFromChance) return true;
            }
            return false;
        };
        for (const auto a : byStrength(atlas, relation)) {
            const auto& fit = relation.fits[a];
            if (relation.attribute < 0) relation.attribute = static_cast<std::int64_t>(a);
            if (fromChance(fit) < kFromChance) break;
            if (!(fit.p < kSignificant) || explained(a)) continue;
            if (relation.labelled < 0) {
                relation.labelled = relation.attribute = static_cast<std::int64_t>(a);
                relation.origin = originOf(fit);
                continue;
            }
            const auto& first = relation.fits[static_cast<std::size_t>(relation.labelled)];
            if (fromChance(first) - fromChance(fit) <= kNearly)
                relation.second = static_cast<std::int64_t>(a);
            break;
        }
        if (relation.labelled < 0) {
            relation.label = "no label";
            continue;
        }
        const auto words = [&](std::int64_t a) {
            const auto at = static_cast<std::size_t>(a);
            return withNot(relation, at, atlas.attributes[at].name);
        };
        relation.label = words(relation.labelled);
        if (relation.second >= 0) relation.label += " or " + words(relation.second);
        for (const auto& word : {relation.origin, relation.use})
            if (!word.empty()) relation.label += ", " + word;
    }
}

// Against other weights
// -------------------------------------------------------------------------------------------------

namespace {

constexpr double kSpreads = 4.0;
constexpr std::size_t kFewestUntrained = 4;  // that have a spread

double logit(double auc) {
    const double p = std::clamp(auc, 1e-4, 1.0 - 1e-4);
    return std::log(p / (1.0 - p));
}

void findAppearance(RelationAtlas& atlas, std::size_t m) {
    auto& relation = atlas.relations[m];
    if (relation.labelled < 0 || relation.origin != "learned") return;
    const auto& fit = relation.fits[static_cast<std::size_t>(relation.labelled)];
    const double before = std::isfinite(fit.untrained) ? fit.untrained : fit.initial;
    const double half = 0.5 * (before + atlas.steps.back().fits[m]);
    const bool yes = fit.fixed > 0.5;
    std::size_t first = atlas.steps.size();
    while (first > 0 &&
           (yes ? atlas.steps[first - 1].fits[m] > half : atlas.steps[first - 1].fits[m] < half))
        --first;
    if (first == 0 || first == atlas.steps.size()) return;
    relation.appearedAfter = atlas.steps[first - 1].step;
    relation.appearedBy = atlas.steps[first].step;
}

}  // namespace

// Relations of a layer start alike, so that all of them tell what untrained ones give.
void compareWithUntrained(RelationAtlas& atlas) {
    const std::size_t maps = atlas.relations.size(), attributes = atlas.attributes.size();
    for (auto& relation : atlas.relations)
        for (std::size_t a = 0; a < attributes; ++a) {
            std::vector<double> all;
            for (std::size_t k = a; k < atlas.untrainedFits.size(); k += attributes) {
                const auto& other = atlas.relations[k / attributes % maps];
                if (other.layer == relation.layer && other.head == relation.head &&
                    std::isfinite(atlas.untrainedFits[k]))
                    all.push_back(atlas.untrainedFits[k]);
            }
            if (all.empty()) continue;
            auto& fit = relation.fits[a];
            const auto count = static_cast<double>(all.size());
            const auto [low, high] = std::minmax_element(all.begin(), all.end());
            fit.untrainedLow = *low, fit.untrainedHigh = *high;
            double sum = 0.0, center = 0.0, squares = 0.0;
            for (const double auc : all) sum += auc, center += logit(auc);
            fit.untrained = sum / count, center /= count;
            for (const double auc : all) squares += std::pow(logit(auc) - center, 2);
            if (all.size() < kFewestUntrained || atlas.attributes[a].ordered) continue;
            const double by = kSpreads * std::sqrt(squares / (count - 1.0));
            const double from = logit(fit.fixed) - center;
            fit.apart = fit.fixed > 0.5 ? from > by : -from > by;
        }
}

void findAppearances(RelationAtlas& atlas) {
    for (std::size_t m = 0; m < atlas.relations.size(); ++m) findAppearance(atlas, m);
}

}  // namespace relascope::core
