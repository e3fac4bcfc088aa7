// SPDX-License-Identifier: GPL-3.0-or-later
// Where edits find the examples, texts and pictures that they take values from. Does not include
// torch.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "types/edit.h"
#include "types/model_options.h"

namespace relascope::core {

/// Every member may be empty.
struct EditData {
    std::function<DatasetPtr(const std::string& split)> split;  ///< null for an unknown one
    std::function<ProbeSample(const std::string& text)> text;
    std::function<ProbeSample(const std::string& file)> image;
    /// The example that is inspected, for resample; -1: it is of no split.
    std::string exampleSplit = {};
    std::int64_t example = -1;
};

/// Where there are no training examples, means are taken over `own`, the data that are measured.
EditData withOwnExamples(EditData data, DatasetPtr own);

/// What is changed in a forward pass, above the edits that a run was trained with.
struct Interventions {
    EditList edits = {};
    /// Where these edits, and those of training, take values from.
    EditData data = {};
};

/// Edits for a model that is known only once its data are: gets its hook points for an example.
/// Throws OptionError, FileError.
using EditChoice = std::function<EditList(const std::vector<PointInfo>& points)>;

/// The examples of `splits`, which must outlive it, and texts for the tokenizer of a language
/// model. Pictures cannot be read.
EditData editDataOf(const DataSplits& splits, const ModelOptions& options);

/// Finds the sample among the examples by the number at the end of its origin ("validation 12"),
/// for resample; leaves `data` as it is where the sample is none of them.
void findExample(EditData& data, const ProbeSample& sample);

}  // namespace relascope::core
