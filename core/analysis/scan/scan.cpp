// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/scan/scan.h"
#include "analysis/scan/answer.h"

#include <malloc.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "analysis/ablate/ablation.h"
#include "analysis/open_model.h"
#include "analysis/pairs/claims.h"
#include "analysis/pairs/pair_objects.h"
#include "analysis/pairs/pair_reading.h"
#include "analysis/parts/basis.h"
#include "analysis/parts/part_rows.h"
#include "analysis/run_analysis.h"
#include "analysis/scan/contrasts.h"
#include "analysis/scan/effect_estimates.h"
#include "checkpoint/kept_weights.h"
#include "data/batches.h"
#include "data/token_prefix.h"
#include "interventions/active_edits.h"
#include "model/architecture.h"
#include "model/public/family.h"
#include "options/estimates.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

constexpr double kUnmeasured = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kScanExamples = 1000, kScanTexts = 32, kFewestExamples = 100;
constexpr std::int64_t kScanBatch = 250, kScanTextBatch = 4, kOthers = 500;
constexpr std::int64_t kLargeModel = 50'000'000;  // parameters, of which one text is read at a time
constexpr std::int64_t kLargeWindow = 128;        // tokens
constexpr double kStrongest = 0.05;
constexpr std::size_t kFewestParts = 24, kFewestInTime = 8;
// Of many maps so many are described that matter, and so many with the strongest attributes.
constexpr std::size_t kMostMaps = 48, kMatter = 32, kScreened = 200, kScreenedTexts = 4;
constexpr double kScreenedValues = 24e6;
// How the time is divided, in forward passes of an example; a backward pass takes two.
// Of large models the three replacements take a pass each, of small ones little more than half.
constexpr double kPassOne = 3.2, kForEach = 1.8, kForEachLarge = 3.1, kDescribing = 3.0,
                 kFresh = 1.2;
constexpr double kMakingWeights = 2e-8;  // seconds a parameter
constexpr double kEndOfEstimates = 0.15, kEndOfEffects = 0.55, kEndOfMaps = 0.8;
constexpr double kShareOfContrasts = 0.3;  // of the time

/// What a cancelled scan leaves in a session.
struct KeptScan {
    OpenedModel* model = nullptr;
    DatasetPtr data, whole;  ///< with shorter windows, and as they were given
    EditList edits;
    ScanOptions options;
    ModelScan scan;
    std::any estimates;
};

class ScanRun {
public:
    ScanRun(AnalysisSubject& subject, const ScanOptions& options, const Watch<ModelScan>& watch)
        : m_subject(subject),
          m_whole(subject.data),
          m_model(*subject.model),
          m_options(options),
          m_watch(watch) {
        if (!subject.data || subject.data->size() == 0)
            throw OptionError("data", "contains nothing to scan");
        if (subject.data->size() < 2)
            throw OptionError("data",
                              "has one example; a scan compares two or more, so give more data");
        m_text = m_model.options().input() == InputKind::Tokens;
        const bool large = parameterCount(m_model.options()) >= kLargeModel;
        m_batch = !m_text ? kScanBatch : large ? 1 : kScanTextBatch;
        if (m_text) shortenWindows(large);
        listParts();
        if (!continueKept()) plan();
    }

    ModelScan run() {
        if (m_scan.passes < 1) estimate();
        if (m_scan.passes < 2) measure();
        if (m_scan.passes < 3) describe();
        if (!m_scan.explained) explain();
        conclude();
        if (auto* kept = m_subject.keptBy("scan")) kept->reset();
        return std::move(m_scan);
    }

private:
    /// Of large models rather more windows than long ones.
    void shortenWindows(bool large) {
        const auto tokens = m_options.tokens > 0 ? m_options.tokens : large ? kLargeWindow : 0;
        const auto& text = dynamic_cast<const TokenDataset&>(*m_whole);
        if (tokens == 0 || text.context() <= tokens) return;
        m_scan.tokens = tokens;
        // The same one as before, by which what is kept is found.
        auto* kept = keptScan();
        m_subject.data = kept && kept->whole == m_whole && kept->options == m_options
                             ? kept->data
                             : withShorterWindows(m_whole, tokens);
        auto& split = m_subject.interventions.data.split;
        if (split)
            split = [whole = split, tokens](const std::string& name) {
                return withShorterWindows(whole(name), tokens);
            };
    }

