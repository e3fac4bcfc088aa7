// SPDX-License-Identifier: GPL-3.0-or-later
// Weights from checkpoints into models, and tensors to and from safetensors files.
#pragma once

#include <torch/types.h>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "checkpoint/family_form.h"
#include "checkpoint/source.h"
#include "files/mapped_file.h"
#include "files/safetensors.h"
#include "model/model.h"
#include "types/model_options.h"

namespace relascope::core {

/// torch's type for a dtype of safetensors, if it is one that models and optimisers hold.
std::optional<torch::ScalarType> scalarType(const std::string& dtype);

/// One tensor of an open file, on the CPU. F16, BF16, F32, F64, BOOL and the integers up to 64
/// bits; SafetensorsError for dtypes that torch has no type for.
torch::Tensor readTensor(const SafetensorsFile& file, const TensorEntry& entry);

/// Every tensor of a file by name.
std::map<std::string, torch::Tensor> readTensors(const std::string& path);

/// Writes the tensors (any device; copied to the CPU) atomically.
void saveTensors(const std::string& path,
                 const std::vector<std::pair<std::string, torch::Tensor>>& tensors,
                 const std::map<std::string, std::string>& metadata = {});

/// The differences between a checkpoint and a model.
struct LoadReport {
    /// How the names of the file differ, where one rule explains it; or what packed its weights.
    std::string names;
    std::vector<std::string> missing, unexpected, wrongShape, wrongType, nonFinite;
    bool loads() const {
        return names.empty() && missing.empty() && unexpected.empty() && wrongShape.empty() &&
               wrongType.empty();
    }
    /// One sentence that lists all of them; empty if there are none.
    std::string text() const;
};

/// Compares a checkpoint with a model without changing it. A tied tensor may be stored under any of
/// its names; floating point is converted, integers are taken as they are.
LoadReport compareWeights(ModelImpl& model, const CheckpointSource& source);
/// Compares a checkpoint with a model that is not built, of any family. Throws FileError with the
/// report's text unless the weights load.
LoadReport requireFit(const ModelOptions& options, const CheckpointSource& source);

/// The files in which weights of a model lie, instead of copies of them.
class MappedWeights {
public:
    void add(std::shared_ptr<const MappedFile> file) { m_files.push_back(std::move(file)); }
    bool empty() const { return m_files.empty(); }
    bool hold(const torch::Tensor& tensor) const;
    /// Throws FileError if one of the files was truncated or changed since it was mapped. A model
    /// asks before every pass (ModelImpl::beforePass).
    void requireUnchanged() const;

private:
    std::vector<std::shared_ptr<const MappedFile>> m_files;
};

/// Files from this size on are mapped; smaller ones are read, so that nothing that happens to them
/// later matters.
constexpr std::uint64_t kMappedFrom = std::uint64_t{256} << 20;

/// Gives the weights of a new model of a public family the types of the file where they are
/// multiplied or looked up in 16 bits as well (bfloat16, float16), so that it takes no more memory
/// than the file. Tensors that the file stores as the model has them stay in the mapped file and
/// count as loaded.
MappedWeights keepFileTypes(ModelImpl& model, const ModelOptions& options,
                            const CheckpointSource& source, std::uint64_t mappedFrom = kMappedFrom);
/// The bytes that the weights of such a model take; for any other model, as float32.
std::uint64_t keptBytes(const ModelOptions& options, const CheckpointSource& source);

/// Loads all weights, piece by piece straight into the parameters, so that memory peaks at the
/// model and one piece of a file. Throws FileError with the report's text when they do not fit, and
/// leaves the model as it was. A file that fails in the middle (FileError) or a stop (Cancelled)
/// leaves some weights replaced: load into a freshly made model and swap it in afterwards.
/// `progress` gets the fraction done and returns false to cancel; both are asked at least every
/// 4 MiB. Non-finite weights load; the report names them.
LoadReport loadWeights(ModelImpl& model, const CheckpointSource& source, std::stop_token stop = {},
                       const std::function<bool(double)>& progress = {});
/// Loads all weights, also from the files of a public family (model/public/family.h). Tensors that
/// `mapped` holds already are neither copied nor checked.
LoadReport loadWeights(ModelImpl& model, const ModelOptions& options,
                       const CheckpointSource& source, std::stop_token stop = {},
                       const std::function<bool(double)>& progress = {},
                       const MappedWeights& mapped = {});
/// Loads all weights from any form of checkpoint.h.
LoadReport loadWeights(ModelImpl& model, const std::string& path);

/// Writes the model's weights, a tied tensor once with its second name in the metadata.
void saveWeights(ModelImpl& model, const std::string& path);
/// Writes the model's weights with the names and types of a family's file: a tensor that was not
/// changed keeps its bytes, but for float64, which is rounded to float32.
void saveWeights(ModelImpl& model, const FamilyForm& form, const std::string& path);
/// The weights that are rounded in that file, to 16 bits: by their names in the model.
std::vector<std::pair<std::string, torch::Tensor>> roundedWeights(ModelImpl& model,
                                                                  const FamilyForm& form);

// Inputs of models stored as tensors, in golden cases and beside edits.

/// A tensor of a file that was read. Throws FileError naming both if it is not there.
torch::Tensor storedTensor(const std::map<std::string, torch::Tensor>& tensors,
                           const std::string& name, const std::string& file);

/// The input of a model from tensors of a file: `prefix` + "images", "tokens", "objects", or
/// "source" and "target_in". The model checks their shapes.
ModelInput storedInput(const std::map<std::string, torch::Tensor>& tensors,
                       const std::string& prefix, const ModelOptions& options,
                       const std::string& file);

}  // namespace relascope::core
