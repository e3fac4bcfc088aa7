// SPDX-License-Identifier: GPL-3.0-or-later
// Regression on sets of objects (DAT 2.4, ABS 3, and the recovery of relations in the earlier
// manuscript of ABS): the descriptors.
#include "datasets/kinds/kind_parts.h"

namespace relascope::datasets {
namespace {

bool sparse(const DataOptions& o) {
    return o.task == "sparse";
}

// The common part of the three kinds.
DataKind numberSets() {
    DataKind k;
    k.input = InputKind::Objects;
    k.endless = true;
    k.common = {{"test_size"}, {"seed", withoutPath}, {"dim"}};
    return k;
}

DataKind selectRelate() {
    DataKind k = numberSets();
    k.name = "select-relate";
    k.title = "Select and relate";
    k.help = "One object selects another one: which relations are there between the two?";
    k.family = "Single-head tasks";
    k.order = 80;
    k.unit = {"set", "sets"};
    k.tasks = {{"select-relate", "Select and relate",
                "One object selects one of eight others: what are its two relations to the "
                "selected object?"},
               {"select-kernel", "Select and relate, kernel",
                "The same with one relation, a Gaussian kernel."},
               {"select-wave", "Select and relate, wave",
                "The same with one relation, a sine, which is a sum of two products."}};
    k.metric = "mean_error";
    k.common.push_back({"objects"});
    k.problems = [](const DataOptions& o, std::vector<FieldProblem>& found) {
        requireAtLeast(found, "objects", o.objects, 2);
        requireAtLeast(found, "dim", o.dim, 1);
        requireSizes(o, found);
    };
    k.fit = [](const DataOptions& o, ModelOptions& m) {
        fitObjects(m, o.objects + 1, o.dim, o.task == "select-relate" ? 2 : 1);
    };
    return k;
}

DataKind innerProducts() {
    DataKind k = numberSets();
    k.name = "inner-products";
    k.title = "Inner-product relations";
    k.help = "Two points and a relation to be written as an inner product of feature maps.";
    k.family = "Single-head tasks";
    k.order = 90;
    k.unit = {"pair", "pairs"};
    k.tasks = {{"gaussian-kernel", "Gaussian kernel",
                "Two points and their Gaussian kernel, which is near 1 if they are close."},
               {"order-relation", "Order relation", "Two points and their order: 1 or -1."}};
    k.metric = "mean_error";
    k.problems = [](const DataOptions& o, std::vector<FieldProblem>& found) {
        requireAtLeast(found, "dim", o.dim, 1);
        requireSizes(o, found);
    };
    k.fit = [](const DataOptions& o, ModelOptions& m) { fitObjects(m, 2, o.dim, 1); };
    return k;
}

std::vector<OwnField> recoveryFields() {
    using O = DataOptions;
    using namespace fields;
    return {{230, real(&O::adversarial, "adversarial", "Outlier fraction",
                       "Fraction of the values that are replaced by outliers.", 0.0, 1.0)},
            {240, when<O>(sparse, integer(&O::nonzero, "nonzero", "Non-zero weights",
                                          "Number of symbols in each mixture.", 1, 100000))}};
}

DataKind symbolRecovery() {
    DataKind k = numberSets();
    k.name = "symbol-recovery";
    k.title = "Symbol recovery";
    k.help = "A mixture of symbols with outliers: recover the weights.";
    k.family = "Symbol recovery";
    k.order = 100;
    k.unit = {"problem", "problems"};
    k.tasks = {{"dense", "Dense mixture",
                "A dense mixture of random symbols with outliers: recover the mixture weights."},
               {"sparse", "Sparse mixture",
                "A sparse mixture of a few of many random symbols with outliers: recover the "
                "weights."}};
    k.metric = "recovered";
    k.common.push_back({"objects"});
    k.fields = recoveryFields;
    k.problems = [](const DataOptions& o, std::vector<FieldProblem>& found) {
        requireAtLeast(found, "objects", o.objects, 2);
        requireAtLeast(found, "dim", o.dim, 1);
        requireSizes(o, found);
        if (sparse(o) && o.nonzero > o.objects)
            found.push_back(
                {"nonzero", "is more than the " + std::to_string(o.objects) + " symbols"});
    };
    k.fit = [](const DataOptions& o, ModelOptions& m) {
        fitObjects(m, o.objects + 1, o.dim, o.objects);
        // The weight of |u|_1 is used for sparse relations only.
        if (!m.has("sparsity")) return;
        if (!sparse(o))
            m.set("sparsity", 0.0);
        else if (m.value("sparsity") == FieldValue(0.0))
            m.set("sparsity", 1.0);
    };
    return k;
}

const DataKindRegistrar registered[] = {DataKindRegistrar(selectRelate),
                                        DataKindRegistrar(innerProducts),
                                        DataKindRegistrar(symbolRecovery)};

}  // namespace
}  // namespace relascope::datasets