    // Progress
    // ---------------------------------------------------------------------------------------------

    ProgressCallback subProgress(double from, double to) const {
        return [this, from, to](double done) {
            return !m_watch.progress || m_watch.progress(from + done * (to - from));
        };
    }
    void report() {
        returnMemory();
        conclude();
        if (auto* kept = keptScan()) kept->scan = m_scan;
        if (m_watch.partial) m_watch.partial(m_scan);
    }
    /// What a pass of a large model needed is cut into pieces that the next one cannot use whole.
    void returnMemory() const {
        if (m_batch == 1) malloc_trim(0);
    }
    /// Sentences, with the objects of examples as positions of the input.
    void conclude() {
        concludeScan(m_scan);
        for (auto& finding : m_scan.findings) {
            const auto at =
                std::find(m_objects.examples.begin(), m_objects.examples.end(), finding.example);
            if (at == m_objects.examples.end()) continue;
            const auto first = m_objects.starts.empty()
                                   ? m_objects.positions.front()
                                   : m_objects.starts.at(
                                         static_cast<std::size_t>(at - m_objects.examples.begin()));
            finding.i += first, finding.j += first;
        }
    }
    KeptScan* keptScan() { return std::any_cast<KeptScan>(m_subject.keptBy("scan")); }

    // Parts and plan
    // ---------------------------------------------------------------------------------------------

    void listParts() {
        const auto& data = *m_subject.data;
        const auto points = m_model.points(data.sample(0));
        const auto has = [&](const std::string& name) {
            return std::any_of(points.begin(), points.end(),
                               [&](const auto& point) { return point.name == name; });
        };
        const auto moduleOf = [](const Edit& edit) {
            return edit.point.substr(0, edit.point.rfind('.'));
        };
        auto rows = partRows(points, {"heads", "relations", "paths", "mlp"});
        std::map<std::string, std::vector<AblationRow>> relations;  // by module
        for (auto& row : rows) {
            if (row.group == "relations") relations[moduleOf(row.edit)].push_back(row);
        }
        for (auto& [module, of] : relations) {
            const auto together = module + ".hook_z_rel";
            if (of.size() < 2) {  // alone is together
                std::erase_if(rows, [&](const auto& row) { return row.edit.point == together; });
            } else if (!has(together)) {
                AblationRow row;
                row.group = "paths";
                row.edit.point = of.front().edit.point;
                const auto& name = of.front().part;
                row.part = name.substr(0, name.rfind(' ', name.rfind(' ') - 1)) + " relations";
                rows.push_back(std::move(row));
            }
        }
        if (rows.empty())
            throw OptionError("path", modelTitle(m_model.options()) +
                                          " has no attention, relations or layers to take out");
        for (auto& row : rows) {
            const bool together = row.group == "paths";
            auto title = partTitle(row.part);
            m_scan.parts.push_back({std::move(title), std::move(row), kUnmeasured, 0.0, together});
        }
        m_scan.data = data.info().name, m_scan.where = m_subject.where;
        m_scan.step = m_model.step();
        m_scan.noun = m_text                                           ? "windows of text"
                      : m_model.options().input() == InputKind::Images ? "images"
                                                                       : "examples";
        m_scan.text = m_text;
        m_scan.metric = m_model.options().info().numbers ? "mean_error" : "accuracy";
        m_scan.base = kUnmeasured;
        const auto maps = pairMaps(points, wholeOf(), true, true);
        m_scan.allMaps = std::ssize(maps);
        for (const auto& map : maps) m_mapNames.push_back(map.name);
        m_points = points;
    }

    /// Positions of a map over the objects that the model reads.
    std::int64_t wholeOf() const {
        return pairObjects(m_model.options(), *m_subject.data, 2, m_options.attributes).whole;
    }

