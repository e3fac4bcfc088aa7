// SPDX-License-Identifier: GPL-3.0-or-later
// CIFAR-10 and CIFAR-100 in their binary version (Krizhevsky 2009; formats.md 5).
#pragma once

#include <stop_token>
#include <string>

#include "datasets/readers/loaded_images.h"

namespace relascope::datasets {

/// Reads data_batch_1.bin .. data_batch_5.bin and test_batch.bin (10 classes), or train.bin and
/// test.bin (100, with the fine labels), in that folder or in the one that the archive unpacks to
/// there (cifar-10-batches-bin, cifar-100-binary). Images [32, 32, 3] in the order of the files;
/// class names from the file beside them, else the published ones. Throws FileError naming file and
/// record where a file is missing, is not exactly as long as published or has a label out of range;
/// Cancelled.
ImageSplits readCifar(int classes, const std::string& folder,
                      const core::ProgressCallback& progress = {}, std::stop_token stop = {});

/// Reads one file of CIFAR. `labels`: bytes before the pixels, of which the last counts.
void readCifarFile(const std::string& path, int labels, int classes, std::int64_t images,
                   std::vector<std::uint8_t>& pixels, std::vector<std::int32_t>& answers,
                   std::stop_token stop = {});

}  // namespace relascope::datasets
