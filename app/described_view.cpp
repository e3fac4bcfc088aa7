// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/described_view.h"

#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "app/controllers/controllers.h"
#include "app/controllers/duel_probes.h"
#include "interventions/edit_words.h"
#include "question/question_fields.h"
#include "run/run_folder.h"
#include "views/view_file.h"
#include "wire/host.h"

namespace relascope::app {
namespace {

using Options = std::vector<Option>;

constexpr const char* kStepFolder = "step-";  // of a checkpoint of a run

std::vector<std::int64_t> numbersOf(const std::vector<qint64>& numbers) {
    return {numbers.begin(), numbers.end()};
}

std::optional<View> describeWeights(const std::string& command, const std::string& path,
                                    const std::string& checkpoint, const EditList& edits) {
    if (path.empty() || wire::farPathOf(path)) return std::nullopt;
    auto words = editWords(edits);
    if (!words) return std::nullopt;
    View view;
    view.command = command;
    view.subjects.push_back({path, {}, checkpoint, {}, std::move(*words)});
    return view;
}

/// An input as one word of --clean or --corrupt.
std::optional<std::string> oneWord(const Options& input) {
    std::string word;
    for (const auto& option : input) {
        if (option.name == "split") continue;
        static const std::set<std::string> words = {"sample", "text",      "tokens",
                                                    "image",  "reference", "random"};
        if (!words.contains(option.name) || !word.empty()) return std::nullopt;
        word = option.name + ":";
        if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&option.value)) {
            for (std::size_t k = 0; k < numbers->size(); ++k)
                word += (k ? "," : "") + std::to_string((*numbers)[k]);
        } else if (const auto* number = std::get_if<std::int64_t>(&option.value)) {
            word += std::to_string(*number);
        } else {
            word += std::get<std::string>(option.value);
        }
    }
    if (word.empty()) return std::nullopt;
    return word;
}

std::string splitAmong(const Options& input) {
    for (const auto& option : input)
        if (option.name == "split") return std::get<std::string>(option.value);
    return {};
}

std::optional<Options> pairOptions(const AnalysisRequest& request, const AnalysedSubject& subject) {
    if (!subject.input) return std::nullopt;
    const auto clean = oneWord(*subject.input);
    const auto split = splitAmong(*subject.input);
    // Both samples are of one split on the command line.
    if (!clean || (!request.second && !split.empty() && split != request.split))
        return std::nullopt;
    std::string corrupt = "sample:" + std::to_string(request.example);
    if (request.second) {
        const auto& read = request.second->source;
        if (!read.text || read.labels.empty()) return std::nullopt;
        corrupt = "text:";
        for (const auto& piece : read.labels) corrupt += piece;
    }
    return Options{
        {"clean", *clean}, {"corrupt", corrupt}, {"split", split.empty() ? request.split : split}};
}

}  // namespace

std::optional<std::vector<std::string>> editWords(const EditList& edits) {
    std::vector<std::string> words;
    for (const auto& edit : edits.edits) {
        if (!edit.enabled) continue;
        if (edit.op == EditOp::Patch || edit.values.numbers.size() > 1 || edit.reference ||
            !edit.textPart.empty())
            return std::nullopt;
        words.push_back(core::wordsOf(edit));
    }
    return words;
}

namespace {

std::optional<Options> wordsOfInput(const InputRequest& asked, const std::string& tokenizer) {
    using Kind = InputRequest::Kind;
    Options words;
    switch (asked.kind) {
        case Kind::Reference:
            words = {{"reference", std::int64_t{asked.reference} + 1}};
            break;
        case Kind::Random:
            if (asked.seed > (quint64{1} << 53)) return std::nullopt;
            words = {{"random", static_cast<std::int64_t>(asked.seed)}};
            break;
        case Kind::Tokens:
            words = {{"tokens", numbersOf(asked.source)}};
            if (!asked.target.empty()) words.push_back({"target", numbersOf(asked.target)});
            break;
        case Kind::Picture:
            words = {{"image", asked.picture.toStdString()}};
            break;
        case Kind::Text:
            words = {{"text", asked.text.toStdString()}};
            if (!tokenizer.empty()) words.push_back({"tokenizer", tokenizer});
            break;
    }
    return words;
}

/// Whether the examples of a run are those of the data.
bool hasData(const std::string& run, const DataOptions& data) {
    try {
        return core::runData(run, core::readRunOptions(run).data) == data;
    } catch (const Error&) {  // no run, or one that is gone
        return false;
    }
}

}  // namespace

std::optional<Options> inputWords(const Inspection& session) {
    return wordsOfInput(session.request(), session.tokenizerPath());
}

std::optional<Options> shownInput(Controllers& c) {
    if (c.probe.session().own() && !c.probe.showsCapture()) return inputWords(c.probe.session());
    if (c.probe.showsCapture()) return Options{{"sample", c.probe.captured()}};
    if (c.selection.split() == kPinnedSplit) {
        const auto& options = c.probe.options();
        if (!options) return std::nullopt;
        return Options{{"text", options->data.pinned_text}};
    }
    return Options{{"sample", std::int64_t{c.selection.sample()}},
                   {"split", c.selection.split().toStdString()}};
}

std::optional<View> describeRun(Controllers& c) {
    const auto& run = c.probe.run();
    const auto step = c.probe.shownStep();
    const bool live = c.training.busy() && c.training.run() == run;
    if (!step || (live && !c.selection.step())) return std::nullopt;
    const bool captured = c.probe.showsCapture();
    auto view =
        describeWeights("inspect", run.toStdString(),
                        captured || c.selection.step() ? std::to_string(*step) : std::string(),
                        captured ? EditList() : c.runEdits.list());
    auto input = shownInput(c);
    if (!view || !input) return std::nullopt;
    view->options = std::move(*input);
    return view;
}

