// SPDX-License-Identifier: GPL-3.0-or-later
// The description of a pickled tensor: torch._utils._rebuild_tensor_v2 and similar functions.
#pragma once

#include <string>

#include "checkpoint/pickle.h"
#include "checkpoint/torch_archive.h"

namespace relascope::core {

/// True for a call of one of the functions that PyTorch writes for tensors and parameters.
bool isPickledTensor(const Pickle& pickle, const PickleValue& value);

/// Dtype, shape, strides and place of a pickled tensor, checked against its storage's record
/// (`folder` + "data/" + key) in `zip`. Throws FileError naming the tensor: it needs more bytes
/// than its record has, its view leaves the storage, a stride is negative, the record is missing.
ArchiveTensor pickledTensor(const Pickle& pickle, const PickleValue& value, const std::string& name,
                            const ZipDirectory& zip, const std::string& folder);

}  // namespace relascope::core
