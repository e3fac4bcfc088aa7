// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of a score by name and in groups, and the terms that two of them make.
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "analysis/parts/score_parts.h"
#include "interventions/editor.h"
#include "model/architecture.h"
#include "model/finite_outputs.h"
#include "model/public/family.h"
#include "probe/layers.h"
#include "types/error.h"
#include "types/suggest.h"

namespace relascope::core {
namespace {

std::string groupOf(const StreamPart& part, const std::string& grain) {
    const auto words = [&](const std::string& text) {
        return (part.stack.empty() ? std::string() : part.stack + " ") + text;
    };
    if (grain == "layers" && part.kind != PartKind::Edits)
        return words(part.layer < 0 ? "input" : "layer " + std::to_string(part.layer + 1));
    if (grain == "heads" && part.inside()) {
        auto whole = part;
        whole.kind = PartKind::RelationalHead, whole.relation = -1;
        return whole.text();
    }
    return part.text();
}

}  // namespace

GroupedParts groupedParts(const SideParts& side, const std::string& grain) {
    GroupedParts result;
    std::map<std::string, std::int64_t> places;
    std::vector<std::int64_t> of;
    for (const auto& part : side.parts) {
        const auto name = groupOf(part, grain);
        const auto [at, fresh] =
            places.emplace(name, static_cast<std::int64_t>(result.names.size()));
        if (fresh) result.names.push_back(name);
        of.push_back(at->second);
    }
    const auto& values = side.values;  // [b, rows, parts, k]
    if (result.names.size() == side.parts.size()) {
        result.values = values;
        return result;
    }
    auto shape = values.sizes().vec();
    shape[2] = static_cast<std::int64_t>(result.names.size());
    result.values = torch::zeros(shape, torch::kDouble).index_add_(2, torch::tensor(of), values);
    return result;
}

ScoreMap scoreMap(const ModelStreams& streams, const std::string& stack, int layer,
                  const std::string& kind, int index) {
    ScoreMap map;
    map.layer = layer, map.index = index;
    const auto known = std::find(kScoreKinds.begin(), kScoreKinds.end(), kind);
    if (known == kScoreKinds.end())
        throw OptionError(
            "kind", unknownName("kind of map", kind, {kScoreKinds.begin(), kScoreKinds.end()}));
    map.kind = static_cast<ScoreKind>(known - kScoreKinds.begin());
    const auto& stacks = streams.stacks();
    auto name = stack;
    if (name.empty()) {
        // Layers with maps, in the order of computation.
        const auto places = streams.options().info().layers(streams.options());
        if (layer < 0 || layer >= static_cast<int>(places.size()))
            throw OptionError("layer", std::to_string(layer + 1) +
                                           " is out of range: the model "
                                           "has " +
                                           std::to_string(places.size()) + " layers with maps");
        if (places.size() == 1 && stacks.front().raw) return map;
        const auto& module = places[static_cast<std::size_t>(layer)].module;
        for (std::size_t s = 0; s < stacks.size(); ++s)
            for (std::size_t l = 0; l < stacks[s].blocks.size(); ++l) {
                const auto& path = stacks[s].blocks[l].path;
                if (module != path && !module.starts_with(path + ".")) continue;
                map.stack = static_cast<int>(s), map.layer = static_cast<int>(l);
                // The heads that attend to another stack are a layer of their own there.
                if (module != path) map.kind = ScoreKind::Cross;
                return map;
            }
        throw OptionError("model", modelTitle(streams.options()) +
                                       " has no inner product of a stream of parts in layer " +
                                       std::to_string(layer + 1));
    }
    // The Abstractors of a chain are one stack to the user.
    std::vector<std::string> names;
    for (std::size_t s = 0; s < stacks.size(); ++s) {
        if (stacks[s].name == name || stacks[s].name.starts_with(name + " ")) {
            map.stack = static_cast<int>(s);
            const auto here = static_cast<int>(stacks[s].blocks.size());
            if (map.layer < here) return map;
            if (s + 1 < stacks.size() && stacks[s + 1].name.starts_with(name + " "))
                map.layer -= here;
            else
                return map;
        } else {
            names.push_back(stacks[s].name);
        }
    }
    throw OptionError("stack", unknownName("stack", name, names));
}

StreamPart partNamed(const ModelStreams& streams, std::string text, const std::string& own,
                     const char* option) {
    StreamPart part;
    for (const auto& stack : streams.stacks())
        if (text.starts_with(stack.name + " layer ")) {
            if (stack.name != own) part.stack = stack.name;
            text = text.substr(stack.name.size() + 1);
            break;
        }
    std::istringstream words(text);
    std::string word;
    bool known = words >> word >> part.layer && word == "layer" && part.layer-- > 0;
    std::string rest;
    std::getline(words >> std::ws, rest);
    // The name of a kind, and what follows it.
    const auto takes = [&rest](PartKind kind) {
        const auto name = std::string(partKindName(kind));
        if (!rest.starts_with(name)) return false;
        rest = rest.substr(std::min(rest.size(), name.size() + 1));
        return true;
    };
    const auto number = [&rest](int& to) {
        std::istringstream digits(rest);
        if (!(digits >> to) || to-- < 1) return false;
        rest.clear();
        std::getline(digits >> std::ws, rest);
        return true;
    };
    part.kind = PartKind::SensoryHead;
    for (const auto kind : {PartKind::RelationalHead, PartKind::CrossHead})
        if (takes(kind)) part.kind = kind, word.clear();
    known = known && (word.empty() || takes(PartKind::SensoryHead)) && number(part.head);
    if (known && part.kind == PartKind::RelationalHead && !rest.empty()) {
        known = takes(PartKind::Relation) ? number(part.relation) : takes(PartKind::Symbols);
        part.kind = part.relation < 0 ? PartKind::Symbols : PartKind::Relation;
    }
    known = known && rest.empty();
    if (!known)
        throw OptionError(option, "'" + text +
                                      "' is no head; write it as in the table of parts: 'layer 1 "
                                      "relational head 2'");
    tokenPoints(streams, part, own, option);  // refuses a part that is not there
    return part;
}

PartVectors partVectors(const ScoreParts& parts, const ModelInput& input,
                        const torch::Tensor& objects, const torch::Tensor& examples, bool edited,
                        const std::string& grain, std::int64_t most, const StreamPart* split,
                        const std::function<void(Hooks&)>& pass) {
    const torch::NoGradGuard noGrad;
    PointReader i(parts.points(ScoreSide::I)), j(parts.points(ScoreSide::J));
    for (const auto& [side, reader] : {std::pair{ScoreSide::I, &i}, {ScoreSide::J, &j}})
        if (const auto some = parts.rowsToRead(side, objects);
            some.defined() && !examples.defined())
            reader->keepRows(some);
    PointReader whole(split ? parts.tokenPoints(*split) : std::vector<std::string>{"none"});
    HookChain sides(&i, &j), all(&sides, &whole);
    pass(all);
    const auto read = [&](ScoreSide side, const PointReader& reader) {
        TokenSplit tokens;
        if (split) tokens.part = *split, tokens.points = whole.tensors();
        return examples.defined()
                   ? parts.partsOfSome(side, reader.tensors(), examples, objects, input, edited)
                   : parts.parts(side, reader.tensors(), objects, input, edited, {},
                                 split ? &tokens : nullptr);
    };
    const auto ofI = read(ScoreSide::I, i);
    const bool one = !edited && parts.hasOneSide();
    const auto ofJ = one ? ofI : read(ScoreSide::J, j);
    PartVectors result;
    const auto group = [&](const std::string& by) {
        auto groups = groupedParts(ofI, by);
        result.namesI = std::move(groups.names), result.u = groups.values;
        if (!one) groups = groupedParts(ofJ, by);
        result.namesJ = one ? result.namesI : std::move(groups.names), result.v = groups.values;
        result.grain = by;
    };
    group(grain);
    for (const std::string coarser : {"heads", "layers"})
        if (std::max(result.u.size(2), result.v.size(2)) > most) group(coarser);
    // Batches have the same parts, whether or not an edit reaches each.
    for (auto [names, values] :
         {std::pair{&result.namesI, &result.u}, {&result.namesJ, &result.v}}) {
        const auto name = partKindName(PartKind::Edits);
        if (!edited || std::find(names->begin(), names->end(), name) != names->end()) continue;
        names->emplace_back(name);
        *values = torch::cat({*values, torch::zeros_like(values->slice(2, 0, 1))}, 2);
    }
    result.tokensI = ofI.tokens, result.tokensJ = ofJ.tokens;
    return result;
}

torch::Tensor TermCut::at(const HookPoint& point, const torch::Tensor& value) {
    if (point.name != m_point.name) return value;
    auto cut = value.clone();
    auto map = cut.select(m_point.byRelation ? 3 : 1, m_index);  // [b, i, j]
    // What a cap made of a score, undone, and done again behind the term. A closed cell stays.
    const auto capped = m_cap > 0 ? map.clone() : torch::Tensor();
    if (m_cap > 0) map.copy_(torch::atanh(map.to(torch::kDouble) / m_cap) * m_cap);
    const auto again = [&] {
        if (m_cap > 0)
            map.copy_(torch::where(
                capped.isinf(), capped,
                (torch::tanh(map.to(torch::kDouble) / m_cap) * m_cap).to(capped.scalar_type())));
        return cut;
    };
    const auto terms = m_terms.to(value.options());
    const auto n = terms.size(1);
    if (m_starts.empty()) {
        const auto at = torch::tensor(m_positions).to(value.device());
        const auto rows = at.view({n, 1}).expand({n, n}), columns = at.view({1, n}).expand({n, n});
        for (std::int64_t b = 0; b < terms.size(0); ++b)
            map[b].index_put_({rows, columns}, -terms[b], true);
        return again();
    }
    for (std::int64_t b = 0; b < terms.size(0); ++b) {
        const auto start = m_starts[static_cast<std::size_t>(b)];
        map[b].slice(0, start, start + n).slice(1, start, start + n).sub_(terms[b]);
    }
    return again();
}

// One cell.

torch::Tensor ScoreTerms::of(const torch::Tensor& u, const torch::Tensor& v) const {
    return scale * (torch::matmul(u, v.transpose(1, 2)) * signs.view({-1, 1, 1})).sum(0);
}

namespace {

// The vectors of one side without the part of distances, which has a term with itself alone.
torch::Tensor withoutDistance(const SideParts& side) {
    const bool last = !side.parts.empty() && side.parts.back().kind == PartKind::Distance;
    return last ? side.values[0].slice(1, 0, -1) : side.values[0];
}

}  // namespace

torch::Tensor ScoreTerms::tokensOfI() const {
    return i.tokens.defined() ? of(i.tokens[0], withoutDistance(j)) : torch::Tensor();
}

torch::Tensor ScoreTerms::tokensOfJ() const {
    return j.tokens.defined() ? of(j.tokens[0], withoutDistance(i)) : torch::Tensor();
}

namespace {

const char* objectWord(const ModelOptions& options) {
    const auto input = options.input();
    return input == InputKind::Images ? "patch" : input == InputKind::Objects ? "object" : "token";
}

void requireObject(const char* field, std::int64_t at, std::int64_t count, const char* word) {
    if (at >= 0 && at < count) return;
    throw OptionError(field, std::to_string(at) + " is out of range: there are " +
                                 std::to_string(count) + " of " + word + ", 0 to " +
                                 std::to_string(count - 1));
}

}  // namespace

ScoreTerms scoreTerms(const ScoreParts& parts, ModelImpl& model, const ModelInput& input,
                      const ScoreCell& cell, bool edited, const StreamPart* tokens) {
    using Against = ScoreCell::Against;
    const torch::NoGradGuard noGrad;
    const auto n = parts.size(ScoreSide::I, input), m = parts.size(ScoreSide::J, input);
    const auto closed = parts.closed(input);
    const auto* word = objectWord(parts.options());
    const auto require = [&](std::int64_t i, std::int64_t j, const char* rows,
                             const char* columns) {
        requireObject(rows, i, n, word), requireObject(columns, j, m, word);
        if (closed.defined() && closed[0][i][j].item<bool>())
            throw OptionError(columns, std::string(word) + " " + std::to_string(j) +
                                           " lies behind the mask of " + word + " " +
                                           std::to_string(i));
    };
    require(cell.i, cell.j, "source", "to");
    std::vector<std::int64_t> rows = {cell.i}, columns = {cell.j};
    ScoreTerms result;
    result.scale = parts.scale();
    result.signs = torch::ones({1}, torch::kDouble);
    torch::Tensor mix;
    auto objects = torch::tensor(columns);
    if (cell.against == Against::Cell) {
        require(cell.otherI, cell.otherJ, "against", "against");
        rows.push_back(cell.otherI), columns.push_back(cell.otherJ);
        objects = torch::tensor(columns);
        result.signs = torch::tensor({1.0, -1.0}, torch::kDouble);
    } else if (cell.against == Against::Row) {
        auto open = closed.defined() ? closed[0][cell.i].logical_not().to(torch::kDouble)
                                     : torch::ones({m}, torch::kDouble);
        open = open / open.sum();
        objects = torch::arange(m);
        mix = -open.unsqueeze(0);
        mix[0][cell.j] += 1.0;
    }
    const auto receivers = torch::tensor(rows);
    PointReader i(parts.points(ScoreSide::I)), j(parts.points(ScoreSide::J));
    if (const auto some = parts.rowsToRead(ScoreSide::I, receivers); some.defined())
        i.keepRows(some);
    if (const auto some = parts.rowsToRead(ScoreSide::J, objects); some.defined()) j.keepRows(some);
    auto further = tokens ? parts.tokenPoints(*tokens) : std::vector<std::string>{"none"};
    const auto scores = parts.scorePoint().name;
    if (parts.cap() > 0) further.push_back(scores);
    PointReader whole(std::move(further));
    {
        const EvaluationMode evaluation(model);
        HookChain sides(&i, &j), all(&sides, &whole);
        const InterventionScope scope(&all);
        const RecordingScope unrecorded(nullptr);
        if (answersOf(model, input).size(0) != 1)
            throw OptionError("input", "give one example, not a batch");
    }
    const auto side = [&](ScoreSide which, const PointReader& reader, const torch::Tensor& at,
                          const torch::Tensor& kept) {
        TokenSplit split;
        if (tokens) split.part = *tokens, split.points = whole.tensors();
        return parts.parts(which, reader.tensors(), at, input, edited, kept,
                           tokens ? &split : nullptr);
    };
    result.i = side(ScoreSide::I, i, receivers, {});
    result.j = side(ScoreSide::J, j, objects, mix);
    if (cell.against != Against::None) result.j.tokens = torch::Tensor();
    result.value = result.of(result.i.recorded[0].unsqueeze(1), result.j.recorded[0].unsqueeze(1))
                       .item<double>();
    if (parts.cap() > 0) {
        const auto map = precise(whole.tensors().at(scores)).select(1, parts.map().index)[0];
        auto capped = map[cell.i][cell.j];
        if (cell.against == Against::Cell) capped = capped - map[cell.otherI][cell.otherJ];
        if (cell.against == Against::Row) {
            const auto open = map[cell.i].isfinite();
            capped = capped - map[cell.i].masked_select(open).mean();
        }
        result.capped = capped.item<double>();
    }
    return result;
}

}  // namespace relascope::core
