// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/heads/head_measures.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <tuple>

#include "analysis/open_model.h"
#include "analysis/run_analysis.h"
#include "answers/column_table.h"
#include "data/text_tokens.h"
#include "model/public/family.h"
#include "model/public/public_options.h"
#include "probe/head_places.h"
#include "types/error.h"

namespace relascope::core {

ProbeSample repeatedTokens(const OpenedModel& model, const HeadMeasureOptions& options) {
    const auto& o = model.options();
    const std::int64_t vocabulary = o.outputs();
    const std::int64_t length = std::min({options.length, o.tokens() / 2, vocabulary});
    if (length < 2)
        throw OptionError("length",
                          std::to_string(length) + " tokens are too few; give at least 2");
    std::vector<std::int64_t> tokens(static_cast<std::size_t>(vocabulary));
    std::iota(tokens.begin(), tokens.end(), std::int64_t{0});
    // The first ones of a permutation (Fisher and Yates).
    std::mt19937_64 engine(static_cast<std::uint64_t>(options.seed));
    for (std::int64_t i = 0; i < length; ++i)
        std::swap(tokens[static_cast<std::size_t>(i)],
                  tokens[static_cast<std::size_t>(
                      i + static_cast<std::int64_t>(engine() %
                                                    static_cast<std::uint64_t>(vocabulary - i)))]);
    tokens.resize(static_cast<std::size_t>(length));
    const auto once = tokens;
    tokens.insert(tokens.end(), once.begin(), once.end());
    return tokenSample(model.tokenizer().get(), std::move(tokens),
                       std::to_string(length) + " random tokens, twice");
}

namespace {

/// What a head attends to by place alone, among the tokens of a text or the patches of an image.
std::string placesRead(const ProbeResult& result, const RelationMap& map) {
    const auto& grid = result.grid;
    const int first = grid.rows > 0 ? grid.firstTokens() : 0, objects = map.rows - first;
    if (objects < 2) return {};
    PlaceShares shares(objects, grid.rows > 0 ? grid.columns : 0);
    std::vector<float> row(static_cast<std::size_t>(map.columns));
    int line = 0;
    for (int i = 0; i < objects; ++i) {
        map.readRows(first + i, 1, row.data());
        shares.add(i, row.data() + first, map.causal, line, true);
        const auto& labels = result.sample.source.labels;
        if (static_cast<std::size_t>(i) < labels.size() &&
            labels[static_cast<std::size_t>(i)].find('\n') != std::string::npos)
            line = i + 1;
    }
    return shares.reading();
}

/// The values of each head, those of even attention, and the names of the layers. Throws
/// OptionError for a model that reads neither text nor images, or has no attention among its own
/// elements.
Answer runHeadMeasures(AnalysisSubject& subject, const HeadMeasureOptions& options,
                       const Watch<Answer>&) {
    auto& model = *subject.model;
    requireNextToken(model.options(), "head-measures");
    const auto kind = model.options().input();
    if (kind != InputKind::Tokens && kind != InputKind::Images)
        throw OptionError("path", modelTitle(model.options()) +
                                      " reads neither text nor images, and only their places have "
                                      "names");
    const auto input = subject.sample ? *subject.sample : repeatedTokens(model, options);
    auto result = model.probe(input, {}, subject.interventions);
    const HeadPlaces places(result);
    auto& maps = result.maps;
    std::erase_if(maps, [&](const RelationMap& map) { return !places.fits(map); });
    if (maps.empty())
        throw OptionError("path", modelTitle(model.options()) + " has no attention maps");
    const auto flat = places.even(maps.front().causal);
    std::sort(maps.begin(), maps.end(), [](const auto& a, const auto& b) {
        const auto key = [](const RelationMap& map) {
            return std::tuple(map.layer, map.kind == MapKind::RelationalAttention, map.index);
        };
        return key(a) < key(b);
    });
    using namespace columns;
    auto heads = tableWith("heads", "", integer("layer", {"Layer"}), text("kind", {"Kind"}),
                           integer("head", {"Head"}));
    auto even = tableWith("even", "Attention that is spread evenly", text("measure", {"Places"}),
                          number("value", {"Value"}));
    const auto measures = places.measures();
    for (std::size_t m = 0; m < measures.size(); ++m) {
        heads.columns.push_back(number(measures[m], {measures[m]}));
        addRow(even, measures[m], flat[m]);
    }
    heads.columns.push_back(text("reading", {"By place alone"}));
    for (const auto& map : maps) {
        addRow(heads, map.layer + 1, mapKindName(map.kind), map.index + 1, places.of(map),
               placesRead(result, map));
        heads.links.push_back({map.kind, map.layer, map.index});
    }
    std::vector<std::string> layers;
    for (const auto& layer : result.layers) layers.push_back(layer.name);
    return {{heads, even, textsTable("layers", "name", layers),
             tableWith("", "", fact("input", input.origin, {"Mean attention over"}))}};
}

}  // namespace

const RegisterRunner kHeadMeasuresRunner("heads", [] {
    auto r = makeRunner(headMeasureFields(), runHeadMeasures);
    r.ownText = [](const OpenedModel& model, const OptionValues& values) {
        return repeatedTokens(model, structOf(headMeasureFields(), values));
    };
    return r;
});

}  // namespace relascope::core
