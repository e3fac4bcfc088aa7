// SPDX-License-Identifier: GPL-3.0-or-later
// What the maps of an atlas are named by, and whether that is more than chance.
#include "analysis/atlas/run.h"

#include <torch/types.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "analysis/atlas/answer.h"
#include "analysis/atlas/hypothesis_sentences.h"
#include "analysis/atlas/labels.h"
#include "analysis/open_model.h"
#include "analysis/pairs/auc_draws.h"
#include "analysis/pairs/captured_maps.h"
#include "analysis/pairs/claims.h"
#include "analysis/pairs/conjunctions.h"
#include "analysis/pairs/pair_objects.h"
#include "analysis/pairs/pair_reading.h"
#include "analysis/run_analysis.h"
#include "data/batches.h"
#include "model/architecture.h"
#include "types/error.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

constexpr std::size_t kClassBatch = 256;

using Fit = RelationAtlas::Fit;
using Relation = RelationAtlas::Relation;

}  // namespace

void AtlasRun::askConjunctions() {
    constexpr std::size_t kMostConjunctions = 8, kAsked = 300;
    constexpr double kMostAsked = 1.5e6;  // pairs of all maps
    const auto cells = static_cast<double>(m_objects.shape.cells() * m_values.values.size());
    const auto shape = shapeOf(std::min<std::size_t>(
        {m_objects.shape.examples, kAsked,
         std::max<std::size_t>(2, static_cast<std::size_t>(kMostAsked / cells))}));
    const auto found = promisingConjunctions(shape, m_values.values, m_attributes.all,
                                             testedAttributes(true), kMostConjunctions);
    m_atlas.conjunctions = static_cast<std::int64_t>(found.asked);
    const auto whole = shapeOf(m_objects.shape.examples);
    for (const auto& one : found.promising) {
        m_attributes.all.push_back(conjunctionOf(m_attributes.all, one));
        RelationAtlas::Attribute attribute{m_attributes.all.back().name, false, {}};
        for (const auto& [member, holds] : one.members)
            attribute.members.emplace_back(static_cast<std::int64_t>(member), holds);
        m_atlas.attributes.push_back(std::move(attribute));
        const auto truth = truthOf(m_attributes.all.size() - 1, whole);
        for (std::size_t m = 0; m < m_sorted.size(); ++m) {
            auto fit = unmeasuredFit();
            fit.auc = placeFixedAuc(m_sorted[m], truth);
            fit.plainAuc = plainAuc(m_sorted[m], truth);
            m_atlas.relations[m].fits.push_back(fit);
        }
    }
}

std::vector<std::size_t> AtlasRun::testedAttributes(bool permuted) const {
    std::vector<std::size_t> tested;
    for (std::size_t a = 0; a < m_attributes.all.size(); ++a)
        if (const auto& attribute = m_attributes.all[a];
            !attribute.ordered &&
            std::any_of(m_atlas.relations.begin(), m_atlas.relations.end(),
                        [&](const auto& r) { return std::isfinite(r.fits[a].auc); }) &&
            !(permuted && (attribute.name == kOneEmpty || attribute.name == kBothEmpty ||
                           followsOccupied(m_objects.shape, truthOf(a, m_objects.shape),
                                           m_attributes.occupied))))
            tested.push_back(a);
    return tested;
}

