// SPDX-License-Identifier: GPL-3.0-or-later
// Labelled images in memory, the result of the readers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace relascope::datasets {

class LoadedImages : public core::ImageDataset {
public:
    /// `pixels` [info.size, height, width, channels]; a label each.
    LoadedImages(DatasetInfo info, std::vector<std::uint8_t> pixels,
                 std::vector<std::int32_t> labels);
    const DatasetInfo& info() const override { return m_info; }
    std::int64_t read(std::int64_t index, std::span<std::uint8_t> pixels) const override;

private:
    DatasetInfo m_info;
    std::vector<std::uint8_t> m_pixels;
    std::vector<std::int32_t> m_labels;
};

/// The two splits of a published data set; `test` is null if there is none.
struct ImageSplits {
    core::ImageDatasetPtr train, test;
};

/// Throws FileError naming `path` if the images exceed the free memory.
void requireMemory(const std::string& path, std::uint64_t bytes);

}  // namespace relascope::datasets
