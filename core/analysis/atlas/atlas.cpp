// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/atlas/atlas.h"
#include "analysis/atlas/answer.h"

#include <torch/types.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "analysis/ablate/options.h"
#include "analysis/atlas/gallery.h"
#include "analysis/atlas/labels.h"
#include "analysis/atlas/use.h"
#include "analysis/open_model.h"
#include "analysis/pairs/auc_draws.h"
#include "analysis/pairs/captured_maps.h"
#include "analysis/pairs/claims.h"
#include "analysis/pairs/conjunctions.h"
#include "analysis/pairs/hypothesis_sentences.h"
#include "analysis/pairs/pair_objects.h"
#include "analysis/pairs/pair_reading.h"
#include "analysis/pairs/plain_reading.h"
#include "analysis/pairs/relation_matching.h"
#include "analysis/parts/basis.h"
#include "analysis/run_analysis.h"
#include "checkpoint/kept_weights.h"
#include "data/batches.h"
#include "model/architecture.h"
#include "model/public/public_options.h"
#include "types/error.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kFirstExamples = 500;  // after which there is something to see
constexpr std::size_t kDraws = 200;
constexpr std::uint64_t kMostValues = 24U << 20;  // of all maps: 96 MiB
constexpr double kMostDrawn = 4e10;               // pairs in all draws, of about ten attributes
constexpr double kRankWork = 3e6, kMostRanks = 200;
constexpr double kMostProducts = 2e9;  // of pairs of maps
constexpr double kGrouped = 0.7;
constexpr std::size_t kClassBatch = 256;
constexpr std::int64_t kAtlasBatch = 250, kAtlasTextBatch = 4;

using Fit = RelationAtlas::Fit;
using Relation = RelationAtlas::Relation;

RelationAtlas::Distribution distributed(const PairShape& shape, PairValues values) {
    const auto d = distributionOf(shape, values);
    return {d.mean, d.sd, d.positive, d.low, d.high, {d.quantiles.begin(), d.quantiles.end()},
            d.bins};
}

/// The data, attributes and maps of an atlas, and its stages one after the other.
class AtlasRun {
public:
    AtlasRun(AnalysisSubject& subject, const AtlasOptions& options,
             const Watch<RelationAtlas>& watch, const AblationTable* measured)
        : m_subject(subject), m_options(options), m_watch(watch), m_measured(measured) {
        if (!subject.data || subject.data->size() == 0)
            throw OptionError("data", "contains nothing to describe");
        const auto asked = [&](const char* word) {
            return std::find(options.what.begin(), options.what.end(), word) != options.what.end();
        };
        if (subject.captured) {
            m_objects = subject.captured->objects(options.examples);
            m_reading.maps = subject.captured->maps(m_objects, asked("relations"), asked("heads"));
        } else {
            m_objects =
                pairObjects(model().options(), *subject.data, options.examples, options.attributes);
            const auto drawn = m_objects.examples.size();
            keepDifferent(m_objects, *subject.data);
            m_atlas.different = std::ssize(m_objects.examples);
            if (m_objects.examples.size() < drawn)
                addRemark("Of " + groupedNumber(static_cast<std::int64_t>(drawn)) + " " +
                          m_objects.noun + " " + groupedNumber(m_atlas.different) +
                          " are different; the others are copies, and are left out.");
            m_reading.maps = pairMaps(model().points(subject.data->sample(0)), m_objects.whole,
                                      asked("relations"), asked("heads"));
        }
        if (!options.only.empty())
            std::erase_if(m_reading.maps, [&](const PairMap& map) {
                return std::find(options.only.begin(), options.only.end(), map.name) ==
                       options.only.end();
            });
        if (m_reading.maps.empty() && !subject.captured)
            if (const auto none = noRelationsText(model().options()); !none.empty())
                throw OptionError("what", none + "; choose heads");
        if (m_reading.maps.empty())
            throw OptionError("what",
                              "this model has no such maps among its own objects; choose "
                              "relations or heads");
        m_objects.shape.causal = m_reading.maps.front().causal;
        std::uint64_t stored = m_reading.maps.size();
        for (const auto& map : m_reading.maps) stored += !map.pattern.empty();
        const auto cells = m_objects.shape.cells();
        const double drawn =
            10.0 * 2.0 * static_cast<double>(kDraws * m_reading.maps.size() * cells);
        const auto fit = std::max<std::uint64_t>(
            2, std::min<std::uint64_t>(kMostValues / (stored * cells),
                                       static_cast<std::uint64_t>(kMostDrawn / drawn)));
        if (fit < m_objects.shape.examples)
            addRemark("Only " + groupedNumber(static_cast<std::int64_t>(fit)) + " of " +
                      groupedNumber(std::ssize(m_objects.examples)) + " " + m_objects.noun +
                      " are described: more would take too long for " +
                      std::to_string(m_reading.maps.size()) + " maps.");
        keepExamples(m_objects, fit);
        m_reading.batchSize = options.batchSize > 0       ? options.batchSize
                              : !m_objects.starts.empty() ? kAtlasTextBatch
                                                          : kAtlasBatch;
        describeSubject();
    }