void AtlasRun::test() {
    if (m_atlas.permutations > 0) return;
    const auto all = testedAttributes(false), permuted = testedAttributes(true);
    AucSubject subject{m_objects.shape, m_places, m_sorted, {}};
    for (const auto a : all) subject.attributes.push_back(truthOf(a, m_objects.shape));
    const auto intervals = bootstrappedAucs(subject, kDraws, 2, subProgress(0.0, 0.4));
    for (std::size_t m = 0; m < m_sorted.size(); ++m)
        for (std::size_t k = 0; k < all.size(); ++k) {
            const auto drawn = intervals.of(m, k);
            auto& fit = m_atlas.relations[m].fits[all[k]];
            std::tie(fit.low, fit.high) = aucInterval(fit.auc, drawn, m_objects.shape.examples);
        }
    subject.attributes.clear();
    for (const auto a : permuted) subject.attributes.push_back(truthOf(a, m_objects.shape));
    const auto chance =
        permutedAucs(subject, m_attributes.occupied, kDraws, 3, subProgress(0.4, 1.0));
    std::vector<double> farthest(kDraws, 0.0);
    for (std::size_t m = 0; m < m_sorted.size(); ++m)
        for (std::size_t k = 0; k < permuted.size(); ++k)
            for (std::size_t d = 0; d < kDraws; ++d)
                if (const double auc = chance.of(m, k)[d]; std::isfinite(auc))
                    farthest[d] = std::max(farthest[d], std::abs(auc - 0.5));
    for (std::size_t m = 0; m < m_sorted.size(); ++m)
        for (std::size_t k = 0; k < permuted.size(); ++k) {
            auto& fit = m_atlas.relations[m].fits[permuted[k]];
            if (!std::isfinite(fit.auc)) continue;
            const auto as = std::count_if(farthest.begin(), farthest.end(),
                                          [&](double by) { return by >= std::abs(fit.auc - 0.5); });
            fit.p = static_cast<double>(1 + as) / static_cast<double>(1 + kDraws);
            if (!m_atlas.attributes[permuted[k]].members.empty())
                fit.p = std::max(fit.p, amongAllConjunctions(fit.auc, chance.of(m, k)));
        }
    m_atlas.permutations = kDraws;
    findBeatMembers(all, intervals);
    findAsGood(all, intervals);
    report();
}

double AtlasRun::amongAllConjunctions(double auc, std::span<const double> permuted) const {
    double count = 0.0, squares = 0.0;
    for (const double one : permuted)
        if (std::isfinite(one)) count += 1.0, squares += (one - 0.5) * (one - 0.5);
    if (!(squares > 0.0)) return 1.0;
    const double errors = std::abs(auc - 0.5) / std::sqrt(squares / count);
    return std::min(1.0, static_cast<double>(m_atlas.conjunctions) *
                             static_cast<double>(m_sorted.size()) *
                             std::erfc(errors / std::sqrt(2.0)));
}

void AtlasRun::findBeatMembers(const std::vector<std::size_t>& all, const AucDraws& drawn) {
    const auto placeOf = [&](std::int64_t attribute) {
        return static_cast<std::size_t>(
            std::find(all.begin(), all.end(), static_cast<std::size_t>(attribute)) - all.begin());
    };
    for (std::size_t m = 0; m < m_sorted.size(); ++m) {
        auto& relation = m_atlas.relations[m];
        relation.beatMembers.clear();
        for (std::size_t k = 0; k < all.size(); ++k) {
            const auto& members = m_atlas.attributes[all[k]].members;
            if (members.empty()) continue;
            const bool yes = relation.fits[all[k]].auc > 0.5;
            const auto of = drawn.of(m, k);
            const bool beats = std::all_of(members.begin(), members.end(), [&](const auto& member) {
                const auto at = placeOf(member.first);
                if (at == all.size()) return false;
                // A member that should not hold is turned.
                const bool turned = member.second != yes;
                const auto other = drawn.of(m, at);
                std::vector<double> by;
                for (std::size_t d = 0; d < kDraws; ++d)
                    if (const double more =
                            (yes ? of[d] : 1.0 - of[d]) - (turned ? 1.0 - other[d] : other[d]);
                        std::isfinite(more))
                        by.push_back(more);
                std::sort(by.begin(), by.end());
                return by.size() >= kDraws / 2 && by[by.size() / 40] > 0.0;
            });
            if (beats) relation.beatMembers.push_back(static_cast<std::int64_t>(all[k]));
        }
    }
}

void AtlasRun::findAsGood(const std::vector<std::size_t>& all, const AucDraws& drawn) {
    label();
    const auto side = [](const Fit& fit, double auc) { return fit.auc > 0.5 ? auc : 1.0 - auc; };
    const auto placeOf = [&](std::int64_t attribute) {
        return std::find(all.begin(), all.end(), static_cast<std::size_t>(attribute)) - all.begin();
    };
    for (std::size_t m = 0; m < m_sorted.size(); ++m) {
        auto& relation = m_atlas.relations[m];
        relation.asGood.clear();
        if (relation.labelled < 0) continue;
        const auto& best = relation.fits[static_cast<std::size_t>(relation.labelled)];
        const auto ofBest = drawn.of(m, static_cast<std::size_t>(placeOf(relation.labelled)));
        for (std::size_t k = 0; k < all.size(); ++k) {
            const auto& fit = relation.fits[all[k]];
            if (!canBeLabel(m_atlas, relation, all[k])) continue;
            std::vector<double> by;  // how much further from 0.5 the best is
            const auto of = drawn.of(m, k);
            for (std::size_t d = 0; d < kDraws; ++d)
                if (const double more = side(best, ofBest[d]) - side(fit, of[d]);
                    std::isfinite(more))
                    by.push_back(more);
            std::sort(by.begin(), by.end());
            if (by.size() >= kDraws / 2 && by[by.size() / 40] <= 0.0)
                relation.asGood.push_back(static_cast<std::int64_t>(all[k]));
        }
    }
}

