// SPDX-License-Identifier: GPL-3.0-or-later
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>

#include "analysis/answer_names.h"
#include "app/cli/answers.h"
#include "app/cli/edit_arguments.h"
#include "files/atomic_file.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::cli {

AnsweredInput openAnswered(const LensArguments& a) {
    if (!a.out.empty()) endingOf(a.out, {".csv"});
    core::OpenedModel model(a.path, a.checkpoint, a.device);
    if (!model.warning().empty()) std::cerr << model.warning() << "\n";
    resolveTrainingEdits(a.edits, a.path, model);
    auto input = readSample(model, a.path, a);
    // Images and sets that are not from the data have classes all the same.
    const auto kind = model.options().input();
    if (input.classNames.empty() && (kind == InputKind::Images || kind == InputKind::Objects))
        input.classNames = classNamesOf(model, a.path);
    return {std::move(model), std::move(input)};
}

std::string cellText(const std::string& text, std::size_t width, bool right) {
    std::string shown;
    std::size_t count = 0;
    for (std::string_view rest = text; !rest.empty() && count < width; ++count) {
        const auto length = std::max<std::size_t>(1, utf8Length(rest));
        shown += rest.substr(0, length);
        rest.remove_prefix(length);
    }
    const std::string space(width - count, ' ');
    return right ? space + shown : shown + space;
}

std::string numberText(const char* format, double value) {
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

std::string barText(char mark, double share, int width) {
    const double length = share > 0 ? std::round(width * std::min(share, 1.0)) : 0.0;
    return std::string(static_cast<std::size_t>(length), mark);
}

std::string quoted(const std::string& name) {
    // Names from files must not contain control sequences.
    return "'" + pieceText(name).text + "'";
}

nlohmann::ordered_json answerJson(const LensAnswer& answer) {
    return {{"id", answer.id},
            {"name", answer.name},
            {"logit", answer.logit},
            {"probability", answer.probability}};
}

void printJson(const nlohmann::ordered_json& object) {
    std::cout << object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
              << "\n";
}

void writeResult(const core::AnalysisResult& result, const LensArguments& a, const Call& call,
                 const core::OpenedModel& model, const EditList& edits, const std::string& origin) {
    nameMeans(model, edits);
    if (a.out.empty()) return;
    if (isPicture(a.out))
        Drawing::draw(call.drawing.renderers.analysis,
                      AnalysisFigure{result, editedCaption(a.path, model, edits, origin), a.out});
    else
        core::writeTextFile(a.out, core::csvOf(result));
    std::cerr << "wrote " << a.out << "\n";
}

void answerOptions(CLI::App& command, LensArguments& a) {
    command.add_option("path", a.path, "run or checkpoint folder")->required();
    sampleOptions(command, a);
    command.add_option("--checkpoint", a.checkpoint, "checkpoint of a run: last, best, or a step");
    command.add_option("--out", a.out, ".csv, .png, .svg or .pdf");
    command.add_option("--device", a.device, "auto, cpu, cuda:0");
    command.add_option("--edit", a.edits, kEditHelp)->take_all();
}

}  // namespace relascope::cli
