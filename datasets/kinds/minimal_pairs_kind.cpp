// SPDX-License-Identifier: GPL-3.0-or-later
// Minimal pairs of sentences: the descriptor.
#include <fstream>

#include "datasets/kinds/kind_parts.h"

namespace relascope::datasets {
namespace {

std::vector<OwnField> minimalPairFields() {
    using namespace fields;
    using O = DataOptions;
    const auto generated = [](auto field) { return when<O>(withoutPath, std::move(field)); };
    return {{300, generated(integer(&O::distance, "distance", "Distance",
                                    "Phrases or adjectives between the words that belong "
                                    "together.",
                                    0, 4))},
            {301, generated(boolean(&O::attractors, "attractors", "Attractors",
                                    "Nouns in these phrases have the other number or gender."))}};
}

/// Whether a file begins as minimal pairs do: a text of JSON lines is read as text otherwise.
bool hasPairs(const std::string& path) {
    const auto name = lowerCase(fileName(path));
    if (!name.ends_with(".jsonl") && !name.ends_with(".json")) return false;
    std::ifstream file(path, std::ios::binary);
    std::string start(4096, '\0');
    file.read(start.data(), static_cast<std::streamsize>(start.size()));
    start.resize(static_cast<std::size_t>(file.gcount()));
    return start.find("\"sentence_good\"") != std::string::npos;
}

ImportForm pairLines() {
    ImportForm form;
    form.id = "minimal-pairs";
    form.title = "Minimal pairs (JSON lines)";
    form.help = "JSON lines with sentence_good and sentence_bad, as BLiMP, or a folder of them.";
    form.note = "minimal pairs";
    form.order = 75;  // before text
    form.task = "twelve";
    form.folder = [](const FolderNames& names) -> std::optional<ImportMatch> {
        std::int64_t found = 0;
        for (const auto& file : names.files) found += hasPairs(names.path + "/" + file);
        if (found == 0) return std::nullopt;
        return ImportMatch{names.path, "", std::to_string(found) + " files of minimal pairs"};
    };
    form.file = [](const std::string& path) -> std::optional<ImportMatch> {
        if (!hasPairs(path)) return std::nullopt;
        return ImportMatch{path, "", ""};
    };
    return form;
}

DataKind minimalPairs() {
    DataKind k;
    k.name = "minimal-pairs";
    k.title = "Minimal pairs";
    k.help = "Good sentences beside wrong ones: which does a language model prefer?";
    k.family = "Language";
    k.order = 25;
    k.input = InputKind::Tokens;
    k.unit = {"pair", "pairs"};
    k.tasks = {
        {"twelve", "All phenomena", "Twelve phenomena of English."},
        {"agreement_relative_clause", "Agreement, relative clause",
         "The hackers that the user knows are old."},
        {"agreement_prepositional_phrase", "Agreement, prepositional phrase",
         "The files of the user are old."},
        {"reflexive_number", "Reflexive, number",
         "The programs near the machine copied themselves."},
        {"reflexive_gender", "Reflexive, gender", "The woman near the man helped herself."},
        {"determiner_noun", "Determiner and noun", "The user read these old books."},
        {"quantifier_number", "Quantifier, number", "Every old file is large."},
        {"quantifier_countability", "Quantifier, countability",
         "The user needs too many old files."},
        {"filler_gap", "Filler and gap", "The hacker knew what the user near the writers fixed."},
        {"adjunct_island", "Adjunct island", "What did the hacker fix before reading the book?"},
        {"coordinate_island", "Coordinate island", "What did the hacker and the user fix?"},
        {"polarity_licensor", "Negative polarity",
         "No user that the hackers know has ever read the book."},
        {"argument_order", "Argument order", "The user near the hackers read the book."}};
    k.trains = false;
    k.tasksAlike = true;
    k.metric = "pair_accuracy";
    k.common = {{"path"},
                {"text_field", [](const DataOptions& o) { return !o.path.empty(); }},
                {"seed", withoutPath}};
    k.fields = minimalPairFields;
    k.imports = {pairLines()};
    return k;
}

const DataKindRegistrar registered(minimalPairs);

}  // namespace
}  // namespace relascope::datasets
