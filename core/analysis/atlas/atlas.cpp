// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/atlas/run.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/ablate/ablation.h"
#include "analysis/atlas/answer.h"
#include "analysis/atlas/gallery.h"
#include "analysis/atlas/labels.h"
#include "analysis/atlas/use.h"
#include "analysis/open_model.h"
#include "analysis/pairs/auc_draws.h"
#include "analysis/pairs/captured_maps.h"
#include "analysis/pairs/claims.h"
#include "analysis/pairs/conjunctions.h"
#include "analysis/pairs/pair_objects.h"
#include "analysis/pairs/pair_reading.h"
#include "analysis/pairs/plain_reading.h"
#include "analysis/pairs/relation_matching.h"
#include "analysis/parts/basis.h"
#include "analysis/run_analysis.h"
#include "checkpoint/kept_weights.h"
#include "model/architecture.h"
#include "model/public/public_options.h"
#include "types/error.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

constexpr std::size_t kFirstExamples = 500;       // after which there is something to see
constexpr std::uint64_t kMostValues = 24U << 20;  // of all maps: 96 MiB
constexpr double kMostDrawn = 4e10;               // pairs in all draws, of about ten attributes
constexpr double kRankWork = 3e6, kMostRanks = 200;
constexpr double kMostProducts = 2e9;  // of pairs of maps
constexpr double kGrouped = 0.7;
constexpr std::int64_t kAtlasBatch = 250, kAtlasTextBatch = 4;

using Fit = RelationAtlas::Fit;
using Relation = RelationAtlas::Relation;

RelationAtlas::Distribution distributed(const PairShape& shape, PairValues values) {
    const auto d = distributionOf(shape, values);
    return {d.mean, d.sd, d.positive, d.low, d.high, {d.quantiles.begin(), d.quantiles.end()},
            d.bins};
}

}  // namespace

