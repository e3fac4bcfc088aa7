// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/nearest/nearest.h"
#include "answers/column_table.h"

namespace relascope::core {

const FieldTable<NearestOptions>& nearestFields() {
    using O = NearestOptions;
    static const FieldTable<O> table = {
        fields::integer(&O::example, "example", "Picture",
                        "picture of the split that the others are compared with, from 0", 0, 1e9),
        fields::integer(&O::top, "top", "Nearest", "how many are shown", 1, 1000),
        fields::integer(&O::examples, "examples", "Examples", "pictures that are compared, at most",
                        2, 1e6)};
    return table;
}

Answer emptyNearest() {
    using namespace columns;
    const NumberFormat cosine{3}, share{1, true};
    return {
        {tableWith("", "", integer("examples", {"Pictures"}), integer("width", {"Features"}),
                   number("same_class", {"Nearest of the same class", share,
                                         "Pictures whose nearest other picture has their class"}),
                   number("by_chance", {"By chance", share,
                                        "The same where another picture is drawn in its place"})),
         tableWith("nearest", "Nearest pictures", integer("rank", {"Rank"}),
                   integer("picture", {"Picture", {}, {}, {}, {}, "pictures"}),
                   integer("example", {"Example"}), text("class", {"Class"}),
                   number("cosine", {"Cosine", cosine, "Of the features"}))}};
}

const RegisterAnalysis kNearest([] {
    Analysis a;
    a.name = "nearest";
    a.place = 66;
    a.title = "Nearest";
    a.summary = "finds the pictures whose features are most like those of one";
    a.purpose =
        "The pictures whose features are most like those of one, of models whose answer are "
        "features, and how many pictures have one of their own class as the nearest.";
    a.progressText = "Reading features";
    a.page = AnalysisPage::None;  // the window has no pictures for models without data
    a.input = AnalysisInput::Data;
    a.readsFeatures = true;
    a.onDemand = true;
    return answering(a, nearestFields(), OfferedIn::Row);
});

}  // namespace relascope::core
