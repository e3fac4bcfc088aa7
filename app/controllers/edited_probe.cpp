// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/edited_probe.h"

#include <algorithm>
#include <utility>

#include "app/controllers/opened_weights.h"
#include "edit/edit_words.h"
#include "edit/map_edits.h"
#include "types/error.h"
#include "types/map_difference.h"

namespace relascope::app {

QString wordsOfList(const EditList& list) {
    std::string words;
    for (const auto& edit : list.edits)
        if (edit.enabled) words += (words.empty() ? "" : "; ") + core::wordsOf(edit);
    return QString::fromStdString(words);
}

widgets::Inspected inspectedOf(std::shared_ptr<const ProbeResult> result,
                               std::shared_ptr<const ProbeResult> before, const EditList& list,
                               const std::vector<PointInfo>& points) {
    widgets::Inspected out;
    out.result = std::move(result);
    if (!before || !list.anyEnabled()) return out;
    out.before = std::move(before);
    out.words = wordsOfList(list);
    for (const auto& map : out.result->maps) {
        const widgets::MapId id{map.kind, map.layer, map.index};
        const auto* base = out.before->find(map.kind, map.layer, map.index);
        if (base && mapMoved(map, *base)) out.moved.push_back(id);
        try {
            const auto& layer = out.result->layers.at(static_cast<std::size_t>(map.layer)).name;
            if (core::takesOut(
                    list,
                    core::targetOf({map.kind, layer, map.index, map.rows, map.columns}, points)))
                out.out.push_back(id);
        } catch (const Error&) {
            // A map without a hook point cannot be taken out.
        }
    }
    std::sort(out.moved.begin(), out.moved.end());
    std::sort(out.out.begin(), out.out.end());
    return out;
}

EditedProbe probeEdited(OpenedWeights& weights, const ProbeSample& sample,
                        const std::vector<std::string>& classNames, EditsInForce edits,
                        core::ProbeWatch watch) {
    core::OpenedModel& model = *weights.model;
    const bool edited = edits.list.anyEnabled();
    auto& base = weights.base;
    if (!base || !(weights.baseSample == sample) ||
        base->classNames.empty() != classNames.empty()) {
        auto first = watch;
        if (edited) first.partial = {};  // maps without the edits are not what is asked for
        model.setEdits({}, {});
        base = std::make_shared<const ProbeResult>(model.probe(sample, classNames, first));
        weights.baseSample = sample;
    }
    if (!weights.points)
        weights.points = std::make_shared<const std::vector<PointInfo>>(model.points(sample));
    if (!edited) return {{base, {}, {}, {}, {}}, weights.points, {}};
    core::findExample(edits.data, sample);
    watch.partial = {};
    model.setEdits(edits.list, edits.data);
    std::shared_ptr<const ProbeResult> result;
    try {
        result = std::make_shared<const ProbeResult>(model.probe(sample, classNames, watch));
    } catch (const OptionError& error) {
        model.setEdits({}, {});
        return {{base, {}, {}, {}, {}}, weights.points, userMessage(error)};
    } catch (...) {
        model.setEdits({}, {});
        throw;
    }
    // Other users of the weights (text generation, evaluation) have edits of their own.
    model.setEdits({}, {});
    return {inspectedOf(std::move(result), base, edits.list, *weights.points), weights.points, {}};
}

}  // namespace relascope::app
