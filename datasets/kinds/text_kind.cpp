// SPDX-License-Identifier: GPL-3.0-or-later
// Text (DAT 4.4): the descriptor.
#include "datasets/kinds/kind_parts.h"

namespace relascope::datasets {
namespace {

bool isTextFile(const std::string& path) {
    const auto name = lowerCase(fileName(path));
    for (const char* ending : {".txt", ".md", ".json", ".jsonl", ".txt.gz", ".jsonl.gz"})
        if (name.ends_with(ending)) return true;
    return false;
}

std::vector<OwnField> textFields() {
    using O = DataOptions;
    using namespace fields;
    return {
        {40, path(text(&O::tokenizer, "tokenizer", "Tokenizer",
                       "characters, gpt2, or a tokenizer file or folder."))},
        {50, integer(&O::context, "context", "Context",
                     "Tokens per example; at most the context of the model.", 2, 1048576)},
        {80,
         real(&O::validation_fraction, "validation_fraction", "Held out",
              "Fraction of the text, taken from its end, held out for validation.", 0.0001, 0.9)},
        {140, text(&O::pinned_text, "pinned_text", "Pinned sentence",
                   "Sentence whose relations are captured during training.")},
        {150, text(&O::prompt, "prompt", "Prompt", "Text that is continued at each evaluation.")},
        {160, advanced(integer(&O::sample_tokens, "sample_tokens", "Sample length",
                               "Tokens generated at each evaluation; 0 means none.", 0, 100000))}};
}

ImportForm files() {
    ImportForm form;
    form.id = "text";
    form.title = "Text";
    form.help = "A text file, a folder of them, or JSON lines.";
    form.note = "text";
    form.order = 80;
    form.folder = [](const FolderNames& names) -> std::optional<ImportMatch> {
        auto texts = std::count_if(names.files.begin(), names.files.end(), isTextFile);
        for (const auto& folder : names.folders)
            if (!folder.starts_with('.')) {
                const auto files = names.inside(folder).files;
                texts += std::count_if(files.begin(), files.end(), isTextFile);
            }
        if (texts == 0) return std::nullopt;
        return ImportMatch{names.path, "", std::to_string(texts) + " text files"};
    };
    form.file = [](const std::string& path) -> std::optional<ImportMatch> {
        if (!isTextFile(path)) return std::nullopt;
        return ImportMatch{path, "", ""};
    };
    return form;
}

DataKind texts() {
    DataKind k;
    k.name = "text";
    k.title = "Text";
    k.help = "Your own text, or the English text that comes with Relascope.";
    k.family = "Language";
    k.order = 20;
    k.input = InputKind::Tokens;
    k.unit = {"window", "windows"};
    k.generated = false;
    k.metric = "perplexity";
    k.common = {{"path"}, {"text_field"}};
    k.fields = textFields;
    k.problems = [](const DataOptions& o, std::vector<FieldProblem>& found) {
        if (o.tokenizer.empty())
            found.push_back({"tokenizer", "must be characters, gpt2 or a tokenizer file"});
    };
    k.imports = {files()};
    return k;
}

const DataKindRegistrar registered(texts);

}  // namespace
}  // namespace relascope::datasets
