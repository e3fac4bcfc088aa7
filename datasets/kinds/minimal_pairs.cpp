// SPDX-License-Identifier: GPL-3.0-or-later
// Opens minimal pairs of sentences: generated ones, or files.
#include "data/minimal_pairs.h"
#include "datasets/generators/minimal_pairs.h"
#include "datasets/registry.h"
#include "types/data_kind.h"

namespace relascope::datasets {
namespace {

core::PairDatasetPtr openPairs(const DataOptions& o, const core::ProgressCallback& progress,
                               std::stop_token stop) {
    if (!o.path.empty())
        return core::readMinimalPairs(o.path, core::PairFields::of(o.text_field, "data.text_field"),
                                      progress, std::move(stop));
    DatasetInfo info;
    info.name = "minimal pairs";
    info.origin = "generated, seed " + std::to_string(o.seed);
    info.task = o.task;
    const bool all = o.task == dataKind(o.kind).tasks.front().name;
    PairGrammar grammar;
    if (!all) grammar.phenomenon = o.task;
    grammar.pairs = o.train_size, grammar.distance = o.distance;
    grammar.attractors = o.attractors, grammar.seed = static_cast<std::uint64_t>(o.seed);
    return std::make_shared<core::ListedPairs>(std::move(info), generatePairs(grammar));
}

// Nothing is trained on them: there is one split.
core::DataSplits open(const DataOptions& o, const core::ProgressCallback& progress,
                      std::stop_token stop) {
    core::DataSplits splits;
    splits.validation = openPairs(o, progress, std::move(stop));
    return splits;
}

NamedSplits import(const DataOptions& o, const core::ProgressCallback& progress,
                   std::stop_token stop) {
    return {{"validation", openPairs(o, progress, std::move(stop))}};
}

core::DatasetPtr evaluate(const std::string& path, const DataOptions& given, const std::string&,
                          const core::ProgressCallback& progress, std::stop_token stop) {
    auto o = given;
    o.path = path;
    return openPairs(o, progress, std::move(stop));
}

const KindOpenerRegistrar registered("minimal-pairs", {open, evaluate, import});

}  // namespace
}  // namespace relascope::datasets
