// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/edit_data.h"

#include <charconv>

#include "train/continue_text.h"

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

void findExample(EditData& data, const ProbeSample& sample) {
    const auto space = sample.origin.rfind(' ');
    if (!data.split || space == std::string::npos) return;
    std::int64_t index = -1;
    const char* end = sample.origin.data() + sample.origin.size();
    const auto [rest, error] = std::from_chars(sample.origin.data() + space + 1, end, index);
    if (error != std::errc() || rest != end || index < 0) return;
    const auto name = sample.origin.substr(0, space);
    const auto set = data.split(name);
    // The words could have another source: the example itself decides.
    if (!set || index >= set->size()) return;
    const auto example = set->sample(index);
    const auto same = [](const ProbeSequence& a, const ProbeSequence& b) {
        return a.tokens == b.tokens && a.vectors == b.vectors;
    };
    if (example.image != sample.image || !same(example.source, sample.source) ||
        !same(example.target, sample.target))
        return;
    data.exampleSplit = name;
    data.example = index;
}

}  // namespace relascope::core
