// SPDX-License-Identifier: GPL-3.0-or-later
#include <torch/utils.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <ostream>
#include <sstream>

#include "analysis/answer_names.h"
#include "analysis/answer_stream.h"
#include "analysis/lens.h"
#include "analysis/open_model.h"
#include "interventions/editor.h"
#include "types/error.h"
#include "types/text_format.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

constexpr std::int64_t kScores = std::int64_t{1} << 24;  // computed at a time: 64 MiB

// The cells of some columns of a row, from their scores [columns, answers].
void addCells(LensResult& result, const torch::Tensor& given, const LensOptions& what,
              const torch::Tensor& own) {
    const auto scores = given.to(torch::kFloat);
    const auto logs = torch::log_softmax(scores, -1);
    const auto owned = own.unsqueeze(1);
    const auto host = [](const torch::Tensor& t) {
        return t.to(torch::kCPU, torch::kDouble).contiguous();
    };
    const auto best = torch::topk(scores, std::min(what.top, scores.size(1)), -1);
    const auto ids = std::get<1>(best).to(torch::kCPU).contiguous();
    const auto top = host(std::get<0>(best)), topLogs = host(logs.gather(1, std::get<1>(best)));
    torch::Tensor asked, askedLogs;
    if (!what.answers.empty()) {
        const auto places = torch::tensor(what.answers).to(scores.device());
        asked = host(scores.index_select(1, places));
        askedLogs = host(logs.index_select(1, places));
    }
    const auto entropy = host(-(logs.exp() * logs).sum(-1)), ownLogs = host(logs.gather(1, owned)),
               rank = host(scores.gt(scores.gather(1, owned)).sum(-1) + 1);
    for (std::int64_t c = 0; c < scores.size(0); ++c) {
        LensCell cell;
        for (std::int64_t k = 0; k < ids.size(1); ++k)
            cell.top.push_back({ids[c][k].item<std::int64_t>(),
                                {},
                                top[c][k].item<double>(),
                                std::exp(topLogs[c][k].item<double>())});
        for (std::size_t k = 0; k < what.answers.size(); ++k) {
            const auto at = static_cast<std::int64_t>(k);
            cell.asked.push_back({what.answers[k],
                                  {},
                                  asked[c][at].item<double>(),
                                  std::exp(askedLogs[c][at].item<double>())});
        }
        cell.probability = std::exp(ownLogs[c][0].item<double>());
        cell.rank = static_cast<std::int64_t>(rank[c].item<double>());
        cell.entropy = entropy[c].item<double>();
        result.cells.push_back(std::move(cell));
    }
}

}  // namespace

LensResult logitLens(ModelImpl& model, const ModelOptions& options, const ModelInput& input,
                     const LensOptions& what) {
    if (what.top < 1) throw OptionError("top", "must be at least 1");
    const torch::NoGradGuard noGrad;
    const auto stream = answerStream(model, options);
    PointReader reader(stream.points);
    auto scores = readPass(model, input, reader);
    if (scores.size(1) == 1) scores = torch::cat({torch::zeros_like(scores), scores}, 1);
    for (const auto id : what.answers) requireAnswer(id, scores.size(1), "answer");

    LensResult result;
    result.whole = stream.whole();
    std::int64_t first = 0, count = scores.size(0);
    if (what.position != LensOptions::kEvery) {
        if (result.whole)
            throw OptionError("position",
                              "this model gives one answer for the whole input; leave it out");
        first = positionIn(what.position, count), count = 1;
    }
    result.positions.resize(static_cast<std::size_t>(count));
    std::iota(result.positions.begin(), result.positions.end(), first);
    const auto last = scores.slice(0, first, first + count);
    const auto own = last.argmax(-1);
    for (std::int64_t c = 0; c < count; ++c) {
        LensAnswer answer;
        answer.id = own[c].item<std::int64_t>();
        answer.logit = last[c][answer.id].item<double>();
        answer.probability =
            torch::softmax(last[c].to(torch::kDouble), 0)[answer.id].item<double>();
        result.answers.push_back(answer);
    }
    const auto step = std::max<std::int64_t>(1, kScores / scores.size(1));
    for (std::size_t row = 0; row < stream.points.size(); ++row) {
        const auto found = reader.tensors().find(stream.points[row]);
        // Message passing has no stream of this width before its first layer.
        if (found == reader.tensors().end()) continue;
        result.rows.push_back(row == 0 ? stream.before : "layer " + std::to_string(row));
        const auto x = stream.pooled(found->second).slice(1, first, first + count);
        for (std::int64_t c = 0; c < count; c += step)
            addCells(result, stream.answer(x.slice(1, c, c + step))[0], what,
                     own.slice(0, c, c + step));
    }
    return result;
}

namespace {

/// The options as words.
struct LensChoice {
    std::int64_t top = LensOptions().top, position = LensOptions::kEvery;
    std::vector<std::string> answers;
};

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

LensResult runLens(AnalysisSubject& subject, const LensChoice& choice, const AnalysisWatch&) {
    const auto& sample = sampleOf(subject);
    LensOptions what;
    what.top = choice.top, what.position = choice.position;
    for (const auto& word : choice.answers)
        what.answers.push_back(subject.model->answerId(word, "answer", sample, subject.classNames));
    return subject.model->lens(sample, what, subject.classNames, subject.interventions);
}

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
        return analysisOf<LensChoice, LensResult>(a, lensFields(), OfferedIn::View, runLens, csvOf,
                                                  terminalText, jsonOf);
    }();
    return analysis;
}

}  // namespace relascope::core
