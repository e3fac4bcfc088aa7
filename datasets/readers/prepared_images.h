// SPDX-License-Identifier: GPL-3.0-or-later
// Images as the model of a checkpoint wants them (data.preprocessor).
#pragma once

#include "data/dataset.h"
#include "options/image_processor.h"
#include "types/data_options.h"

namespace relascope::datasets {

/// Width and height of what a processor gives; 0: those of the picture.
struct PreparedSize {
    int width = 0, height = 0;
};
PreparedSize preparedSize(const core::ImageProcessor& processor);

/// The images scaled, cut and made RGB by data.preprocessor, when one is read. Other data, and
/// images that have their size already, are returned as they are.
core::DatasetPtr preparedImages(const core::DatasetPtr& data, const DataOptions& options);
/// The same of all splits.
void prepareImages(core::DataSplits& splits, const DataOptions& options);

}  // namespace relascope::datasets
