// SPDX-License-Identifier: GPL-3.0-or-later
// Labelled images as a kind of data (DAT 4.3).
#include <filesystem>

#include "datasets/augment/augmented_images.h"
#include "datasets/kinds/kind_parts.h"
#include "datasets/readers/cifar.h"
#include "datasets/readers/idx.h"
#include "datasets/readers/image_folder.h"
#include "datasets/readers/npz.h"
#include "datasets/registry.h"
#include "types/suggest.h"

namespace relascope::datasets {
namespace {

ImageSplits readSplits(const DataOptions& o, const core::ProgressCallback& progress,
                       std::stop_token stop) {
    if (o.task == "cifar10") return readCifar(10, o.path, progress, std::move(stop));
    if (o.task == "cifar100") return readCifar(100, o.path, progress, std::move(stop));
    if (o.task == "fashion-mnist") {
        const auto folder = o.path.empty() ? installedFashionMnist() : o.path;
        if (folder.empty())
            throw OptionError("data.path",
                              "Fashion-MNIST is not installed; install Debian's package "
                              "dataset-fashion-mnist, or give a folder with its files");
        return readIdxFolder(folder, o.task, progress, std::move(stop));
    }
    auto splits = readImageFolder(o.path, static_cast<int>(o.image_side), progress, std::move(stop),
                                  o.preprocessor);
    splits.train = inRandomOrder(splits.train);
    if (splits.test) {
        splits.test = inRandomOrder(splits.test);
        return splits;
    }
    // A fifth is the test split, independent of the training size.
    const std::int64_t all = splits.train->size(), test = all / 5;
    if (test == 0)
        throw FileError(o.path,
                        "has " + std::to_string(all) + " readable images; at least 5 are needed");
    splits.test = core::asImages(sliceOf(splits.train, all - test, test, "test"));
    splits.train = core::asImages(sliceOf(splits.train, 0, all - test, "train"));
    return splits;
}

core::DataSplits openImages(const DataOptions& o, const core::ProgressCallback& progress,
                            std::stop_token stop) {
    const auto images = readSplits(o, progress, std::move(stop));
    const std::int64_t all = images.train->size(), held = o.validation_size;
    if (held >= all)
        throw OptionError("data.validation_size", std::to_string(held) + " leaves none of the " +
                                                      std::to_string(all) + " images to train on");
    const auto name = [&](const char* split) { return o.task + ", " + split; };
    const auto train = core::asImages(sliceOf(
        images.train, 0, splitSize("train_size", o.train_size, all - held, "images to train on"),
        name("train")));
    core::DataSplits splits;
    splits.train = train;
    const auto tested =
        sliceOf(images.test, 0,
                splitSize("test_size", o.test_size, images.test->size(), "images to test on"),
                name("test"));
    splits.tests.emplace_back("test", tested);
    // Without held-out images, as published, validation uses the test images.
    splits.validation =
        held > 0 ? sliceOf(images.train, all - held, held, name("validation")) : tested;
    splits.mix = o.mix;
    if (o.augment == "none") return splits;
    const auto how =
        o.augment == "autoaugment" ? Augmentation::AutoAugment : Augmentation::CropFlip;
    splits.trainEpoch = [train, how, seed = static_cast<std::uint64_t>(o.seed)](
                            std::int64_t epoch) -> core::DatasetPtr {
        return std::make_shared<AugmentedImages>(train, how, seed, epoch);
    };
    return splits;
}

core::DatasetPtr evaluateImages(const std::string& path, const DataOptions& o,
                                const std::string& split, const core::ProgressCallback& progress,
                                std::stop_token stop) {
    if (std::filesystem::is_regular_file(path))
        return readNpzImages(path, progress, std::move(stop));
    DataOptions there = o;
    there.path = path;
    there.train_size = there.validation_size = there.test_size = 0;
    const auto splits = openImages(there, progress, std::move(stop));
    const auto data = splits.find(split.empty() ? "test" : split);
    if (!data) throw OptionError("--split", unknownName("split", split, splits.names()));
    return data;
}

const KindOpenerRegistrar registered("images", {openImages, evaluateImages});

}  // namespace
}  // namespace relascope::datasets
