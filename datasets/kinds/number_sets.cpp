// SPDX-License-Identifier: GPL-3.0-or-later
// Regression on sets of objects as kinds of data (DAT 2.4, ABS 3, and the recovery of relations in
// the earlier manuscript of ABS).
#include "datasets/generators/number_sets.h"

#include "datasets/registry.h"

namespace relascope::datasets {
namespace {

// Limits the memory of one example.
void requireSize(const DataOptions& o, std::int64_t objects) {
    constexpr std::int64_t most = 10000000;
    if (objects > most / o.dim || o.dim > most / o.dim)
        throw OptionError(
            "data.dim",
            std::to_string(objects) + " objects of " + std::to_string(o.dim) +
                " values exceed the limit of 10 million per example; use smaller values");
}

// The three splits, each created by `make`.
template <class Make>
core::DataSplits openSplits(const DataOptions& o, Make make) {
    const auto split = [&](std::uint64_t number, const char* name, std::int64_t size) {
        return NumberSplit{static_cast<std::uint64_t>(o.seed), number, size, name};
    };
    core::DataSplits splits;
    splits.train = make(split(0, "train", o.train_size));
    splits.validation = make(split(1, "validation", o.validation_size));
    splits.tests.emplace_back("test", make(split(2, "test", o.test_size)));
    return splits;
}

core::DataSplits openSelectRelate(const DataOptions& o, const core::ProgressCallback&,
                                  std::stop_token) {
    requireSize(o, o.objects + 1);
    using Asked = SelectRelate::Asked;
    const auto asked = o.task == "select-kernel" ? Asked::Kernel
                       : o.task == "select-wave" ? Asked::Wave
                                                 : Asked::Both;
    return openSplits(o, [&](const NumberSplit& split) {
        return std::make_shared<SelectRelate>(split, o.task, asked, o.objects, o.dim);
    });
}

core::DataSplits openInnerProducts(const DataOptions& o, const core::ProgressCallback&,
                                   std::stop_token) {
    requireSize(o, 2);
    using Relation = InnerProducts::Relation;
    const auto relation = o.task == "order-relation" ? Relation::Order : Relation::Kernel;
    return openSplits(o, [&](const NumberSplit& split) {
        return std::make_shared<InnerProducts>(split, o.task, relation, o.dim);
    });
}

core::DataSplits openSymbolRecovery(const DataOptions& o, const core::ProgressCallback&,
                                    std::stop_token) {
    requireSize(o, o.objects + 1);
    SymbolRecoveryOptions g;
    g.symbols = o.objects;
    g.dim = o.dim;
    g.adversarial = o.adversarial;
    g.nonzero = o.task == "sparse" ? o.nonzero : 0;
    return openSplits(o, [&](const NumberSplit& split) {
        return std::make_shared<SymbolRecovery>(split, o.task, g);
    });
}

const KindOpenerRegistrar registered[] = {{"select-relate", {openSelectRelate}},
                                          {"inner-products", {openInnerProducts}},
                                          {"symbol-recovery", {openSymbolRecovery}}};

}  // namespace
}  // namespace relascope::datasets
