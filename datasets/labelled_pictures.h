// SPDX-License-Identifier: GPL-3.0-or-later
// Labelled pictures from files, as a public model of images reads them.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "datasets/readers/loaded_images.h"
#include "types/model_options.h"

namespace relascope::datasets {

/// The pictures of a folder with one folder for each class (image_folder.h), of one with masks
/// (masked_pictures.h), or of a .npz file; in `train` all of them where they are not parted. Those
/// of a folder are made ready by the preprocessor of `model`; those of a file are as they are, for
/// readyFor(). Throws FileError, OptionError("--data", ...) for another file, Cancelled.
ImageSplits openLabelledPictures(const std::string& path, const ModelOptions& model,
                                 const core::ProgressCallback& progress = {},
                                 std::stop_token stop = {});
/// Pictures whose labels are the classes of a model: those of the same names or, where there are as
/// many of other names, those of the same order. Pictures of other classes have none (-1).
core::ImageDatasetPtr inClassesOf(const std::vector<std::string>& classes,
                                  const core::ImageDatasetPtr& pictures);
/// Images made ready by the preprocessor of a public model; those of other models as they are.
core::DatasetPtr readyFor(const ModelOptions& model, const core::DatasetPtr& data);

}  // namespace relascope::datasets
