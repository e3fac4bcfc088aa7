// SPDX-License-Identifier: GPL-3.0-or-later
// Which text a language model is measured on. No torch here.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "train/open_model.h"

namespace relascope::core {

struct TextToEvaluate {
    std::string run;    ///< run folder that the model belongs to; "" without one
    std::string file;   ///< a text: all of it. Empty: the run's own data
    std::string split;  ///< of the run's own data; empty = "validation"
    std::int64_t windows =
        0;  ///< at most so many; 0 = all of a file, of a run as many as it watched
};

/// Opens it with the model's tokenizer and context. Throws FileError, OptionError for a model whose
/// tokenizer is not known, Cancelled.
DatasetPtr openEvaluationText(const OpenedModel& model, const TextToEvaluate& text,
                              const ProgressCallback& progress = {}, std::stop_token stop = {});

}  // namespace relascope::core
