// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/origins/origins.h"

#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "analysis/open_model.h"
#include "analysis/parts/score_parts.h"
#include "analysis/run_analysis.h"
#include "answers/column_table.h"
#include "probe/layers.h"
#include "types/error.h"
#include "types/text_format.h"

namespace relascope::core {
namespace {

constexpr std::int64_t kMostOriginParts = 512;  // a side, for a matrix of all
// What the terms may leave of the recorded score, of the sum of their absolute values and of the
// lengths of the vectors that it is the product of.
constexpr double kOriginRest = 1e-5;

/// The strongest terms that raise the score, then those that lower it.
void addStrongest(Answer& answer, const torch::Tensor& terms, const GroupedParts& i,
                  const GroupedParts& j, std::int64_t top) {
    const auto flat = terms.flatten();
    const auto count = std::min(top, flat.size(0));
    for (const bool raises : {true, false}) {
        const auto [values, at] = flat.topk(count, 0, raises);
        for (std::int64_t k = 0; k < count; ++k) {
            const double value = values[k].item<double>();
            if (raises ? !(value > 0) : !(value < 0)) break;
            const auto place = at[k].item<std::int64_t>();
            addRow(answer, "pairs", i.names[static_cast<std::size_t>(place / terms.size(1))],
                   j.names[static_cast<std::size_t>(place % terms.size(1))], value);
        }
    }
}

ScoreCell cellOf(const OriginOptions& what, bool softmax) {
    using Against = ScoreCell::Against;
    ScoreCell cell;
    cell.i = what.source, cell.j = what.to;
    auto against = what.against;
    if (against.empty()) against = softmax ? "row" : "none";
    if (against == "none") return cell;
    if (against == "row") {
        cell.against = Against::Row;
        return cell;
    }
    std::istringstream numbers(against);
    char comma = 0;
    if (!(numbers >> cell.otherI >> comma >> cell.otherJ) || comma != ',' ||
        numbers.peek() != std::istringstream::traits_type::eof())
        throw OptionError("against", "'" + against + "' is not none, row or a cell such as 2,9");
    cell.against = Against::Cell;
    return cell;
}

/// The parts of a side in the order of the forward pass, each with the sum of its terms over the
/// parts of the other side; returns the sum of all.
double addParts(Answer& answer, const char* table, const SideParts& side,
                const torch::Tensor& sums) {
    const auto* value = sums.const_data_ptr<double>();
    double all = 0.0;
    for (const auto& part : side.parts) {
        addRow(answer, table, part.text(), partKindName(part.kind), columns::fromOne(part.layer),
               columns::fromOne(part.head), columns::fromOne(part.relation), part.where, part.stack,
               *value);
        all += *value++;
    }
    return all;
}

// The map that says how a head comes to a token: its attention, or where it sends one relation
// alone that relation.
MapLink attendedBy(const StreamPart& head, const std::vector<StreamPart>& parts) {
    const bool sensory = head.kind == PartKind::SensoryHead;
    const MapLink attention{sensory ? MapKind::SensoryAttention : MapKind::RelationalAttention,
                            head.layer, head.head};
    if (sensory || head.kind == PartKind::Symbols) return attention;
    std::vector<int> relations;
    for (const auto& part : parts)
        if (part.kind == PartKind::Relation && part.layer == head.layer && part.head == head.head)
            relations.push_back(part.relation);
    if (head.kind == PartKind::Relation) relations = {head.relation};
    return relations.size() == 1 ? MapLink{MapKind::Relation, head.layer, relations.front()}
                                 : attention;
}

}  // namespace

Answer originsOf(ModelImpl& model, const ModelOptions& options, const ModelInput& input,
                 const OriginOptions& what, bool edited, const std::vector<std::string>& features,
                 const std::function<std::string(std::int64_t)>& named) {
    const torch::NoGradGuard noGrad;
    const ModelStreams streams(model, options, features);
    const auto parts = scorePartsOf(streams, what.relation, [&] {
        return scoreMap(streams, what.stack, static_cast<int>(what.layer) - 1, what.kind,
                        static_cast<int>(what.index) - 1);
    });
    const auto cell = cellOf(what, parts.softmax());
    const auto& own = streams.stacks()[static_cast<std::size_t>(parts.map().stack)].name;
    StreamPart split;
    if (!what.tokens.empty()) split = partNamed(streams, what.tokens, own, "tokens_of");
    const auto terms =
        scoreTerms(parts, model, input, cell, edited, what.tokens.empty() ? nullptr : &split);
    auto answer = originTables();
    const auto set = [&](const char* fact, const auto& value) { setFact(answer, fact, value); };
    const auto text = [&](std::int64_t at) { return named ? named(at) : std::string(); };
    set("map", parts.text());
    set("i", cell.i), set("j", cell.j);
    set("i_text", text(cell.i)), set("j_text", text(cell.j));
    set("against", cell.against == ScoreCell::Against::None  ? "none"
                   : cell.against == ScoreCell::Against::Row ? "row"
                                                             : what.against);
    set("value", terms.value);
    if (terms.capped) set("capped", *terms.capped);
    const auto u = terms.i.values[0], v = terms.j.values[0];  // [cells, parts, k]
    const double sum =
        addParts(answer, "parts_i", terms.i, terms.of(u, v.sum(1, true)).flatten().contiguous());
    addParts(answer, "parts_j", terms.j, terms.of(u.sum(1, true), v).flatten().contiguous());
    set("sum", sum), set("terms", u.size(1) * v.size(1));
    const bool few = u.size(1) <= kMostOriginParts && v.size(1) <= kMostOriginParts;
    if (what.grain == "all" && !few)
        throw OptionError("grain", std::to_string(std::max(u.size(1), v.size(1))) +
                                       " parts a side are too many for a table of pairs; choose "
                                       "heads or layers");
    const auto finest = few ? std::string("all") : std::string("heads");
    const auto fineI = groupedParts(terms.i, finest), fineJ = groupedParts(terms.j, finest);
    const double size = terms.of(fineI.values[0], fineJ.values[0]).abs().sum().item<double>();
    if (!std::isfinite(terms.value) || !std::isfinite(size))
        throw Error(parts.text() +
                    " is not finite for this input: its queries or keys hold NaN or "
                    "infinity, and have no parts");
    const auto lengths = [](const SideParts& side) { return side.recorded[0].norm(2, -1); };
    const double most =
        size + terms.scale * (lengths(terms.i) * lengths(terms.j)).sum().item<double>();
    if (const double rest = terms.value - sum; std::abs(rest) > kOriginRest * most)
        throw Error("the parts of " + parts.text() + " leave " + shortestText(rest) + " of " +
                    shortestText(terms.value) +
                    ", which is an error of this program; please "
                    "report it with the model's options");
    set("cancellation", terms.value != 0.0 ? size / std::abs(terms.value) : columns::kNone);
    const auto pairGrain = what.grain == "all" ? "all" : "heads";
    const auto pairsI = groupedParts(terms.i, pairGrain), pairsJ = groupedParts(terms.j, pairGrain);
    addStrongest(answer, terms.of(pairsI.values[0], pairsJ.values[0]), pairsI, pairsJ, what.top);
    const auto groupsI = groupedParts(terms.i, what.grain),
               groupsJ = groupedParts(terms.j, what.grain);
    const auto matrix = terms.of(groupsI.values[0], groupsJ.values[0]);
    for (std::int64_t a = 0; a < matrix.size(0); ++a)
        for (std::int64_t b = 0; b < matrix.size(1); ++b)
            addRow(answer, "matrix", groupsI.names[static_cast<std::size_t>(a)],
                   groupsJ.names[static_cast<std::size_t>(b)], matrix[a][b].item<double>());
    set("summary", originsSummary(answer));
    const auto addTokens = [&](Table& table, std::int64_t at, const torch::Tensor& values) {
        if (!values.defined()) return;
        table.title += split.text();
        // The map whose cells the tokens stand for; what pairs of sequences have is another one.
        auto link = streams.stacks().size() == 1 && options.input() != InputKind::Pairs
                        ? attendedBy(split, terms.i.parts)
                        : MapLink();
        const auto sums = values.sum(1);
        for (std::int64_t t = 0; t < sums.size(0); ++t) {
            addRow(table, t, text(t), sums[t].item<double>());
            link.i = static_cast<int>(at), link.j = static_cast<int>(t);
            table.links.push_back(link);
        }
    };
    if (!what.tokens.empty()) {
        set("tokens_of", split.text());
        if (!terms.i.tokens.defined() && !terms.j.tokens.defined())
            throw OptionError("tokens_of", "'" + split.text() +
                                               "' is no part of the streams that " + parts.text() +
                                               " compares");
        addTokens(answer.tables[5], cell.i, terms.tokensOfI());
        addTokens(answer.tables[6], cell.j, terms.tokensOfJ());
    }
    std::erase_if(answer.tables, [](const Table& table) {
        return table.rows() == 0 && table.key.starts_with("tokens_");
    });
    return answer;
}

namespace {

// The layer of a cell in the inspector, as the options name one.
void takeShown(OriginOptions& what, const MapCell& cell) {
    what.stack.clear();
    what.relation = cell.fitted;
    what.layer = cell.layer + 1, what.index = cell.index + 1;
    what.source = cell.i, what.to = cell.j;
    what.kind = mapKindName(cell.kind);
    if (cell.kind == MapKind::AttentionTimesRelation || cell.kind == MapKind::Symbols)
        throw OptionError("kind", std::string("maps of the kind ") + what.kind +
                                      " have no scores of two objects; ask for a relation or "
                                      "attention");
}

Answer runOrigins(AnalysisSubject& subject, const OriginOptions& choice, const Watch<Answer>&) {
    auto what = choice;
    const auto& sample = sampleOf(subject);
    if (what.source < 0 && what.to < 0 && subject.cell) takeShown(what, *subject.cell);
    if (what.source < 0 || what.to < 0)
        throw OptionError(what.source < 0 ? "source" : "to",
                          "is missing: a score is that of a cell i, j of a map");
    auto& opened = *subject.model;
    const auto& options = opened.options();
    // Of one sequence the objects along both sides are the same.
    const auto sides = probeSides(options, sample);
    const auto named = [&](std::int64_t at) {
        const auto& labels = sides.front().labels;
        const bool known =
            options.input() != InputKind::Pairs && at >= 0 && at < std::ssize(labels);
        return known ? labels[static_cast<std::size_t>(at)] : std::string();
    };
    Answer answer;
    opened.withInput(sample, subject.interventions, [&](ModelImpl& model, const ModelInput& input) {
        const bool edited =
            subject.interventions.edits.anyEnabled() || opened.trainingEdits().anyEnabled();
        answer = originsOf(model, options, input, what, edited, featureNamesOf(subject), named);
    });
    return answer;
}

}  // namespace

const RegisterRunner kOriginsRunner("qk-attribution",
                                    [] { return makeRunner(originFields(), runOrigins); });

}  // namespace relascope::core
