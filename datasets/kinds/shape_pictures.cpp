// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of coloured shapes with masks, as a kind of data.
#include "datasets/generators/shape_pictures.h"

#include "datasets/registry.h"

namespace relascope::datasets {
namespace {

constexpr std::uint64_t kShapeSplits = 4;  // of one seed, with generators far apart

ShapePicturesOptions shapeOptions(const DataOptions& o, std::uint64_t split, std::int64_t size,
                                  bool newKinds = false) {
    return {o.task, size, static_cast<std::uint64_t>(o.seed) * kShapeSplits + split, 0, newKinds};
}

core::DataSplits openShapePictures(const DataOptions& o, const core::ProgressCallback&,
                                   std::stop_token) {
    core::DataSplits splits;
    const auto make = [](const ShapePicturesOptions& options) {
        return std::make_shared<ShapePictures>(options);
    };
    splits.train = make(shapeOptions(o, 0, o.train_size));
    splits.validation = make(shapeOptions(o, 1, o.validation_size));
    if (o.streaming)
        splits.trainEpoch = [options =
                                 shapeOptions(o, 0, o.train_size)](std::int64_t epoch) mutable {
            options.epoch = static_cast<std::uint64_t>(epoch);
            return std::make_shared<ShapePictures>(options);
        };
    splits.tests.emplace_back("test", make(shapeOptions(o, 2, o.test_size)));
    splits.tests.emplace_back("new-kinds", make(shapeOptions(o, 3, o.test_size, true)));
    return splits;
}

const KindOpenerRegistrar registered("shape-pictures", {openShapePictures});

}  // namespace
}  // namespace relascope::datasets
