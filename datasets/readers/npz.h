// SPDX-License-Identifier: GPL-3.0-or-later
// The published Relational Games archives: `images` and `labels` in a .npz (formats.md sections 3
// and 4).
#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace relascope::datasets {

/// Labelled images kept in memory as one byte a channel.
class ImageTable : public core::ImageDataset {
public:
    const DatasetInfo& info() const override { return m_info; }
    std::int64_t read(std::int64_t index, std::span<std::uint8_t> pixels) const override;
    /// Whether there are several classes, one after another, so that no part has all of them.
    bool isSortedByClass() const;

private:
    friend class NpzLoader;
    friend core::DatasetPtr sliceOf(const core::DatasetPtr&, std::int64_t, std::int64_t,
                                    const std::string&);
    static constexpr std::int64_t kBlock =
        1024;  // images in one block, so that growing copies nothing

    DatasetInfo m_info;
    std::vector<std::vector<std::uint8_t>> m_blocks;
    std::vector<std::int32_t> m_labels;
};

struct NpzImages {
    std::shared_ptr<const ImageTable> images;
    std::shared_ptr<const ImageTable> test;  ///< null where the archive has no test split
};

/// Reads images (N, H, W, 3 or 1) or (N, H, W) and labels (N) or (N, 1) of any integer type, values
/// of pixels 0..255; `arrays`: which (core::imageArrays()). Floats are scaled to 0..255, those of
/// the test split as the others, with a note. Members are inflated in pieces of 64 KiB straight to
/// bytes, so memory stays near N * H * W * C. Throws FileError naming file, member and field, or
/// Cancelled.
NpzImages readNpz(const std::string& path, const std::string& arrays,
                  const core::ProgressCallback& progress = {}, std::stop_token stop = {});
/// Its images alone.
std::shared_ptr<const ImageTable> readNpzImages(const std::string& path,
                                                const core::ProgressCallback& progress = {},
                                                std::stop_token stop = {});
/// readNpz() from bytes in memory, for tests and fuzzing.
NpzImages readNpz(std::span<const std::uint8_t> bytes, const std::string& name,
                  const std::string& arrays = {});
std::shared_ptr<const ImageTable> readNpzImages(std::span<const std::uint8_t> bytes,
                                                const std::string& name);

/// Examples first .. first + count - 1 of a data set under another name.
core::DatasetPtr sliceOf(const core::DatasetPtr& data, std::int64_t first, std::int64_t count,
                         const std::string& name);

// Data sets as .npz that NumPy opens.

/// Writes a data set. Images: images <u1 (N, H, W, C), labels <i8 (N, 1). Sets: objects <f4 (N, n,
/// width), targets <f4 (N, t). Sequences: source <f4 (N, n, width) or <i8 (N, n), answers <i8 (N,
/// m). Deflated, ZIP64 where needed, atomically. Throws FileError, for a text too, or Cancelled.
void writeNpz(const std::string& path, const core::Dataset& data,
              const core::ProgressCallback& progress = {});

}  // namespace relascope::datasets