    std::string basis(std::int64_t wanted) const {
        const auto& data = *m_subject.data;
        return basisOf(m_model, data, drawnExamples(data.size(), wanted, 0), m_subject.run);
    }
    bool continueKept() {
        const auto fits = [&](const ModelScan& scan) {
            const auto same = [&](const ModelScan::Component& a) {
                return std::any_of(m_scan.parts.begin(), m_scan.parts.end(), [&](const auto& b) {
                    return a.row.part == b.row.part && a.row.edit == b.row.edit;
                });
            };
            return scan.data == m_scan.data && scan.step == m_scan.step && scan.wanted > 0 &&
                   scan.parts.size() == m_scan.parts.size() &&
                   scan.basis == basis(scan.wanted + scan.choosing) &&
                   std::all_of(scan.parts.begin(), scan.parts.end(), same);
        };
        if (auto* kept = keptScan();
            kept && kept->model == &m_model && kept->data == m_subject.data &&
            kept->edits == m_subject.interventions.edits && kept->options == m_options &&
            fits(kept->scan) && m_watch.known) {
            m_scan = kept->scan;
            return true;
        }
        if (auto* now = m_subject.keptBy("scan"))
            *now = KeptScan{
                &m_model, m_subject.data, m_whole, m_subject.interventions.edits, m_options, {},
                {}};
        const auto& known = m_watch.known;
        if (!known || !fits(*known)) return false;
        m_scan = *known;
        return true;
    }

    /// Examples that are not among those that effects are measured on, where there are any.
    std::vector<std::int64_t> choosingExamples() const {
        auto all = drawnExamples(m_subject.data->size(), m_scan.wanted + m_scan.choosing, 0);
        if (m_scan.choosing > 0) all.erase(all.begin(), all.begin() + m_scan.wanted);
        return all;
    }

    EstimateOptions estimateOptions(std::vector<std::int64_t> examples) const {
        EstimateOptions what;
        for (const auto& one : m_scan.parts) what.parts.push_back(one.row);
        // By name, since the table is sorted while it is measured.
        std::sort(what.parts.begin(), what.parts.end(),
                  [](const auto& a, const auto& b) { return a.part < b.part; });
        for (auto& row : what.parts) row.ways.clear(), row.partNorm = row.streamNorm = 0.0;
        what.examples = std::move(examples);
        what.batchSize = m_batch;
        return what;
    }

    /// Seconds of a forward pass of one example: a third of a forward and a backward pass.
    double secondsPerExample() {
        using Clock = std::chrono::steady_clock;
        const auto what =
            estimateOptions(drawnExamples(m_subject.data->size(), m_text ? 1 : 32, 0));
        double seconds = 0.0;
        for (int time = 0; time < 2 && seconds < 1.0; ++time) {
            returnMemory();
            const auto began = Clock::now();
            estimateEffects(m_model, m_subject.data, m_subject.interventions, what, m_watch.stop,
                            subProgress(0.0, 0.0));
            seconds = std::chrono::duration<double>(Clock::now() - began).count();
        }
        m_secondsOfPass = std::max(1e-7, seconds / 3.0 / static_cast<double>(what.examples.size()));
        return m_secondsOfPass;
    }

    void plan() {
        const double time = static_cast<double>(m_options.seconds), f = secondsPerExample();
        const auto size = m_subject.data->size();
        const auto together =
            static_cast<std::size_t>(std::count_if(m_scan.parts.begin(), m_scan.parts.end(),
                                                   [](const auto& one) { return one.together; }));
        const auto single = m_scan.parts.size() - together;
        const std::size_t strongest =
            together + std::min(single, std::max(kFewestParts,
                                                 static_cast<std::size_t>(std::ceil(
                                                     kStrongest * static_cast<double>(single)))));
        const double forEach = m_batch == 1 ? kForEachLarge : kForEach;
        const double each = kPassOne + kDescribing + 2.0 +
                            forEach * static_cast<double>(strongest) +
                            kFresh * static_cast<double>(m_options.untrained);
        const auto most = m_text ? kScanTexts : kScanExamples,
                   fewest = m_text ? kFewestTextsToSay : kFewestExamples,
                   needed = m_text ? kFewestTextsToSay : kFewestToSay;
        m_scan.wanted =
            m_options.examples > 0
                ? m_options.examples
                : std::clamp(static_cast<std::int64_t>(0.7 * time / (f * each)), fewest, most);
        // Of few data the measured half is the larger one.
        m_scan.wanted = std::clamp<std::int64_t>(
            m_scan.wanted, 2,
            std::max({std::int64_t{2}, size - size / 2, std::min(size - 1, needed)}));
        m_scan.choosing = std::min(m_scan.wanted, size - m_scan.wanted);
        m_scan.available = size - m_scan.choosing;
        m_scan.basis = basis(m_scan.wanted + m_scan.choosing);
        const double rounds = 0.45 * time / (f * static_cast<double>(m_scan.wanted));
        const auto inTime = static_cast<std::size_t>(
            std::clamp((rounds - 2.0) / forEach, static_cast<double>(kFewestInTime), 1e6));
        m_scan.exact = static_cast<std::int64_t>(std::min(
            m_scan.parts.size(), m_options.exact > 0 ? static_cast<std::size_t>(m_options.exact)
                                 : inTime < m_scan.parts.size() ? std::min(strongest, inTime)
                                                                : m_scan.parts.size()));
        // A spread takes four models, and eight tell whether a map learned what it tells.
        const double fresh =
            kMakingWeights * static_cast<double>(parameterCount(m_model.options()));
        m_scan.otherExamples = m_batch == 1 ? std::max<std::int64_t>(2, m_scan.wanted / 4)
                                            : std::min(m_scan.wanted, kOthers);
        const auto seconds = [&](std::int64_t models) {
            return static_cast<double>(models) *
                   (fresh + kFresh * f * static_cast<double>(m_scan.otherExamples));
        };
        m_scan.untrained = m_options.untrained;
        while (m_scan.untrained > static_cast<std::int64_t>(kFewestUntrained) &&
               seconds(m_scan.untrained) > 0.4 * time)
            --m_scan.untrained;
        if (m_subject.run.empty()) return;
        const auto steps = static_cast<double>(KeptWeights(m_subject.run).localSteps().size());
        m_scan.along =
            steps > 2.0 &&
            steps * (0.05 + fresh + f * static_cast<double>(m_scan.otherExamples)) < 0.5 * time;
        if (steps > 2.0 && !m_scan.along)
            m_scan.remark = "Findings were not followed along training; a longer scan does that.";
    }

