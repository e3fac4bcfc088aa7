// SPDX-License-Identifier: GPL-3.0-or-later
// figure: the figures that have a name (wire/named_figures.h).
#include <CLI/CLI.hpp>
#include <iostream>

#include "app/cli/commands.h"
#include "app/cli/drawing.h"
#include "study/study.h"
#include "types/error.h"
#include "wire/named_figures.h"

namespace relascope::cli {
namespace {

using Of = wire::NamedFigure::Of;

int listFigures() {
    for (const auto& figure : wire::namedFigures())
        std::cout << figure.name << std::string(30 - figure.name.size(), ' ') << figure.title
                  << ", of " << figure.takes << "\n";
    return 0;
}

int drawFigure(const std::string& name, const std::string& path, const std::string& out,
               std::vector<std::string> more, bool paper) {
    if (name.empty()) return listFigures();
    const auto& figure = wire::namedFigure(name);
    if (!isPicture(out))
        throw OptionError("--out", out.empty() ? "is missing: a .png, .svg or .pdf file"
                                               : "'" + out + "' must end in .png, .svg or .pdf");
    if (path.empty() != (figure.of == Of::Nothing))
        throw OptionError("path", path.empty() ? "is missing: " + name + " is of " + figure.takes
                                               : name + " is of nothing; leave out " + path);
    if (figure.of == Of::Study)
        if (const auto preset = core::readStudy(path).plan.preset;
            !preset.starts_with(figure.preset))
            throw OptionError(
                "path", path + " is a study of " + preset + "; " + name + " is of " + figure.takes);
    figureOrigin().command.clear();  // that of the command which draws it
    if (paper) more.emplace_back("--paper");
    auto words = wire::wordsOf(figure, path, out, more);
    words.insert(words.begin(), "relascope-cli");
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
