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

/// Functions that give edits their examples, texts and pictures. Every member may be empty.
struct EditData {
    std::function<DatasetPtr(const std::string& split)> split;  ///< null for an unknown split
    std::function<ProbeSample(const std::string& text)> text;
    std::function<ProbeSample(const std::string& file)> image;
    /// The example that is inspected, for resample; -1: the sample is no example of a split.
    std::string exampleSplit = {};
    std::int64_t example = -1;
};

/// `data` with the measured data `own` for means, where there are no training examples.
EditData withOwnExamples(EditData data, DatasetPtr own);

/// The edits of a forward pass, on top of the edits that a run was trained with.
struct Interventions {
    EditList edits = {};
    /// The source of values for these edits and for the edits of training.
    EditData data = {};
};

/// Chooses edits for a model that is known only after its data are opened: gets the model's hook
/// points for an example. Throws OptionError, FileError.
using EditChoice = std::function<EditList(const std::vector<PointInfo>& points)>;

/// The examples of `splits`, which must outlive the result, and texts for the tokenizer of a
/// language model. Pictures cannot be read.
EditData editDataOf(const DataSplits& splits, const ModelOptions& options);

/// Finds the sample among the examples by the number at the end of its origin ("validation 12"),
/// for resample; leaves `data` as it is where the sample is none of them.
void findExample(EditData& data, const ProbeSample& sample);

}  // namespace relascope::core
