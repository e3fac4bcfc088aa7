// SPDX-License-Identifier: GPL-3.0-or-later
// IDX files (the MNIST family; formats.md 5), plain or gzipped.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "datasets/readers/loaded_images.h"

namespace relascope::datasets {

/// An array of bytes and its sizes, outermost first.
struct IdxArray {
    std::vector<std::int64_t> shape;
    std::vector<std::uint8_t> bytes;
};

/// Reads an IDX file. Throws FileError if it is not an IDX file of bytes, has another number of
/// dimensions than `dimensions`, or more or fewer bytes than its sizes tell; Cancelled. Memory is
/// allocated as data are read.
IdxArray readIdx(const std::string& path, int dimensions, std::stop_token stop = {});

/// Reads images [N, height, width] and labels [N] of the two splits: train-images-idx3-ubyte,
/// train-labels-idx1-ubyte and both with t10k, each also as train-images.idx3-ubyte and with .gz,
/// in the folder or below it where torchvision puts them (raw, MNIST/raw, FashionMNIST/raw). Grey,
/// one channel; the classes are Fashion-MNIST's, or digits where a folder is named MNIST. Throws
/// FileError also if images and labels do not match or a label has no class.
ImageSplits readIdxFolder(const std::string& folder, const std::string& task,
                          const core::ProgressCallback& progress = {}, std::stop_token stop = {});

/// The folder of the installed Fashion-MNIST; empty if it is not installed.
std::string installedFashionMnist();

}  // namespace relascope::datasets
