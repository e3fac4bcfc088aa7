#include "train/text_evaluation.h"

#include <algorithm>

#include "data/text.h"
#include "run/run_folder.h"
#include "types/suggest.h"

namespace relascope {
namespace {

// A text needs a held-out part; of one that is measured whole it shall be as small as can be.
double leastFraction(DataOptions o, const ProgressCallback& progress, const std::stop_token& stop) {
    o.validation_fraction = 0.5;
    o.train_size = o.validation_size = 0;
    const auto halves = openText(o, progress, stop);  // what was tokenised is found again below
    const double tokens =
        static_cast<double>((halves.train->size() + halves.validation->size()) * o.context);
    return std::clamp(1.5 * static_cast<double>(o.context + 1) / tokens, 0.0001, 0.5);
}

}  // namespace

DatasetPtr openEvaluationText(const OpenedModel& model, const TextToEvaluate& text,
                              const ProgressCallback& progress, std::stop_token stop) {
    DataOptions o =
        text.run.empty() ? DataOptions{} : runData(text.run, readRunOptions(text.run).data);
    o.kind = "text";
    o.context = std::min(o.context, model.options().max_block_size);
    std::string split = text.split;
    if (!text.file.empty()) {
        if (!model.tokenizer())
            throw OptionError("data",
                              "the tokenizer of this model is not known, and without it no text "
                              "can be read");
        o.tokenizer = model.tokenizer()->name();
        o.path = text.file;
        o.validation_fraction = leastFraction(o, progress, stop);
        o.train_size = text.windows;
        o.validation_size = 0;
        split = "train";
    } else {
        if (text.run.empty())
            throw OptionError("data", "a checkpoint has no data of its own; name a text");
        if (split.empty()) split = "validation";
        (split == "train" ? o.train_size : o.validation_size) = text.windows;
    }
    const auto splits = openText(o, progress, stop);
    requireTokensWithin(splits, model.options().vocab_size, {}, stop);
    auto data = splits.find(split);
    if (!data) throw OptionError("split", unknownName("split", split, splits.names()));
    return data;
}

}  // namespace relascope
