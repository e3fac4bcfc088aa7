// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <stdexcept>

#include "datasets/generators/random.h"
#include "datasets/readers/loaded_images.h"
#include "files/memory.h"

namespace relascope::datasets {
namespace {

class Shuffled : public core::ImageDataset {
public:
    explicit Shuffled(core::ImageDatasetPtr images)
        : m_images(std::move(images)),
          m_order(static_cast<std::uint64_t>(m_images->size()), 0, 0) {}
    const DatasetInfo& info() const override { return m_images->info(); }
    std::int64_t read(std::int64_t index, std::span<std::uint8_t> pixels) const override {
        return m_images->read(static_cast<std::int64_t>(m_order(static_cast<std::uint64_t>(index))),
                              pixels);
    }

private:
    core::ImageDatasetPtr m_images;
    Permutation m_order;
};

}  // namespace

LoadedImages::LoadedImages(DatasetInfo info, std::vector<std::uint8_t> pixels,
                           std::vector<std::int32_t> labels)
    : m_info(std::move(info)), m_pixels(std::move(pixels)), m_labels(std::move(labels)) {
    m_info.size = static_cast<std::int64_t>(m_labels.size());
    if (m_pixels.size() != m_labels.size() * pixelBytes())
        throw std::invalid_argument("the numbers of images and labels differ");
}

std::int64_t LoadedImages::read(std::int64_t index, std::span<std::uint8_t> pixels) const {
    if (index < 0 || index >= m_info.size)
        throw std::out_of_range(m_info.name + " has no image " + std::to_string(index));
    const auto at = static_cast<std::size_t>(index);
    const auto bytes = static_cast<std::ptrdiff_t>(pixelBytes());
    std::copy_n(m_pixels.begin() + static_cast<std::ptrdiff_t>(at) * bytes, bytes, pixels.begin());
    return m_labels[at];
}

core::ImageDatasetPtr inRandomOrder(core::ImageDatasetPtr images) {
    return std::make_shared<Shuffled>(std::move(images));
}

void requireMemory(const std::string& path, std::uint64_t bytes) {
    const std::uint64_t available = core::availableMemory();
    if (available > 0 && bytes > available)
        throw FileError(path, "needs " + std::to_string(bytes >> 20) +
                                  " MB for its examples, but only " +
                                  std::to_string(available >> 20) + " MB of memory are free");
}

}  // namespace relascope::datasets
