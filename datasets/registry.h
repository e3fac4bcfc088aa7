// Tasks by name: from data options to the parts that a run reads.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "types/run_options.h"

namespace relascope {

/// Opens what the options name: generated splits, slices of real files, or text (openText). With
/// `streaming`, every pass over the training set has fresh images. Throws OptionError, FileError or
/// Cancelled.
DataSplits openData(const DataOptions& options, const ProgressCallback& progress = {},
                    std::stop_token stop = {});

/// The data of a run and of the stages before it (RunOptions::pretraining).
DataSplits openRunData(const RunOptions& options, const ProgressCallback& progress = {},
                       std::stop_token stop = {});

/// A data set for evaluation: an .npz file, or a folder with <task>_<split>.npz; `split` chooses
/// there.
DatasetPtr openEvaluationData(const std::string& path, const DataOptions& options,
                              const std::string& split, const ProgressCallback& progress = {},
                              std::stop_token stop = {});

/// A generator that `datasets` lists.
struct DatasetEntry {
    std::string name;  ///< "between"
    std::string help;  ///< one sentence
    std::vector<std::string> families;
    std::vector<std::string> classNames;
};
std::vector<DatasetEntry> listDatasets();

/// Throws OptionError unless the data fit the model: channels, height, width and classes.
void requireFit(const DatasetInfo& data, std::int64_t channels, std::int64_t height,
                std::int64_t width, std::int64_t classes);

}  // namespace relascope
