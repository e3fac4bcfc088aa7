// SPDX-License-Identifier: GPL-3.0-or-later
#include <charconv>

#include "data/continue_text.h"
#include "interventions/edit_data.h"
#include "types/error.h"

namespace relascope::core {

EditData editDataOf(const DataSplits& splits, const ModelOptions& options) {
    EditData data;
    data.split = [&splits](const std::string& name) { return splits.find(name); };
    if (options.input() == InputKind::Tokens && splits.tokenizer)
        data.text = [tokenizer = splits.tokenizer, most = options.tokens()](const auto& text) {
            return textSample(*tokenizer, text, most, "typed text");
        };
    return data;
}

EditData withOwnExamples(EditData data, DatasetPtr own) {
    data.split = [before = std::move(data.split), own = std::move(own)](const std::string& name) {
        DatasetPtr found;
        try {
            if (before) found = before(name);
        } catch (const FileError&) {  // the data of the training have gone since
        }
        return !found && name == EditReference{}.split ? own : found;
    };
    return data;
}

void findExample(EditData& data, const ProbeSample& sample) {
    const auto space = sample.origin.rfind(' ');
    if (!data.split || space == std::string::npos) return;
    std::int64_t index = -1;
    const char* end = sample.origin.data() + sample.origin.size();
    const auto [rest, error] = std::from_chars(sample.origin.data() + space + 1, end, index);
    if (error != std::errc() || rest != end || index < 0) return;
    const auto before = sample.origin.substr(0, space);
    const auto same = [](const ProbeSequence& a, const ProbeSequence& b) {
        return a.tokens == b.tokens && a.vectors == b.vectors;
    };
    // The words may name the split, its last word ("between, pentos 12"), or neither; the example
    // itself decides.
    const auto word = before.substr(before.rfind(' ') + 1);
    for (const auto& name : {before, word, std::string("validation"), std::string("train")}) {
        const auto set = data.split(name);
        if (!set || index >= set->size()) continue;
        const auto example = set->sample(index);
        if (example.image != sample.image || !same(example.source, sample.source) ||
            !same(example.target, sample.target))
            continue;
        data.exampleSplit = name;
        data.example = index;
        return;
    }
}

}  // namespace relascope::core
