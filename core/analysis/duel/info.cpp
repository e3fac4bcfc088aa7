// SPDX-License-Identifier: GPL-3.0-or-later
// What a duel may be asked for, and the sentences of its result.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <tuple>

#include "analysis/duel/duel.h"
#include "analysis/pairs/claims.h"
#include "answers/answer_text.h"
#include "answers/layout.h"
#include "types/metric.h"
#include "types/text_format.h"

namespace relascope::core {

const FieldTable<DuelOptions>& duelFields() {
    static const FieldTable<DuelOptions> table = [] {
        using O = DuelOptions;
        FieldTable<O> all = {
            fields::integer(&O::examples, "examples", "Examples",
                            "number of examples, at most; of text a fifth as many windows", 2,
                            1000000),
            fields::texts(&O::what, "what", "Maps", "which maps are matched",
                          {"relations", "heads"}),
            fields::integer(&O::tokens, "tokens", "Tokens", "of text: tokens of a window, at most",
                            4, 1000000),
            fields::integer(&O::untrained, "untrained", "Untrained pairs",
                            "pairs of models with fresh weights that are matched beside them; with "
                            "fewer than four nothing is called better than chance",
                            0, 64),
            fields::integer(&O::show, "show", "Differences",
                            "how many answers of each kind are listed", 0, 200)};
        all[1].spec.choiceTitles = {"Relations", "Attention"};
        all[1].spec.choiceHelp = {"Every relation r\u1D62\u2C7C", "The attention of every head"};
        return all;
    }();
    return table;
}

std::vector<double> untrainedLevels(const Duel& duel, const Duel::Match& match) {
    if (match.a.empty()) return match.untrained;
    std::vector<double> levels(match.untrained.size(), 0.0);
    for (const auto& other : duel.matches) {
        if (other.heads != match.heads || other.a.empty()) continue;
        for (std::size_t k = 0; k < std::min(levels.size(), other.untrained.size()); ++k)
            if (other.untrained[k] > levels[k]) levels[k] = other.untrained[k];
    }
    return levels;
}

// Text
// -------------------------------------------------------------------------------------------------

namespace {

double largestOf(const std::vector<double>& values) {
    double most = std::numeric_limits<double>::quiet_NaN();
    for (const double one : values)
        if (!(most >= one)) most = one;
    return most;
}

bool isWhole(const Duel::Match& match) {
    return match.a.empty();
}

std::string layersText(const Duel::Match& match) {
    return isWhole(match) ? "all layers" : match.a + " of A with " + match.b + " of B";
}

std::string pText(double p) {
    return p < 1e-4 ? "below 0.0001" : numberText("%.4f", p);
}

std::string chanceText(const Duel& duel, const Duel::Match& match) {
    return match.untrained.empty() ? std::string("untrained models were not compared")
                                   : numberText("untrained models at most %.2f",
                                                largestOf(untrainedLevels(duel, match)));
}

/// The words for a value that is not clearly beyond the values of untrained models.
std::string notBeyond(double value, const std::vector<double>& untrained) {
    return value > largestOf(untrained) ? "little better than chance" : "no better than chance";
}

/// What keeps "better than chance" from being said at all.
std::string tooFewPairs(const Duel& duel) {
    return duel.untrained < static_cast<std::int64_t>(kFewestUntrained)
               ? "; whether that is more than chance takes " + std::to_string(kFewestUntrained) +
                     " untrained pairs or more"
               : std::string();
}

/// The end of a sentence that compares a number with those of untrained models.
std::string besideChance(const Duel& duel, double value, const std::vector<double>& untrained) {
    const auto few = tooFewPairs(duel);
    if (!few.empty()) return few;
    return beyondUntrained(value, untrained) ? "" : ": " + notBeyond(value, untrained);
}

std::string answersSentence(const Duel& duel) {
    if (duel.divergence.empty() || duel.answers == 0)
        return "Their answers are not of the same kind and are not compared.";
    if (duel.bothRight + duel.onlyA + duel.onlyB + duel.bothWrong == 0)
        return "Their answers differ by " + shortestText(duel.meanDivergence) + " (" +
               duel.divergence + ").";
    auto text = "Of " + groupedNumber(duel.answers) + " answers both have " +
                groupedNumber(duel.bothRight) + " right, A alone " + groupedNumber(duel.onlyA) +
                ", B alone " + groupedNumber(duel.onlyB);
    if (duel.onlyA + duel.onlyB == 0) return text + ": they are right in the same answers.";
    // Texts of different tokenizers have no accuracy in common: the loss decides.
    const auto* change = &duel.changes.front();
    for (const auto& one : duel.changes)
        if (metricInfo(one.metric).isFraction()) change = &one;
    const MetricWords words(change->metric);
    const auto gain = words.gained(*change);
    text += "; " + words.name() + " of B minus A is " + words.number(change->change) +
            words.points() + " " + words.interval(change->low, change->high);
    // Where there is a p, the interval is the inversion of its test: they never disagree.
    if (std::isfinite(duel.mcnemar)) text += ", McNemar's exact p is " + pText(duel.mcnemar);
    const bool apart = gain.low > 0.0 || gain.high < 0.0;
    return text + (!apart           ? ": the difference may be chance."
                   : gain.low > 0.0 ? ": B is better."
                                    : ": A is better.");
}

void addMatches(const Duel& duel, bool heads, std::vector<std::string>& sentences) {
    const Duel::Match *whole = nullptr, *best = nullptr;
    std::vector<const Duel::Match*> better;
    for (const auto& match : duel.matches) {
        if (match.heads != heads) continue;
        if (isWhole(match)) {
            whole = &match;
            continue;
        }
        if (!best || match.matched > best->matched) best = &match;
        if (match.better) better.push_back(&match);
    }
    if (!whole || !best) return;
    const std::string what = heads ? "Attention maps" : "Relations";
    if (better.empty() && !whole->better) {
        const auto few = tooFewPairs(duel);
        sentences.push_back(
            what + " match " +
            (few.empty() ? notBeyond(best->matched, untrainedLevels(duel, *best)) + ": at best "
                         : "best in ") +
            layersText(*best) + numberText(", |correlation| %.2f; ", best->matched) +
            chanceText(duel, *best) + few + ".");
        return;
    }
    std::sort(better.begin(), better.end(),
              [](const auto* a, const auto* b) { return a->matched > b->matched; });
    if (better.empty()) better.push_back(whole);
    auto text = what + " match better than chance in ";
    for (std::size_t k = 0; k < std::min<std::size_t>(3, better.size()); ++k)
        text += (k > 0 ? ", " : "") + layersText(*better[k]) +
                numberText(" (|correlation| %.2f; ", better[k]->matched) +
                chanceText(duel, *better[k]) + ")";
    if (better.size() > 3) text += " and " + std::to_string(better.size() - 3) + " more";
    sentences.push_back(text + ".");
}

/// The largest value of each untrained pair, as the value of A and B is the largest of many.
std::vector<double> largestOfEach(std::size_t pairs, const std::function<double(std::size_t)>& of,
                                  std::size_t values) {
    std::vector<double> largest(pairs, -std::numeric_limits<double>::infinity());
    for (std::size_t pair = 0; pair < pairs; ++pair)
        for (std::size_t k = 0; k < values; ++k)
            largest[pair] = std::max(largest[pair], of(pair * values + k));
    return largest;
}

void addExplained(const Duel& duel, std::vector<std::string>& sentences) {
    std::vector<const Duel::Match*> all;
    for (const auto& match : duel.matches)
        if (!match.heads && std::isfinite(match.explained)) all.push_back(&match);
    if (all.empty()) return;
    const auto* best = *std::max_element(all.begin(), all.end(), [](const auto* a, const auto* b) {
        return a->explained < b->explained;
    });
    auto text = "A linear map of B's relations explains " +
                numberText("%.0f %% of A's", 100.0 * std::max(0.0, best->explained)) +
                " at best (" + layersText(*best) + ", held-out R^2)";
    const auto chance = largestOfEach(
        best->untrainedExplained.size(),
        [&](std::size_t at) {
            return all[at % all.size()]->untrainedExplained.at(at / all.size());
        },
        all.size());
    if (!chance.empty())
        text += numberText(", of untrained models at most %.0f %%",
                           100.0 * std::max(0.0, largestOf(chance)));
    sentences.push_back(text + besideChance(duel, best->explained, chance) + ".");
}

void addStreams(const Duel& duel, std::vector<std::string>& sentences) {
    if (duel.cka.empty()) return;
    std::size_t best = 0;
    for (std::size_t k = 0; k < duel.cka.size(); ++k)
        if (!(duel.cka[best] >= duel.cka[k])) best = k;
    const auto columns = duel.b.streams.size();
    auto text = "Streams are most alike after " + duel.a.streams[best / columns] + " of A and " +
                duel.b.streams[best % columns] + " of B: linear CKA " +
                numberText("%.2f", duel.cka[best]);
    const auto chance = largestOfEach(
        duel.untrainedCkas.size() / duel.cka.size(),
        [&](std::size_t at) { return duel.untrainedCkas[at]; }, duel.cka.size());
    if (!chance.empty())
        text += numberText(", of untrained models at most %.2f", largestOf(chance));
    sentences.push_back(text + besideChance(duel, duel.cka[best], chance) + ".");
}

/// Which of the two prefers the good sentences, and in which phenomena, corrected over all of them.
/// A phenomenon counts if at least one of the two prefers its good sentences beyond chance.
void addPairs(const Duel& duel, std::vector<std::string>& sentences) {
    if (duel.pairs.empty() || !enoughToSay(duel.pairs.front().pairs, false)) return;
    const MetricWords words("pair_accuracy");
    const auto points = [&](const PairedChange& change) {
        return (change.change > 0.0 ? "+" : "") + words.number(change.change) + " points " +
               words.interval(change.low, change.high);
    };
    const auto side = [&](double accuracy, double untrained) {
        return words.number(accuracy) + " %" +
               (std::isfinite(untrained) ? " (untrained at most " + words.number(untrained) + " %)"
                                         : std::string());
    };
    const auto& all = duel.pairs.front();
    auto text = "Of " + groupedNumber(all.pairs) + " minimal pairs, which differ in " +
                groupedNumber(all.words) + " sets of words, A finds " +
                side(all.accuracy.base, all.untrainedA) + " right and B " +
                side(all.accuracy.edited, all.untrainedB) + ": " + points(all.accuracy);
    const auto differs = [](const Duel::PairChange& one) {
        return one.accuracy.low > 0.0 || one.accuracy.high < 0.0;
    };
    if (!differs(all)) text += "; these pairs do not tell them apart";
    if (!all.prefersA || !all.prefersB)
        text += std::string("; ") +
                (all.prefersA   ? "B is not"
                 : all.prefersB ? "A is not"
                                : "neither is") +
                " shown to prefer the good sentences beyond chance";
    std::vector<double> p;
    for (std::size_t k = 1; k < duel.pairs.size(); ++k) {
        const auto& one = duel.pairs[k];
        auto turned = one.accuracy;
        turned.change = -turned.change;
        std::tie(turned.low, turned.high) = std::pair(-turned.high, -turned.low);
        const bool asked = enoughToSay(one.pairs, false) && (one.prefersA || one.prefersB);
        p.push_back(asked ? 2.0 * std::min(pAbove(one.accuracy, 0.0), pAbove(turned, 0.0))
                          : std::numeric_limits<double>::quiet_NaN());
    }
    const auto apart = holm(p, 0.05);
    std::string named;
    for (std::size_t k = 0; k < apart.size(); ++k)
        if (const auto& one = duel.pairs[k + 1]; apart[k] && differs(one))
            named += (named.empty() ? "" : "; ") + one.phenomenon + " " + points(one.accuracy);
    sentences.push_back(text + ".");
    if (!named.empty())
        sentences.push_back("From A to B the pair accuracy changes, corrected over " +
                            std::to_string(p.size()) + " phenomena, in " + named + ".");
}

// In the window
// -------------------------------------------------------------------------------------------------

/// Layers of A down and of B across, 0 to 1; framed: better than chance. `maps`: of the rows with
/// that word alone.
GridPanel matrixOf(const Table& table, const std::string& values, const std::string& title,
                   const std::string& maps = {}) {
    const auto &a = table.texts("a"), &b = table.texts("b");
    const auto &numbers = table.numbers(values), &better = table.numbers("better_than_chance");
    GridPanel panel{title};
    std::map<std::pair<int, int>, GridCell> cells;
    const auto place = [](std::vector<std::string>& names, const std::string& name) {
        const auto at = std::find(names.begin(), names.end(), name) - names.begin();
        if (at == std::ssize(names)) names.push_back(name);
        return static_cast<int>(at);
    };
    for (std::size_t k = 0; k < a.size(); ++k) {
        if (a[k] == "all layers" || (!maps.empty() && table.texts("maps")[k] != maps)) continue;
        const int row = place(panel.rows, a[k]);
        const int column = place(panel.columns, b[k].substr(b[k].rfind(' ') + 1));
        cells[{row, column}] = {
            .value = numbers[k], .text = shownDecimals(numbers[k], 2), .framed = better[k] != 0.0};
    }
    panel.cell = [cells](int row, int column) {
        const auto at = cells.find({row, column});
        return at == cells.end() ? GridCell{.present = false} : at->second;
    };
    return panel;
}

std::vector<GridPanel> matricesOf(const Seen& seen) {
    const auto &matching = seen.answer.table("matching"), &streams = seen.answer.table("streams");
    std::vector<GridPanel> panels = {
        matrixOf(matching, "correlation", "Relations, |correlation| matched", "relations"),
        matrixOf(matching, "correlation", "Attention, |correlation| matched", "attention"),
        matrixOf(streams, "linear_cka", "Streams, linear CKA")};
    std::erase_if(panels, [](const GridPanel& panel) { return panel.rows.empty(); });
    return panels;
}

std::vector<Table> duelTables(const Seen& seen) {
    std::vector<Table> tables;
    for (const auto& [key, title] : {std::pair{"differences", "Answers"},
                                     {"matching", "Layers"},
                                     {"partners", "Maps"},
                                     {"streams", "Streams"}}) {
        tables.push_back(seen.answer.table(key));
        tables.back().title = title;
    }
    return tables;
}

std::string duelAbout(const Seen& seen) {
    const auto& answer = seen.answer;
    const auto pairs = indexOf(answer.number("untrained_pairs"));
    return groupedNumber(indexOf(answer.number("examples"))) + " " + answer.text("noun") + " of " +
           answer.text("data") +
           (pairs > 0 ? "; beside " + std::to_string(pairs) + " pairs of untrained models" : "");
}

Layout duelLayout() {
    const auto says = [](const Seen& seen) {
        std::vector<Layout::Line> lines;
        for (const auto& text : seen.answer.table("says").texts("text")) lines.push_back({text});
        return lines;
    };
    Layout::Grid layers{"Layers of A and B", matricesOf};
    layers.style = {.leastCell = 14, .mostCell = 44, .numbersFrom = 28, .beside = true};
    layers.tint = Layout::Tint::Alike;
    layers.widest = 1000;
    layers.below = "Layers of A down, of B across; framed: better than chance.";
    Layout::Tables tables{"Table of the duel", duelTables};
    tables.inset = 8;
    tables.inFigure = [](const Table& table) {
        return table.key == "differences" && table.rows() > 0;
    };
    Layout layout{duelAbout,
                  {{Layout::List{"What the duel shows", says}, 2},
                   {layers, 0, Layout::Place::Figure},
                   {tables, 3}}};
    layout.heads = [](const Seen& seen) {
        return std::vector<Layout::Heading>{{.text = "A: " + seen.answer.text("a")},
                                            {.text = "B: " + seen.answer.text("b")},
                                            {Layout::Heading::Note, duelAbout(seen)}};
    };
    layout.split = Layout::Across;
    return layout;
}

}  // namespace

std::vector<std::string> duelSentences(const Duel& duel) {
    std::vector<std::string> sentences;
    addPairs(duel, sentences);
    if (duel.same) sentences.emplace_back("A and B have the same weights and edits.");
    if (!duel.whyNot.empty()) sentences.push_back(duel.whyNot + " Maps are not compared.");
    if (!enoughToSay(duel.examples, duel.text)) {
        auto few = tooFewText(duel.examples, duel.text, duel.noun);
        sentences.push_back(few + ".");
        return sentences;
    }
    sentences.insert(sentences.end() - (duel.whyNot.empty() ? 0 : 1), answersSentence(duel));
    addMatches(duel, false, sentences);
    addMatches(duel, true, sentences);
    addExplained(duel, sentences);
    addStreams(duel, sentences);
    return sentences;
}

const RegisterAnalysis kDuel([] {
    Analysis a;
    a.name = "duel";
    a.place = 80;
    a.title = "Duel";
    a.summary = "compares two models on the same examples: maps, streams and answers";
    a.purpose =
        "A duel runs A and B on the same examples: which of their maps are alike, and where "
        "their answers differ. Small models take about a minute, large ones many.";
    a.progressText = "Comparing the two";
    a.layout = duelLayout;
    a.page = AnalysisPage::Duel;
    a.input = AnalysisInput::Data;
    a.twoModels = a.onDemand = a.continues = a.readsPairs = true;
    a.formerOptions = {"graft", "graft_examples", "across", "part"};
    return answering(a, duelFields(), OfferedIn::Row);
});

}  // namespace relascope::core
