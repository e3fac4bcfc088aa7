// SPDX-License-Identifier: GPL-3.0-or-later
// Mathematics (DAT 4.2): the descriptor.
#include "datasets/generators/math/problem.h"
#include "datasets/kinds/kind_parts.h"

namespace relascope::datasets {
namespace {

// A module with a file in the folder.
std::string moduleIn(const FolderNames& names) {
    for (const auto& task : dataKind("math").tasks)
        if (names.hasFile(task.name + ".txt")) return task.name;
    return {};
}

ImportForm files() {
    ImportForm form;
    form.id = "math";
    form.title = "Questions and answers";
    form.help =
        "A text file with alternating question and answer lines, or the folder that contains "
        "train-easy, interpolate and so on.";
    form.note = "math";
    form.order = 70;
    form.asksTask = true;
    form.folder = [](const FolderNames& names) -> std::optional<ImportMatch> {
        for (const char* part : {"train-easy", "train", "interpolate"})
            if (names.hasFolder(part))
                if (const auto task = moduleIn(names.inside(part)); !task.empty())
                    return ImportMatch{names.path, task,
                                       std::string("found ") + part + "/" + task + ".txt"};
        return std::nullopt;
    };
    form.file = [](const std::string& path) -> std::optional<ImportMatch> {
        const auto name = fileName(path);
        for (const auto& task : dataKind("math").tasks)
            if (name == task.name + ".txt") return ImportMatch{path, task.name, ""};
        return std::nullopt;
    };
    return form;
}

DataKind math() {
    using namespace mathematics;
    DataKind k;
    k.name = "math";
    k.title = "Mathematics";
    k.help = "Questions of mathematics and their answers, character by character.";
    k.family = "Mathematics";
    k.order = 60;
    k.input = InputKind::Pairs;
    k.unit = {"question", "questions"};
    k.tasks = {
        {"algebra__linear_1d", "Linear equations", "\"Solve 24*b = 21*b - 15 for b.\": -5."},
        {"algebra__sequence_next_term", "Next term",
         "\"What comes next: 3, 8, 15, 24?\": 35, a polynomial of the index."},
        {"calculus__differentiate", "Differentiate",
         "A first, second or third derivative of a polynomial in up to four variables."},
        {"polynomials__add", "Add polynomials",
         "Add multiples of polynomials, some of them given in several sentences."},
        {"polynomials__expand", "Expand polynomials", "Expand products and sums of polynomials."}};
    k.tasksAlike = true;
    k.freeMetric = "sequence_accuracy";
    k.common = {{"path"}, {"test_size"}, {"seed", withoutPath}};
    k.fit = [](const DataOptions&, ModelOptions& m) {
        // Source and target have one token more than characters.
        fitSequences(m, "token", kMostQuestion + 1, kVocabulary, kMostAnswer + 1, kVocabulary,
                     kVocabulary, kPadding);
    };
    k.allExamples = [](const DataOptions& o) -> std::int64_t {
        return o.path.empty() ? kUsualTrain : 0;
    };
    k.imports = {files()};
    return k;
}

const DataKindRegistrar registered(math);

}  // namespace
}  // namespace relascope::datasets
