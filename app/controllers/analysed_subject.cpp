// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/analysed_subject.h"

#include <algorithm>

#include "run/run_folder.h"
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

bool readsOwnText(const AnalysedSubject& subject) {
    const auto& sample = subject.sample;
    return sample && !sample->source.tokens.empty() && sample->target.size() == 0;
}

Model modelOf(const AnalysedSubject& subject) {
    return {subject.path, {}, subject.checkpoint, {}, {}, subject.device};
}

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

wire::Asked questionOf(const core::Analysis& analysis, const AnalysisRequest& request,
                       const AnalysedSubject& subject) {
    using core::AnalysisInput;
    wire::Asked asked;
    asked.command = analysis.name;
    asked.subjects = {modelOf(subject)};
    asked.edits = {enabledEdits(subject.edits)};
    if (analysis.twoModels && subject.other) {
        const auto& other = *subject.other;
        asked.subjects.push_back({other.path, {}, other.checkpoint, {}, {}, {}});
        asked.edits.push_back(enabledEdits(other.edits));
    }
    switch (analysis.input) {
        case AnalysisInput::Data:
            if (!subject.data && !analysis.dataOptional && !core::isRunFolder(subject.path))
                splitOf(subject, request.split);  // a session says why those of a run are not there
            asked.set("split", request.split);
            break;
        case AnalysisInput::Sentences:
            if (!request.pairs.empty()) asked.set("pairs", request.pairs);
            break;
        case AnalysisInput::Pair:
            asked.sample = subject.sample;
            asked.second = request.second;
            if (!request.second) {
                const auto size = splitOf(subject, request.split).info.size;
                if (request.example < 0 || request.example >= size)
                    throw Error("There is no example " + std::to_string(request.example) +
                                ": the split " + request.split + " has " + std::to_string(size) +
                                ".");
                asked.set("corrupt", "sample:" + std::to_string(request.example));
                asked.set("split", request.split);
            }
            break;
        case AnalysisInput::OwnPrompts:
            break;
        case AnalysisInput::OwnText:
            if (readsOwnText(subject)) break;
            [[fallthrough]];
        case AnalysisInput::Sample:
        case AnalysisInput::KeptSteps:
        case AnalysisInput::Reference:
            asked.sample = subject.sample;
            if (subject.example >= 0) {
                asked.set("sample", subject.example);
                asked.set("split", subject.exampleSplit);
            }
            break;
    }
    for (const auto& [name, value] : request.values) asked.set(name, value);
    if (subject.data) asked.data = subject.data->data;
    asked.classNames = subject.classNames;
    asked.cell = subject.map;
    asked.known = request.known;
    return asked;
}

wire::Asked effectQuestion(const AnalysedSubject& subject, const std::string& split) {
    splitOf(subject, split);
    wire::Asked asked(Question{"eval", {modelOf(subject)}, {{"split", split}}});
    asked.edits = {enabledEdits(subject.edits)};
    asked.data = subject.data->data;
    return asked;
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
