// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptors of single heads with feature maps and of the inner-product relation (DAT 2.4).
#include "model/group_fields.h"
#include "model/one_head/one_head_options.h"

namespace relascope::core {
namespace {

std::int64_t mapParameters(std::int64_t in, std::int64_t width, std::int64_t out) {
    return (in + 1) * width + (width + 1) * width + (width + 1) * out;
}

// The number of parameters of a head with feature maps of that width.
std::int64_t headParameters(const OneHeadOptions& o, HeadKind kind, std::int64_t width) {
    const auto map = [&](std::int64_t out) { return mapParameters(o.object_dim, width, out); };
    std::int64_t count = 2 * map(o.keyDim());
    if (kind == HeadKind::Sensory) return count + map(o.out_dim);
    count += (o.n_objects - 1 + o.out_dim) * o.symbolDim();
    if (kind == HeadKind::Relational)
        count += 2 * map(o.n_relations * o.rel_proj_dim) + o.out_dim * o.n_relations;
    return count;
}

}  // namespace

std::int64_t featureWidth(const OneHeadOptions& o) {
    if (o.kind == HeadKind::Relational) return o.d_model;
    const auto wanted = headParameters(o, HeadKind::Relational, o.d_model);
    const auto has = [&](std::int64_t width) { return headParameters(o, o.kind, width); };
    // The count grows with the width: takes the first width with at least as many parameters, or
    // the one before.
    std::int64_t below = 1, enough = 2;
    while (has(enough) < wanted) below = enough, enough *= 2;
    while (enough - below > 1) {
        const auto middle = (below + enough) / 2;
        (has(middle) < wanted ? below : enough) = middle;
    }
    return wanted - has(below) < has(enough) - wanted ? below : enough;
}

namespace {

void problems(const OneHeadOptions& o, ProblemList& list) {
    if (!list.empty()) return;
    list.atLeast("n_objects", o.n_objects, 2);
    list.atLeast("n_relations", o.n_relations, 1);
    list.atLeast("rel_proj_dim", o.rel_proj_dim, 1);
}

void shapes(const OneHeadOptions& o, ShapeList& list) {
    const auto width = featureWidth(o);
    const auto map = [&](const char* name, std::int64_t out) {
        list.mlp(name, {o.object_dim, width, width, out});
    };
    const bool sensory = o.kind == HeadKind::Sensory, relational = o.kind == HeadKind::Relational;
    if (relational) list.parameter("head.wr", {o.out_dim, o.n_relations});
    if (!sensory) list.parameter("head.symbols", {o.n_objects - 1, o.symbolDim()});
    map("head.query", o.keyDim());
    map("head.key", o.keyDim());
    if (sensory) return map("head.value", o.out_dim);
    if (relational) {
        map("head.rel_query", o.n_relations * o.rel_proj_dim);
        map("head.rel_key", o.n_relations * o.rel_proj_dim);
    }
    list.linear("head.wv", o.symbolDim(), o.out_dim, false);
}

void outline(const OneHeadOptions& o, OutlineBuilder& builder) {
    auto* head = builder.add("head", "head",
                             "feature maps " + std::to_string(featureWidth(o)) + " wide, relu");
    if (!head) return;
    const std::string products =
        countText(o.n_relations, "relation") + " of " + std::to_string(o.rel_proj_dim);
    builder.add(*head, "attention queries", "query");
    builder.add(*head, "attention keys", "key");
    builder.add(*head, "relation queries", "rel_query", products);
    builder.add(*head, "relation keys", "rel_key", products);
    builder.add(*head, "relations to output", "wr", countText(o.out_dim, "number"));
    builder.add(*head, "values", "value", countText(o.out_dim, "number"));
    builder.add(*head, "learned symbols", "symbols", std::to_string(o.n_objects - 1) + " rows");
    builder.add(*head, "symbols to output", "wv", countText(o.out_dim, "number"));
}

Architecture<OneHeadOptions> head(HeadKind kind, const char* name, const char* title, int order) {
    using Options = OneHeadOptions;
    using namespace fields;
    Architecture<Options> a;
    a.name = name;
    a.title = title;
    a.order = order;
    a.defaults.kind = kind;
    a.constructed.kind = kind;
    a.fields = withGroups<Options>(
        {{relations(&Options::n_relations), relationWidth(&Options::rel_proj_dim),
          keyWidth<Options>(&Options::key_dim, [](const Options& o) { return o.d_model; }),
          symbolWidth<Options>(&Options::symbol_dim, [](const Options& o) { return o.d_model; })}});
    a.problems = problems;
    a.text = [](const Options& o) {
        return std::string(o.kind == HeadKind::Relational ? "Relational head"
                           : o.kind == HeadKind::Sensory  ? "Sensory head"
                                                          : "RCA head");
    };
    a.shapes = shapes;
    a.outline = outline;
    a.layers = [](const Options& o) {
        return std::vector<LayerPlace>{
            {"head", {"head", 1, 0}, false, o.kind != HeadKind::Sensory}};
    };
    a.furtherSides = {{"query", {"x"}}};
    a.numbers = true;
    a.work = [](const Options& o) {
        return WorkEstimate{.d_model = featureWidth(o), .heads = 1, .relations = o.n_relations};
    };
    return a;
}

const RegisterArchitecture relational(head(HeadKind::Relational, "RelationalHead",
                                           "Single relational attention head", 170));
const RegisterArchitecture sensory(head(HeadKind::Sensory, "SensoryHead",
                                        "Single sensory attention head", 180));
const RegisterArchitecture cross(head(HeadKind::RelationalCross, "RcaHead",
                                      "Single relational cross-attention head", 190));

const RegisterArchitecture inner([] {
    using Options = InnerProductOptions;
    using namespace fields;
    Architecture<Options> a;
    a.name = "InnerProductRelation";
    a.title = "Inner-product relation";
    a.order = 200;
    a.constructed.symmetric_rels = false;
    a.numbers = true;
    a.fields = withGroups<Options>(
        {{relationWidth(&Options::rel_proj_dim), symmetric(&Options::symmetric_rels)}});
    a.problems = [](const Options& o, ProblemList& list) {
        if (!list.empty()) return;
        list.atLeast("rel_proj_dim", o.rel_proj_dim, 1);
        if (o.n_objects != 2)
            list.refuse("n_objects",
                        "an inner product needs 2 objects, not " + std::to_string(o.n_objects));
        if (o.out_dim != 1)
            list.refuse("out_dim",
                        "an inner product has 1 output, not " + std::to_string(o.out_dim));
    };
    a.text = [](const Options& o) {
        return std::string(o.symmetric_rels ? "Inner product, symmetric"
                                            : "Inner product, asymmetric");
    };
    a.shapes = [](const Options& o, ShapeList& list) {
        list.mlp("left", {o.object_dim, o.d_model, o.d_model, o.rel_proj_dim});
        if (!o.symmetric_rels)
            return list.mlp("right", {o.object_dim, o.d_model, o.d_model, o.rel_proj_dim});
        for (const char* place : {".0", ".2", ".4"})
            list.aliasOfLinear("right" + std::string(place), "left" + std::string(place), true);
    };
    a.outline = [](const Options& o, OutlineBuilder& builder) {
        const std::string map = std::to_string(o.d_model) + " wide, relu, to " +
                                std::to_string(o.rel_proj_dim) + " numbers";
        builder.add("feature map of the first", "left",
                    map + (o.symmetric_rels ? ", symmetric" : ""));
        builder.add("feature map of the second", "right", map);
    };
    a.layers = fixedLayers({{"relation", {"relations", 0, 0}}});
    a.work = [](const Options& o) { return WorkEstimate{.d_model = o.d_model, .heads = 1}; };
    return a;
}());

}  // namespace
}  // namespace relascope::core
