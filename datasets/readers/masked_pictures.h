// SPDX-License-Identifier: GPL-3.0-or-later
// A folder of pictures with masks of their objects (formats.md section 22).
#pragma once

#include <stop_token>
#include <string>

#include "data/dataset.h"

namespace relascope::datasets {

/// Whether a path is such a folder, with a file objects.csv or annotations of COCO; or a file of
/// these (coco_masks.h).
bool isMaskedFolder(const std::string& path);

/// Reads the pictures that objects.csv names (columns picture, object, facts; group, source), each
/// with NAME.mask.png beside it, or as masks/NAME.png. Pictures go the way of `preprocessor`
/// (data.preprocessor), or are scaled to `width` x `height`; masks go with them, by the nearest
/// pixel. A picture in a folder is of the class with the folder's name; others have no label (-1).
/// Throws FileError for a mask of another size than its picture, a number without a row and a row
/// whose object no pixel has, Cancelled.
core::ImageDatasetPtr readMaskedPictures(const std::string& folder, int width, int height,
                                         const std::string& preprocessor,
                                         const core::ProgressCallback& progress = {},
                                         std::stop_token stop = {});

}  // namespace relascope::datasets