std::optional<View> describeCheckpoint(Controllers& c) {
    const auto& session = c.checkpoint.session();
    auto view =
        describeWeights("inspect", session.path().toStdString(), {}, c.checkpointEdits.list());
    auto input = inputWords(session);
    if (!view || !input || session.bfloat16()) return std::nullopt;
    view->options = std::move(*input);
    return view;
}

std::optional<View> describeEvaluation(const CheckpointController& c) {
    const auto& asked = c.evaluatedOn();
    if (!asked || (asked->file.isEmpty() && !asked->text)) return std::nullopt;
    auto path = c.path().toStdString();
    std::string checkpoint;
    if (asked->file.isEmpty() && !core::isRunFolder(path)) {
        // The text of the run, which the run alone knows.
        const auto folder = std::filesystem::path(path).filename().string();
        path = core::runOfWeights(path);
        if (path.empty() || !folder.starts_with(kStepFolder)) return std::nullopt;
        checkpoint = folder.substr(std::string_view(kStepFolder).size());
    }
    auto view = describeWeights("eval", path, checkpoint, {});
    if (!view) return view;
    view->printed = true;
    if (asked->file.isEmpty())
        view->options.push_back({"split", asked->split});
    else
        view->options.push_back({"data", asked->file.toStdString()});
    if (asked->windows > 0) view->options.push_back({"windows", std::int64_t{asked->windows}});
    return view;
}

std::optional<View> describeFiles(const std::string& command, const std::string& path) {
    auto view = describeWeights(command, path, {}, {});
    if (view) view->printed = true;
    // A file of a snapshot is less than the model that the hub knows.
    if (view && std::filesystem::path(path).parent_path().filename() == "snapshots")
        view->subjects[0].hub = core::hubSnapshotOf(path);
    return view;
}

std::optional<View> describeSide(const DuelProbes& probes, std::size_t side) {
    using Kind = InputRequest::Kind;
    const auto& subject = probes.subject(side);
    const auto& answer = probes.answer(side);
    if (!subject || !answer) return std::nullopt;
    const auto path = subject->path.toStdString();
    // Of a chosen step it shows the one whose weights are kept.
    auto view = describeWeights(core::kInspectView, path,
                                subject->step ? std::to_string(answer->step) : std::string(),
                                subject->edits);
    if (!view) return view;
    std::optional<Options> input;
    if (const auto& own = probes.own()) {
        // Stored and random inputs are those of A.
        const bool ofA = own->kind == Kind::Reference || own->kind == Kind::Random;
        if (!ofA || side == 0 || subject->path == probes.subject(0)->path)
            input = wordsOfInput(*own, {});
    } else if (const auto& data = probes.data(); data && hasData(path, data->data.options)) {
        input = Options{{"sample", std::int64_t{probes.example()}}, {"split", probes.split()}};
    }
    if (!input) return std::nullopt;
    view->options = std::move(*input);
    return view;
}

std::optional<View> describeText(const TextGenerator& generator) {
    const auto& asked = generator.asked();
    if (!asked) return std::nullopt;
    const auto& model = asked->subjects.front();
    auto view = describeWeights("generate", model.path, model.checkpoint, asked->edits.front());
    if (!view) return view;
    view->printed = true;
    view->options = asked->options;
    return view;
}

std::optional<View> describeAnalysis(const core::Analysis& analysis, const AnalysisRequest& request,
                                     const AnalysedSubject& subject) {
    using core::AnalysisInput;
    auto view = describeWeights(analysis.name, subject.path, subject.checkpoint, subject.edits);
    if (!view) return std::nullopt;
    if (analysis.twoModels && subject.other) {
        const auto other = describeWeights(analysis.name, subject.other->path,
                                           subject.other->checkpoint, subject.other->edits);
        if (!other) return std::nullopt;
        view->subjects.push_back(other->subjects[0]);
    }
    Options& options = view->options;
    switch (analysis.input) {
        case AnalysisInput::Data:
            if (subject.data) options = {{"split", request.split}};
            break;
        case AnalysisInput::Sentences:
            if (!request.pairs.empty()) options = {{"pairs", request.pairs}};
            break;
        case AnalysisInput::Pair: {
            const auto two = pairOptions(request, subject);
            if (!two) return std::nullopt;
            options = *two;
            break;
        }
        case AnalysisInput::OwnPrompts:
            break;
        case AnalysisInput::OwnText:
            if (readsOwnText(subject)) break;
            [[fallthrough]];
        case AnalysisInput::Sample:
        case AnalysisInput::KeptSteps:
        case AnalysisInput::Reference:
            if (!subject.input) return std::nullopt;
            options = *subject.input;
            break;
    }
    auto values = request.values;
    if (analysis.input == AnalysisInput::KeptSteps) {
        if (!subject.map || subject.map->kind == MapKind::AttentionTimesRelation)
            return std::nullopt;
        values["kind"] = std::string(mapKindName(subject.map->kind));
        values["layer"] = std::int64_t{subject.map->layer} + 1;
        values["index"] = std::int64_t{subject.map->index} + 1;
        values["source"] = std::int64_t{subject.map->i};
        values["to"] = std::int64_t{subject.map->j};
        view->subjects[0].checkpoint.clear();  // the result belongs to no single step
    }
    for (const auto& field : analysis.fields)
        if (const auto at = values.find(field.spec.name); at != values.end())
            options.push_back({at->first, at->second});
    return view;
}

}  // namespace relascope::app
