// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/atlas_labels.h"

#include <algorithm>
#include <cmath>

#include "analysis/claims.h"
#include "analysis/pair_names.h"
#include "types/text_format.h"

namespace relascope::core {

namespace {

constexpr double kSignificant = 0.01, kFromChance = 0.1, kBeatsUntrained = 0.05, kRose = 0.01,
                 kMostOfTheWay = 0.5, kSpreads = 4.0;
using Fit = RelationAtlas::Fit;
using Relation = RelationAtlas::Relation;

double fromChance(const Fit& fit) {
    return std::isnan(fit.auc) ? 0.0 : std::abs(fit.auc - 0.5);
}

// Attributes with yes and no, the strongest first.
std::vector<std::size_t> byStrength(const RelationAtlas& atlas, const Relation& relation) {
    std::vector<std::size_t> order;
    for (std::size_t a = 0; a < relation.fits.size(); ++a)
        if (!atlas.attributes[a].ordered && std::isfinite(relation.fits[a].auc) &&
            std::isfinite(relation.fits[a].p))
            order.push_back(a);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
        return fromChance(relation.fits[a]) > fromChance(relation.fits[b]);
    });
    return order;
}

// Whether an AUC is further from chance than that of other weights: by 0.05, or with half the
// distance from 1.
bool beats(double fixed, double other) {
    const bool yes = fixed > 0.5;
    const double here = yes ? fixed : 1.0 - fixed, there = yes ? other : 1.0 - other;
    return here - there >= kBeatsUntrained || 1.0 - here <= 0.5 * (1.0 - there);
}

std::string originOf(const RelationAtlas& atlas, const Fit& fit) {
    const bool fresh = std::isfinite(fit.untrained) &&
                       atlas.untrainedModels >= static_cast<std::int64_t>(kFewestUntrained),
               first = std::isfinite(fit.initial);
    if (!fresh) return {};
    bool learned = fit.exceedsUntrained && beats(fit.auc, fit.untrained);
    if (first)
        learned = learned && beats(fit.auc, fit.initial) &&
                  (fit.initial < fit.low || fit.initial > fit.high || std::isnan(fit.low));
    return learned ? "learned" : "inborn";
}

/// The label of one relation, from its fits and the AUCs of attributes within the answers of other
/// attributes.
class Labelling {
public:
    Labelling(const RelationAtlas& atlas, std::size_t index, const ConditionalFit& conditional)
        : m_atlas(atlas),
          m_relation(atlas.relations[index]),
          m_index(index),
          m_conditional(conditional),
          m_order(byStrength(atlas, m_relation)) {}

    std::int64_t strongest() const {
        return m_order.empty() ? -1 : static_cast<std::int64_t>(m_order.front());
    }
    std::int64_t label() const {
        for (const auto a : m_order)
            if (canBe(a) && !explained(a)) return static_cast<std::int64_t>(a);
        return -1;
    }
    /// The attributes that are named beside the label.
    std::vector<std::int64_t> also(std::size_t label) const {
        std::vector<std::int64_t> named;
        const auto origin = originOf(m_atlas, m_relation.fits[label]);
        for (const auto a : m_order) {
            if (a == label || !canBe(a) || originOf(m_atlas, m_relation.fits[a]) != origin)
                continue;
            const auto& good = m_relation.asGood;
            const bool asGood =
                std::find(good.begin(), good.end(), static_cast<std::int64_t>(a)) != good.end();
            const double own = m_conditional(m_index, a, label);
            // An attribute whose answers leave nothing open within this one asks the same question.
            const auto same = [&](std::size_t other) {
                return std::isnan(m_conditional(m_index, a, other));
            };
            const bool again = std::any_of(named.begin(), named.end(), [&](auto other) {
                return same(static_cast<std::size_t>(other));
            });
            if (same(label) ? !asGood || again : again || (!asGood && weak(a, own))) continue;
            named.push_back(static_cast<std::int64_t>(a));
        }
        return named;
    }

private:
    bool canBe(std::size_t a) const { return canBeLabel(m_atlas, m_relation, a); }
    /// An AUC of the attribute that is within 0.1 of 0.5, or on the other side.
    bool weak(std::size_t a, double auc) const {
        return m_relation.fits[a].auc > 0.5 ? auc < 0.5 + kFromChance : auc > 0.5 - kFromChance;
    }
    bool explains(std::size_t rival, std::size_t a) const {
        return weak(a, m_conditional(m_index, a, rival));
    }
    bool explained(std::size_t a) const {
        for (std::size_t rival = 0; rival < m_atlas.attributes.size(); ++rival)
            if (rival != a && !m_atlas.attributes[rival].ordered && explains(rival, a) &&
                !(canBe(rival) && explains(a, rival)))
                return true;
        return false;
    }

    const RelationAtlas& m_atlas;
    const Relation& m_relation;
    std::size_t m_index;
    const ConditionalFit& m_conditional;
    std::vector<std::size_t> m_order;
};

}  // namespace

bool canBeLabel(const RelationAtlas& atlas, const Relation& relation, std::size_t attribute) {
    const auto& fit = relation.fits[attribute];
    return !atlas.attributes[attribute].ordered && fromChance(fit) >= kFromChance &&
           fit.p < kSignificant;
}

std::vector<NamedAttribute> namedAttributes(const RelationAtlas& atlas, const Relation& relation) {
    std::vector<NamedAttribute> all;
    if (relation.labelled < 0) return all;
    auto which = relation.also;
    which.insert(which.begin(), relation.labelled);
    which.resize(std::min(which.size(), kMostNamed));
    for (const auto a : which) {
        const auto at = static_cast<std::size_t>(a);
        NamedAttribute named{a, atlas.attributes[at].name, {}, {}};
        const auto auc = relation.fits[at].auc;
        if (auc < 0.5) {
            const auto opposite = oppositeName(named.name);
            named.holds = !opposite.empty();
            if (named.holds) named.name = opposite;
        }
        named.words = (named.holds ? "" : "not ") + named.name;
        named.auc = fixedField(auc, 3);
        all.push_back(std::move(named));
    }
    return all;
}

