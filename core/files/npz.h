// SPDX-License-Identifier: GPL-3.0-or-later
// The arrays of an .npz archive by the heads of its members (formats.md section 4), and which of
// them are labelled images.
#pragma once

#include <string>
#include <vector>

#include "files/npy.h"

struct zip;  // from libzip

namespace relascope::core {

struct NpzArray {
    std::string name;  ///< without ".npy"
    NpyHeader header;
    bool ofNumbers = true;  ///< false: texts, Python objects, or damaged; without a header

    /// "scans: 1797 x 8 x 8, float64".
    std::string text() const;
};

/// Its arrays, in the order of the archive. Throws FileError for a file that is no archive, or has
/// more than 1,000 members.
std::vector<NpzArray> npzArrays(const std::string& path);
/// The arrays of an open archive; `path` is for messages. Throws FileError also for a member that
/// is there twice.
std::vector<NpzArray> npzArrays(zip* archive, const std::string& path);

/// Names of arrays of images and of their labels; those of the test split may be empty.
struct ImageArrays {
    std::string images, labels, testImages, testLabels;

    /// As data.arrays: "x_train,y_train,x_test,y_test".
    std::string words() const;
};

/// The arrays that `words` names (data.arrays) or, where it is empty, those that look like it: by
/// their shapes, and of several by their names. Throws FileError with the arrays that are there.
ImageArrays imageArrays(const std::vector<NpzArray>& arrays, const std::string& words,
                        const std::string& path);
/// Whether an array has the shape of images, (N, height, width) or with channels, or of the labels
/// of `count` examples, (N,) or (N, 1).
bool areImages(const NpyHeader& header);
bool areLabels(const NpyHeader& header, std::int64_t count);

}  // namespace relascope::core