    // The three passes
    // ---------------------------------------------------------------------------------------------

    void takeEstimates(const EstimateOptions& what, const EffectEstimates& estimates) {
        m_scan.estimated = estimates.examples;
        for (auto& one : m_scan.parts)
            for (std::size_t p = 0; p < what.parts.size(); ++p)
                if (what.parts[p].part == one.row.part)
                    one.estimate = estimates.change[p], one.estimatedSize = estimates.size[p];
        std::stable_sort(
            m_scan.parts.begin(), m_scan.parts.end(),
            [](const auto& a, const auto& b) { return a.estimatedSize > b.estimatedSize; });
    }

    void estimate() {
        const auto what = estimateOptions(choosingExamples());
        auto* kept = keptScan();
        const auto estimates = estimateEffects(
            m_model, m_subject.data, m_subject.interventions, what, m_watch.stop,
            subProgress(0.0, kEndOfEstimates),
            [&](const EffectEstimates& soFar) { takeEstimates(what, soFar), report(); },
            kept ? &kept->estimates : nullptr);
        takeEstimates(what, estimates);
        if (kept) kept->estimates.reset();
        m_scan.passes = 1;
        report();
    }

    /// The strongest parts in turn: a single one, and several together, of which relations come
    /// first; with a single one what holds it, without which nothing is said of it.
    std::vector<AblationRow> strongestRows() const {
        std::vector<const ModelScan::Component*> single, together, chosen;
        for (const auto& one : m_scan.parts) (one.together ? together : single).push_back(&one);
        const auto relations = [](const auto* one) {
            return one->row.part.ends_with(" relations");
        };
        const auto bySize = [&](const auto* a, const auto* b) {
            if (relations(a) != relations(b)) return relations(a);
            return a->estimatedSize > b->estimatedSize;
        };
        std::stable_sort(single.begin(), single.end(), bySize);
        std::stable_sort(together.begin(), together.end(), bySize);
        const auto choose = [&](const ModelScan::Component* one) {
            if (std::find(chosen.begin(), chosen.end(), one) == chosen.end()) chosen.push_back(one);
        };
        std::size_t s = 0, t = 0;
        while (chosen.size() < static_cast<std::size_t>(m_scan.exact)) {
            if (s < single.size()) {
                const auto* part = single[s++];
                choose(part);
                for (const auto* holder : together)
                    if (holdsPart(holder->row, part->row)) choose(holder);
            }
            if (t < together.size()) choose(together[t++]);
        }
        chosen.resize(static_cast<std::size_t>(m_scan.exact));
        std::vector<AblationRow> rows;
        for (const auto* one : chosen) {
            rows.push_back(one->row);
            rows.back().ways.clear();
            rows.back().partNorm = rows.back().streamNorm = 0.0;
        }
        std::sort(rows.begin(), rows.end(),
                  [](const auto& a, const auto& b) { return a.part < b.part; });
        return rows;
    }