AtlasRun::AtlasRun(AnalysisSubject& subject, const AtlasOptions& options,
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
    const double drawn = 10.0 * 2.0 * static_cast<double>(kDraws * m_reading.maps.size() * cells);
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

RelationAtlas AtlasRun::run() {
    // What has no model is not compared with others, and nothing is taken out of it.
    const bool model = !m_subject.captured;
    const bool fresh = model && m_options.untrained > 0, first = hasFirst(),
               uses = model && (m_measured || m_options.use_examples > 0), along = m_options.along;
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

void AtlasRun::report() {
    if (!m_watch.partial) return;
    label();
    m_watch.partial(m_atlas);
}

void AtlasRun::describeSubject() {
    const auto& data = *m_subject.data;
    m_reading.shape = m_objects.shape;
    m_reading.examples = m_objects.examples;
    m_reading.positions = m_objects.positions;
    m_reading.starts = m_objects.starts;
    const auto* captured = m_subject.captured.get();
    m_attributes = captured ? captured->attributes(m_objects, m_options.attributes,
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
        m_atlas.attributes.push_back({attribute.name, attribute.ordered, {}, attribute.hypothesis});
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

Fit AtlasRun::unmeasuredFit() {
    Fit fit;
    for (double* value : {&fit.plainAuc, &fit.auc, &fit.low, &fit.high, &fit.p, &fit.untrained,
                          &fit.untrainedLow, &fit.untrainedHigh, &fit.initial})
        *value = kNotMeasured;
    return fit;
}

std::vector<double> AtlasRun::fixedFits(const PairShape& shape, const SortedPairs& sorted) const {
    std::vector<double> fits;
    for (std::size_t a = 0; a < m_attributes.all.size(); ++a) {
        const auto& attribute = m_attributes.all[a];
        fits.push_back(attribute.ordered ? placeFixedSpearman(sorted, attribute.values)
                                         : placeFixedAuc(sorted, truthOf(a, shape)));
    }
    return fits;
}

void AtlasRun::read() {
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
            if (seen || examples < kFirstExamples || examples == m_reading.examples.size()) return;
            seen = true;
            describe(soFar, examples, false);
            report();
            m_conditional.clear();
        });
    finishReading();
}

void AtlasRun::finishReading() {
    for (std::size_t m = 0; m < m_reading.maps.size(); ++m) {
        auto& relation = m_atlas.relations[m];
        relation.weightRank = m_values.weights[m].effectiveRank;
        relation.weightSymmetry = m_values.weights[m].symmetry;
    }
    m_reading.sent = m_reading.weights = false;
}

void AtlasRun::describe(const PairReadings& readings, std::size_t examples, bool whole) {
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

std::string AtlasRun::readingOf(const Relation& relation, PairValues values, double first,
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

std::string AtlasRun::emptinessOf(const Relation& relation) const {
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

void AtlasRun::correlate() {
    const auto maps = static_cast<double>(m_reading.maps.size());
    const auto pairs = static_cast<double>(m_objects.shape.cells());
    const auto shape = shapeOf(
        std::clamp<std::size_t>(static_cast<std::size_t>(kMostProducts / (maps * maps * pairs)), 2,
                                m_objects.shape.examples));
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

PairReading AtlasRun::shorter(std::size_t most) const {
    auto reading = m_reading;
    const auto examples = std::min(most, reading.shape.examples);
    reading.shape.examples = examples;
    reading.examples.resize(examples);
    if (!reading.starts.empty()) reading.starts.resize(examples);
    return reading;
}

std::vector<double> AtlasRun::fitsOfAll(const PairReading& reading,
                                        const PairReadings& values) const {
    std::vector<double> fits;  // [maps, attributes]
    for (const auto& of : values.values) {
        const auto one = fixedFits(reading.shape, SortedPairs(reading.shape, m_places, of));
        fits.insert(fits.end(), one.begin(), one.end());
    }
    return fits;
}

void AtlasRun::compareUntrained() {
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

bool AtlasRun::hasFirst() const {
    if (m_subject.captured)
        return m_subject.captured->step() > 0 && m_subject.captured->steps().front() == 0;
    if (m_subject.run.empty() || model().step() <= 0) return false;
    const auto here = KeptWeights(m_subject.run).localSteps();
    return !here.empty() && here.front().step == 0;
}

PairReadings AtlasRun::readFirst(const PairReading& reading) const {
    if (m_subject.captured) return m_subject.captured->read(reading, 0);
    OpenedModel first(m_subject.run, "0", m_subject.device, m_watch.stop, subProgress(0.0, 0.3));
    return first.readPairs(m_subject.data, {}, reading, m_watch.stop, subProgress(0.3, 1.0));
}

void AtlasRun::compareFirst() {
    if (m_atlas.initial) return;
    const auto reading = shorter(static_cast<std::size_t>(m_options.otherExamples));
    const auto fits = fitsOfAll(reading, readFirst(reading));
    for (std::size_t m = 0; m < m_atlas.relations.size(); ++m)
        for (std::size_t a = 0; a < m_atlas.attributes.size(); ++a)
            m_atlas.relations[m].fits[a].initial = fits[m * m_atlas.attributes.size() + a];
    m_atlas.initial = true;
    report();
}

AblationTable AtlasRun::withoutEach() {
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
    return ablate(model(), m_subject.data, m_subject.interventions, how, m_watch.stop,
                  subProgress(), {}, m_subject.keptBy("ablate"));
}

void AtlasRun::measureUse() {
    if (!m_atlas.metric.empty()) return;
    takeUses(m_atlas, m_measured ? *m_measured : withoutEach(), m_reading.maps);
    report();
}

PairReadings AtlasRun::readStep(const PairReading& reading, std::int64_t step, double from,
                                double whole) const {
    if (m_subject.captured) return m_subject.captured->read(reading, step);
    OpenedModel then(m_subject.run, std::to_string(step), m_subject.device, m_watch.stop,
                     subProgress(from, from + 0.5 * whole));
    return then.readPairs(m_subject.data, m_subject.interventions, reading, m_watch.stop,
                          subProgress(from + 0.5 * whole, from + whole));
}

void AtlasRun::follow() {
    label();
    std::vector<std::int64_t> steps;
    if (m_subject.captured)
        steps = m_subject.captured->steps();
    else if (!m_subject.run.empty())
        for (const auto& kept : KeptWeights(m_subject.run).localSteps()) steps.push_back(kept.step);
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

RelationAtlas describeRelations(AnalysisSubject& subject, const AtlasOptions& options,
                                const Watch<RelationAtlas>& watch, const AblationTable* measured) {
    return AtlasRun(subject, options, watch, measured).run();
}

}  // namespace relascope::core
