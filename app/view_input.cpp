// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view_input.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "analysis/analysis.h"
#include "question/question_fields.h"
#include "run/run_folder.h"
#include "run/run_lines.h"

namespace relascope::app {

ChosenInput chosenInput(const View& view) {
    using Kind = InputRequest::Kind;
    ChosenInput input;
    InputRequest own;
    // The split that data are measured on is no input of the inspector, and may not be there.
    const auto* analysis = core::analysisOfCommand(view.command);
    const bool ofData = analysis && analysis->input == core::AnalysisInput::Data;
    const auto* split = ofData ? nullptr : optionOf<std::string>(view, "split");
    input.split = QString::fromStdString(split ? *split : "validation");
    if (const auto* sample = optionOf<std::int64_t>(view, "sample")) input.sample = *sample;
    if (const auto* text = optionOf<std::string>(view, "text"))
        own.kind = Kind::Text, own.text = QString::fromStdString(*text), input.own = own;
    if (const auto* image = optionOf<std::string>(view, "image"))
        own.kind = Kind::Picture, own.picture = QString::fromStdString(*image), input.own = own;
    if (const auto* number = optionOf<std::int64_t>(view, "reference"))
        own.kind = Kind::Reference, own.reference = static_cast<int>(*number) - 1, input.own = own;
    if (const auto* seed = optionOf<std::int64_t>(view, "random"))
        own.kind = Kind::Random, own.seed = static_cast<quint64>(*seed), input.own = own;
    if (const auto* tokens = optionOf<std::vector<std::int64_t>>(view, "tokens")) {
        own.kind = Kind::Tokens;
        own.source.assign(tokens->begin(), tokens->end());
        if (const auto* target = optionOf<std::vector<std::int64_t>>(view, "target"))
            own.target.assign(target->begin(), target->end());
        input.own = own;
    }
    const auto* clean = optionOf<std::string>(view, "clean");
    const QString word = clean ? QString::fromStdString(*clean) : QString();
    const QString value = word.section(u':', 1);
    if (word.startsWith(QLatin1String("sample:"))) input.sample = value.toLongLong();
    if (word.startsWith(QLatin1String("text:")))
        own.kind = Kind::Text, own.text = value, input.own = own;
    if (word.startsWith(QLatin1String("image:")))
        own.kind = Kind::Picture, own.picture = value, input.own = own;
    if (word.startsWith(QLatin1String("reference:")))
        own.kind = Kind::Reference, own.reference = value.toInt() - 1, input.own = own;
    if (word.startsWith(QLatin1String("random:")))
        own.kind = Kind::Random, own.seed = value.toULongLong(), input.own = own;
    if (word.startsWith(QLatin1String("tokens:"))) {
        own.kind = Kind::Tokens;
        for (const auto& one : value.split(u',')) own.source.push_back(one.toLongLong());
        input.own = own;
    }
    return input;
}

bool isSameInput(const InputRequest& asked, const InputRequest& wanted) {
    if (asked.kind != wanted.kind) return false;
    switch (asked.kind) {
        case InputRequest::Kind::Reference:
            return asked.reference == wanted.reference;
        case InputRequest::Kind::Random:
            return asked.seed == wanted.seed;
        case InputRequest::Kind::Tokens:
            return asked.source == wanted.source && asked.target == wanted.target;
        case InputRequest::Kind::Picture:
            return asked.picture == wanted.picture;
        case InputRequest::Kind::Text:
            return asked.text == wanted.text;
    }
    return false;
}

std::string unshown(const View& view) {
    if (auto why = core::unreadByWindow(view); !why.empty()) return why;
    const auto& first = view.subjects[0];
    const bool run = core::isRunFolder(first.path);
    const bool example =
        view.option("sample") || (optionOf<std::string>(view, "clean") && !chosenInput(view).own);
    if (!run && example) return first.path + " is a checkpoint, which has no examples of its own";
    for (const auto& subject : view.subjects)
        if (std::find(subject.edits.begin(), subject.edits.end(), "none") != subject.edits.end() &&
            core::isRunFolder(subject.path) &&
            core::editsAfterStep(subject.path, std::numeric_limits<std::int64_t>::max())
                .anyEnabled())
            return "the window always shows " + subject.path + " with the edits of its training";
    return {};
}

}  // namespace relascope::app
