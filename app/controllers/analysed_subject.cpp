// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/analysed_subject.h"

#include <algorithm>

#include "options/pair_data.h"
#include "types/error.h"

namespace relascope::app {

const wire::OpenedSplit& splitOf(const AnalysedSubject& subject, const std::string& name) {
    if (!subject.data)
        throw Error("There are no data to measure on: open a run, whose data are known.");
    const auto* split = subject.data->find(name);
    if (!split) throw Error("There is no split '" + name + "' in these data.");
    return *split;
}

EditList enabledEdits(const EditList& edits) {
    EditList enabled = edits;
    enabled.name.clear(), enabled.model.clear();
    std::erase_if(enabled.edits, [](const Edit& edit) { return !edit.enabled; });
    return enabled;
}

wire::Weights weightsOf(const AnalysedSubject& subject) {
    wire::Weights weights;
    weights.path = subject.path;
    weights.checkpoint = subject.checkpoint;
    weights.device = subject.device;
    return weights;
}

namespace {

std::optional<DataOptions> dataOf(const AnalysedSubject& subject) {
    return subject.data ? std::optional(subject.data->data.options) : std::nullopt;
}

wire::Interventions interventionsOf(const AnalysedSubject& subject) {
    return {enabledEdits(subject.edits), dataOf(subject), subject.exampleSplit, subject.example};
}

/// The input B of a pair.
wire::Input secondOf(const AnalysedSubject& subject, const AnalysisRequest& request) {
    wire::Input input;
    input.sample = request.second;
    if (input.sample) return input;
    const auto size = splitOf(subject, request.split).info.size;
    if (request.example < 0 || request.example >= size)
        throw Error("There is no example " + std::to_string(request.example) + ": the split " +
                    request.split + " has " + std::to_string(size) + ".");
    input.example = {subject.data->data, request.split, request.example};
    return input;
}

}  // namespace

SubjectChange changeOf(const std::optional<AnalysedSubject>& a,
                       const std::optional<AnalysedSubject>& b) {
    if (!a || !b) return {};
    SubjectChange change;
    const bool samePlace =
        a->path == b->path && a->device == b->device && a->data == b->data && a->other == b->other;
    const bool sameSample = a->sample == b->sample && a->classNames == b->classNames;
    change.weights = !samePlace || a->checkpoint != b->checkpoint;
    change.sample = change.weights || !sameSample;
    const bool sameMap = a->map && b->map ? a->map->sameMap(*b->map) : !a->map && !b->map;
    const bool sameEdits = enabledEdits(a->edits) == enabledEdits(b->edits);
    change.edits = change.sample || !sameEdits;
    change.along = !samePlace || !sameSample || !sameMap || !sameEdits;
    return change;
}

bool sameFor(core::AnalysisInput input, const AnalysedSubject& a, const AnalysedSubject& b) {
    auto other = b;
    if (a.data && b.data && a.data->data.options == b.data->data.options) other.data = a.data;
    return enabledEdits(a.edits) == enabledEdits(b.edits) && !changeOf(a, other).affects(input);
}

wire::Question questionOf(const core::Analysis& analysis, const AnalysisRequest& request,
                          const AnalysedSubject& subject) {
    wire::Question all;
    all.analysis = analysis.name;
    all.options = core::optionsToJson(analysis, request.values);
    wire::Subject first{weightsOf(subject), std::nullopt, interventionsOf(subject)};
    if (subject.sample) first.input.emplace().sample = subject.sample;
    all.subjects = {first};
    if (analysis.input == core::AnalysisInput::Pair)
        all.subjects.push_back({first.weights, secondOf(subject, request), {}});
    if (analysis.twoModels && subject.other) {
        auto second = first;
        second.weights.path = subject.other->path;
        second.weights.checkpoint = subject.other->checkpoint;
        second.interventions.edits = enabledEdits(subject.other->edits);
        all.subjects.push_back(std::move(second));
    }
    all.classNames = subject.classNames;
    if (analysis.input == core::AnalysisInput::Sentences)
        all.data = {core::pairData(request.pairs), "validation"};
    else if (const auto options = dataOf(subject))
        all.data = {*options, request.split};
    all.cell = subject.map;
    all.known = request.known;
    return all;
}
wire::Question effectQuestion(const AnalysedSubject& subject, const std::string& split) {
    splitOf(subject, split);
    return {.analysis = "effect",
            .subjects = {{weightsOf(subject), {}, interventionsOf(subject)}},
            .data = wire::DataSplit{subject.data->data.options, split}};
}

bool SubjectChange::affects(core::AnalysisInput input) const {
    switch (input) {
        case core::AnalysisInput::Data:
        case core::AnalysisInput::Sentences:
        case core::AnalysisInput::OwnPrompts:
            return weights;
        case core::AnalysisInput::Pair:
            return sample;
        case core::AnalysisInput::KeptSteps:
            return along;
        case core::AnalysisInput::Sample:
        case core::AnalysisInput::OwnText:
        case core::AnalysisInput::Reference:
            break;
    }
    return edits;
}

}  // namespace relascope::app
