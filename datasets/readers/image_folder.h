// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures in one folder for each class.
#pragma once

#include <stop_token>
#include <string>

#include "datasets/readers/loaded_images.h"
#include "types/image.h"
#include "types/model_options.h"
#include "types/relation_map.h"

namespace relascope::datasets {

// Pictures from files: PNG by libpng, JPEG by libjpeg-turbo, at most 64 megapixels.

/// RGB, 8 bits. Throws FileError naming the file and what is wrong; other formats are refused by
/// name.
Image readImageFile(const std::string& path);
/// Scales to the model's size (area averaging down, bilinear up) and channel count.
Image fitImage(const Image& image, int width, int height, int channels);

/// A picture as an input of a model of images.
ProbeSample imageSample(const std::string& path, const ModelOptions& model);

/// The side length that pictures are scaled to, that of CIFAR.
inline constexpr int kFolderSide = 32;

/// Reads the PNG and JPEG files of every folder in `folder`; a folder's name is its class, numbered
/// in the order of the alphabet. Where `folder` holds train and test instead, each of them is such
/// a folder, with the classes of train. Pictures become RGB, [side, side, 3], by fitImage(), or
/// what `preprocessor` (data.preprocessor) makes of them where that says their size. Unreadable
/// files (damaged, CMYK, another format, smaller than 2 x 2) are left out; info().note of the split
/// names the first ones and their number. Throws FileError if fewer than two classes have pictures,
/// or test has another class; Cancelled.
ImageSplits readImageFolder(const std::string& folder, int side = kFolderSide,
                            const core::ProgressCallback& progress = {}, std::stop_token stop = {},
                            const std::string& preprocessor = {});

}  // namespace relascope::datasets
