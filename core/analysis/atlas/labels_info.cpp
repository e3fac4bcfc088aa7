// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/atlas/labels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/pairs/claims.h"
#include "analysis/pairs/pair_names.h"
#include "types/text_format.h"

namespace relascope::core {

namespace {

constexpr double kSignificant = 0.01, kFromChance = 0.1, kBeatsUntrained = 0.05, kRose = 0.01,
                 kMostOfTheWay = 0.5, kNotMeasured = std::numeric_limits<double>::quiet_NaN();
// The 99.5th percentile of Student's t with 7 degrees of freedom, those of eight untrained models:
// one more of them is beyond it in one of 200 cases.
constexpr double kBeyondModels = 3.4995;
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
    const bool first = std::isfinite(fit.initial);
    if (!std::isfinite(fit.untrained) ||
        atlas.untrainedModels < static_cast<std::int64_t>(kFewestUntrained))
        return {};
    // Untrained maps do as much, or nearly.
    const double farthest = fit.auc > 0.5 ? fit.untrainedHigh : fit.untrainedLow;
    if (!beats(fit.auc, fit.untrained) || !beats(fit.auc, farthest) ||
        (first && !beats(fit.auc, fit.initial)))
        return "inborn";
    const bool apart =
        !first || fit.initial < fit.low || fit.initial > fit.high || std::isnan(fit.low);
    return fit.exceedsUntrained && apart && !atlas.fresh ? "learned" : "";
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
    /// Whether an attribute is a member of a conjunction, which is named in its place.
    bool isMember(std::size_t a, std::size_t conjunction) const {
        const auto& members = m_atlas.attributes[conjunction].members;
        return std::any_of(members.begin(), members.end(), [&](const auto& member) {
            return member.first == static_cast<std::int64_t>(a);
        });
    }
    /// The attributes that are named beside the label.
    std::vector<std::int64_t> also(std::size_t label) const {
        std::vector<std::int64_t> named;
        for (const auto a : m_order) {
            if (a == label || !canBe(a) || isMember(a, label)) continue;
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
    bool canBe(std::size_t a) const {
        const auto& beat = m_relation.beatMembers;
        return canBeLabel(m_atlas, m_relation, a) &&
               (m_atlas.attributes[a].members.empty() ||
                std::find(beat.begin(), beat.end(), static_cast<std::int64_t>(a)) != beat.end());
    }
    /// An AUC of the attribute that is within 0.1 of 0.5, or on the other side.
    bool weak(std::size_t a, double auc) const {
        return m_relation.fits[a].auc > 0.5 ? auc < 0.5 + kFromChance : auc > 0.5 - kFromChance;
    }
    /// A conjunction is no rival of its members unless it beats them, nor are they of one that
    /// does.
    bool isRival(std::size_t rival, std::size_t a) const {
        if (!m_atlas.attributes[rival].members.empty()) return canBe(rival);
        return !isMember(rival, a);
    }
    bool explains(std::size_t rival, std::size_t a) const {
        return weak(a, m_conditional(m_index, a, rival));
    }
    bool explained(std::size_t a) const {
        for (std::size_t rival = 0; rival < m_atlas.attributes.size(); ++rival)
            if (rival != a && !m_atlas.attributes[rival].ordered && isRival(rival, a) &&
                explains(rival, a) && !(canBe(rival) && explains(a, rival)))
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

NamedAttribute namedAttribute(const RelationAtlas& atlas, const Relation& relation,
                              std::int64_t attribute) {
    const auto at = static_cast<std::size_t>(attribute);
    const auto& fit = relation.fits.at(at);
    NamedAttribute named;
    named.attribute = attribute, named.name = atlas.attributes.at(at).name;
    const bool turned = fit.auc < 0.5;
    if (turned) {
        const auto opposite = oppositeName(named.name);
        named.holds = !opposite.empty();
        if (named.holds) named.name = opposite;
    }
    const auto& about = atlas.attributes[at];
    const bool compound = !named.holds && (about.hypothesis || !about.members.empty());
    named.words = (named.holds ? "" : "not ") + (compound ? "(" + named.name + ")" : named.name);
    const auto side = [turned](double value) { return turned ? 1.0 - value : value; };
    named.auc = side(fit.auc), named.initial = side(fit.initial);
    named.low = side(turned ? fit.high : fit.low), named.high = side(turned ? fit.low : fit.high);
    named.untrainedLow = side(turned ? fit.untrainedHigh : fit.untrainedLow);
    named.untrainedHigh = side(turned ? fit.untrainedLow : fit.untrainedHigh);
    named.origin = originOf(atlas, fit);
    return named;
}

std::vector<NamedAttribute> namedAttributes(const RelationAtlas& atlas, const Relation& relation) {
    std::vector<NamedAttribute> all;
    if (relation.labelled < 0) return all;
    all.push_back(namedAttribute(atlas, relation, relation.labelled));
    for (const auto a : relation.also)
        if (all.size() < kMostNamed) all.push_back(namedAttribute(atlas, relation, a));
    return all;
}

namespace {

/// "a, b or c"; "a, b (and 3 more)".
std::string oneOf(const std::vector<std::string>& words, std::size_t more) {
    std::string text;
    for (std::size_t k = 0; k < words.size(); ++k)
        text += (k == 0 ? "" : k + 1 == words.size() && more == 0 ? " or " : ", ") + words[k];
    return more > 0 ? text + " (and " + std::to_string(more) + " more)" : text;
}

/// Of an inborn attribute: some untrained map reaches it, or comes near.
std::string asMuch(const NamedAttribute& named) {
    return named.auc > named.untrainedHigh ? "nearly as much" : "as much";
}

std::size_t unnamedCount(const Relation& relation) {
    return relation.also.size() + 1 - std::min(kMostNamed, relation.also.size() + 1);
}

}  // namespace

std::string aucText(double auc) {
    const auto text = fixedField(auc, 3);
    return auc < 1.0 && text == fixedField(1.0, 3) ? "> 0.999" : text;
}

std::string meaningOf(const RelationAtlas& atlas, const Relation& map, bool many,
                      std::size_t most) {
    if (!map.reading.empty()) return map.reading;
    std::vector<std::string> words;
    auto all = namedAttributes(atlas, map);
    const auto shown = std::min(all.size(), std::max<std::size_t>(1, most));
    const auto more = most == 0 ? 0 : unnamedCount(map) + all.size() - shown;
    all.resize(shown);
    // Of a head whether they hold, which is said once where it is the same of all.
    const bool alike = std::all_of(all.begin(), all.end(),
                                   [&](const auto& one) { return one.holds == all.front().holds; });
    const auto holding = [](bool holds) { return holds ? " holds" : " does not hold"; };
    for (const auto& named : all)
        words.push_back("*" + (map.head ? named.name : named.words) + "*" +
                        (map.head && !alike ? holding(named.holds) : ""));
    return (map.head ? "attends where "
            : many   ? "answer "
                     : "answers ") +
           oneOf(words, more) +
           (map.head && alike && !all.empty() ? holding(all.front().holds) : "") + map.condition;
}

std::string proofOf(const RelationAtlas& atlas, const Relation& map) {
    std::string text;
    for (const auto& named : namedAttributes(atlas, map)) {
        const bool first = text.empty();
        text += std::string(first ? "" : "; ") + "*" + named.words + "*: " + (first ? "AUC " : "") +
                aucText(named.auc);
        // An interval within the last digit says no more than the number.
        if (std::isfinite(named.low) && aucText(named.low) != aucText(named.auc))
            text += " [" + aucText(named.low) + ", " + aucText(named.high) + "]";
        if (first) text += " within places";
        if (std::isfinite(named.untrainedLow))
            text += ", untrained " + fixedField(named.untrainedLow, 2) + " to " +
                    fixedField(named.untrainedHigh, 2);
        if (named.origin == "inborn") text += " (" + asMuch(named) + ")";
        if (std::isfinite(named.initial)) text += ", at step 0: " + fixedField(named.initial, 2);
        if (first && !map.conditionProof.empty()) text += ", " + map.conditionProof;
    }
    return text;
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
        std::vector<std::string> words;
        for (const auto& named : namedAttributes(atlas, relation)) {
            const bool also = named.origin == "inborn" && relation.origin != "inborn";
            words.push_back(named.words + (also ? " (untrained " + asMuch(named) + ")" : ""));
        }
        relation.label += oneOf(words, words.empty() ? 0 : unnamedCount(relation));
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

/// Whether a distance from 0.5 is beyond those of untrained models, the furthest of each: all of
/// them, and one more that would be drawn, by their logits.
bool beyondModels(const std::vector<double>& models, double fromHalf) {
    if (models.size() < kFewestToLearn) return false;
    const auto count = static_cast<double>(models.size());
    double center = 0.0, squares = 0.0;
    for (const double one : models) {
        if (fromHalf <= one) return false;
        center += logit(0.5 + one) / count;
    }
    for (const double one : models) squares += std::pow(logit(0.5 + one) - center, 2);
    const double spread = std::sqrt(squares / (count - 1.0) * (1.0 + 1.0 / count));
    return logit(0.5 + fromHalf) - center > kBeyondModels * spread;
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
    // The AUC of the words of the label.
    const auto side = [&](double auc) { return end > 0.5 ? auc : 1.0 - auc; };
    if (relation.development.empty() && side(end) - side(begin) >= kRose)
        relation.development = "rose from " + aucText(side(begin)) + " at step " +
                               std::to_string(atlas.steps.front().step) + " to " +
                               aucText(side(end)) + " at step " +
                               std::to_string(atlas.steps.back().step);
}

}  // namespace

// A label is the best of many names, and its map one of many: so is what it is compared with.
void compareWithUntrained(RelationAtlas& atlas) {
    const std::size_t maps = atlas.relations.size(), attributes = atlas.attributes.size();
    const auto canBeLabels = [&](std::size_t a) {
        return !atlas.attributes[a].ordered &&
               (atlas.permutations == 0 ||
                std::any_of(atlas.relations.begin(), atlas.relations.end(),
                            [&](const auto& map) { return std::isfinite(map.fits[a].p); }));
    };
    for (auto& relation : atlas.relations) {
        const auto alike = [&](const Relation& other) {
            return other.layer == relation.layer && other.head == relation.head;
        };
        std::vector<double> farthest;  // of each model
        for (std::size_t first = 0; first < atlas.untrainedFits.size();
             first += attributes * maps) {
            double most = 0.0;
            for (std::size_t m = 0; m < maps; ++m)
                for (std::size_t a = 0; a < attributes; ++a)
                    if (const double auc = atlas.untrainedFits[first + m * attributes + a];
                        std::isfinite(auc) && alike(atlas.relations[m]) && canBeLabels(a))
                        most = std::max(most, std::abs(auc - 0.5));
            farthest.push_back(most);
        }
        relation.untrainedFarthest =
            farthest.empty() ? kNotMeasured : *std::max_element(farthest.begin(), farthest.end());
        for (std::size_t a = 0; a < attributes; ++a) {
            auto& fit = relation.fits[a];
            double sum = 0.0, count = 0.0;
            fit.untrainedLow = std::numeric_limits<double>::infinity();
            fit.untrainedHigh = -fit.untrainedLow;
            for (std::size_t at = a; at < atlas.untrainedFits.size(); at += attributes) {
                const double auc = atlas.untrainedFits[at];
                if (!alike(atlas.relations[at / attributes % maps]) || !std::isfinite(auc))
                    continue;
                sum += auc, count += 1.0;
                fit.untrainedLow = std::min(fit.untrainedLow, auc);
                fit.untrainedHigh = std::max(fit.untrainedHigh, auc);
            }
            if (count == 0)
                fit.untrained = fit.untrainedLow = fit.untrainedHigh = kNotMeasured;
            else
                fit.untrained = sum / count;
            fit.exceedsUntrained =
                !atlas.attributes[a].ordered && beyondModels(farthest, fromChance(fit));
        }
    }
}

void findAppearances(RelationAtlas& atlas) {
    for (std::size_t m = 0; m < atlas.relations.size(); ++m) findAppearance(atlas, m);
}

}  // namespace relascope::core
