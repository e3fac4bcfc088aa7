// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptor of the Emergent Symbol Binding Network (Webb, Sinha and Cohen 2021).
#include "model/baselines/patch_info.h"
#include "model/esbn/esbn.h"
#include "model/group_fields.h"

namespace relascope::core {
namespace {

using Options = EsbnOptions;

FieldTable<Options> modelFields() {
    using namespace fields;
    return withGroups<Options>(
        {{integer(&Options::controller, "controller", "Controller width",
                  "Width of the LSTM that binds keys to objects.", 1, 65536),
          integer(&Options::key_dim, "key_dim", "Key width",
                  "Width of the keys that the controller writes and retrieves.", 1, 65536),
          boolean(&Options::context_norm, "context_norm", "Context normalisation",
                  "Normalises each feature over the objects of a problem.")}});
}

void problems(const Options& o, ProblemList& list) {
    list.atLeast("controller", o.controller, 1);
    list.atLeast("key_dim", o.key_dim, 1);
}

void shapes(const Options& o, ShapeList& list) {
    addPatchEmbedderShapes(list, o, o.d_model);
    if (o.context_norm) list.norm("context_norm", o.d_model);
    const std::int64_t gates = 4 * o.controller;
    list.parameter("binding.gain", {1});
    list.parameter("binding.bias", {1});
    list.parameter("binding.weight_ih", {gates, o.key_dim + 1});
    list.parameter("binding.weight_hh", {gates, o.controller});
    list.parameter("binding.bias_ih", {gates});
    list.parameter("binding.bias_hh", {gates});
    list.linear("binding.key", o.controller, o.key_dim);
    list.linear("binding.gate", o.controller, 1);
    list.linear("final_out", o.controller, o.num_classes);
}

void outline(const Options& o, OutlineBuilder& builder) {
    builder.add("patch embedding", "patch_embedder", patchText(o));
    builder.add("context normalisation", "context_norm");
    if (auto* binding = builder.add("binding of keys to objects", "binding",
                                    "LSTM " + std::to_string(o.controller) + " wide")) {
        builder.add(*binding, "keys", "key", std::to_string(o.key_dim) + " wide");
        builder.add(*binding, "gate", "gate");
    }
    builder.add("answer of the controller", "final_out",
                std::to_string(o.num_classes) + " classes");
}

const RegisterArchitecture model([] {
    Architecture<Options> a;
    a.name = "ESBN";
    a.title = "Emergent Symbol Binding Network";
    a.order = 64;
    a.fields = modelFields();
    a.problems = problems;
    a.text = [](const Options& o) { return "ESBN LSTM " + std::to_string(o.controller); };
    a.shapes = shapes;
    a.outline = outline;
    // An object is compared with those before it.
    a.layers = fixedLayers({{"binding", {"retrieval", 0, 0}, true, true}});
    a.work = [](const Options& o) {
        WorkEstimate estimate;
        estimate.d_model = o.controller;
        estimate.dff = o.key_dim;
        estimate.heads = estimate.relations = 1;
        return estimate;
    };
    return a;
}());

}  // namespace
}  // namespace relascope::core
