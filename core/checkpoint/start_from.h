// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that begin with the model and the weights of a checkpoint (train.init_from). Does not
// include torch.
#pragma once

#include <string>

#include "checkpoint/source.h"
#include "text/tokenizer.h"
#include "types/run_options.h"

namespace relascope::core {

/// The learning rate of a run that starts from a checkpoint: the rate for a new model would undo
/// what the weights have learned.
constexpr double kStartRate = 5e-5;

/// The checkpoint that a run starts from; only its headers are read.
struct StartCheckpoint {
    std::string weights;  ///< the first of its files
    ModelOptions model;
    std::unique_ptr<CheckpointSource> source;
    bool ofRun = false;  ///< the model is that of a run.json, which describes it completely
    /// The checkpoint's own tokenizer, null without one. Throws FileError if it cannot be read.
    TokenizerPtr tokenizer() const;
};
/// Opens the checkpoint `from` (train.init_from): any form of checkpoint, a run (its newest
/// checkpoint), or hub:ORG/NAME. Throws FileError with the first problem unless its weights load.
StartCheckpoint openStart(const std::string& from);

/// Lets a new run start from a checkpoint: sets train.init_from, the model, its tokenizer and at
/// most its context, how pictures are prepared for it, and kStartRate. Throws as openStart().
void startFrom(RunOptions& options, const std::string& from);

/// Throws OptionError unless the model of the options is the checkpoint's; only the number of
/// classes of an image model may differ.
void requireStart(const RunOptions& options, const StartCheckpoint& start);

}  // namespace relascope::core
