// SPDX-License-Identifier: GPL-3.0-or-later
// Pairwise order as a kind of data (ABS 4.1).
#include "datasets/generators/pairs.h"

#include "datasets/kinds/kind_parts.h"
#include "datasets/registry.h"

namespace relascope::datasets {
namespace {

core::DataSplits openPairs(const DataOptions& o, const core::ProgressCallback&, std::stop_token) {
    const auto seed = static_cast<std::uint64_t>(o.seed);
    const auto objects = std::make_shared<const OrderedObjects>(
        o.task == "order" ? randomObjects(o.objects, o.dim, seed) : sortingObjects(seed));
    // 50, 15 and 35 %: all objects of test pairs occur in training, only the pairs are new.
    const std::int64_t all = objects->count * (objects->count - 1), train = all / 2,
                       validation = all * 15 / 100, test = all - train - validation;
    if (validation == 0)
        throw OptionError("data.objects",
                          std::to_string(objects->count) +
                              " objects have too few pairs to hold some out; use at least 4");
    const auto split = [&](const char* name, const char* field, std::int64_t first,
                           std::int64_t wanted, std::int64_t available) -> core::DatasetPtr {
        const auto size = splitSize(field, wanted, available, "pairs of this split");
        return std::make_shared<Pairs>(objects, seed, first, size, name);
    };
    core::DataSplits splits;
    splits.train = split("train", "train_size", 0, o.train_size, train);
    splits.validation =
        split("validation", "validation_size", train, o.validation_size, validation);
    splits.tests.emplace_back("test",
                              split("test", "test_size", train + validation, o.test_size, test));
    return splits;
}

const KindOpenerRegistrar registered("pairs", {openPairs});

}  // namespace
}  // namespace relascope::datasets
