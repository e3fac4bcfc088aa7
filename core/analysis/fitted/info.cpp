// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "analysis/fitted/fitted.h"
#include "answers/column_table.h"
#include "answers/layout.h"
#include "types/text_format.h"

namespace relascope::core {

const FieldTable<FittedOptions>& fittedFields() {
    using O = FittedOptions;
    static const FieldTable<O> table = {
        fields::text(
            &O::fact, "fact", "Fact",
            "fact of pairs of objects that the relation is fitted to, as same kind; without it "
            "the first that the data have"),
        fields::text(&O::layer, "layer", "Layer",
                     "the stream after which layer, 0 before the first, or all: the best"),
        fields::choice(&O::form, "form", "Form", "symmetric, any, diagonal or distance",
                       {"symmetric", "any", "diagonal", "distance"}),
        fields::choice(&O::scale, "scale", "Scale",
                       "stream prefers what is large in the stream, white finds what can be read "
                       "at all",
                       {"stream", "white"}),
        fields::integer(&O::directions, "directions", "Directions",
                        "principal directions of the stream that are read, at most", 1, 4096),
        fields::integer(&O::examples, "examples", "Examples",
                        "examples to fit, to choose and to test on, at most", 2, 1e6),
        fields::integer(&O::untrained, "untrained", "Untrained models",
                        "models with fresh weights on which the same is fitted", 0, 64),
        fields::boolean(&O::remove, "remove", "Take it out",
                        "also measures what the model answers without it, beside random subspaces "
                        "as strong"),
        fields::path(fields::text(&O::save, "save", "Save as",
                                  "file of the fitted relation, NAME.safetensors")),
        fields::path(fields::text(&O::attributes, "attributes", "Attributes",
                                  "CSV of facts of pairs: example, i, j and a column for each")),
        fields::integer(&O::seed, "seed", "Seed", "of the split of the examples", 0, 1e9)};
    return table;
}

Answer emptyFitted(bool masks) {
    using namespace columns;
    const NumberFormat auc{3}, share{1, true}, points{1, true, true};
    const auto value = [&](const char* key, const char* title, const char* help) {
        return number(key, {title, auc, help});
    };
    auto one = tableWith(
        "", "", text("fact", {"Fact"}), text("form", {"Form"}), text("layer", {"Layer"}),
        text("point"), text("word", {"Word"}),
        number("auc", {"AUC", auc, "Within places, on the examples to test", "low", "high"}),
        number("low"), number("high"),
        value("within_examples", "Within examples", "Pairs of one example against each other"),
        integer("rank", {"Rank", {}, "The least whose AUC is within 0.005 of the whole's"}),
        number("ridge"), number("bias"), integer("directions"),
        value("place_alone", "Place alone", "What the place of a pair says"),
        value("one_side", "One side", "What either object says alone"),
        value("input", "Input", "The same fit on pixels, tokens or vectors"),
        integer("examples", {"To fit"}), integer("examples_to_choose", {"To choose"}),
        integer("examples_to_test", {"To test"}), integer("left_out", {"Left out"}),
        integer("yes", {"Pairs of yes"}), integer("no", {"Pairs of no"}), text("saved", {"Saved"}));
    auto layers =
        tableWith("layers", "Layers", text("layer", {"Stream"}), text("point"),
                  integer("directions", {"Directions"}),
                  value("chosen", "AUC to choose", "On the examples to choose the layer by"),
                  value("auc", "AUC", "On the examples to test"),
                  value("untrained_low", "Untrained, least", "Of models with fresh weights"),
                  value("untrained_high", "most", "Of models with fresh weights"));
    auto chance = tableWith("chance", "Chance", text("of", {"Of"}), integer("number", {"Number"}),
                            value("auc", "AUC", "On the examples to test"));
    auto ranks = tableWith("ranks", "Ranks", integer("rank", {"Rank"}),
                           value("chosen", "AUC to choose", "On the examples to choose by"),
                           value("auc", "AUC", "On the examples to test"));
    auto heads = tableWith(
        "heads", "Heads like it", text("map", {"Map"}),
        number("r2", {"R^2", auc,
                      "Squared correlation of its score with the fitted relation, less places"}),
        number("untrained", {"Untrained, most", auc, "Of all heads of models with fresh weights"}),
        flag("has", {"Has it",
                     {},
                     "R^2 above 0.5 and above all heads of models with fresh weights, of which at "
                     "least 4 are needed"}),
        number("read", {"Directions read",
                        {1, true},
                        "Share of the relation's directions that it reads, by its weights"}),
        number("read_by_chance", {"By chance", {1, true}, "Of random directions"}));
    auto removed = tableWith(
        "removed", "Taken out", integer("rank", {"Rank"}), integer("dimensions", {"Dimensions"}),
        number("variance", {"Variance", {2, true}, "Share of the stream's"}),
        number("change", {"Change", points, "Of the metric", "low", "high"}), number("low"),
        number("high"),
        number("random_variance", {"Random's", {2, true}, "Least share of the random subspaces'"}),
        number("random", {"Random", points, "Mean of subspaces as strong"}),
        number("random_low", {"least", points}), number("random_high", {"most", points}),
        number("beyond",
               {"Beyond", points, "The change less that mean", "beyond_low", "beyond_high"}),
        number("beyond_low"), number("beyond_high"),
        value("again", "AUC again", "What can be fitted behind it"));
    Answer answer{{std::move(one), tableWith("sentences", "Sentences", text("text", {"Sentence"})),
                   std::move(layers), std::move(chance), std::move(ranks), std::move(heads),
                   std::move(removed)}};
    if (masks)
        answer.tables.push_back(tableWith(
            "attention", "Attention by objects", text("map", {"Map"}), text("to", {"To"}),
            number("share", {"Share", share, "Of patches on objects, mean over examples"}),
            number("place_alone", {"Place alone", share, "By the mean map"}),
            number("difference", {"Difference", points, {}, "low", "high"}), number("low"),
            number("high")));
    return answer;
}

namespace {

// The map of the relation that was saved, which an edit that is not in force shows.
Request shownInMaps(const Seen& seen) {
    if (!seen.answer.has("saved") || seen.answer.text("saved").empty()) return {};
    Edit edit;
    edit.op = EditOp::Project, edit.enabled = false;
    edit.relation = seen.answer.text("saved"), edit.point = seen.answer.text("point");
    return EditsRequest{{edit}, "Show the fitted relation " + seen.answer.text("fact")};
}

// Of the streams by layer, beside what chance gives; one layer alone is no curve.
Layout::Curve::Shown curveOfLayers(const Seen& seen) {
    Layout::Curve::Shown shown;
    const auto* layers = seen.answer.find("layers");
    if (!layers || layers->rows() < 2) return shown;
    const auto column = [&](const char* name) { return layers->numbers(name); };
    const auto auc = column("auc"), low = column("untrained_low"), high = column("untrained_high");
    const auto& names = layers->texts("layer");
    const auto value = [](double one) { return numberText("%.3f", one); };
    for (std::size_t k = 0; k < auc.size(); ++k) {
        shown.x.push_back(static_cast<double>(k));
        shown.places.push_back(names[k] + ": AUC " + value(auc[k]) +
                               (std::isfinite(high[k]) ? ", untrained models " + value(low[k]) +
                                                             " to " + value(high[k])
                                                       : std::string()));
        if (seen.answer.has("layer") && names[k] == seen.answer.text("layer"))
            shown.current = static_cast<int>(k);
    }
    shown.title = "AUC by layer";
    shown.xTitle = "After layer", shown.yTitle = "AUC";
    shown.range = {0.5, 1.0};
    shown.lines.push_back({"AUC", auc});
    const auto any = [](const std::vector<double>& y) {
        return std::any_of(y.begin(), y.end(), [](double one) { return std::isfinite(one); });
    };
    if (any(high))
        shown.lines.push_back({"untrained", high, true}), shown.lines.push_back({"", low, true});
    for (const auto& [name, title] : {std::pair{"input", "input"}, {"place_alone", "place alone"}})
        if (seen.answer.has(name) && std::isfinite(seen.answer.number(name)))
            shown.lines.push_back({title, std::vector(auc.size(), seen.answer.number(name)),
                                   std::string_view(name) == "place_alone", true});
    return shown;
}

Layout fittedLayout() {
    auto layout = tablesLayout();
    Layout::Curve curve{"AUC by layer", curveOfLayers};
    curve.request = [](const Seen&, int place) -> Request {
        return OptionRequest{"layer", std::to_string(place)};
    };
    layout.elements.insert(layout.elements.begin() + 1, {curve, 2});
    layout.button = {"Show its map",
                     "Beside the maps of its layer, on any input; in the list of edits it can be "
                     "taken out",
                     shownInMaps};
    return layout;
}

}  // namespace

const RegisterAnalysis kFitted([] {
    Analysis a;
    a.name = "fit-relation";
    a.place = 95;
    a.title = "Fitted";
    a.group = AnalysisGroup::Pairs;
    a.summary = "fits a relation to a fact of pairs on the frozen stream of any model";
    a.purpose =
        "A relation is fitted to a fact of pairs, such as being the same kind, on the stream of "
        "each layer: whether the fact can be read, whether that was learned, and whether the model "
        "needs it.";
    a.progressText = "Fitting relations";
    a.page = AnalysisPage::Atlas;
    a.input = AnalysisInput::Data;
    a.onDemand = true;
    a.readsFeatures = true;
    a.layout = fittedLayout;
    a = answering(a, fittedFields(), OfferedIn::Row);
    for (auto& field : a.fields) field.attribute = field.spec.name == "fact";
    return a;
});

}  // namespace relascope::core