    RelationAtlas run() {
        // What has no model is not compared with others, and nothing is taken out of it.
        const bool model = !m_subject.captured;
        const bool fresh = model && m_options.untrained > 0, first = hasFirst(),
                   uses = model && (m_measured || m_options.use_examples > 0),
                   along = m_options.along;
        const double ablating = uses && !m_measured ? 4.0 : 0.0;
        m_weights = 5.0 + 2.0 * fresh + first + ablating + 4.0 * along;
        stage(1.0), read();
        stage(1.0), describe(m_values, m_objects.shape.examples, true);
        askConjunctions();
        if (m_watch.known) resumeFrom(m_atlas, *m_watch.known);
        report();
        stage(3.0), test();
        if (fresh) stage(2.0), compareUntrained();
        if (first) stage(1.0), compareFirst();
        if (uses) stage(ablating), measureUse();
        if (along) stage(4.0), follow();
        if (model) findConditions();
        label();
        return std::move(m_atlas);
    }

private:
    OpenedModel& model() const { return *m_subject.model; }

    void addRemark(const std::string& sentence) {
        m_atlas.remark += (m_atlas.remark.empty() ? "" : " ") + sentence;
    }

    // Progress
    // ---------------------------------------------------------------------------------------------

    void stage(double weight) {
        m_begin = m_end;
        m_end += weight / m_weights;
    }
    bool advance(double part) const {
        return !m_watch.stop.stop_requested() &&
               (!m_watch.progress || m_watch.progress(m_begin + part * (m_end - m_begin)));
    }
    void check(double part) const {
        if (!advance(part)) throw Cancelled();
    }
    ProgressCallback subProgress(double from = 0.0, double to = 1.0) const {
        return [this, from, to](double done) { return advance(from + done * (to - from)); };
    }
    void report() {
        if (!m_watch.partial) return;
        label();
        m_watch.partial(m_atlas);
    }

    // What is described
    // ---------------------------------------------------------------------------------------------

