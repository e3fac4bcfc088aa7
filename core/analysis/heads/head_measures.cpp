// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/heads/head_measures.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <tuple>

#include "analysis/open_model.h"
#include "analysis/run_analysis.h"
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

}  // namespace

HeadMeasures measureHeads(OpenedModel& model, const std::optional<ProbeSample>& sample,
                          const HeadMeasureOptions& options, const Interventions& interventions) {
    requireNextToken(model.options(), "head-measures");
    const auto kind = model.options().input();
    if (kind != InputKind::Tokens && kind != InputKind::Images)
        throw OptionError("path", modelTitle(model.options()) +
                                      " reads neither text nor images, and only their places have "
                                      "names");
    const auto input = sample ? *sample : repeatedTokens(model, options);
    const auto result = model.probe(input, {}, interventions);
    const HeadPlaces places(result);
    HeadMeasures out;
    out.measures = places.measures();
    out.input = input.origin;
    for (const auto& layer : result.layers) out.layers.push_back(layer.name);
    for (const auto& map : result.maps) {
        if (!places.fits(map)) continue;
        if (out.heads.empty()) out.even = places.even(map.causal);
        out.heads.push_back(
            {map.kind, map.layer, map.index, places.of(map), placesRead(result, map)});
    }
    if (out.heads.empty())
        throw OptionError("path", modelTitle(model.options()) + " has no attention maps");
    std::sort(out.heads.begin(), out.heads.end(), [](const auto& a, const auto& b) {
        const auto key = [](const HeadMeasures::Head& head) {
            return std::tuple(head.layer, head.kind == MapKind::RelationalAttention, head.index);
        };
        return key(a) < key(b);
    });
    return out;
}

namespace {

HeadMeasures runHeadMeasures(AnalysisSubject& subject, const HeadMeasureOptions& options,
                             const Watch<HeadMeasures>&) {
    return measureHeads(*subject.model, subject.sample, options, subject.interventions);
}

}  // namespace

const RegisterRunner kHeadMeasuresRunner("heads", [] {
    auto r = makeRunner(headMeasureFields(), runHeadMeasures, answerOf);
    r.ownText = [](const OpenedModel& model, const OptionValues& values) {
        return repeatedTokens(model, structOf(headMeasureFields(), values));
    };
    return r;
});

}  // namespace relascope::core
