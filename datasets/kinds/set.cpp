// SPDX-License-Identifier: GPL-3.0-or-later
// The card game SET as a kind of data (ABS 4.5).
#include "datasets/generators/set.h"

#include "datasets/generators/cards.h"
#include "datasets/kinds/kind_parts.h"
#include "datasets/registry.h"

namespace relascope::datasets {
namespace {

// 70, 10 and 20 % of a pool, each limited to its size.
template <class Data>
core::DataSplits splitsOf(const DataOptions& o, std::shared_ptr<const core::CardTable> table,
                          const std::string& examples) {
    constexpr std::int64_t train = Data::kPool * 7 / 10, validation = Data::kPool / 10,
                           test = Data::kPool - train - validation;
    const auto split = [&](const char* name, const char* field, std::int64_t first,
                           std::int64_t wanted, std::int64_t available, int from,
                           int to) -> core::DatasetPtr {
        SetSplit p{name, first, splitSize(field, wanted, available, examples + " in this split")};
        if (o.set_split == "triples") p.from = from, p.to = to;
        return std::make_shared<Data>(table, static_cast<std::uint64_t>(o.seed), std::move(p));
    };
    core::DataSplits splits;
    splits.train = split("train", "train_size", 0, o.train_size, train, 0, 70);
    splits.validation =
        split("validation", "validation_size", train, o.validation_size, validation, 70, 80);
    splits.tests.emplace_back(
        "test", split("test", "test_size", train + validation, o.test_size, test, 80, 100));
    return splits;
}

core::DataSplits openSet(const DataOptions& o, const core::ProgressCallback& progress,
                         std::stop_token stop) {
    const bool triples = o.task == "sets", bits = triples && o.set_input == "relations";
    // Bits require no card network.
    const auto table = bits ? nullptr
                            : cardTable(o.embedding, static_cast<std::uint64_t>(o.seed), progress,
                                        std::move(stop));
    return triples ? splitsOf<SetTriples>(o, table, "triples")
                   : splitsOf<CardPairs>(o, table, "pairs");
}

const KindOpenerRegistrar registered("set", {openSet});

}  // namespace
}  // namespace relascope::datasets
