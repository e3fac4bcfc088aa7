// SPDX-License-Identifier: GPL-3.0-or-later
// The card game SET (ABS 4.5): the descriptor.
#include "datasets/generators/cards.h"
#include "datasets/kinds/kind_parts.h"

namespace relascope::datasets {
namespace {

bool triples(const DataOptions& o) {
    return o.task == "sets";
}
bool asBits(const DataOptions& o) {
    return triples(o) && o.set_input == "relations";
}

std::vector<OwnField> setFields() {
    using O = DataOptions;
    using namespace fields;
    return {{250, when<O>(triples, choice(&O::set_split, "set_split", "Split",
                                          "draws: as published, a SET can occur in both training "
                                          "and test data. triples: the splits contain different "
                                          "triples.",
                                          {"draws", "triples"}))},
            {260, when<O>(triples, choice(&O::set_input, "set_input", "Cards as",
                                          "The output of the card network, or the bits for the "
                                          "attributes shared by each pair of cards.",
                                          {"embedding", "relations"}))},
            {270, when<O>([](const O& o) { return !asBits(o); },
                          integer(&O::embedding, "embedding", "Card embedding",
                                  "Width of the output of the card network.", 2, 4096))}};
}

DataKind set() {
    const std::vector<std::string> attributes = {"number", "colour", "pattern", "shape"};
    DataKind k;
    k.name = "set";
    k.title = "SET";
    k.help = "Cards of the game SET, encoded by a network that knows their attributes.";
    k.family = "Sets";
    k.order = 50;
    k.input = InputKind::Objects;
    k.unit = {"triple", "triples"};
    k.tasks = {{"sets",
                "SET or not",
                "Three cards of the game SET: is each attribute the same on all or different "
                "on all?",
                {"no SET", "SET"}},
               {"attributes", "Shared attributes of two cards",
                "Two cards: which attributes do they share? Used for pretraining.", attributes,
                Unit{"pair", "pairs"}}};
    k.attributes = attributes;
    k.common = {{"test_size"}, {"seed", withoutPath}};
    k.fields = setFields;
    k.fit = [](const DataOptions& o, ModelOptions& m) {
        if (o.task == "attributes")
            fitObjects(m, 2, o.embedding, kCardAttributes);
        else
            fitObjects(m, 3, o.set_input == "relations" ? kCardAttributes : o.embedding, 1);
    };
    k.allExamples = [](const DataOptions& o) {
        return (triples(o) ? kTriplePool : kCardPairs) * 7 / 10;
    };
    return k;
}

const DataKindRegistrar registered(set);

}  // namespace
}  // namespace relascope::datasets