void AtlasRun::label() {
    labelRelations(m_atlas, [this](std::size_t l, std::size_t a, std::size_t rival) {
        if (m_sorted.size() <= l) return kNotMeasured;
        const auto found = m_conditional.try_emplace({l, a, rival}, kNotMeasured);
        if (found.second) {
            const auto shape = shapeOf(static_cast<std::size_t>(m_atlas.examples));
            found.first->second =
                conditionalAuc(m_sorted[l], truthOf(a, shape), truthOf(rival, shape));
        }
        return found.first->second;
    });
    m_atlas.hypotheses = hypothesisSentences(m_atlas);
    for (std::size_t m = 0; m < m_values.values.size(); ++m) {
        auto& one = m_atlas.relations[m];
        const auto a = static_cast<std::size_t>(std::max<std::int64_t>(0, one.labelled));
        fillEvidence(one, m_objects, *m_subject.data, m_values.values[m],
                     one.labelled < 0 ? PairTruth() : truthOf(a, m_objects.shape));
    }
}

void AtlasRun::findConditions() {
    label();
    const auto& info = m_subject.data->info();
    if (info.targets != TargetKind::Class || info.classNames.size() != 2) return;
    std::vector<std::size_t> classOf(m_objects.examples.size());
    std::array<std::int64_t, 2> counts{};
    for (std::size_t first = 0; first < classOf.size(); first += kClassBatch) {
        const auto count = std::min(kClassBatch, classOf.size() - first);
        const auto batch = makeBatch(*m_subject.data, &m_objects.examples[first],
                                     static_cast<std::int64_t>(count));
        const auto targets = batch.targets.reshape({-1}).to(torch::kLong);
        for (std::size_t k = 0; k < count; ++k) {
            const auto one = targets[static_cast<std::int64_t>(k)].item<std::int64_t>();
            classOf[first + k] = one == 0 ? 0 : 1;
            ++counts[classOf[first + k]];
        }
    }
    if (!enoughToSay(std::min(counts[0], counts[1]), false)) return;
    const std::size_t cells = m_objects.shape.cells();
    for (std::size_t m = 0; m < m_sorted.size(); ++m) {
        auto& relation = m_atlas.relations[m];
        relation.condition.clear(), relation.conditionProof.clear();
        if (!relation.head || relation.labelled < 0) continue;
        const auto label = static_cast<std::size_t>(relation.labelled);
        const bool yes = relation.fits[label].auc > 0.5;
        std::array<double, 2> auc{};
        for (std::size_t c = 0; c < 2; ++c) {
            const auto all = truthOf(label, m_objects.shape);
            std::vector<std::uint8_t> truth(all.begin(), all.end());
            for (std::size_t e = 0; e < classOf.size(); ++e)
                if (classOf[e] != c)
                    std::fill_n(truth.begin() + static_cast<std::ptrdiff_t>(e * cells), cells,
                                kPairUndefined);
            auc[c] = placeFixedAuc(m_sorted[m], truth);
        }
        for (std::size_t c = 0; c < 2; ++c) {
            const double here = yes ? auc[c] : 1.0 - auc[c],
                         there = yes ? auc[1 - c] : 1.0 - auc[1 - c];
            // Where no pair of the other answer has the attribute there is nothing to compare.
            if (!(here >= 0.6) || !(there < 0.6)) continue;
            const bool opposite = there <= 0.4;
            relation.condition = ", for '" + info.classNames[c] + "'" +
                                 (opposite ? ", and the opposite for the others" : "");
            relation.conditionProof =
                "in examples of '" + info.classNames[c] + "' " + fixedField(here, 2) +
                (opposite ? ", in the others the opposite " : ", in the others ") +
                fixedField(opposite ? 1.0 - there : there, 2);
        }
    }
}

}  // namespace relascope::core
