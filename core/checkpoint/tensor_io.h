// Tensors to and from safetensors files.
#pragma once

#include <torch/types.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/safetensors.h"
#include "model/factory.h"

namespace relascope {

/// One tensor of an open file, on the CPU. F16, BF16, F32, F64, BOOL and the integers up to 64
/// bits; SafetensorsError for dtypes that torch has no type for.
torch::Tensor readTensor(const SafetensorsFile& file, const TensorEntry& entry);

/// Every tensor of a file by name.
std::map<std::string, torch::Tensor> readTensors(const std::string& path);

/// Writes the tensors (any device; copied to the CPU) atomically.
void saveTensors(const std::string& path,
                 const std::vector<std::pair<std::string, torch::Tensor>>& tensors,
                 const std::map<std::string, std::string>& metadata = {});

/// What stands between a file and a model.
struct LoadReport {
    std::vector<std::string> missing, unexpected, wrongShape, nonFinite;
    bool loads() const { return missing.empty() && unexpected.empty() && wrongShape.empty(); }
    /// One sentence that lists everything; empty when nothing is wrong.
    std::string text() const;
};

/// Compares a file with a model without changing it. A tied tensor may be stored under any of its
/// names.
LoadReport compareWeights(ModelImpl& model, const SafetensorsFile& file);

/// Loads all weights or none: throws FileError with the report's text and leaves the model as it
/// was. Non-finite weights load; the report names them.
LoadReport loadWeights(ModelImpl& model, const std::string& path);

/// Writes the model's weights, a tied tensor once with its second name in the metadata.
void saveWeights(ModelImpl& model, const std::string& path);

}  // namespace relascope
