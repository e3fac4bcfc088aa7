// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptor of the Relation Network (Santoro et al. 2017).
#include "model/baselines/patch_info.h"
#include "model/group_fields.h"
#include "model/relation_network/relation_network.h"

namespace relascope::core {
namespace {

using Options = RelationNetworkOptions;

FieldTable<Options> modelFields() {
    using namespace fields;
    return withGroups<Options>(
        {{integers(&Options::relation_layers, "relation_layers", "Relation layers",
                   "Widths of the layers of g, which compares two objects; the last one is the "
                   "number of relations.",
                   1, 1048576),
          hiddenLayers(&Options::hidden_layers)}});
}

void problems(const Options& o, ProblemList& list) {
    if (o.relation_layers.empty())
        list.refuse("relation_layers", "needs at least one width: the number of relations");
}

void shapes(const Options& o, ShapeList& list) {
    addPatchEmbedderShapes(list, o, o.d_model);
    list.mlp("relation.g", o.relationWidths());
    list.mlp("f", o.answerWidths());
}

void outline(const Options& o, OutlineBuilder& builder) {
    builder.add("patch embedding", "patch_embedder", patchText(o));
    builder.add("relation of two objects, g", "relation",
                countText(o.relation_layers.back(), "relation") + ", relu");
    builder.add("answer from their sum, f", "f", std::to_string(o.num_classes) + " classes");
}

WorkEstimate work(const Options& o) {
    WorkEstimate estimate;
    estimate.d_model = o.d_model;
    for (const auto width : o.relation_layers) estimate.relations += width;
    return estimate;
}

const RegisterArchitecture model([] {
    Architecture<Options> a;
    a.name = "RelationNetwork";
    a.title = "Relation Network";
    a.order = 62;
    a.fields = modelFields();
    a.problems = problems;
    a.text = [](const Options& o) {
        return "Relation Network " + std::to_string(o.relation_layers.back()) + " relations";
    };
    a.shapes = shapes;
    a.outline = outline;
    a.layers = fixedLayers({{"relation", {"pairs", 0, 0}}});
    a.work = work;
    return a;
}());

}  // namespace
}  // namespace relascope::core
