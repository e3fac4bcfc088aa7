// SPDX-License-Identifier: GPL-3.0-or-later
// The sorting of random objects (ABS 4.2-4.4): the descriptor.
#include "datasets/generators/sorting.h"
#include "datasets/kinds/kind_parts.h"

namespace relascope::datasets {
namespace {

std::vector<OwnField> sortingFields() {
    using O = DataOptions;
    using namespace fields;
    return {{200, integer(&O::length, "length", "Objects of a sequence",
                          "Number of objects to sort.", 2, 48)},
            {210, integer(&O::longest, "longest", "Longest test length",
                          "Adds test splits of every length from 11 to this one; the output "
                          "vocabulary grows accordingly.",
                          2, 48)},
            {220, boolean(&O::corruptions, "corruptions", "Corrupted test sets",
                          "Adds test splits with corrupted objects: multiplied by a random matrix, "
                          "or with added noise, at increasing strength.")}};
}

DataKind sorting() {
    DataKind k;
    k.name = "sorting";
    k.title = "Sorting";
    k.help = "Sequences of random objects to put in order.";
    k.family = "Order and sorting";
    k.order = 30;
    k.input = InputKind::Pairs;
    k.unit = {"sequence", "sequences"};
    k.tasks = {{"argsort", "Sorting", "Ten of 48 random objects: sort them by their order."},
               {"permuted-argsort", "Sorting, permuted attributes",
                "The same objects with a permuted order of their first attribute, used for "
                "pretraining."}};
    k.attributes = {"A", "B"};
    k.freeMetric = "sequence_accuracy";
    k.common = {{"test_size"}, {"seed", withoutPath}};
    k.fields = sortingFields;
    k.problems = [](const DataOptions& o, std::vector<FieldProblem>& found) {
        requireAtLeast(found, "length", o.length, 2);
        if (o.length > 48)
            found.push_back({"length", "must be at most 48, the number of different objects"});
        if (o.longest > 48)
            found.push_back({"longest", "must be at most 48, the number of different objects"});
    };
    k.fit = [](const DataOptions& o, ModelOptions& m) {
        const auto longest = std::max(o.length, o.longest);
        // One token more than positions: the start, which is never an answer.
        fitSequences(m, "vector", longest, SortingObjects::kWidth, longest, longest + 1, longest);
    };
    k.allExamples = [](const DataOptions& o) {
        return Sorting::poolSize(static_cast<int>(o.length)) * 7 / 10;
    };
    return k;
}

const DataKindRegistrar registered(sorting);

}  // namespace
}  // namespace relascope::datasets
