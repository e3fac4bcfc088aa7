// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/scan/contrasts.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "analysis/open_model.h"
#include "analysis/pairs/claims.h"
#include "analysis/run_analysis.h"
#include "model/served/served_options.h"
#include "types/error.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

constexpr std::int64_t kFewestContrasted = 250, kFreshCounted = 16;
constexpr double kPassesOfContrast = 4.5;  // a pass, its parts and their terms, in passes
constexpr std::size_t kBarsOfContrast = 6;
constexpr double kSmallBar = 0.01;

const RelationAtlas::Relation* mapOf(const ModelScan& scan, const ModelScan::Finding& finding) {
    if (finding.maps.empty()) return nullptr;
    const auto& map = scan.atlas.relations.at(static_cast<std::size_t>(finding.maps.front()));
    // What distance, place or one side explain, and what no attribute does, has nothing to split.
    // A contrast is of all examples: of a label that holds for one answer alone it says nothing.
    return map.labelled >= 0 && map.reading.empty() && map.condition.empty() ? &map : nullptr;
}

bool isExplained(const ModelScan& scan, const std::string& map) {
    return std::any_of(scan.explanations.begin(), scan.explanations.end(),
                       [&](const auto& one) { return one.map == map; });
}

std::vector<ModelScan::Explanation::Bar> barsOf(const Contrast& c) {
    using Bar = ModelScan::Explanation::Bar;
    std::vector<Bar> bars;
    const auto add = [&](const char* of, std::vector<ContrastShare> shares) {
        std::stable_sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) {
            return std::abs(a.share) > std::abs(b.share);
        });
        shares.resize(std::min(shares.size(), kBarsOfContrast));
        std::erase_if(shares, [](const auto& s) { return std::abs(s.share) < kSmallBar; });
        for (const auto& s : shares)
            bars.push_back({of,
                            s.side == "receiver" ? s.i + " alone (i)"
                            : s.side == "sender" ? s.j + " alone (j)"
                                                 : s.i + " x " + s.j,
                            s.share, s.low, s.high, s.untrainedLow, s.untrainedHigh});
    };
    add("facts", c.facts);
    if (c.layer > 1) add("parts", c.parts);
    return bars;
}

}  // namespace

void explainFindings(ModelScan& scan, AnalysisSubject& subject, const ContrastPlan& plan) {
    using Clock = std::chrono::steady_clock;
    const auto began = Clock::now();
    const auto left = [&] {
        return plan.seconds - std::chrono::duration<double>(Clock::now() - began).count();
    };
    // Programs that serve models send no weights.
    if (subject.model && isServed(subject.model->options())) return;
    // A command cannot shorten windows of text for a contrast, and its numbers would be others.
    if (scan.tokens > 0) return;
    std::vector<const RelationAtlas::Relation*> maps;
    for (const auto& finding : scan.findings)
        if (const auto* map = mapOf(scan, finding); map && !isExplained(scan, map->name))
            maps.push_back(map);
    if (maps.empty()) return;
    const double pass = plan.secondsOfPass();
    bool late = false;
    for (std::size_t m = 0; m < maps.size(); ++m) {
        const auto& map = *maps[m];
        ContrastOptions how;
        how.layer = map.layerIndex + 1, how.index = map.index + 1;
        how.kind = !map.head                                            ? "relation"
                   : map.name.find("sensory head") != std::string::npos ? "attention-sa"
                                                                        : "attention-ra";
        how.attribute = scan.atlas.attributes.at(static_cast<std::size_t>(map.labelled)).name;
        how.attributes = plan.attributes;
        how.examples = scan.wanted;
        how.untrained = scan.untrained;
        const auto relations =
            std::count_if(scan.parts.begin(), scan.parts.end(), [&](const auto& part) {
                return part.row.group == "relations" && part.row.part.starts_with(map.layer + " ");
            });
        const auto cost = [&] {
            const auto fresh = map.head ? 1 : std::clamp<std::int64_t>(relations, 1, kFreshCounted);
            return pass * kPassesOfContrast * static_cast<double>(how.examples) *
                   static_cast<double>(4 + how.untrained * fresh);
        };
        const auto fewest =
            std::min(how.examples, scan.text ? kFewestTextsToSay : kFewestContrasted);
        while (cost() > left() && how.examples > fewest)
            how.examples = std::max(fewest, how.examples / 2);
        if (cost() > left())
            how.untrained = std::min<std::int64_t>(how.untrained, kFewestUntrained);
        if (cost() > left()) {
            late = true;
            continue;
        }
        const auto progress = [&](double from, double to) -> ProgressCallback {
            return [&, from, to](double done) {
                const double part = from + (to - from) * done;
                return !plan.progress || plan.progress((static_cast<double>(m) + part) /
                                                       static_cast<double>(maps.size()));
            };
        };
        ModelScan::Explanation explanation;
        explanation.map = map.name;
        try {
            // What is strongest says what is asked for.
            auto first = how;
            first.untrained = 0;
            const auto parts = contrastOf(subject, first, {plan.stop, progress(0.0, 0.2), {}, {}});
            if (parts.split) {
                how.use = how.layer > 1;
                if (how.layer > 1 && parts.strongestI == parts.strongestJ &&
                    isHeadPart(parts.strongestI))
                    how.through = parts.strongestI;
                const auto c = contrastOf(subject, how, {plan.stop, progress(0.2, 1.0), {}, {}});
                // The guard of a scan asks the same of more examples.
                if (c.guard.empty())
                    for (const auto& sentence : sentencesOf(c))
                        explanation.text += (explanation.text.empty() ? "" : " ") + sentence;
                if (!explanation.text.empty()) {
                    explanation.command = contrastOptionText(how);
                    explanation.bars = barsOf(c);
                }
            }
        } catch (const OptionError&) {
            // A map that is no inner product of parts, or too few pairs: nothing is said.
        }
        scan.explanations.push_back(std::move(explanation));
        if (plan.report) plan.report();
    }
    if (late)
        scan.remark += std::string(scan.remark.empty() ? "" : " ") +
                       "There was no time to split what every map of a finding tells apart; more "
                       "seconds give it.";
}

}  // namespace relascope::core
