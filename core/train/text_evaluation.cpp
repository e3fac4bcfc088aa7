// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/text_evaluation.h"

#include <algorithm>

#include "data/text.h"
#include "run/run_folder.h"
#include "types/suggest.h"

namespace relascope::core {
DatasetPtr openEvaluationText(const OpenedModel& model, const TextToEvaluate& text,
                              const ProgressCallback& progress, std::stop_token stop) {
    DataOptions o =
        text.run.empty() ? DataOptions{} : runData(text.run, readRunOptions(text.run).data);
    o.kind = "text";
    o.context = std::min(o.context, model.options().tokens());
    std::string split = text.split;
    if (!text.file.empty()) {
        if (!model.tokenizer())
            throw OptionError("data",
                              "the tokenizer of this model is unknown, so no text can be read");
        o.tokenizer = model.tokenizer()->name();
        o.path = text.file;
        o.validation_fraction = 0.0;  // evaluate all of it
        o.validation_size = text.windows;
        split = "validation";
    } else {
        if (text.run.empty())
            throw OptionError("data", "a checkpoint has no data of its own; give a text");
        if (split.empty()) split = "validation";
        if (text.windows > 0) (split == "train" ? o.train_size : o.validation_size) = text.windows;
    }
    const auto splits = openText(o, progress, stop);
    requireTokensWithin(splits, model.options().outputs(), {}, stop);
    auto data = splits.find(split);
    if (!data) throw OptionError("split", unknownName("split", split, splits.names()));
    return data;
}

}  // namespace relascope::core
