// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/controllers/subject.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "interventions/edit_words.h"
#include "question/question_fields.h"
#include "question/question_input.h"
#include "types/error.h"
#include "wire/host.h"

namespace relascope::app {

using core::AnalysisInput;

wire::Asked weightsAt(const QString& path, std::optional<qint64> step, EditList edits) {
    const auto checkpoint = step ? std::to_string(*step) : std::string();
    wire::Asked asked(
        Question{core::kInspectView, {{path.toStdString(), {}, checkpoint, {}, {}, {}}}, {}});
    asked.edits = {std::move(edits)};
    return asked;
}

QString placeOf(const Question& question, std::size_t which) {
    return which < question.subjects.size() ? QString::fromStdString(question.subjects[which].path)
                                            : QString();
}

std::optional<qint64> stepOf(const Question& question, std::size_t which) {
    bool number = false;
    const auto step =
        QString::fromStdString(question.subjects.at(which).checkpoint).toLongLong(&number);
    return number ? std::optional<qint64>(step) : std::nullopt;
}

void Subject::setData(std::shared_ptr<const wire::OpenedData> opened) {
    data = std::move(opened);
    asked.data = data ? std::optional(data->data) : std::nullopt;
}

EditList enabledEdits(const EditList& edits) {
    EditList enabled = edits;
    enabled.name.clear(), enabled.model.clear();
    std::erase_if(enabled.edits,
                  [](const Edit& edit) { return !edit.enabled && edit.op != EditOp::Project; });
    return enabled;
}

bool readsOwnText(const Subject& subject) {
    const auto& sample = subject.asked.sample;
    return sample && !sample->source.tokens.empty() && sample->target.size() == 0;
}

wire::Asked questionOf(const core::Analysis& analysis, const Subject& subject) {
    auto asked = subject.asked;
    asked.command = analysis.name;
    asked.options.clear();
    if (!analysis.twoModels) asked.subjects.resize(1), asked.edits.resize(1);
    for (auto& edits : asked.edits) edits = enabledEdits(edits);
    const auto input = core::inputOf(subject.asked);
    switch (analysis.input) {
        case AnalysisInput::Data:
            if (subject.data || !analysis.dataOptional) asked.set("split", analysis.split);
            [[fallthrough]];
        case AnalysisInput::Sentences:
        case AnalysisInput::OwnPrompts:
            asked.sample.reset();
            break;
        case AnalysisInput::Pair:
            if (const auto clean = core::inputWord(input); !clean.empty())
                asked.set("clean", clean);
            break;
        case AnalysisInput::OwnText:
            if (readsOwnText(subject)) {
                asked.sample.reset();
                break;
            }
            [[fallthrough]];
        case AnalysisInput::Sample:
        case AnalysisInput::KeptSteps:
        case AnalysisInput::Reference:
            asked.options = input.options;
            break;
    }
    return asked;
}

wire::Asked effectQuestion(const Subject& subject, const std::string& split) {
    if (!subject.data || !subject.data->find(split))
        throw Error("There is no split '" + split + "' in these data.");
    wire::Asked asked(Question{"eval", {subject.model()}, {{"split", split}}});
    asked.edits = {enabledEdits(subject.edits())};
    asked.data = subject.asked.data;
    return asked;
}

namespace {

bool sameButEdits(const core::Analysis& analysis, const wire::Asked& a, const wire::Asked& b) {
    auto models = a.subjects, others = b.subjects;
    auto given = a.options, also = b.options;
    for (auto* options : {&given, &also})
        std::sort(options->begin(), options->end(),
                  [](const Option& x, const Option& y) { return x.name < y.name; });
    if (analysis.input == AnalysisInput::KeptSteps) {
        if (a.cell && b.cell ? !a.cell->sameMap(*b.cell) : a.cell.has_value() != b.cell.has_value())
            return false;
        for (auto* all : {&models, &others})
            for (auto& model : *all) model.checkpoint.clear();
    }
    return models == others && given == also && a.sample == b.sample && a.second == b.second &&
           a.data == b.data && a.classNames == b.classNames;
}

/// The words of the edits of enabledEdits(); nullopt where one cannot be said in words: values that
/// are lists, or an input that is patched in.
std::optional<std::vector<std::string>> editWords(const EditList& edits) {
    std::vector<std::string> words;
    for (const auto& edit : edits.edits) {
        if (!edit.enabled && edit.op != EditOp::Project) continue;
        if (edit.op == EditOp::Patch || edit.values.numbers.size() > 1 || edit.reference ||
            !edit.textPart.empty())
            return std::nullopt;
        words.push_back(core::wordsOf(edit));
    }
    return words;
}

/// Gives the cell that is shown the words of an analysis that is asked of one. Returns false for a
/// cell that has none.
bool sayCell(const core::Analysis& analysis, const wire::Asked& asked, View& view) {
    const bool takes = analysis.field("source") && analysis.field("to") && analysis.field("kind");
    if (!takes || asked.option("source")) return true;
    if (!asked.cell || asked.cell->kind == MapKind::AttentionTimesRelation) return false;
    if (!asked.cell->fitted.empty()) {
        if (!analysis.field("relation")) return false;
        view.set("relation", asked.cell->fitted);
        view.set("source", std::int64_t{asked.cell->i});
        view.set("to", std::int64_t{asked.cell->j});
        return true;
    }
    view.set("kind", std::string(mapKindName(asked.cell->kind)));
    view.set("layer", std::int64_t{asked.cell->layer} + 1);
    view.set("index", std::int64_t{asked.cell->index} + 1);
    view.set("source", std::int64_t{asked.cell->i});
    view.set("to", std::int64_t{asked.cell->j});
    return true;
}

}  // namespace

bool sameQuestion(const core::Analysis& analysis, const wire::Asked& a, const wire::Asked& b) {
    return a.edits == b.edits && sameButEdits(analysis, a, b);
}

bool stays(const core::Analysis& analysis, const std::optional<Subject>& before,
           const std::optional<Subject>& now) {
    if (!before || !now) return false;
    const auto a = questionOf(analysis, *before), b = questionOf(analysis, *now);
    if (!sameButEdits(analysis, a, b)) return false;
    switch (analysis.input) {
        case AnalysisInput::Data:
        case AnalysisInput::Sentences:
        case AnalysisInput::OwnPrompts:
        case AnalysisInput::Pair:
            // The edits of the second model say which model it is.
            return a.edits.size() < 2 || a.edits[1] == b.edits[1];
        default:
            return a.edits == b.edits;
    }
}

std::optional<View> viewOf(const wire::Asked& asked) {
    View view;
    static_cast<Question&>(view) = asked;
    for (std::size_t k = 0; k < view.subjects.size(); ++k) {
        auto& model = view.subjects[k];
        if (model.path.empty() || wire::farPathOf(model.path)) return std::nullopt;
        model.device.clear();
        if (k >= asked.edits.size()) continue;
        auto words = editWords(asked.edits[k]);
        if (!words) return std::nullopt;
        model.edits = std::move(*words);
    }
    const bool pair = asked.option("corrupt") || asked.second;
    const bool said = pair ? asked.option("clean") != nullptr
                           : asked.option("sample") || core::hasOwnInput(asked);
    if ((asked.sample && !said) || (asked.second && !asked.option("corrupt"))) return std::nullopt;
    if (const auto* analysis = core::analysisOfCommand(asked.command)) {
        if (!sayCell(*analysis, asked, view)) return std::nullopt;
        // The result belongs to no single step.
        if (analysis->input == AnalysisInput::KeptSteps) view.subjects[0].checkpoint.clear();
    }
    view.printed = !core::isView(asked.command);
    return view;
}

}  // namespace relascope::app