    void describeSubject() {
        const auto& data = *m_subject.data;
        m_reading.shape = m_objects.shape;
        m_reading.examples = m_objects.examples;
        m_reading.positions = m_objects.positions;
        m_reading.starts = m_objects.starts;
        const auto* captured = m_subject.captured.get();
        m_attributes = captured
                           ? captured->attributes(m_objects, m_options.attributes,
                                                  {m_options.hypothesis, m_options.classes})
                           : attributesOf(m_objects, model().options(), data, m_options.attributes,
                                          {m_options.hypothesis, m_options.classes});
        if (captured)
            addRemark(
                "Read from captures: use is not measured, and nothing is compared with "
                "untrained weights.");
        m_places = pairPlaces(m_objects.shape);
        m_atlas.data = data.info().name;
        const bool follows = m_options.along || hasFirst();
        m_atlas.basis = captured ? captured->basis(follows)
                                 : basisOf(model(), data, m_objects.examples,
                                           follows ? m_subject.run : std::string());
        m_atlas.noun = m_objects.noun;
        m_atlas.fresh = !captured && model().isRun() && model().step() == 0;
        m_atlas.objects = static_cast<std::int64_t>(m_objects.shape.objects);
        m_atlas.columns = m_objects.columns;
        m_atlas.causal = m_objects.shape.causal;
        for (const auto& attribute : m_attributes.all)
            m_atlas.attributes.push_back(
                {attribute.name, attribute.ordered, {}, attribute.hypothesis});
        std::vector<std::string> layers;
        if (captured)
            for (const auto& layer : captured->layers()) layers.push_back(layer.name);
        else
            for (const auto& place : model().options().info().layers(model().options()))
                layers.push_back(place.layer.name);
        for (const auto& map : m_reading.maps) {
            Relation relation;
            relation.name = map.name, relation.layer = map.layer, relation.point = map.point;
            relation.index = map.index, relation.head = map.head;
            for (std::size_t k = 0; k < layers.size(); ++k)
                if (layers[k] == map.layer) relation.layerIndex = static_cast<std::int64_t>(k);
            relation.weightRank = relation.weightSymmetry = kNotMeasured;
            relation.fits.assign(m_attributes.all.size(), unmeasuredFit());
            relation.untrainedFarthest = kNotMeasured;
            m_atlas.relations.push_back(std::move(relation));
        }
    }

    static Fit unmeasuredFit() {
        Fit fit;
        for (double* value : {&fit.plainAuc, &fit.auc, &fit.low, &fit.high, &fit.p, &fit.untrained,
                              &fit.untrainedLow, &fit.untrainedHigh, &fit.initial})
            *value = kNotMeasured;
        return fit;
    }

    PairShape shapeOf(std::size_t examples) const {
        auto shape = m_objects.shape;
        shape.examples = examples;
        return shape;
    }
    PairValues valuesOf(const std::vector<float>& values, const PairShape& shape) const {
        return std::span(values).first(shape.values());
    }
    PairTruth truthOf(std::size_t attribute, const PairShape& shape) const {
        return std::span(m_attributes.all[attribute].truth).first(shape.values());
    }

    // The attributes of one relation with place held fixed.
    std::vector<double> fixedFits(const PairShape& shape, const SortedPairs& sorted) const {
        std::vector<double> fits;
        for (std::size_t a = 0; a < m_attributes.all.size(); ++a) {
            const auto& attribute = m_attributes.all[a];
            fits.push_back(attribute.ordered ? placeFixedSpearman(sorted, attribute.values)
                                             : placeFixedAuc(sorted, truthOf(a, shape)));
        }
        return fits;
    }

    void read() {
        m_reading.sent = m_reading.weights = true;
        bool seen = false;
        if (m_subject.captured) {
            m_values = m_subject.captured->read(m_reading, m_subject.captured->step());
            return finishReading();
        }
        m_values = model().readPairs(
            m_subject.data, m_subject.interventions, m_reading, m_watch.stop, subProgress(),
            [&](const PairReadings& soFar, std::int64_t count) {
                const auto examples = static_cast<std::size_t>(count);
                if (seen || examples < kFirstExamples || examples == m_reading.examples.size())
                    return;
                seen = true;
                describe(soFar, examples, false);
                report();
                m_conditional.clear();
            });
        finishReading();
    }

    void finishReading() {
        for (std::size_t m = 0; m < m_reading.maps.size(); ++m) {
            auto& relation = m_atlas.relations[m];
            relation.weightRank = m_values.weights[m].effectiveRank;
            relation.weightSymmetry = m_values.weights[m].symmetry;
        }
        m_reading.sent = m_reading.weights = false;
    }

