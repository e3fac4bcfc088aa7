// SPDX-License-Identifier: GPL-3.0-or-later
#include "readout/head_data.h"

#include <utility>
#include <vector>

#include "readout/feature_heads.h"

namespace relascope::core {
namespace {

class PickedImages : public ImageDataset {
public:
    PickedImages(ImageDatasetPtr images, std::vector<std::int64_t> indices, const char* part)
        : m_images(std::move(images)), m_indices(std::move(indices)), m_info(m_images->info()) {
        m_info.size = std::ssize(m_indices);
        m_info.name += std::string(", ") + part;
    }
    const DatasetInfo& info() const override { return m_info; }
    std::int64_t read(std::int64_t index, std::span<std::uint8_t> pixels) const override {
        return m_images->read(picked(index), pixels);
    }
    const MaskFacts* maskFacts() const override { return m_images->maskFacts(); }
    ObjectMask mask(std::int64_t index) const override { return m_images->mask(picked(index)); }
    std::string sourceOf(std::int64_t index) const override {
        return m_images->sourceOf(picked(index));
    }

private:
    std::int64_t picked(std::int64_t index) const {
        return m_indices.at(static_cast<std::size_t>(index));
    }

    ImageDatasetPtr m_images;
    std::vector<std::int64_t> m_indices;
    DatasetInfo m_info;
};

}  // namespace

HeadData headData(const DatasetPtr& labelled, std::uint64_t seed) {
    const auto images = asImages(labelled);
    std::vector<std::uint8_t> pixels(images->pixelBytes());
    std::vector<std::int64_t> labels;
    auto classes = images->info().classNames;
    for (std::int64_t i = 0; i < images->size(); ++i) {
        labels.push_back(images->read(i, pixels));
        if (labels.back() < 0)
            throw OptionError(
                "head",
                "has pictures without a class, on which no head can be fitted; put those of "
                "each class into a folder of its name");
        while (labels.back() >= std::ssize(classes))
            classes.push_back(std::to_string(classes.size()));
    }
    auto [fitting, measured] = headSplit(labels, classes, seed);
    return {std::make_shared<PickedImages>(images, std::move(fitting), "two thirds"),
            std::make_shared<PickedImages>(images, std::move(measured), "a third")};
}

}  // namespace relascope::core
