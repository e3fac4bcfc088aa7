// SPDX-License-Identifier: GPL-3.0-or-later
// The field table of DataOptions: the common fields, and the own fields of each kind of data.
#include <algorithm>

#include "types/data_kind.h"

namespace relascope {
namespace {

using O = DataOptions;

// A field that applies to those kinds of data that use it.
OwnField common(int order, Field<O> field) {
    field.applies = [name = field.spec.name](const O& o) {
        const auto* kind = findDataKind(o.kind);
        return kind && kind->uses(name, o);
    };
    return {order, std::move(field)};
}

// Positions in the form; the own fields of the kinds are placed between them.
std::vector<OwnField> commonFields() {
    using namespace fields;
    std::vector<std::string> kinds, tasks;
    for (const auto* kind : dataKinds()) {
        kinds.push_back(kind->name);
        for (const auto& task : kind->tasks) tasks.push_back(task.name);
    }
    auto task = when<O>(
        [](const O& o) {
            const auto* kind = findDataKind(o.kind);
            return kind && kind->tasks.size() > 1;
        },
        choice(&O::task, "task", "Task", "Task to learn on these data.", tasks));
    task.choicesFor = [](const O& o) {
        const auto* kind = findDataKind(o.kind);
        return kind ? kind->taskNames() : std::vector<std::string>();
    };
    return {
        {10, advanced(choice(&O::kind, "kind", "Data", "Kind of training data.", kinds))},
        {20, task},
        common(30,
               text(&O::path, "path", "Files",
                    "Images: a .npz file, or a folder with <task>_<split>.npz, CIFAR or IDX "
                    "files, or one folder per class. Text: a text file, a folder of text files, "
                    "JSON lines or token shards. Mathematics: a folder with the published files. "
                    "Empty: generated data, or the data installed by the set-up.")),
        {60, integer(&O::train_size, "train_size", "Training size",
                     "Number of training examples: images, sets, sequences, or windows of text; 0 "
                     "means all available.",
                     0, 100000000)},
        {70, integer(&O::validation_size, "validation_size", "Validation size",
                     "Number of validation examples; 0 means all that are held out.", 0, 10000000)},
        common(90, integer(&O::test_size, "test_size", "Test size",
                           "Number of examples in each test split; 0 means all available.", 0,
                           10000000)),
        common(110, integer(&O::seed, "seed", "Data seed",
                            "Random seed of the data; independent of the seed of the run.", 0,
                            9007199254740992.0)),
        common(120, boolean(&O::streaming, "streaming", "Streaming",
                            "Generates new images in every epoch; the training size is the length "
                            "of an epoch.")),
        common(180, integer(&O::objects, "objects", "Objects",
                            "Pairs: number of ordered objects. Select-relate: number of candidate "
                            "objects. Symbol recovery: number of symbols m.",
                            2, 100000)),
        common(190,
               integer(&O::dim, "dim", "Dimension", "Number of features of an object.", 1, 100000)),
    };
}

}  // namespace

const FieldTable<DataOptions>& DataOptions::fieldTable() {
    static const FieldTable<O> table = [] {
        auto all = commonFields();
        for (const auto* kind : dataKinds()) {
            if (!kind->fields) continue;
            for (auto& own : kind->fields()) {
                own.field.applies = [kind, inner = own.field.applies](const O& o) {
                    return o.kind == kind->name && inner(o);
                };
                all.push_back(std::move(own));
            }
        }
        std::stable_sort(all.begin(), all.end(),
                         [](const OwnField& a, const OwnField& b) { return a.order < b.order; });
        FieldTable<O> table;
        for (auto& own : all) table.push_back(std::move(own.field));
        return table;
    }();
    return table;
}

}  // namespace relascope
