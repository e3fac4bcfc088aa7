// SPDX-License-Identifier: GPL-3.0-or-later
// figure: the figures that have a name (views/papers_figures.h).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

#include "app/cli/commands.h"
#include "app/cli/drawing.h"
#include "app/cli/question_arguments.h"
#include "question/question_fields.h"
#include "question/question_words.h"
#include "study/study.h"
#include "types/error.h"
#include "views/papers_figures.h"

namespace relascope::cli {
namespace {

int listFigures() {
    for (const auto& figure : core::papersFigures())
        std::cout << figure.name << std::string(30 - figure.name.size(), ' ') << figure.title
                  << ", of " << figure.of << "\n";
    return 0;
}

int drawFigure(const std::string& name, const std::string& path, const std::string& out,
               std::vector<std::string> more, bool paper) {
    if (name.empty()) return listFigures();
    const auto& figure = core::papersFigure(name);
    auto view = figure.view;
    if (!isPicture(out))
        throw OptionError("--out", out.empty() ? "is missing: a .png, .svg or .pdf file"
                                               : "'" + out + "' must end in .png, .svg or .pdf");
    if (path.empty() != (view.command == core::kDataView))
        throw OptionError("path", path.empty() ? "is missing: " + name + " is of " + figure.of
                                               : name + " is of nothing; leave out " + path);
    if (view.command == core::kStudyView)
        if (const auto preset = core::readStudy(path).plan.preset;
            !preset.starts_with(figure.preset))
            throw OptionError(
                "path", path + " is a study of " + preset + "; " + name + " is of " + figure.of);
    figureOrigin().command.clear();  // the line is that of the command that draws it
    if (!path.empty()) view.subjects[0].path = path;
    // Options that are given replace the figure's.
    const auto given = [&](const std::string& option) {
        return std::any_of(more.begin(), more.end(), [&](const std::string& word) {
            return word.substr(0, word.find('=')) == option;
        });
    };
    std::erase_if(view.options, [&](const Option& one) { return given(optionName(one.name)); });
    if (given("--other-checkpoint")) view.subjects.back().checkpoint.clear();
    view.paper = paper;
    auto words = core::wordsOf(view);
    words.insert(words.begin(), "relascope-cli");
    words.insert(words.end(), {core::outOption(view), out});
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> pointers;
    for (auto& word : words) pointers.push_back(word.data());
    return runCommandLine(static_cast<int>(pointers.size()), pointers.data());
}

}  // namespace

Command figureCommand() {
    Command command{"figure", "draws a figure that has a name; without one, lists them", {}};
    command.paper = true;
    command.declare = [](CLI::App& app) -> std::function<int(const Call&)> {
        const auto name = std::make_shared<std::string>(), path = std::make_shared<std::string>(),
                   out = std::make_shared<std::string>();
        app.add_option("name", *name, "name of the figure");
        app.add_option("path", *path, "run folder, checkpoint or study");
        app.add_option("--out", *out, ".png, .svg or .pdf");
        app.allow_extras();
        app.footer(
            "Further options are those of the command that draws it, and replace what the "
            "figure has: --sample 3, --source 8.");
        return [&app, name, path, out](const Call& call) {
            return drawFigure(*name, *path, *out, app.remaining(), call.paper);
        };
    };
    return command;
}

}  // namespace relascope::cli
