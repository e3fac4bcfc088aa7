// SPDX-License-Identifier: GPL-3.0-or-later
// One command for each of tableCommands(), made from its description.
#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/cli/commands.h"
#include "app/cli/drawing.h"
#include "app/cli/question_arguments.h"
#include "files/atomic_file.h"
#include "question/table_command.h"

namespace relascope::cli {
namespace {

// Names of files may be any bytes.
std::string jsonText(const nlohmann::ordered_json& json) {
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void writeTables(const core::Analysis& described, const Answer& answer, const Question& asked,
                 const std::string& out, bool paper) {
    if (isPicture(out))
        draw(out,
             wire::AnalysisFigure{described.name, answer, folderName(asked.subjects.front().path)},
             paper);
    else if (out.ends_with(".csv"))
        writeCsv(out, answer);
    else
        core::writeTextFile(out, out.ends_with(".tex") ? described.latex(answer)
                                                       : jsonText(described.json(answer)));
}

}  // namespace

Command tableCommand(const core::TableCommand& command) {
    const auto& described = command.described;
    Command made{described.name, described.summary, {}, Needs::Nothing, true, true};
    made.declare = [&command](CLI::App& app) -> std::function<int(const Call&)> {
        const auto asked = std::make_shared<Question>();
        const auto out = std::make_shared<std::string>();
        declareQuestion(app, command.described.name, *asked, nullptr);
        app.add_option("--out", *out, ".csv, .tex, .json, .png, .svg or .pdf");
        return [&command, asked, out](const Call& call) {
            const auto& forms = command.described;
            if (!out->empty()) endingOf(*out, {".csv", ".tex", ".json"});
            requireDrawing(*out);
            const auto answer = command.answer(*asked);
            if (!out->empty()) {
                writeTables(forms, answer, *asked, *out, call.paper);
                std::cerr << "wrote " << *out << "\n";
            }
            if (call.json)
                std::cout << jsonText(forms.json(answer));
            else if (out->empty())
                std::cout << forms.terminal(answer);
            return 0;
        };
    };
    return made;
}

}  // namespace relascope::cli
