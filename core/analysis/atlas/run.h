// SPDX-License-Identifier: GPL-3.0-or-later
// How an atlas is made: for the sources of this folder alone.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/atlas/atlas.h"
#include "analysis/open_model.h"
#include "analysis/pairs/auc_draws.h"
#include "analysis/pairs/pair_objects.h"
#include "analysis/pairs/pair_reading.h"
#include "analysis/run_analysis.h"
#include "types/error.h"

namespace relascope::core {

inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();
inline constexpr std::size_t kDraws = 200;  ///< bootstrap draws and permutations

/// The data, attributes and maps of an atlas, and its stages one after the other.
class AtlasRun {
public:
    AtlasRun(AnalysisSubject& subject, const AtlasOptions& options,
             const Watch<RelationAtlas>& watch, const AblationTable* measured);
    RelationAtlas run();

private:
    OpenedModel& model() const { return *m_subject.model; }

    void addRemark(const std::string& sentence) {
        m_atlas.remark += (m_atlas.remark.empty() ? "" : " ") + sentence;
    }

    // Progress
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
    void report();

    // What is described
    void describeSubject();
    static RelationAtlas::Fit unmeasuredFit();
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
    std::vector<double> fixedFits(const PairShape& shape, const SortedPairs& sorted) const;
    void read();
    void finishReading();
    void describe(const PairReadings& readings, std::size_t examples, bool whole);
    std::string readingOf(const RelationAtlas::Relation& relation, PairValues values, double first,
                          const std::vector<int>& lines) const;
    /// What a map tells where places are empty, if it tells nothing of those that are not.
    std::string emptinessOf(const RelationAtlas::Relation& relation) const;
    /// Adds the conjunctions that maps tell better than any attribute alone.
    void askConjunctions();
    void correlate();

    // Chance
    // The attributes with yes and no that a permutation changes and places do not determine.
    std::vector<std::size_t> testedAttributes(bool permuted) const;
    void test();
    /// The p of a conjunction, which was chosen among all that were asked: two-sided, by the
    /// deviation of its permutations, and of so many names and maps (Bonferroni).
    double amongAllConjunctions(double auc, std::span<const double> permuted) const;
    /// Conjunctions that tell more than each of their members, by the whole interval of the paired
    /// difference.
    void findBeatMembers(const std::vector<std::size_t>& all, const AucDraws& drawn);
    /// Attributes whose AUC is not shown to be nearer to 0.5 than that of the label.
    void findAsGood(const std::vector<std::size_t>& all, const AucDraws& drawn);
    void label();
    /// Whether the label of a head holds in examples of one answer alone.
    void findConditions();

    // Other weights
    PairReading shorter(std::size_t most) const;
    std::vector<double> fitsOfAll(const PairReading& reading, const PairReadings& values) const;
    void compareUntrained();
    bool hasFirst() const;
    PairReadings readFirst(const PairReading& reading) const;
    void compareFirst();

    // Use
    AblationTable withoutEach();
    void measureUse();

    // Along training
    /// The maps at a step, of the progress the part `whole` behind `from`.
    PairReadings readStep(const PairReading& reading, std::int64_t step, double from,
                          double whole) const;
    void follow();

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
    std::vector<SortedPairs> m_sorted;  // values of each map, sorted within places
    std::map<std::tuple<std::size_t, std::size_t, std::size_t>, double> m_conditional;
    RelationAtlas m_atlas;
};

}  // namespace relascope::core
