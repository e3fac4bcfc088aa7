// SPDX-License-Identifier: GPL-3.0-or-later
// Relational Games (DAT 4.1): the descriptor.
#include "datasets/kinds/kind_parts.h"

namespace relascope::datasets {
namespace {

bool generatedPatterns(const DataOptions& o) {
    return o.task == "match_pattern" && o.path.empty();
}

bool isArchive(const DataOptions& o) {
    return lowerCase(o.path).ends_with(".npz");
}

std::vector<OwnField> gameFields() {
    using O = DataOptions;
    using namespace fields;
    return {
        {100, choice(&O::family, "family", "Train on",
                     "Shape family used for training and validation; the others are test splits.",
                     gameFamilies())},
        {115, when<O>(isArchive,
                      text(&O::arrays, "arrays", "Arrays",
                           "Names of the arrays of the .npz: images,labels, or with those of the "
                           "test split images,labels,images,labels. Empty: those that look like "
                           "it."))},
        {130, when<O>(generatedPatterns, text(&O::patterns, "patterns", "Patterns",
                                              "Patterns to generate, comma-separated."))}};
}

void patternProblems(const DataOptions& o, std::vector<FieldProblem>& found) {
    std::string rest = o.patterns + ",";
    std::size_t count = 0;
    for (std::size_t comma; (comma = rest.find(',')) != std::string::npos;
         rest.erase(0, comma + 1), ++count) {
        const std::string name = rest.substr(0, comma);
        if (name != "AAA" && name != "AAB" && name != "ABA" && name != "ABB" && name != "ABC")
            found.push_back({"patterns", "'" + name + "' must be one of AAA, AAB, ABA, ABB, ABC"});
    }
    if (count < 2)
        found.push_back({"patterns", "needs at least two patterns, separated by commas"});
}

ImportForm archive() {
    ImportForm form;
    form.id = form.note = "npz";
    form.title = "Labelled images (.npz)";
    form.help = "A NumPy archive with images and labels, by any names.";
    form.order = 10;
    form.anyTask = true;
    form.file = [](const std::string& path) -> std::optional<ImportMatch> {
        if (!lowerCase(path).ends_with(".npz")) return std::nullopt;
        return ImportMatch{path, "", ""};
    };
    return form;
}

ImportForm published() {
    ImportForm form;
    form.id = form.note = "games";
    form.title = "Relational Games (folder of .npz)";
    form.help = "A folder with <task>_<family>.npz, as published.";
    form.order = 20;
    form.asksTask = true;
    form.folder = [](const FolderNames& names) -> std::optional<ImportMatch> {
        for (const auto& name : names.files)
            for (const auto& task : dataKind("relational-games").tasks)
                for (const auto& family : gameFamilies())
                    if (name == gameFile(task.name, family))
                        return ImportMatch{names.path, task.name, "found " + name};
        return std::nullopt;
    };
    return form;
}

DataKind games() {
    DataKind k;
    k.name = "relational-games";
    k.title = "Relational Games";
    k.help = "Images of a few figures: do they stand in a relation?";
    k.family = "Vision relations";
    k.order = 10;
    k.input = InputKind::Images;
    k.unit = {"image", "images"};
    k.tasks = {{"same",
                "Same",
                "Two figures: are they the same in shape, orientation and colour?",
                {"different", "same"}},
               {"occurs",
                "Occurs",
                "Is the top figure among the three at the bottom?",
                {"absent", "occurs"}},
               {"xoccurs",
                "XOccurs",
                "Is the top figure among the three at the bottom, with the other two different?",
                {"absent", "occurs"}},
               {"between",
                "Between",
                "Three figures in a line: are the outer two the same and the middle one different?",
                {"not between", "between"}},
               {"match_pattern",
                "Match pattern",
                "Do the top and the bottom row follow the same pattern, such as ABA?",
                {"no match", "match"}}};
    k.families = gameFamilies();
    k.attributes = {"shape", "orientation", "colour"};
    k.endless = true;
    k.tasksAlike = true;
    k.common = {{"path"}, {"test_size"}, {"seed", withoutPath}, {"streaming", withoutPath}};
    k.fields = gameFields;
    k.problems = [](const DataOptions& o, std::vector<FieldProblem>& found) {
        if (o.train_size < 2) found.push_back({"train_size", "needs at least 2 images"});
        if (o.validation_size < 2) found.push_back({"validation_size", "needs at least 2 images"});
        if (o.task == "match_pattern") patternProblems(o, found);
    };
    k.imports = {archive(), published()};
    k.importOf = [](const DataOptions& o) -> std::string { return isArchive(o) ? "npz" : "games"; };
    return k;
}

const DataKindRegistrar registered(games);

}  // namespace
}  // namespace relascope::datasets
