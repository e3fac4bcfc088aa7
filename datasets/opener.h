// SPDX-License-Identifier: GPL-3.0-or-later
// How a kind of data is opened: the part of its description that depends on files and generators.
// Its descriptor is a DataKind (types/data_kind.h).
#pragma once

#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "types/data_options.h"

namespace relascope::datasets {

/// Splits by name: "train", "hexos".
using NamedSplits = std::vector<std::pair<std::string, core::DatasetPtr>>;

/// The functions take options that DataOptions::check() passed, and throw what openData() throws.
struct KindOpener {
    core::DataSplits (*open)(const DataOptions&, const core::ProgressCallback&,
                             std::stop_token) = nullptr;
    /// Opens other files for evaluation. Null: not supported.
    core::DatasetPtr (*evaluate)(const std::string& path, const DataOptions&,
                                 const std::string& split, const core::ProgressCallback&,
                                 std::stop_token) = nullptr;
    /// The contents of imported files by split, if they differ from the result of `open`; empty:
    /// they do not.
    NamedSplits (*import)(const DataOptions&, const core::ProgressCallback&,
                          std::stop_token) = nullptr;
};

/// Registers the opener of a kind, as a static object in its own file, so that there is no central
/// list.
struct KindOpenerRegistrar {
    KindOpenerRegistrar(const char* kind, KindOpener opener);
};

}  // namespace relascope::datasets
