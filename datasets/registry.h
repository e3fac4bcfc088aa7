// SPDX-License-Identifier: GPL-3.0-or-later
// Opens the splits of data options.
#pragma once

#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "datasets/dataset_list.h"
#include "types/data_options.h"
#include "types/run_options.h"

namespace relascope::datasets {

// How a kind of data is opened: the part of its description that depends on files and generators.
// The descriptor of a kind is a DataKind (types/data_kind.h).

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

/// Opens the data of the options: generated splits, splits of files, or text (openText). Where
/// epochs differ (streaming, augmentation), `trainEpoch` makes them. Throws OptionError, FileError
/// or Cancelled.
core::DataSplits openData(const DataOptions& options, const core::ProgressCallback& progress = {},
                          std::stop_token stop = {});

/// The data of a run, with the data of its pretraining stage in `pretraining`, if there is one
/// (RunOptions::pretraining()). Throws as openData().
core::DataSplits openRunData(const RunOptions& options, const core::ProgressCallback& progress = {},
                             std::stop_token stop = {});

/// Opens other files for evaluation. For Relational Games an .npz file, or a folder with
/// <task>_<split>.npz, from which `split` selects. For other kinds a folder as in data.path; an
/// empty split means test. A folder with objects.csv is one of pictures with masks, for every kind
/// (masked_pictures.h). Throws OptionError for kinds that have no files.
core::DatasetPtr openEvaluationData(const std::string& path, const DataOptions& options,
                                    const std::string& split,
                                    const core::ProgressCallback& progress = {},
                                    std::stop_token stop = {});

/// All contents of imported files, by split.
NamedSplits openImported(const DataOptions& options, const core::ProgressCallback& progress = {},
                         std::stop_token stop = {});

/// Throws OptionError unless the data fit the model: channels, height, width and classes.
void requireFit(const DatasetInfo& data, std::int64_t channels, std::int64_t height,
                std::int64_t width, std::int64_t classes);

}  // namespace relascope::datasets
