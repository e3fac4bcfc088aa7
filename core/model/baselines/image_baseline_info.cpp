// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptors of CoRelNet and PrediNet on images, as in DAT's Relational Games.
#include "model/baselines/baseline_options.h"
#include "model/baselines/patch_info.h"
#include "model/group_fields.h"

namespace relascope::core {
namespace {

template <class Options>
Architecture<Options> imageBaseline() {
    Architecture<Options> a;
    a.work = [](const Options& o) {
        return WorkEstimate{.d_model = o.d_model, .dff = 4 * o.d_model, .heads = 1};
    };
    return a;
}

template <class Options>
void readSizes(Options& o, JsonArguments& a, const char* classes) {
    a.require({"image_shape", "patch_size", "d_model"});
    a.read("image_shape", o.image_shape, 3);
    a.read("patch_size", o.patch_size, 2);
    a.read("d_model", o.d_model);
    a.read(classes, o.num_classes);
}

void shapes(const CoRelNetOptions& o, ShapeList& list) {
    const std::int64_t d = o.d_model, n = o.patches();
    addPatchEmbedderShapes(list, o, d);
    list.mlp("mlp_embedder", {d, 4 * d, d});
    list.linear("mlp_predictor.0", n * n, d);
    list.linear("mlp_predictor.2", d, d);
    list.linear("mlp_predictor.3", d, o.num_classes);
}

void outline(const CoRelNetOptions& o, OutlineBuilder& builder) {
    builder.add("patch embedding", "patch_embedder", patchText(o));
    builder.add("object embedding", "mlp_embedder");
    builder.add("predictor", "mlp_predictor", std::to_string(o.num_classes) + " classes");
}

Architecture<CoRelNetOptions> coRelNet(bool softmax) {
    using Options = CoRelNetOptions;
    auto a = imageBaseline<Options>();
    a.name = softmax ? "CoRelNetSoftmax" : "CoRelNet";
    a.title = softmax ? "CoRelNet" : "CoRelNet, linear";
    a.order = softmax ? 50 : 40;
    a.defaults.softmax = softmax;
    a.fields = fields::withGroups<Options>({});
    a.text = [](const Options& o) {
        return std::string(o.softmax ? "CoRelNet" : "CoRelNet, linear");
    };
    a.shapes = shapes;
    a.outline = outline;
    a.layers = fixedLayers({{"relation", {"relations", 0, 0}}});
    a.readConfig = [](Options& o, JsonArguments& json) { readSizes(o, json, "num_classes"); };
    a.writeConfig = [](const Options& o) {
        return ConfigJson{{"image_shape", o.image_shape},
                          {"patch_size", o.patch_size},
                          {"d_model", o.d_model},
                          {"num_classes", o.num_classes}};
    };
    return a;
}

const RegisterArchitecture linear(coRelNet(false));
const RegisterArchitecture softmax(coRelNet(true));

void problems(const PrediNetOptions& o, ProblemList& list) {
    if (!list.empty()) return;
    list.atLeast("n_heads_sa", o.n_heads_sa, 1);
    list.atLeast("n_relations", o.n_relations, 1);
}

void shapes(const PrediNetOptions& o, ShapeList& list) {
    const std::int64_t width = o.d_model + 1, key = o.keyDim(), n = o.patches();
    addPatchEmbedderShapes(list, o, o.d_model);
    list.linear("predinet.W_k", width, key, false);
    list.linear("predinet.W_q1", n * width, o.n_heads_sa * key, false);
    list.linear("predinet.W_q2", n * width, o.n_heads_sa * key, false);
    list.linear("predinet.W_s", width, o.n_relations, false);
    list.mlp("mlp_predictor", {o.n_heads_sa * (o.n_relations + 2), o.d_model, o.num_classes});
}

void outline(const PrediNetOptions& o, OutlineBuilder& builder) {
    builder.add("patch embedding", "patch_embedder", patchText(o));
    builder.add("PrediNet heads", "predinet",
                countText(o.n_heads_sa, "head") + ", " + countText(o.n_relations, "relation"));
    builder.add("predictor", "mlp_predictor", std::to_string(o.num_classes) + " classes");
}

const RegisterArchitecture predinet([] {
    using Options = PrediNetOptions;
    using namespace fields;
    auto a = imageBaseline<Options>();
    a.name = "PrediNet";
    a.title = "PrediNet";
    a.order = 60;
    a.fields = withGroups<Options>({{heads(&Options::n_heads_sa), relations(&Options::n_relations),
                                     keyWidth<Options>(&Options::key_dim, [](const Options& o) {
                                         return o.d_model / std::max<std::int64_t>(1, o.n_heads_sa);
                                     })}});
    a.problems = problems;
    a.text = [](const Options& o) { return "PrediNet " + std::to_string(o.n_heads_sa) + " heads"; };
    a.shapes = shapes;
    a.outline = outline;
    a.layers = fixedLayers({{"predinet", {"selection", 1, 0}}});
    a.furtherSides = {{"selection", {"E1", "E2"}}};
    a.readConfig = [](Options& o, JsonArguments& json) {
        readSizes(o, json, "n_classes");
        json.require({"n_heads", "n_relations"});
        json.read("n_heads", o.n_heads_sa);
        json.read("n_relations", o.n_relations);
        json.read("key_dim", o.key_dim);
    };
    a.writeConfig = [](const Options& o) {
        ConfigJson json = {{"image_shape", o.image_shape}, {"patch_size", o.patch_size},
                           {"d_model", o.d_model},         {"n_classes", o.num_classes},
                           {"n_heads", o.n_heads_sa},      {"n_relations", o.n_relations}};
        if (o.key_dim > 0 && o.key_dim != o.d_model / o.n_heads_sa) json["key_dim"] = o.key_dim;
        return json;
    };
    // The configuration does not contain the key width.
    a.readTensors = [](Options& o, const auto& shape) {
        const auto keys = shape("predinet.W_k.weight");
        if (o.key_dim == 0 && keys.size() == 2) o.key_dim = keys[0];
    };
    return a;
}());

}  // namespace
}  // namespace relascope::core
