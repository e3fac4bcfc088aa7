// SPDX-License-Identifier: GPL-3.0-or-later
// Pairwise order (ABS 4.1): the descriptor.
#include "datasets/generators/sorting.h"
#include "datasets/kinds/kind_parts.h"

namespace relascope::datasets {
namespace {

bool random(const DataOptions& o) {
    return o.task == "order";
}

DataKind pairs() {
    DataKind k;
    k.name = "pairs";
    k.title = "Pairwise order";
    k.help = "Two objects of an ordered set: does the first come before the second?";
    k.family = "Order and sorting";
    k.order = 40;
    k.input = InputKind::Objects;
    k.unit = {"pair", "pairs"};
    k.tasks = {{"order",
                "Pairwise order",
                "Two random objects: does the first come before the second?",
                {"after", "before"}},
               {"sorting-order",
                "Order of two sorted objects",
                "The same with the objects of the sorting task, used for pretraining.",
                {"after", "before"}}};
    k.attributes = {"place in the order"};
    k.common = {{"test_size"}, {"seed", withoutPath}, {"objects", random}, {"dim", random}};
    k.problems = [](const DataOptions& o, std::vector<FieldProblem>& found) {
        requireAtLeast(found, "objects", o.objects, 2);
    };
    k.fit = [](const DataOptions& o, ModelOptions& m) {
        fitObjects(m, 2, o.task == "sorting-order" ? SortingObjects::kWidth : o.dim, 1);
    };
    k.allExamples = [](const DataOptions& o) -> std::int64_t {
        const std::int64_t objects = random(o) ? o.objects : SortingObjects::kCount;
        return std::max<std::int64_t>(1, objects * (objects - 1) / 2);
    };
    return k;
}

const DataKindRegistrar registered(pairs);

}  // namespace
}  // namespace relascope::datasets
