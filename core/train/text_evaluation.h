// SPDX-License-Identifier: GPL-3.0-or-later
// The text that a language model is evaluated on. Does not include torch.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "train/open_model.h"

namespace relascope::core {

struct TextToEvaluate {
    std::string run;    ///< run folder that the model belongs to; "" without one
    std::string file;   ///< a text, used completely. Empty: the data of the run
    std::string split;  ///< split of the data of the run; empty = "validation"
    std::int64_t windows =
        0;  ///< at most so many windows; 0 = all of a file, or the validation size of the run
};

/// Opens it with the model's tokenizer and context. Throws FileError, OptionError for a model whose
/// tokenizer is not known, Cancelled.
DatasetPtr openEvaluationText(const OpenedModel& model, const TextToEvaluate& text,
                              const ProgressCallback& progress = {}, std::stop_token stop = {});

}  // namespace relascope::core
