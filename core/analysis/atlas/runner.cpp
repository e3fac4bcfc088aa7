// SPDX-License-Identifier: GPL-3.0-or-later
// The atlas as an analysis, and what it would take.
#include <chrono>

#include "analysis/atlas/answer.h"
#include "analysis/atlas/atlas.h"
#include "analysis/open_model.h"
#include "analysis/pairs/captured_maps.h"
#include "analysis/run_analysis.h"
#include "types/model_options.h"

namespace relascope::core {
namespace {

constexpr std::int64_t kTimedByAtlas = 64, kTextsTimedByAtlas = 4;

RelationAtlas measureAtlas(AnalysisSubject& subject, const AtlasOptions& options,
                           const Watch<RelationAtlas>& watch) {
    return describeRelations(subject, options, watch);
}

// Captured maps are few and are read at once.
AnalysisCost capturedCost(const AnalysisSubject& subject) {
    const auto objects = subject.captured->objects(2);
    AnalysisCost cost;
    for (const auto& map : subject.captured->maps(objects, true, true))
        ++cost.parts[map.head ? "heads" : "relations"];
    cost.noun = objects.noun;
    cost.examples = subject.data->size();
    return cost;
}

// From a small atlas of the model itself, of which reading is a fifth of the progress.
AnalysisCost atlasCost(AnalysisSubject& subject, const std::stop_token& stop) {
    using Clock = std::chrono::steady_clock;
    if (subject.captured) return capturedCost(subject);
    const bool text = subject.model->options().input() == InputKind::Tokens;
    AtlasOptions small;
    small.examples = 2;
    small.untrained = small.use_examples = 0;
    measureAtlas(subject, small, {stop, {}, {}, {}});  // the first pass takes longer than others
    small.examples = text ? kTextsTimedByAtlas : kTimedByAtlas;
    const auto began = Clock::now();
    auto read = began;
    Watch<RelationAtlas> watch{stop, {}, {}, {}};
    watch.progress = [&](double done) {
        if (done <= 0.2) read = Clock::now();
        return true;
    };
    const auto atlas = measureAtlas(subject, small, watch);
    const auto each = [&](Clock::duration time) {
        return std::chrono::duration<double>(time).count() / static_cast<double>(atlas.examples);
    };
    AnalysisCost cost;
    for (const auto& relation : atlas.relations)
        ++cost.parts[relation.head ? "heads" : "relations"];
    cost.seconds = each(read - began);
    cost.more = each(Clock::now() - read);
    cost.noun = atlas.noun;
    cost.examples = subject.data->size();
    return cost;
}

}  // namespace

// Throws OptionError for a model without such maps among its own objects, fewer than two examples
// and values that are not finite, FileError for a file of attributes that is of another form,
// Cancelled. What is measured is handed to Watch::partial after 500 examples and after each step;
// Watch::known may be such a part of the same subject and options.
const RegisterRunner kAtlasRunner("atlas", [] {
    auto r = makeRunner(atlasFields(), measureAtlas, answerOf, relationAtlasOf);
    r.cost = atlasCost;
    return r;
});

}  // namespace relascope::core
