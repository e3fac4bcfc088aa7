// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptor of the robust regression.
#include "model/group_fields.h"
#include "model/robust_regression/robust_regression_options.h"

namespace relascope::core {
namespace {

const RegisterArchitecture model([] {
    using Options = RobustRegressionOptions;
    using namespace fields;
    Architecture<Options> a;
    a.name = "RobustRegression";
    a.title = "Robust regression";
    a.order = 210;
    auto sparsity = advanced(real(&Options::sparsity, "sparsity", "Sparsity weight",
                                  "Weight lambda of the sparsity penalty |u|_1; 0 for dense "
                                  "mixtures.",
                                  0.0, 1e6));
    sparsity.spec.formerName = "rel_scale";
    a.fields = withGroups<Options>({{sparsity}});
    a.problems = [](const Options& o, ProblemList& list) {
        if (!list.empty()) return;
        list.atLeast("n_objects", o.n_objects, 2);
        if (o.out_dim != o.n_objects - 1)
            list.refuse("out_dim", "with " + std::to_string(o.n_objects - 1) +
                                       " symbols and one mixture there are " +
                                       std::to_string(o.n_objects - 1) + " weights, not " +
                                       std::to_string(o.out_dim));
    };
    a.text = [](const Options&) { return std::string("Robust regression"); };
    a.shapes = [](const Options&, ShapeList& list) {
        list.parameter("regression.lambda", {1}, false);
    };
    a.outline = [](const Options&, OutlineBuilder& builder) {
        builder.add("robust regression", "regression", "solved for each example, not trained");
    };
    a.layers = fixedLayers({{"regression", {"regression", 1, 0}}});
    a.numbers = true;
    a.furtherSides = {{"column", {"observed"}}};
    a.work = [](const Options& o) { return WorkEstimate{.d_model = o.object_dim}; };
    return a;
}());

}  // namespace
}  // namespace relascope::core