    void describe(const PairReadings& readings, std::size_t examples, bool whole) {
        const auto shape = shapeOf(examples);
        const double n = static_cast<double>(shape.objects);
        const auto ranked =
            static_cast<std::size_t>(std::clamp(kRankWork / (n * n * n), 8.0, kMostRanks));
        m_sorted.clear();
        std::vector<int> lines;
        for (std::size_t m = 0; m < m_reading.maps.size(); ++m) {
            if (whole) check(static_cast<double>(m) / static_cast<double>(m_reading.maps.size()));
            auto& relation = m_atlas.relations[m];
            const auto values = valuesOf(readings.values[m], shape);
            relation.values = distributed(shape, values);
            relation.symmetry = symmetryRatio(shape, values);
            relation.rank = meanEffectiveRank(shape, values, ranked);
            const auto shares = varianceShares(shape, values);
            relation.shares.assign(shares.begin(), shares.end());
            m_sorted.emplace_back(shape, m_places, values);
            const auto fixed = fixedFits(shape, m_sorted.back());
            for (std::size_t a = 0; a < fixed.size(); ++a) {
                auto& fit = relation.fits[a];
                fit.auc = fixed[a];
                const auto& attribute = m_attributes.all[a];
                fit.plainAuc = attribute.ordered ? plainSpearman(m_sorted.back(), attribute.values)
                                                 : plainAuc(m_sorted.back(), truthOf(a, shape));
            }
            if (!whole) continue;
            if (lines.empty()) lines = lineStartsOf(m_objects, *m_subject.data);
            relation.reading = readingOf(relation, values, readings.first[m], lines);
            fillGallery(relation, m_objects, *m_subject.data, readings.values[m]);
            if (!readings.sent[m].empty()) relation.sent = distributed(shape, readings.sent[m]);
        }
        m_atlas.examples = static_cast<std::int64_t>(examples);
        if (!whole) return;
        m_values.sent.clear();
        correlate();
    }

    std::string readingOf(const Relation& relation, PairValues values, double first,
                          const std::vector<int>& lines) const {
        DescribedMap map;
        map.lineStarts = lines, map.columns = static_cast<int>(m_objects.columns);
        map.shape = m_objects.shape, map.values = values;
        std::copy(relation.shares.begin(), relation.shares.end(), map.shares.begin());
        map.mean = relation.values.mean, map.sd = relation.values.sd;
        map.head = relation.head, map.first = first;
        for (std::size_t a = 0; a < m_attributes.all.size(); ++a) {
            if (m_attributes.all[a].name == kOneEmpty) map.oneEmpty = truthOf(a, map.shape);
            if (m_attributes.all[a].name == kBothEmpty) map.bothEmpty = truthOf(a, map.shape);
        }
        if (auto plain = plainReading(map); !plain.empty()) return plain;
        return emptinessOf(relation);
    }

    /// What a map tells where places are empty, if it tells nothing of those that are not.
    std::string emptinessOf(const Relation& relation) const {
        constexpr double kClear = 0.25, kNothing = 0.1;
        std::size_t best = m_attributes.all.size();
        double most = 0.0, others = 0.0;
        for (std::size_t a = 0; a < m_attributes.all.size(); ++a) {
            const auto& attribute = m_attributes.all[a];
            const double by = std::abs(relation.fits[a].auc - 0.5);
            if (attribute.ordered || !std::isfinite(by)) continue;
            if (attribute.name != kOneEmpty && attribute.name != kBothEmpty)
                others = std::max(others, by);
            else if (by > most)
                most = by, best = a;
        }
        if (most < kClear || others >= kNothing) return {};
        const bool holds = relation.fits[best].auc > 0.5,
                   one = m_attributes.all[best].name == kOneEmpty;
        return std::string(relation.head ? "attends where " : "is large where ") +
               (one     ? holds ? "one place is empty" : "none or both places are empty"
                : holds ? "both places are empty"
                        : "a place is not empty") +
               " (AUC " + aucText(0.5 + most) + ")";
    }

