// SPDX-License-Identifier: GPL-3.0-or-later
// draw: draws a view file again. (`relascope draw FILE` of another ending is what draws the figures
// of commands: drawing.h.)
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>

#include "app/cli/commands.h"
#include "app/cli/drawing.h"
#include "question/question_fields.h"
#include "question/question_words.h"
#include "types/error.h"
#include "types/text_piece.h"
#include "views/view_file.h"

namespace relascope::cli {
namespace {

struct DrawArguments {
    std::string file, out, path;
    bool anyWeights = false, compute = false, paper = false;
};

wire::Figure figureBeside(const View& view, const std::string& file) {
    const auto bytes = core::readViewData(view, file);
    wire::FrameReader reader;
    reader.append({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
    try {
        const auto frame = reader.next();
        if (!frame) throw wire::FrameError("it is cut");
        return wire::figureFromFrame(*frame);
    } catch (const wire::FrameError& error) {
        throw FileError(file, std::string("its data cannot be read: ") + error.what());
    }
}

/// Draws what was saved with the view: neither weights nor data are needed.
void drawBeside(const View& view, const DrawArguments& a) {
    requireDrawing(a.out);
    const auto figure = figureBeside(view, a.file);
    const auto* answer = std::get_if<wire::AnalysisFigure>(&figure);
    if (answer && a.out.ends_with(".csv"))
        writeCsv(a.out, answer->result);
    else
        draw(a.out, figure, view.paper || a.paper);
    std::cerr << "wrote " << plainName(a.out) << ", from the data beside " << plainName(a.file)
              << "\n";
}

int drawView(const DrawArguments& a, const Call&) {
    if (!core::isViewFile(a.file))
        throw OptionError("file", "'" + a.file + "' must end in .relaview");
    endingOf(a.out, {".csv"});
    auto view = core::readViewFile(a.file);
    if (view.command == "study" && !isPicture(a.out))
        throw OptionError("--out", "'" + a.out + "' must end in .png, .svg or .pdf for a study");
    // What the picture says of itself is what the view was saved of, wherever that lies now.
    auto& origin = figureOrigin();
    origin.command = core::commandOf(view);
    origin.view = std::filesystem::path(a.file).filename().string();
    if (view.dpi > 0) origin.dpi = view.dpi;
    origin.dark = origin.dark || view.dark;
    // Who names other weights does not ask for what was saved.
    const bool computed = a.compute || !a.path.empty() || a.anyWeights;
    if (!view.data.empty() && !computed) return drawBeside(view, a), 0;
    if (!a.path.empty()) view.subjects[0].path = a.path, view.subjects[0].hub.clear();
    core::findSubjects(view, a.anyWeights);
    // A table has all columns, whichever one the picture shows.
    if (!isPicture(a.out))
        std::erase_if(view.options, [&](const Option& option) {
            return view.command == core::kInspectView && option.name == "to";
        });
    auto words = core::wordsOf(view);
    words.insert(words.end(), {core::outOption(view), a.out});
    if (a.paper && !view.paper) words.emplace_back("--paper");
    return runOtherCommand(std::move(words));
}

void drawOptions(CLI::App& command, DrawArguments& a) {
    command.add_option("file", a.file, "a view, name.relaview")->required();
    command.add_option("--out", a.out, ".png, .svg, .pdf or .csv")->required();
    command.add_option(
        "--path", a.path,
        "the run or checkpoint, where it lies elsewhere now; computes the view of it");
    command.add_flag("--any-weights", a.anyWeights,
                     "compute it of weights and files that are others than those of the view");
    command.add_flag("--compute", a.compute, "compute it anew where its data were saved, too");
}

}  // namespace

Command drawCommand() {
    return commandOf("draw", "draws a view that was saved in the window", drawOptions, drawView);
}

}  // namespace relascope::cli
