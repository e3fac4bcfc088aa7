// SPDX-License-Identifier: GPL-3.0-or-later
// Labelled images in memory, the result of the readers.
#pragma once

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace relascope::datasets {

// Class names of well-known image data sets, by label. Uses only the standard library, as lists
// show them before any file is read.

/// Class names of CIFAR-10 or CIFAR-100 (the fine labels).
inline std::vector<std::string> cifarClassNames(int classes) {
    static const char* ten = "airplane automobile bird cat deer dog frog horse ship truck";
    static const char* hundred =
        "apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus "
        "butterfly camel can castle caterpillar cattle chair chimpanzee clock cloud cockroach "
        "couch crab crocodile cup dinosaur dolphin elephant flatfish forest fox girl hamster "
        "house kangaroo keyboard lamp lawn_mower leopard lion lizard lobster man maple_tree "
        "motorcycle mountain mouse mushroom oak_tree orange orchid otter palm_tree pear "
        "pickup_truck pine_tree plain plate poppy porcupine possum rabbit raccoon ray road rocket "
        "rose sea seal shark shrew skunk skyscraper snail snake spider squirrel streetcar "
        "sunflower sweet_pepper table tank telephone television tiger tractor train trout tulip "
        "turtle wardrobe whale willow_tree wolf woman worm";
    std::istringstream words(classes == 10 ? ten : hundred);
    std::vector<std::string> names;
    for (std::string word; words >> word;) names.push_back(word);
    return names;
}

inline const std::vector<std::string>& fashionMnistClassNames() {
    static const std::vector<std::string> names = {
        "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
        "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
    return names;
}

/// Class names of MNIST.
inline const std::vector<std::string>& digitNames() {
    static const std::vector<std::string> names = {"0", "1", "2", "3", "4",
                                                   "5", "6", "7", "8", "9"};
    return names;
}

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

/// The images in a fixed random order, for files that are sorted by class.
core::ImageDatasetPtr inRandomOrder(core::ImageDatasetPtr images);

/// Throws FileError naming `path` if the examples exceed the free memory.
void requireMemory(const std::string& path, std::uint64_t bytes);

}  // namespace relascope::datasets