void labelRelations(RelationAtlas& atlas, const ConditionalFit& conditional) {
    for (std::size_t l = 0; l < atlas.relations.size(); ++l) {
        auto& relation = atlas.relations[l];
        relation.also.clear(), relation.origin.clear();
        const Labelling labelling(atlas, l, conditional);
        relation.attribute = labelling.strongest();
        relation.labelled = relation.reading.empty() ? labelling.label() : -1;
        if (relation.labelled >= 0) {
            const auto label = static_cast<std::size_t>(relation.labelled);
            relation.attribute = relation.labelled;
            relation.also = labelling.also(label);
            relation.origin = originOf(atlas, relation.fits[label]);
        }
        relation.label =
            relation.reading.empty() && relation.labelled < 0 ? "no label" : relation.reading;
        for (const auto& named : namedAttributes(atlas, relation))
            relation.label += (relation.label.empty() ? "" : " or ") + named.words;
        if (relation.also.size() >= kMostNamed)
            relation.label +=
                " and " + std::to_string(relation.also.size() - kMostNamed + 1) + " more";
        if (relation.labelled < 0 && relation.reading.empty()) continue;
        for (const auto& word : {relation.origin, relation.use})
            if (!word.empty()) relation.label += ", " + word;
    }
}

// Against other weights
// -------------------------------------------------------------------------------------------------

namespace {

double logit(double auc) {
    const double p = std::clamp(auc, 1e-4, 1.0 - 1e-4);
    return std::log(p / (1.0 - p));
}

/// Whether a value is beyond models with these means by more than four standard deviations of
/// their logits.
bool beyondModels(const std::vector<double>& models, double fixed) {
    if (models.size() < kFewestUntrained) return false;
    const auto count = static_cast<double>(models.size());
    double center = 0.0, squares = 0.0;
    for (const double one : models) center += logit(one) / count;
    for (const double one : models) squares += std::pow(logit(one) - center, 2);
    const double by = kSpreads * std::sqrt(squares / (count - 1.0));
    const double from = logit(fixed) - center;
    return fixed > 0.5 ? from > by : -from > by;
}

void findAppearance(RelationAtlas& atlas, std::size_t m) {
    auto& relation = atlas.relations[m];
    relation.appearedAfter = relation.appearedBy = -1;
    relation.development.clear();
    if (relation.labelled < 0 || relation.origin != "learned" || atlas.steps.size() < 2) return;
    const auto& fit = relation.fits[static_cast<std::size_t>(relation.labelled)];
    const double end = atlas.steps.back().fits[m], begin = atlas.steps.front().fits[m];
    const auto nearerToChance = [&](double before) {
        return std::abs(before - 0.5) < std::abs(before - end);
    };
    if (nearerToChance(begin) && (std::isnan(fit.untrained) || nearerToChance(fit.untrained)))
        for (std::size_t k = 1; k < atlas.steps.size(); ++k) {
            const double way =
                (atlas.steps[k].fits[m] - atlas.steps[k - 1].fits[m]) / (end - begin);
            if (way <= kMostOfTheWay) continue;
            relation.appearedAfter = atlas.steps[k - 1].step;
            relation.appearedBy = atlas.steps[k].step;
            relation.development = "appeared between steps " +
                                   std::to_string(relation.appearedAfter) + " and " +
                                   std::to_string(relation.appearedBy);
        }
    const bool yes = end > 0.5;
    if (relation.development.empty() && (yes ? end - begin : begin - end) >= kRose)
        relation.development = (yes ? "rose from " : "fell from ") + fixedField(begin, 3) + " to " +
                               fixedField(end, 3) + " along training";
}

}  // namespace

// Relations of a layer start alike, so that the mean of all of them is what an untrained model
// gives.
void compareWithUntrained(RelationAtlas& atlas) {
    const std::size_t maps = atlas.relations.size(), attributes = atlas.attributes.size();
    for (auto& relation : atlas.relations)
        for (std::size_t a = 0; a < attributes; ++a) {
            std::vector<double> all, models;
            for (std::size_t first = a; first < atlas.untrainedFits.size();
                 first += attributes * maps) {
                double sum = 0.0, count = 0.0;
                for (std::size_t m = 0; m < maps; ++m) {
                    const auto& other = atlas.relations[m];
                    const double fixed = atlas.untrainedFits[first + m * attributes];
                    if (other.layer != relation.layer || other.head != relation.head ||
                        !std::isfinite(fixed))
                        continue;
                    all.push_back(fixed);
                    sum += fixed, count += 1.0;
                }
                if (count > 0) models.push_back(sum / count);
            }
            if (all.empty()) continue;
            auto& fit = relation.fits[a];
            const auto [low, high] = std::minmax_element(all.begin(), all.end());
            fit.untrainedLow = *low, fit.untrainedHigh = *high;
            fit.untrained = 0.0;
            for (const double one : models)
                fit.untrained += one / static_cast<double>(models.size());
            fit.exceedsUntrained = !atlas.attributes[a].ordered && beyondModels(models, fit.auc) &&
                                   (fit.auc > 0.5 ? fit.auc > *high : fit.auc < *low);
        }
}

void findAppearances(RelationAtlas& atlas) {
    for (std::size_t m = 0; m < atlas.relations.size(); ++m) findAppearance(atlas, m);
}

}  // namespace relascope::core