    /// Adds the conjunctions that maps tell better than any attribute alone.
    void askConjunctions() {
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

    void correlate() {
        const auto maps = static_cast<double>(m_reading.maps.size());
        const auto pairs = static_cast<double>(m_objects.shape.cells());
        const auto shape = shapeOf(
            std::clamp<std::size_t>(static_cast<std::size_t>(kMostProducts / (maps * maps * pairs)),
                                    2, m_objects.shape.examples));
        std::vector<PairValues> values;
        for (const auto& of : m_values.values) values.push_back(valuesOf(of, shape));
        m_atlas.correlation = correlationWithoutPlace(shape, values);
        const auto tree = averageLinkage(m_atlas.correlation, values.size());
        m_atlas.tree.clear();
        for (const auto& join : tree)
            m_atlas.tree.push_back({static_cast<std::int64_t>(join.first),
                                    static_cast<std::int64_t>(join.second), join.correlation});
        const auto groups = correlatedGroups(tree, values.size(), kGrouped);
        for (std::size_t m = 0; m < groups.size(); ++m) m_atlas.relations[m].group = groups[m];
    }

    // Chance
    // ---------------------------------------------------------------------------------------------

    // The attributes with yes and no that a permutation changes and places do not determine.
    std::vector<std::size_t> testedAttributes(bool permuted) const {
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

    void test() {
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
                const auto as = std::count_if(farthest.begin(), farthest.end(), [&](double by) {
                    return by >= std::abs(fit.auc - 0.5);
                });
                fit.p = static_cast<double>(1 + as) / static_cast<double>(1 + kDraws);
                if (!m_atlas.attributes[permuted[k]].members.empty())
                    fit.p = std::max(fit.p, amongAllConjunctions(fit.auc, chance.of(m, k)));
            }
        m_atlas.permutations = kDraws;
        findBeatMembers(all, intervals);
        findAsGood(all, intervals);
        report();
    }

    /// The p of a conjunction, which was chosen among all that were asked: two-sided, by the
    /// deviation of its permutations, and of so many names and maps (Bonferroni).
    double amongAllConjunctions(double auc, std::span<const double> permuted) const {
        double count = 0.0, squares = 0.0;
        for (const double one : permuted)
            if (std::isfinite(one)) count += 1.0, squares += (one - 0.5) * (one - 0.5);
        if (!(squares > 0.0)) return 1.0;
        const double errors = std::abs(auc - 0.5) / std::sqrt(squares / count);
        return std::min(1.0, static_cast<double>(m_atlas.conjunctions) *
                                 static_cast<double>(m_sorted.size()) *
                                 std::erfc(errors / std::sqrt(2.0)));
    }

    /// Conjunctions that tell more than each of their members, by the whole interval of the paired
    /// difference.
    void findBeatMembers(const std::vector<std::size_t>& all, const AucDraws& drawn) {
        const auto placeOf = [&](std::int64_t attribute) {
            return static_cast<std::size_t>(
                std::find(all.begin(), all.end(), static_cast<std::size_t>(attribute)) -
                all.begin());
        };
        for (std::size_t m = 0; m < m_sorted.size(); ++m) {
            auto& relation = m_atlas.relations[m];
            relation.beatMembers.clear();
            for (std::size_t k = 0; k < all.size(); ++k) {
                const auto& members = m_atlas.attributes[all[k]].members;
                if (members.empty()) continue;
                const bool yes = relation.fits[all[k]].auc > 0.5;
                const auto of = drawn.of(m, k);
                const bool beats =
                    std::all_of(members.begin(), members.end(), [&](const auto& member) {
                        const auto at = placeOf(member.first);
                        if (at == all.size()) return false;
                        // A member that should not hold is turned.
                        const bool turned = member.second != yes;
                        const auto other = drawn.of(m, at);
                        std::vector<double> by;
                        for (std::size_t d = 0; d < kDraws; ++d)
                            if (const double more = (yes ? of[d] : 1.0 - of[d]) -
                                                    (turned ? 1.0 - other[d] : other[d]);
                                std::isfinite(more))
                                by.push_back(more);
                        std::sort(by.begin(), by.end());
                        return by.size() >= kDraws / 2 && by[by.size() / 40] > 0.0;
                    });
                if (beats) relation.beatMembers.push_back(static_cast<std::int64_t>(all[k]));
            }
        }
    }

    /// Attributes whose AUC is not shown to be nearer to 0.5 than that of the label.
    void findAsGood(const std::vector<std::size_t>& all, const AucDraws& drawn) {
        label();
        const auto side = [](const Fit& fit, double auc) {
            return fit.auc > 0.5 ? auc : 1.0 - auc;
        };
        const auto placeOf = [&](std::int64_t attribute) {
            return std::find(all.begin(), all.end(), static_cast<std::size_t>(attribute)) -
                   all.begin();
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

    void label() {
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

    /// Whether the label of a head holds in examples of one answer alone.
    void findConditions() {
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

    // Other weights
    // ---------------------------------------------------------------------------------------------

    PairReading shorter(std::size_t most) const {
        auto reading = m_reading;
        const auto examples = std::min(most, reading.shape.examples);
        reading.shape.examples = examples;
        reading.examples.resize(examples);
        if (!reading.starts.empty()) reading.starts.resize(examples);
        return reading;
    }
    std::vector<double> fitsOfAll(const PairReading& reading, const PairReadings& values) const {
        std::vector<double> fits;  // [maps, attributes]
        for (const auto& of : values.values) {
            const auto one = fixedFits(reading.shape, SortedPairs(reading.shape, m_places, of));
            fits.insert(fits.end(), one.begin(), one.end());
        }
        return fits;
    }

    void compareUntrained() {
        auto reading = shorter(static_cast<std::size_t>(m_options.otherExamples));
        reading.answers = true;
        const auto seed = static_cast<std::uint64_t>(model().isRun() ? kUntrainedOfRun : 0);
        for (; m_atlas.untrainedModels < m_options.untrained; ++m_atlas.untrainedModels) {
            const auto done = [&](double more) {
                return (static_cast<double>(m_atlas.untrainedModels) + more) /
                       static_cast<double>(m_options.untrained);
            };
            const auto values = model().readUntrainedPairs(
                seed + static_cast<std::uint64_t>(m_atlas.untrainedModels), m_subject.data, reading,
                m_watch.stop, subProgress(done(0.0), done(1.0)));
            const auto fits = fitsOfAll(reading, values);
            m_atlas.untrainedFits.insert(m_atlas.untrainedFits.end(), fits.begin(), fits.end());
            m_atlas.untrainedScores.push_back(values.accuracy);
        }
        compareWithUntrained(m_atlas);
        report();
    }

    bool hasFirst() const {
        if (m_subject.captured)
            return m_subject.captured->step() > 0 && m_subject.captured->steps().front() == 0;
        if (m_subject.run.empty() || model().step() <= 0) return false;
        const auto here = KeptWeights(m_subject.run).localSteps();
        return !here.empty() && here.front().step == 0;
    }

    PairReadings readFirst(const PairReading& reading) const {
        if (m_subject.captured) return m_subject.captured->read(reading, 0);
        OpenedModel first(m_subject.run, "0", m_subject.device, m_watch.stop,
                          subProgress(0.0, 0.3));
        return first.readPairs(m_subject.data, {}, reading, m_watch.stop, subProgress(0.3, 1.0));
    }

    void compareFirst() {
        if (m_atlas.initial) return;
        const auto reading = shorter(static_cast<std::size_t>(m_options.otherExamples));
        const auto fits = fitsOfAll(reading, readFirst(reading));
        for (std::size_t m = 0; m < m_atlas.relations.size(); ++m)
            for (std::size_t a = 0; a < m_atlas.attributes.size(); ++a)
                m_atlas.relations[m].fits[a].initial = fits[m * m_atlas.attributes.size() + a];
        m_atlas.initial = true;
        report();
    }

    // Use
    // ---------------------------------------------------------------------------------------------

    AblationTable withoutEach() {
        const auto& options = model().options();
        const bool text = options.input() == InputKind::Tokens;
        AblationOptions how;
        how.how = {EditOp::Zero, EditOp::Mean, EditOp::Resample};
        how.what = m_options.what;
        how.what.emplace_back("paths");
        how.metric = options.info().numbers ? "mean_error" : "accuracy";
        how.examples = std::max<std::int64_t>(
            2, text ? m_options.use_examples / AtlasOptions::kTextUse : m_options.use_examples);
        how.batchSize = m_reading.batchSize;
        how.draws = 1;
        return model().ablate(m_subject.data, m_subject.interventions, how, m_watch.stop,
                              subProgress(), {}, m_subject.kept);
    }

    void measureUse() {
        if (!m_atlas.metric.empty()) return;
        takeUses(m_atlas, m_measured ? *m_measured : withoutEach(), m_reading.maps);
        report();
    }

    // Along training
    // ---------------------------------------------------------------------------------------------

    /// The maps at a step, of the progress the part `whole` behind `from`.
    PairReadings readStep(const PairReading& reading, std::int64_t step, double from,
                          double whole) const {
        if (m_subject.captured) return m_subject.captured->read(reading, step);
        OpenedModel then(m_subject.run, std::to_string(step), m_subject.device, m_watch.stop,
                         subProgress(from, from + 0.5 * whole));
        return then.readPairs(m_subject.data, m_subject.interventions, reading, m_watch.stop,
                              subProgress(from + 0.5 * whole, from + whole));
    }

    void follow() {
        label();
        std::vector<std::int64_t> steps;
        if (m_subject.captured)
            steps = m_subject.captured->steps();
        else if (!m_subject.run.empty())
            for (const auto& kept : KeptWeights(m_subject.run).localSteps())
                steps.push_back(kept.step);
        if (steps.empty()) {
            addRemark("There are no weights along training: the run kept none.");
            return;
        }
        auto reading = shorter(static_cast<std::size_t>(m_options.otherExamples));
        reading.answers = true;
        const auto all = static_cast<double>(steps.size());
        for (std::size_t k = 0; k < steps.size(); ++k) {
            if (k < m_atlas.steps.size()) continue;
            const auto from = static_cast<double>(k) / all;
            check(from);
            const auto values = readStep(reading, steps[k], from, 1.0 / all);
            RelationAtlas::Step step{steps[k], values.accuracy, {}};
            for (std::size_t m = 0; m < m_atlas.relations.size(); ++m) {
                const auto a = m_atlas.relations[m].attribute;
                step.fits.push_back(
                    a < 0 ? kNotMeasured
                          : placeFixedAuc(SortedPairs(reading.shape, m_places, values.values[m]),
                                          truthOf(static_cast<std::size_t>(a), reading.shape)));
            }
            m_atlas.steps.push_back(std::move(step));
            report();
        }
        findAppearances(m_atlas);
    }

    AnalysisSubject& m_subject;
    const AtlasOptions& m_options;
    const Watch<RelationAtlas>& m_watch;
    const AblationTable* m_measured;
    double m_weights = 1.0, m_begin = 0.0, m_end = 0.0;
    PairObjects m_objects;
    PairReading m_reading;
    PairAttributes m_attributes;
    std::vector<std::vector<std::uint32_t>> m_places;
    PairReadings m_values;
    std::vector<SortedPairs> m_sorted;  // of each map
    std::map<std::tuple<std::size_t, std::size_t, std::size_t>, double> m_conditional;
    RelationAtlas m_atlas;
};

}  // namespace

RelationAtlas describeRelations(AnalysisSubject& subject, const AtlasOptions& options,
                                const Watch<RelationAtlas>& watch, const AblationTable* measured) {
    return AtlasRun(subject, options, watch, measured).run();
}

}  // namespace relascope::core