    void takeEffects(const AblationTable& table) {
        m_scan.base = table.base, m_scan.shift = table.shift;
        m_scan.measured = table.examples, m_scan.different = table.different;
        m_scan.meanOf = table.meanOf, m_scan.oneAnswer = table.oneAnswer;
        for (const auto& row : table.rows)
            for (auto& one : m_scan.parts)
                if (one.row.part == row.part) one.row = row;
        const auto largest = [](const ModelScan::Component& one) {
            double most = -1.0;
            for (const auto& way : one.row.ways) most = std::max(most, std::abs(way.change.change));
            return most;
        };
        std::stable_sort(
            m_scan.parts.begin(), m_scan.parts.end(), [&](const auto& a, const auto& b) {
                const double first = largest(a), second = largest(b);
                return first != second ? first > second : a.estimatedSize > b.estimatedSize;
            });
    }

    void measure() {
        AblationOptions how;
        how.how = {EditOp::Zero, EditOp::Mean, EditOp::Resample};
        how.rows = strongestRows();
        how.metric = m_scan.metric;
        how.examples = m_scan.wanted;
        how.batchSize = m_batch;
        how.draws = 1;
        // With maps the untrained models are measured with them.
        if (m_mapNames.empty() && m_scan.untrained > 0 && m_scan.atlas.untrainedScores.empty())
            m_scan.atlas.untrainedScores = m_model.untrainedScores(
                m_scan.untrained, m_subject.data,
                drawnExamples(m_subject.data->size(), m_scan.otherExamples, 0), m_batch,
                m_scan.metric, m_watch.stop, subProgress(kEndOfEstimates, kEndOfEstimates));
        how.untrained = m_scan.atlas.untrainedScores;
        const auto table = ablate(
            m_model, m_subject.data, m_subject.interventions, how, m_watch.stop,
            subProgress(kEndOfEstimates, kEndOfEffects),
            [&](const AblationTable& soFar) { takeEffects(soFar), report(); },
            m_subject.keptBy("ablate"));
        takeEffects(table);
        if (!m_text && !m_subject.run.empty()) countTrainedOn();
        m_scan.passes = 2;
        report();
    }

    /// How many of the different examples were trained on, of training sets of usual size.
    void countTrainedOn() {
        constexpr std::int64_t kMostCompared = 20000;
        const auto& split = m_subject.interventions.data.split;
        if (!split) return;
        const auto training = split("train");
        if (!training || training->size() > kMostCompared) return;
        auto examples = drawnExamples(m_subject.data->size(), m_scan.wanted, 0);
        const auto here = contentsOf(*m_subject.data, examples);
        const auto trained = contentsOf(*training, plainOrder(training->size()));
        m_scan.trainedOn = std::count_if(here.begin(), here.end(),
                                         [&](auto one) { return trained.contains(one); });
    }

    void chooseMaps() {
        if (m_mapNames.size() <= kMostMaps) {
            m_scan.described = m_mapNames;
            return;
        }
        // The parts are sorted: those with the largest effects, then those with the largest
        // estimates.
        for (const auto& one : m_scan.parts)
            if (m_scan.described.size() < kMatter &&
                std::find(m_mapNames.begin(), m_mapNames.end(), one.row.part) != m_mapNames.end())
                m_scan.described.push_back(one.row.part);
        const auto screened = strongestLabels();
        for (const auto& name : screened)
            if (m_scan.described.size() < kMostMaps) m_scan.described.push_back(name);
    }

