// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptors of the relations of pairs and of the Abstractor with frozen relations (ABS 4.5).
#include "model/abstractor/abstractor_options.h"
#include "model/group_fields.h"

namespace relascope::core {
namespace {

using Pairs = PairRelationsOptions;
using Fixed = FixedRelationOptions;

template <class Options>
void problems(const Options& o, ProblemList& list) {
    if (!list.empty()) return;
    list.atLeast("n_relations", o.n_relations, 1);
    list.atLeast("rel_proj_dim", o.rel_proj_dim, 1);
    if constexpr (std::is_same_v<Options, Pairs>) {
        if (o.n_objects != 2)
            list.refuse("n_objects", "pairs have 2 objects, not " + std::to_string(o.n_objects));
        if (o.n_relations != o.out_dim)
            list.refuse("n_relations", "must be equal to model.out_dim, " +
                                           std::to_string(o.out_dim) +
                                           ": one relation per output bit");
    }
}

template <class Options>
void shapes(const Options& o, ShapeList& list) {
    constexpr bool trained = std::is_same_v<Options, Pairs>;
    if constexpr (!trained) list.parameter("symbols", {o.n_objects, o.symbolDim()}, false);
    for (const char* part : {"relation.wq", "relation.wk"})
        list.linear(part, o.object_dim, o.n_relations * o.rel_proj_dim, true, trained);
    if constexpr (!trained) list.mlp("layers", o.widths());
}

template <class Options>
void outline(const Options& o, OutlineBuilder& builder) {
    constexpr bool frozen = std::is_same_v<Options, Fixed>;
    builder.add(frozen ? "frozen relations" : "relations", "relation",
                countText(o.n_relations, "relation") + " of " + std::to_string(o.rel_proj_dim) +
                    (frozen ? ", sigmoid" : ""));
    builder.add("fixed symbols", "symbols", std::to_string(o.n_objects) + " rows");
    builder.add("layers", "layers", "relu");
}

template <class Options>
Architecture<Options> relationsOfPairs() {
    using namespace fields;
    Architecture<Options> a;
    a.fields = withGroups<Options>({{relations<Options>(&Options::n_relations),
                                     relationWidth<Options>(&Options::rel_proj_dim)}});
    a.problems = problems<Options>;
    a.shapes = shapes<Options>;
    a.outline = outline<Options>;
    a.layers = fixedLayers({{"relation", {"relations", 0, 0}}});
    a.work = [](const Options& o) {
        return WorkEstimate{.d_model = o.n_relations * o.rel_proj_dim, .relations = o.n_relations};
    };
    return a;
}

const RegisterArchitecture pairs([] {
    auto a = relationsOfPairs<Pairs>();
    a.name = "PairRelations";
    a.title = "Relations of pairs";
    a.order = 240;
    a.text = [](const Pairs&) { return std::string("Pair relations"); };
    return a;
}());

const RegisterArchitecture fixed([] {
    auto a = relationsOfPairs<Fixed>();
    a.name = "FixedRelationAbstractor";
    a.title = "Abstractor with fixed relations";
    a.order = 250;
    a.text = [](const Fixed& o) {
        return "Abstractor " + std::to_string(o.n_relations) + " frozen relations";
    };
    a.fields.insert(a.fields.begin() + 2,
                    {fields::symbolWidth<Fixed>(&Fixed::symbol_dim,
                                                [](const Fixed& o) { return o.symbolDim(); }),
                     fields::hiddenLayers(&Fixed::hidden_layers)});
    return a;
}());

}  // namespace
}  // namespace relascope::core
