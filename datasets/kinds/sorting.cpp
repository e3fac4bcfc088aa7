// SPDX-License-Identifier: GPL-3.0-or-later
// The sorting of random objects as a kind of data (ABS 4.2-4.4).
#include "datasets/generators/sorting.h"

#include <algorithm>

#include "datasets/kinds/kind_parts.h"
#include "datasets/registry.h"

namespace relascope::datasets {
namespace {

std::string level(const char* name, int tenths) {
    return name + std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

core::DataSplits openSorting(const DataOptions& o, const core::ProgressCallback&, std::stop_token) {
    const auto longest = static_cast<int>(std::max(o.length, o.longest));
    SortingOptions g;
    g.seed = static_cast<std::uint64_t>(o.seed);
    g.permuted = o.task == "permuted-argsort";
    g.length = static_cast<int>(o.length);
    g.vocabulary = longest + 1;

    // 70, 10 and 20 % of the pool; a training set is the beginning of its split.
    const std::int64_t pool = Sorting::poolSize(g.length), train = pool * 7 / 10,
                       validation = pool / 10, test = pool - train - validation;
    const auto split = [&](const std::string& name, std::int64_t first, std::int64_t size) {
        SortingOptions p = g;
        p.name = name;
        p.first = first;
        p.size = size;
        return std::make_shared<Sorting>(p);
    };
    const auto size = [](const char* field, std::int64_t wanted, std::int64_t available) {
        return splitSize(field, wanted, available, "sequences in this split of the pool");
    };
    core::DataSplits splits;
    splits.train = split("train", 0, size("train_size", o.train_size, train));
    splits.validation =
        split("validation", train, size("validation_size", o.validation_size, validation));
    const std::int64_t tested = size("test_size", o.test_size, test);
    const auto add = [&](const std::string& name) {
        splits.tests.emplace_back(name, split(name, train + validation, tested));
    };
    add("test");
    for (int length = g.length + 1; length <= longest; ++length) {
        SortingOptions p = g;
        p.length = length;
        p.pool = static_cast<std::uint64_t>(length);
        p.name = "length-" + std::to_string(length);
        p.size = tested;
        splits.tests.emplace_back(p.name, std::make_shared<Sorting>(p));
    }
    if (!o.corruptions) return splits;
    g.corruption = SortingOptions::Corruption::Linear;
    for (int tenths = 1; tenths <= 15; ++tenths) {
        g.strength = tenths / 10.0;
        add(level("linear-", tenths));
    }
    g.corruption = SortingOptions::Corruption::Noise;
    for (int tenths = 0; tenths <= 10; ++tenths) {
        g.strength = tenths / 10.0;
        add(level("noise-", tenths));
    }
    return splits;
}

const KindOpenerRegistrar registered("sorting", {openSorting});

}  // namespace
}  // namespace relascope::datasets
