// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/head_measures.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <sstream>
#include <tuple>

#include "analysis/open_model.h"
#include "data/text_tokens.h"
#include "probe/head_places.h"
#include "types/error.h"
#include "types/finite_json.h"
#include "types/text_format.h"
#include "types/text_piece.h"

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

HeadMeasures measureHeads(OpenedModel& model, const std::optional<ProbeSample>& sample,
                          const HeadMeasureOptions& options, const Interventions& interventions) {
    const auto kind = model.options().input();
    if (kind != InputKind::Tokens && kind != InputKind::Images)
        throw OptionError("path", model.options().architecture() +
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
        out.heads.push_back({map.kind, map.layer, map.index, places.of(map)});
    }
    if (out.heads.empty())
        throw OptionError("path", model.options().architecture() + " has no attention maps");
    std::sort(out.heads.begin(), out.heads.end(), [](const auto& a, const auto& b) {
        const auto key = [](const HeadMeasures::Head& head) {
            return std::tuple(head.layer, head.kind == MapKind::RelationalAttention, head.index);
        };
        return key(a) < key(b);
    });
    return out;
}

namespace {

const FieldTable<HeadMeasureOptions>& headMeasureFields() {
    using O = HeadMeasureOptions;
    static const FieldTable<O> table = {
        fields::integer(
            &O::length, "length", "Random tokens, twice",
            "language models: random tokens, all different, which stand twice in a row, "
            "so that nothing but their copies can be found",
            2, 1000000),
        fields::integer(&O::seed, "seed", "Seed", "random seed of these tokens", 0, 1e15)};
    return table;
}

HeadMeasures runHeadMeasures(AnalysisSubject& subject, const HeadMeasureOptions& options,
                             const AnalysisWatch&) {
    return measureHeads(*subject.model, subject.sample, options, subject.interventions);
}

std::string csvOf(const HeadMeasures& result) {
    std::string text = "layer,kind,head";
    for (const auto& name : result.measures) text += "," + csvField(name);
    text += "\n";
    for (const auto& head : result.heads) {
        text += std::to_string(head.layer + 1) + "," + mapKindName(head.kind) + "," +
                std::to_string(head.index + 1);
        for (const double value : head.values) text += "," + shortestField(value);
        text += "\n";
    }
    text += ",even attention,";
    for (const double value : result.even) text += "," + shortestField(value);
    return text + "\n";
}

nlohmann::ordered_json jsonOf(const HeadMeasures& r) {
    using Json = nlohmann::ordered_json;
    Json heads = Json::array(), even;
    for (const auto& head : r.heads) {
        Json values;
        for (std::size_t m = 0; m < r.measures.size(); ++m)
            values[r.measures[m]] = finiteJson(head.values[m]);
        heads.push_back({{"layer", head.layer + 1},
                         {"kind", mapKindName(head.kind)},
                         {"head", head.index + 1},
                         {"values", std::move(values)}});
    }
    for (std::size_t m = 0; m < r.measures.size(); ++m) even[r.measures[m]] = finiteJson(r.even[m]);
    return {{"input", r.input}, {"even", std::move(even)}, {"heads", std::move(heads)}};
}

std::string terminalText(const HeadMeasures& r) {
    std::ostringstream out;
    out << "mean attention over " << r.input << "\n" << cellText("", 32);
    for (const auto& name : r.measures) out << cellText(name, 17, true);
    out << "\n";
    const auto line = [&](const std::string& name, const std::vector<double>& values) {
        out << cellText(name, 32);
        for (const double value : values) out << cellText(numberText("%.3f", value), 17, true);
        out << "\n";
    };
    for (const auto& head : r.heads)
        line(r.layers.at(static_cast<std::size_t>(head.layer)) +
                 (head.kind == MapKind::SensoryAttention ? " sensory head " : " relational head ") +
                 std::to_string(head.index + 1),
             head.values);
    line("even attention", r.even);
    return out.str();
}

}  // namespace

const Analysis& headMeasuresAnalysis() {
    static const Analysis analysis = [] {
        Analysis a;
        a.name = "heads";
        a.title = "Head measures";
        a.summary = "measures the attention of each head to places of a kind (induction, ...)";
        a.doing = "Measuring the attention of each head";
        a.input = AnalysisInput::OwnText;
        a.ownText = [](const OpenedModel& model, const OptionValues& values) {
            return repeatedTokens(model, structOf(headMeasureFields(), values));
        };
        return analysisOf<HeadMeasureOptions, HeadMeasures>(
            a, headMeasureFields(), OfferedIn::Row, runHeadMeasures, csvOf, terminalText, jsonOf);
    }();
    return analysis;
}

}  // namespace relascope::core