    /// The other maps, by how far the AUC of any attribute is from 0.5 over some examples.
    std::vector<std::string> strongestLabels() {
        auto objects =
            pairObjects(m_model.options(), *m_subject.data, m_scan.wanted, m_options.attributes);
        PairReading reading;
        for (const auto& map : pairMaps(m_points, objects.whole, true, true))
            if (std::find(m_scan.described.begin(), m_scan.described.end(), map.name) ==
                m_scan.described.end())
                reading.maps.push_back(map);
        objects.shape.causal = reading.maps.front().causal;
        const auto fit = static_cast<std::size_t>(
            kScreenedValues / static_cast<double>(reading.maps.size() * objects.shape.cells()));
        keepExamples(objects, std::clamp<std::size_t>(fit, 2, m_text ? kScreenedTexts : kScreened));
        reading.shape = objects.shape, reading.examples = objects.examples;
        reading.positions = objects.positions, reading.starts = objects.starts;
        reading.batchSize = m_batch;
        const auto attributes =
            attributesOf(objects, m_model.options(), *m_subject.data, m_options.attributes,
                         {m_options.hypothesis, m_options.classes});
        const auto values =
            m_model.readPairs(m_subject.data, m_subject.interventions, reading, m_watch.stop,
                              subProgress(kEndOfEffects, kEndOfEffects + 0.05));
        const auto places = pairPlaces(reading.shape);
        std::vector<std::pair<double, std::string>> found;
        for (std::size_t m = 0; m < reading.maps.size(); ++m) {
            const SortedPairs sorted(reading.shape, places, values.values[m]);
            double most = 0.0;
            for (const auto& attribute : attributes.all)
                if (!attribute.ordered)
                    if (const double auc = placeFixedAuc(sorted, attribute.truth);
                        std::isfinite(auc))
                        most = std::max(most, std::abs(auc - 0.5));
            found.emplace_back(-most, reading.maps[m].name);
        }
        std::stable_sort(found.begin(), found.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        std::vector<std::string> names;
        for (const auto& [strength, name] : found) names.push_back(name);
        return names;
    }

    void describe() {
        if (!m_mapNames.empty()) {
            if (m_scan.described.empty()) chooseMaps();
            AtlasOptions how;
            // As the atlas, so that both name a map alike, unless there is no time for as many. By
            // `wanted` alone, so that the command of a report does the same.
            how.examples = !m_text && m_scan.wanted >= kScanExamples / 4
                               ? std::max(AtlasOptions::kUsual, m_scan.wanted)
                               : m_scan.wanted;
            m_objects =
                pairObjects(m_model.options(), *m_subject.data, how.examples, m_options.attributes);
            how.untrained = m_scan.untrained;
            how.hypothesis = m_options.hypothesis, how.classes = m_options.classes;
            how.otherExamples = m_scan.otherExamples;
            how.use_examples = 0;
            how.along = m_scan.along;
            how.attributes = m_options.attributes;
            how.only = m_scan.described;
            how.batchSize = m_batch;
            Watch<RelationAtlas> watch{
                m_watch.stop, subProgress(kEndOfEffects + 0.05, kEndOfMaps), {}, m_scan.atlas};
            watch.partial = [&](const RelationAtlas& soFar) {
                m_scan.atlas = soFar;
                report();
            };
            const auto table = measuredTable(m_scan);
            m_scan.atlas = describeRelations(m_subject, how, watch, &table);
        }
        m_scan.passes = 3;
    }

    void explain() {
        report();
        ContrastPlan plan;
        plan.seconds = kShareOfContrasts * static_cast<double>(m_options.seconds);
        plan.secondsOfPass = [&] {
            return m_secondsOfPass > 0.0 ? m_secondsOfPass : secondsPerExample();
        };
        plan.attributes = m_options.attributes;
        plan.stop = m_watch.stop, plan.progress = subProgress(kEndOfMaps, 1.0);
        plan.report = [&] { report(); };
        explainFindings(m_scan, m_subject, plan);
        m_scan.explained = true;
        if (m_watch.progress) m_watch.progress(1.0);  // all is done, and nothing to cancel
    }

    AnalysisSubject m_subject;  // with shorter windows
    DatasetPtr m_whole;
    OpenedModel& m_model;
    const ScanOptions& m_options;
    const Watch<ModelScan>& m_watch;
    bool m_text = false;
    std::int64_t m_batch = kScanBatch;
    double m_secondsOfPass = 0.0;  // of one example; 0: not measured
    std::vector<PointInfo> m_points;
    std::vector<std::string> m_mapNames;
    PairObjects m_objects;  // of the described maps
    ModelScan m_scan;
};

ModelScan runScan(AnalysisSubject& subject, const ScanOptions& options,
                  const Watch<ModelScan>& watch) {
    return ScanRun(subject, options, watch).run();
}

}  // namespace

const RegisterRunner kScanRunner("scan", [] {
    return makeRunner(scanFields(), runScan, answerOf, modelScanOf);
});

}  // namespace relascope::core
