// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures in one folder for each class.
#pragma once

#include <stop_token>
#include <string>

#include "datasets/readers/loaded_images.h"
#include "datasets/readers/picture_file.h"
#include "types/image.h"
#include "types/model_options.h"
#include "types/relation_map.h"

namespace relascope::datasets {

/// Scales to the model's size (area averaging down, bilinear up) and channel count.
Image fitImage(const Image& image, int width, int height, int channels);

/// A picture as an input of a model of images.
ProbeSample imageSample(const std::string& path, const ModelOptions& model);

/// The side length that pictures are scaled to, as in CIFAR.
inline constexpr int kFolderSide = 32;

/// Reads the PNG and JPEG files of every folder in `folder` and of its sub-folders; a folder's name
/// is its class, numbered in the order of the alphabet. Where `folder` holds train (or training)
/// and test (testing, val, valid, validation) instead, each of them is such a folder, with the
/// classes of train. Pictures become RGB, [side, side, 3], by fitImage(), or by `preprocessor`
/// (data.preprocessor) where it is given; where that makes pictures of several sizes, all are
/// scaled to that of the first. Files that are hidden, unreadable
/// (damaged, another format), smaller than 2 x 2, masks (NAME.mask.png) or in the folder of no
/// class are left out; info().note of the split counts them by reason. Throws FileError if fewer
/// than two classes have pictures, or test has another class; Cancelled.
ImageSplits readImageFolder(const std::string& folder, int side = kFolderSide,
                            const core::ProgressCallback& progress = {}, std::stop_token stop = {},
                            const std::string& preprocessor = {});

}  // namespace relascope::datasets
