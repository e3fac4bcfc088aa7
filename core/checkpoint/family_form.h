// SPDX-License-Identifier: GPL-3.0-or-later
// The form in which a run that began from a checkpoint of a public family saves its own: the names
// and types of that file, and what stood beside it (formats.md section 9). Does not include torch.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "checkpoint/source.h"
#include "types/model_options.h"

namespace relascope::core {

struct FamilyForm {
    ModelOptions model;                 ///< the run's model
    std::vector<StoredTensor> tensors;  ///< name and type of each in the file
    std::string folder;                 ///< config.json and the files beside it
};

/// The folder of a run's family form: RUN/family.
std::string familyFolder(const std::string& run);

/// Makes RUN/family from the checkpoint that a run starts from, if that has the names of a family.
/// The configuration is adapted to the run's model, with `classNames` where that has a new
/// classifier. Throws FileError, DiskFull.
void writeFamilyForm(const CheckpointSource& source, const ModelOptions& model,
                     const std::vector<std::string>& classNames, const std::string& run);
/// Reads RUN/family; empty for a run without it. Throws FileError naming file and field.
std::optional<FamilyForm> readFamilyForm(const std::string& run, const ModelOptions& model);

/// Copies what stands beside the weights of a family, tokenizer, generation and preprocessor, where
/// it is there, and `config.json` with `config`. Throws FileError, DiskFull.
void copyFamilyFiles(const std::string& from, const std::string& to, bool config);

}  // namespace relascope::core
