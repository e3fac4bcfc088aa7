// SPDX-License-Identifier: GPL-3.0-or-later
// Images as the model of a checkpoint expects them (data.preprocessor).
#pragma once

#include "data/dataset.h"
#include "types/data_options.h"

namespace relascope::datasets {

/// The images scaled, cut and made RGB by data.preprocessor, when one is read. Other data, and
/// images that have their size already, are returned as they are.
core::DatasetPtr preparedImages(const core::DatasetPtr& data, const DataOptions& options);
/// Replaces all splits by their preparedImages().
void prepareImages(core::DataSplits& splits, const DataOptions& options);

}  // namespace relascope::datasets
