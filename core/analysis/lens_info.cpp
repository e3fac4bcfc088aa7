// SPDX-License-Identifier: GPL-3.0-or-later
// What the logit lens may be asked for, and its result as text.
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

#include "analysis/answer_names.h"
#include "analysis/lens.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::core {

const FieldTable<LensChoice>& lensFields() {
    using O = LensChoice;
    constexpr double all = 1e15;
    static const FieldTable<O> table = {
        fields::integer(&O::position, "position", "Position",
                        "that position alone, from 0; negative numbers count from the end", -all,
                        all),
        fields::integer(&O::top, "top", "Answers", "number of answers", 1, 1000),
        fields::texts(&O::answers, "answer", "Answer",
                      "also show the probability of this class, token or id; can be repeated")};
    return table;
}

namespace {

std::string csvOf(const LensResult& r) {
    std::ostringstream text;
    text.precision(9);
    text << "after,position,input,own_id,own,own_probability,own_rank,entropy,k,id,answer,logit,"
            "probability\n";
    for (std::size_t row = 0; row < r.rows.size(); ++row)
        for (std::size_t c = 0; c < r.columns(); ++c) {
            const auto& at = r.cell(row, c);
            const auto line = [&](const std::string& k, const LensAnswer& answer) {
                text << r.rows[row] << ',' << (r.whole ? "" : std::to_string(r.positions[c])) << ','
                     << (c < r.inputs.size() ? csvField(r.inputs[c]) : "") << ',' << r.answers[c].id
                     << ',' << csvField(r.answers[c].name) << ',' << at.probability << ','
                     << at.rank << ',' << at.entropy << ',' << k << ',' << answer.id << ','
                     << csvField(answer.name) << ',' << answer.logit << ',' << answer.probability
                     << "\n";
            };
            for (std::size_t k = 0; k < at.top.size(); ++k) line(std::to_string(k + 1), at.top[k]);
            for (const auto& answer : at.asked) line("asked", answer);
        }
    return text.str();
}

nlohmann::ordered_json jsonOf(const LensResult& r) {
    using Json = nlohmann::ordered_json;
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
    return {{"positions", r.whole ? Json() : Json(r.positions)},
            {"inputs", r.inputs},
            {"answers", list(r.answers)},
            {"layers", std::move(layers)}};
}

// Of models with one answer for the whole input there is no position.
std::string place(const LensResult& r, std::size_t column) {
    return r.whole ? "" : std::to_string(r.positions[column]);
}

std::string percent(double probability) {
    return numberText("%.1f%%", 100.0 * probability);
}

// One column: a line for each layer.
void addColumn(std::ostream& out, const LensResult& r, std::size_t c) {
    out << (r.whole ? "answer " : "position " + place(r, c) + ", ");
    if (c < r.inputs.size()) out << quoted(r.inputs[c]) << ", answer ";
    out << quoted(r.answers[c].name) << " " << percent(r.answers[c].probability) << "\n";
    out << cellText("after", 12) << cellText("entropy", 9, true) << cellText("own", 8, true)
        << cellText("rank", 7, true) << "  most likely\n";
    for (std::size_t row = 0; row < r.rows.size(); ++row) {
        const auto& at = r.cell(row, c);
        out << cellText(r.rows[row], 12) << cellText(numberText("%.3f", at.entropy), 9, true)
            << cellText(percent(at.probability), 8, true)
            << cellText(std::to_string(at.rank), 7, true) << " ";
        for (const auto& answer : at.top)
            out << " " << quoted(answer.name) << " " << percent(answer.probability);
        out << "\n";
    }
    // Bars of the answers that were asked for, 40 characters for a probability of 1.
    if (r.cells.empty()) return;
    for (std::size_t k = 0; k < r.cell(0, c).asked.size(); ++k) {
        out << quoted(r.cell(0, c).asked[k].name) << "\n";
        for (std::size_t row = 0; row < r.rows.size(); ++row) {
            const double p = r.cell(row, c).asked[k].probability;
            out << "  " << cellText(r.rows[row], 12) << cellText(percent(p), 7, true) << " "
                << barText('#', p, 40) << "\n";
        }
    }
}

// Many columns: a line for each position, with the most likely answer after each layer.
void addTable(std::ostream& out, const LensResult& r) {
    constexpr std::size_t wide = 15;
    out << cellText("", 5) << " " << cellText("input", wide);
    for (const auto& row : r.rows) out << cellText(row, wide);
    out << "\n";
    for (std::size_t c = 0; c < r.columns(); ++c) {
        const auto input = c < r.inputs.size() ? quoted(r.inputs[c]) : std::string();
        out << cellText(place(r, c), 5, true) << " " << cellText(input, wide);
        for (std::size_t row = 0; row < r.rows.size(); ++row) {
            const auto& best = r.cell(row, c).top.at(0);
            out << cellText(quoted(best.name), 8) << cellText(percent(best.probability), 6, true)
                << " ";
        }
        out << "\n";
    }
}

std::string terminalText(const LensResult& r) {
    std::ostringstream out;
    const bool asked = !r.cells.empty() && !r.cells.front().asked.empty();
    if (r.columns() == 1 || asked)
        for (std::size_t c = 0; c < r.columns(); ++c) addColumn(out, r, c);
    else
        addTable(out, r);
    return out.str();
}

}  // namespace

const Analysis& lensAnalysis() {
    static const Analysis analysis = [] {
        Analysis a;
        a.name = "lens";
        a.title = "Logit lens";
        a.summary = "shows what a model would answer after each layer (logit lens)";
        a.doing = "Reading the answers after each layer";
        return analysisOf<LensChoice, LensResult>(a, lensFields(), OfferedIn::View, csvOf,
                                                  terminalText, jsonOf);
    }();
    return analysis;
}

}  // namespace relascope::core
