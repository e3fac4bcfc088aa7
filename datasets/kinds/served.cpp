// SPDX-License-Identifier: GPL-3.0-or-later
// Opens the data of models that other programs serve: the path is "served:NAME".
#include "data/served_data.h"
#include "datasets/registry.h"
#include "model/served/served_options.h"
#include "types/error.h"

namespace relascope::datasets {
namespace {

core::DataSplits open(const DataOptions& o, const core::ProgressCallback&, std::stop_token) {
    if (!core::isServedName(o.path))
        throw OptionError("data.path", "'" + o.path + "' names no served model; give served:NAME");
    return core::servedSplits(core::servedLink(core::doorOf(o.path)));
}

NamedSplits import(const DataOptions& o, const core::ProgressCallback& progress,
                   std::stop_token stop) {
    const auto splits = open(o, progress, std::move(stop));
    NamedSplits all;
    for (const auto& name : splits.names())
        if (auto data = splits.find(name)) all.emplace_back(name, std::move(data));
    return all;
}

const KindOpenerRegistrar registered(core::kServedData, {open, nullptr, import});

}  // namespace
}  // namespace relascope::datasets
