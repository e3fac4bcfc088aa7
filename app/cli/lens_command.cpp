// SPDX-License-Identifier: GPL-3.0-or-later
// lens: the answers that a model would give after each layer.
#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/cli/answers.h"
#include "app/cli/commands.h"
#include "app/cli/edit_arguments.h"
#include "types/text_format.h"

namespace relascope::cli {
namespace {

using Json = nlohmann::ordered_json;

Json json(const LensResult& r, const AnsweredInput& opened, const EditList& edits) {
    const auto list = [](const std::vector<LensAnswer>& answers) {
        Json all = Json::array();
        for (const auto& answer : answers) all.push_back(answerJson(answer));
        return all;
    };
    Json layers = Json::array();
    for (std::size_t row = 0; row < r.rows.size(); ++row) {
        Json cells = Json::array();
        for (std::size_t c = 0; c < r.columns(); ++c) {
            const auto& at = r.cell(row, c);
            Json one = {{"top", list(at.top)},
                        {"probability", at.probability},
                        {"rank", at.rank},
                        {"entropy", at.entropy}};
            if (!at.asked.empty()) one["asked"] = list(at.asked);
            cells.push_back(std::move(one));
        }
        layers.push_back({{"after", r.rows[row]}, {"cells", std::move(cells)}});
    }
    Json all = {{"step", opened.model.step()},
                {"sample", opened.input.sample.origin},
                {"positions", r.whole ? Json() : Json(r.positions)},
                {"inputs", r.inputs},
                {"answers", list(r.answers)},
                {"layers", std::move(layers)}};
    addEdits(all, opened.model, edits);
    return all;
}

// Of models with one answer for the whole input there is no position.
std::string place(const LensResult& r, std::size_t column) {
    return r.whole ? "" : std::to_string(r.positions[column]);
}

std::string percent(double probability) {
    return numberText("%.1f%%", 100.0 * probability);
}

// One column: a line for each layer.
void printColumn(const LensResult& r, std::size_t c) {
    std::cout << (r.whole ? "answer " : "position " + place(r, c) + ", ");
    if (c < r.inputs.size()) std::cout << quoted(r.inputs[c]) << ", answer ";
    std::cout << quoted(r.answers[c].name) << " " << percent(r.answers[c].probability) << "\n";
    std::cout << cellText("after", 12) << cellText("entropy", 9, true) << cellText("own", 8, true)
              << cellText("rank", 7, true) << "  most likely\n";
    for (std::size_t row = 0; row < r.rows.size(); ++row) {
        const auto& at = r.cell(row, c);
        std::cout << cellText(r.rows[row], 12) << cellText(numberText("%.3f", at.entropy), 9, true)
                  << cellText(percent(at.probability), 8, true)
                  << cellText(std::to_string(at.rank), 7, true) << " ";
        for (const auto& answer : at.top)
            std::cout << " " << quoted(answer.name) << " " << percent(answer.probability);
        std::cout << "\n";
    }
    // Bars of the answers that were asked for, 40 characters for a probability of 1.
    if (r.cells.empty()) return;
    for (std::size_t k = 0; k < r.cell(0, c).asked.size(); ++k) {
        std::cout << quoted(r.cell(0, c).asked[k].name) << "\n";
        for (std::size_t row = 0; row < r.rows.size(); ++row) {
            const double p = r.cell(row, c).asked[k].probability;
            std::cout << "  " << cellText(r.rows[row], 12) << cellText(percent(p), 7, true) << " "
                      << barText('#', p, 40) << "\n";
        }
    }
}

// Many columns: a line for each position, with the most likely answer after each layer.
void printTable(const LensResult& r) {
    constexpr std::size_t wide = 15;
    std::cout << cellText("", 5) << " " << cellText("input", wide);
    for (const auto& row : r.rows) std::cout << cellText(row, wide);
    std::cout << "\n";
    for (std::size_t c = 0; c < r.columns(); ++c) {
        const auto input = c < r.inputs.size() ? quoted(r.inputs[c]) : std::string();
        std::cout << cellText(place(r, c), 5, true) << " " << cellText(input, wide);
        for (std::size_t row = 0; row < r.rows.size(); ++row) {
            const auto& best = r.cell(row, c).top.at(0);
            std::cout << cellText(quoted(best.name), 8)
                      << cellText(percent(best.probability), 6, true) << " ";
        }
        std::cout << "\n";
    }
}

int lens(const LensArguments& a, const Call& call) {
    if (call.drawing.elsewhere(a.out, call.drawing.renderers.analysis))
        return call.drawing.handOver();
    auto opened = openAnswered(a);
    const auto interventions = interventionsOf(a.edits, a.path, opened.model, opened.input.sample);
    LensOptions what;
    what.top = a.top;
    if (a.position) what.position = *a.position;
    for (const auto& word : a.answers) what.answers.push_back(opened.id(word, "--answer"));
    auto& model = opened.model;
    const auto result = withOptionNames([&] {
        return model.lens(opened.input.sample, what, opened.input.classNames, interventions);
    });
    writeResult(result, a, call, model, interventions.edits, opened.input.sample.origin);
    if (a.json)
        printJson(json(result, opened, interventions.edits));
    else if (a.out.empty() && (result.columns() == 1 || !what.answers.empty()))
        for (std::size_t c = 0; c < result.columns(); ++c) printColumn(result, c);
    else if (a.out.empty())
        printTable(result);
    return 0;
}

void lensOptions(CLI::App& command, LensArguments& a) {
    answerOptions(command, a);
    command.add_option("--position", a.position,
                       "that position alone, from 0; negative numbers count from the end");
    command.add_option("--top", a.top, "number of answers")->check(CLI::Range(1, 1000));
    command
        .add_option("--answer", a.answers,
                    "also show the probability of this class, token or id; can be repeated")
        ->take_all();
}

}  // namespace

Command lensCommand() {
    return commandOf("lens", "shows what a model would answer after each layer (logit lens)",
                     lensOptions, lens, Needs::Threads);
}

}  // namespace relascope::cli
