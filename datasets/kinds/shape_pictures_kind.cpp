// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of coloured shapes with masks: the descriptor.
#include "datasets/kinds/kind_parts.h"

namespace relascope::datasets {
namespace {

DataKind shapePictures() {
    DataKind k;
    k.name = "shape-pictures";
    k.title = "Shapes with masks";
    k.help = "Pictures of a few coloured shapes, with a mask of each: are any the same?";
    k.family = "Vision relations";
    k.order = 15;
    k.input = InputKind::Images;
    k.unit = {"picture", "pictures"};
    const std::vector<std::string> twice = {"all differ", "one occurs twice"},
                                   match = {"other relation", "same relation"};
    k.tasks = {
        {"same-different", "Same shapes",
         "Two to four shapes on a grid of patches: does one occur twice?", twice},
        {"same-different-anywhere", "Same shapes, anywhere",
         "The same with shapes that lie off the grid of patches.", twice},
        {"rmts", "Match of pairs",
         "A pair on the left and one on the right: are both the same, or both different?", match},
        {"rmts-anywhere", "Match of pairs, anywhere",
         "The same with shapes that lie off the grid of patches.", match}};
    k.families = {"new-kinds"};
    k.attributes = {"colour", "shape"};
    k.endless = true;
    k.tasksAlike = true;
    k.common = {{"test_size"}, {"seed"}, {"streaming"}};
    k.problems = [](const DataOptions& o, std::vector<FieldProblem>& found) {
        requireSizes(o, found);
    };
    k.fit = [](const DataOptions&, ModelOptions& m) {
        auto* images = m.find<ImageInput>();
        if (!images) return;  // another kind of input; reported as a problem of the options
        images->image_shape = {3, 32, 32};
        images->num_classes = 2;
    };
    return k;
}

const DataKindRegistrar registered(shapePictures);

}  // namespace
}  // namespace relascope::datasets
