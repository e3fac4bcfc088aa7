// SPDX-License-Identifier: GPL-3.0-or-later
// LoRA adapters as PEFT saves them: adapter_config.json beside adapter_model.safetensors (or .bin).
// With its base model an adapter is a checkpoint in which some weights are W + (alpha / r) B A
// (Hu et al. 2021, section 4.1); they are merged while they are read. Does not include torch.
#pragma once

#include <memory>
#include <string>

#include "checkpoint/source.h"
#include "text/tokenizer.h"

namespace relascope::core {

/// The folder of an adapter that a path names: that folder, or a file of it; empty for anything
/// else. Looks at names of files alone.
std::string adapterFolderOf(const std::string& path);

/// The base model that an adapter names, on this machine: a folder, or a model in the cache of the
/// hub. Throws FileError with the name of the base model and the way out where it is not here.
std::string baseOfAdapter(const std::string& adapter);

/// A checkpoint with an adapter's changes: merged tensors are F32. Throws FileError naming file and
/// key for an adapter that is no LoRA or cannot be merged, or the tensor that does not fit the base
/// model.
std::unique_ptr<CheckpointSource> openAdapted(std::unique_ptr<CheckpointSource> base,
                                              const std::string& adapter);

/// A sentence for people about how the adapter of a checkpoint was merged; empty for nothing.
std::string noteOfAdapter(const CheckpointSource& source);

/// A folder that stands for the base with the adapter wherever the path of a checkpoint is asked
/// for: made in the cache of the program, with one small file. Throws FileError, DiskFull.
std::string adaptedFolder(const std::string& base, const std::string& adapter);

/// The base and the adapter that such a folder stands for; empty for any other folder.
struct AdaptedPaths {
    std::string base, adapter;
};
AdaptedPaths adaptedPathsOf(const std::string& folder);
/// The folder of the adapter that a path names itself or through an adaptedFolder(); empty without
/// an adapter.
std::string adapterAt(const std::string& path);
/// The tokenizer of a checkpoint with an adapter: the adapter's, else the one beside the weights of
/// its base model. For any other checkpoint tokenizerBeside().
TokenizerPtr checkpointTokenizer(const std::string& path, std::int64_t vocabulary);

}  // namespace relascope::core
