// SPDX-License-Identifier: GPL-3.0-or-later
// The abstract rule tasks (Webb, Sinha and Cohen 2021): the descriptor.
#include "datasets/kinds/kind_parts.h"

namespace relascope::datasets {
namespace {

constexpr std::int64_t kGlyphs = 100, kFewest = 6;

std::vector<OwnField> ruleFields() {
    using namespace fields;
    return {{100, integer(&DataOptions::held_out, "held_out", "Held-out glyphs m",
                          "Number of the 100 glyphs that appear in test problems only; published: "
                          "0, 50, 85 and 95.",
                          0, kGlyphs - 5)}};
}

/// Glyphs in one image, each a patch of its own.
std::int64_t glyphsOf(const DataOptions& o) {
    if (o.task == "same-different") return 2;
    return o.task == "matching" ? 6 : 9;
}

DataKind rules() {
    DataKind k;
    k.name = "rules";
    k.title = "Abstract rules";
    k.help = "Rows of glyphs: rules that hold for glyphs never seen in training.";
    k.family = "Abstract rules";
    k.order = 110;
    k.input = InputKind::Images;
    k.unit = {"problem", "problems"};
    const std::vector<std::string> choices = {"first", "second", "third", "fourth"};
    k.tasks = {{"same-different",
                "Same or different",
                "Two glyphs: are they the same?",
                {"different", "same"}},
               {"matching",
                "Relational match to sample",
                "Three pairs of glyphs: which of the last two is, like the first pair, the "
                "same or different?",
                {"first pair", "second pair"}},
               {"distribution-of-three", "Distribution of three",
                "Two rows of the same three glyphs: which of four choices completes the "
                "second row?",
                choices},
               {"identity-rules", "Identity rules",
                "Two rows with the same pattern, ABA, ABB or AAA: which of four choices "
                "completes the second row?",
                choices}};
    k.families = {"test"};
    k.attributes = {"glyph"};
    k.endless = true;
    k.tasksAlike = true;
    k.common = {{"test_size"}, {"seed", withoutPath}};
    k.fields = ruleFields;
    k.problems = [](const DataOptions& o, std::vector<FieldProblem>& found) {
        requireSizes(o, found);
        if (o.held_out > kGlyphs - kFewest + 1)
            found.push_back({"held_out", "leaves fewer than " + std::to_string(kFewest - 1) +
                                             " glyphs to train on"});
        if (o.held_out > 0 && o.held_out < kFewest)
            found.push_back({"held_out", "must be 0 or at least " + std::to_string(kFewest) +
                                             ": a test problem needs that many glyphs"});
    };
    k.fit = [](const DataOptions& o, ModelOptions& m) {
        if (auto* images = m.find<ImageInput>()) {
            images->image_shape = {1, 32 * glyphsOf(o), 32};
            images->num_classes = glyphsOf(o) == 9 ? 4 : 2;
        }
    };
    return k;
}

const DataKindRegistrar registered(rules);

}  // namespace
}  // namespace relascope::datasets
