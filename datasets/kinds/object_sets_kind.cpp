// SPDX-License-Identifier: GPL-3.0-or-later
// Labelled sets of objects from a table of the user: the descriptor.
#include "datasets/kinds/kind_parts.h"

namespace relascope::datasets {
namespace {

DataKind objectSets() {
    DataKind k;
    k.name = "object-sets";
    k.title = "Sets of objects";
    k.help = "Your own sets of objects with a class each, from a table (CSV).";
    k.family = "Sets";
    k.order = 55;
    k.input = InputKind::Objects;
    k.unit = {"set", "sets"};
    k.generated = false;
    k.common = {{"path"}, {"test_size"}};
    k.problems = [](const DataOptions& o, std::vector<FieldProblem>& found) {
        if (o.path.empty())
            found.push_back({"path", "is empty; give a table with a row for each object"});
    };
    k.sizesFromFiles = [](const DataOptions&) { return true; };

    ImportForm table;
    table.id = "sets";
    table.title = "Sets of objects (CSV)";
    table.help = "A row for each object: set, label, and columns that describe it.";
    table.note = "sets";
    table.order = 70;
    table.anyTask = true;
    table.file = [](const std::string& path) -> std::optional<ImportMatch> {
        const auto name = lowerCase(path);
        if (!name.ends_with(".csv") && !name.ends_with(".tsv")) return std::nullopt;
        return ImportMatch{path, "", ""};
    };
    k.imports = {table};
    return k;
}

const DataKindRegistrar registered(objectSets);

}  // namespace
}  // namespace relascope::datasets
