// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/readers/prepared_images.h"

#include <algorithm>

#include "options/image_processor.h"

namespace relascope::datasets {
namespace {

Image asRgb(Image image) {
    if (image.channels == 3) return image;
    Image rgb{image.width, image.height, 3, {}};
    for (const auto value : image.pixels) rgb.pixels.insert(rgb.pixels.end(), 3, value);
    return rgb;
}

class PreparedImages : public core::ImageDataset {
public:
    PreparedImages(core::ImageDatasetPtr images, core::ImageProcessor processor,
                   core::PreparedSize size)
        : m_images(std::move(images)), m_processor(std::move(processor)), m_info(m_images->info()) {
        m_info.width = size.width, m_info.height = size.height, m_info.channels = 3;
    }
    const DatasetInfo& info() const override { return m_info; }
    std::int64_t read(std::int64_t index, std::span<std::uint8_t> pixels) const override {
        const auto& from = m_images->info();
        Image image{from.width, from.height, from.channels,
                    std::vector<std::uint8_t>(m_images->pixelBytes())};
        const auto label = m_images->read(index, image.pixels);
        const auto ready = core::prepared(asRgb(std::move(image)), m_processor);
        std::copy(ready.pixels.begin(), ready.pixels.end(), pixels.begin());
        return label;
    }

private:
    core::ImageDatasetPtr m_images;
    core::ImageProcessor m_processor;
    DatasetInfo m_info;
};

}  // namespace

core::DatasetPtr preparedImages(const core::DatasetPtr& data, const DataOptions& o) {
    if (o.preprocessor.empty()) return data;
    auto images = std::dynamic_pointer_cast<const core::ImageDataset>(data);
    if (!images) return data;
    const auto processor = core::imageProcessorFrom(o.preprocessor);
    const auto& info = images->info();
    const auto size = core::preparedSize(processor, info.width, info.height);
    if (size.width == info.width && size.height == info.height && info.channels == 3) return data;
    return std::make_shared<PreparedImages>(std::move(images), processor, size);
}

void prepareImages(core::DataSplits& splits, const DataOptions& o) {
    if (o.preprocessor.empty()) return;
    splits.train = preparedImages(splits.train, o);
    splits.validation = preparedImages(splits.validation, o);
    for (auto& [name, data] : splits.tests) data = preparedImages(data, o);
    if (splits.trainEpoch)
        splits.trainEpoch = [epoch = std::move(splits.trainEpoch), o](std::int64_t number) {
            return preparedImages(epoch(number), o);
        };
}

}  // namespace relascope::datasets
