// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/spread/spread.h"
#include "answers/column_table.h"

namespace relascope::core {

const FieldTable<SpreadOptions>& spreadFields() {
    static const FieldTable<SpreadOptions> table = {
        fields::integer(&SpreadOptions::examples, "examples", "Examples",
                        "number of examples, at most; of text a tenth as many windows", 2, 1e8)};
    return table;
}

Answer emptySpread() {
    using namespace columns;
    const NumberFormat nats{2}, places{1}, percent{1, true};
    const std::string deviation = "Standard deviation over examples";
    return {{tableWith("", "", integer("examples", {"Examples"})),
             tableWith("heads", "Heads", integer("layer", {"Layer"}), text("kind", {"Map"}),
                       integer("head", {"Head"}),
                       number("entropy", {"Entropy", nats,
                                          "Of a row, in nats: 0 where one object gets all the "
                                          "attention; mean over rows that have a choice"}),
                       number("entropy_deviation", {"Deviation", nats, deviation}),
                       number("of_even", {"Of even", percent,
                                          "The entropy, as a fraction of that of attention which "
                                          "is spread evenly over the same objects"}),
                       number("distance", {"Distance", places,
                                           "From the object to the one that it attends to most: "
                                           "in positions, of images in patches"}),
                       number("distance_deviation", {"Deviation", places, deviation}),
                       number("first", {"To the first", percent,
                                        "Attention to the first object of the input, which may "
                                        "stand for none; of an image the class token"}),
                       number("first_deviation", {"Deviation", percent, deviation}))}};
}

const RegisterAnalysis kSpread([] {
    Analysis a;
    a.name = "spread";
    a.place = 65;
    a.title = "Spread";
    a.summary = "measures how widely each attention head looks, how far, and how much at the first";
    a.purpose =
        "Spread says of each attention head whether it looks at one object or at many, how far the "
        "object is that it looks at most, and how much attention rests on the first object. Most "
        "models take seconds.";
    a.progressText = "Reading attention";
    a.input = AnalysisInput::Data;
    a.onDemand = true;
    return answering(a, spreadFields(), OfferedIn::Row);
});

}  // namespace relascope::core
