// SPDX-License-Identifier: GPL-3.0-or-later
// Labelled sets of objects from a table of the user as a kind of data.
#include "datasets/kinds/kind_parts.h"
#include "datasets/readers/set_table.h"
#include "datasets/registry.h"

namespace relascope::datasets {
namespace {

core::DataSplits openObjectSets(const DataOptions& o, const core::ProgressCallback& progress,
                                std::stop_token stop) {
    const auto table = readSetTable(o.path, progress, std::move(stop));
    const std::int64_t all = table->sets();
    // A size of 0: 15 % to validate and to test on, and all others to train on.
    const std::int64_t held = std::max<std::int64_t>(1, all * 15 / 100);
    std::int64_t left = all;
    const auto sizeOf = [&](const char* field, std::int64_t wanted, std::int64_t usual) {
        const auto size = splitSize(field, wanted > 0 ? wanted : std::min(usual, left), left,
                                    "sets of the table");
        left -= size;
        return size;
    };
    const auto validation = sizeOf("validation_size", o.validation_size, held),
               test = sizeOf("test_size", o.test_size, held);
    if (left == 0)
        throw OptionError("data.train_size", "none of the " + std::to_string(all) +
                                                 " sets is left to train on; lower "
                                                 "data.validation_size or data.test_size");
    const auto train = sizeOf("train_size", o.train_size, left);
    core::DataSplits splits;
    splits.train = setsOf(table, 0, train, "train");
    splits.validation = setsOf(table, train, validation, "validation");
    splits.tests.emplace_back("test", setsOf(table, train + validation, test, "test"));
    return splits;
}

NamedSplits importObjectSets(const DataOptions& o, const core::ProgressCallback& progress,
                             std::stop_token stop) {
    const auto table = readSetTable(o.path, progress, std::move(stop));
    return {{"all", setsOf(table, 0, table->sets(), "all")}};
}

const KindOpenerRegistrar registered("object-sets", {openObjectSets, nullptr, importObjectSets});

}  // namespace
}  // namespace relascope::datasets
