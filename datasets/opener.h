// SPDX-License-Identifier: GPL-3.0-or-later
// How a kind of data is opened: the half of its description that needs files and generators. The
// other half is its DataKind (types/data_kind.h).
#pragma once

#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "types/data_options.h"

namespace relascope::datasets {

/// Parts of data by name: "train", "hexos".
using NamedSplits = std::vector<std::pair<std::string, core::DatasetPtr>>;

/// The functions take options that DataOptions::check() passed, and throw what openData() throws.
struct KindOpener {
    core::DataSplits (*open)(const DataOptions&, const core::ProgressCallback&,
                             std::stop_token) = nullptr;
    /// Files other than the run's own, for evaluation alone. Null: there are none.
    core::DatasetPtr (*evaluate)(const std::string& path, const DataOptions&,
                                 const std::string& split, const core::ProgressCallback&,
                                 std::stop_token) = nullptr;
    /// What imported files hold, in its parts, where that differs from what `open` makes of them;
    /// empty: it does not.
    NamedSplits (*import)(const DataOptions&, const core::ProgressCallback&,
                          std::stop_token) = nullptr;
};

/// Registers the opener of a kind from a static object in its own file, so that no list names all
/// of them.
struct KindOpenerRegistrar {
    KindOpenerRegistrar(const char* kind, KindOpener opener);
};

}  // namespace relascope::datasets
