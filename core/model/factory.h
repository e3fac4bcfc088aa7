// Whole models from options, and what can be said of them without building one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/model.h"
#include "types/model_options.h"

namespace relascope {

/// Builds the model with fresh weights from torch's default generator; every recording point knows
/// its path. Throws OptionError before anything is allocated.
ModelPtr makeModel(const ModelOptions& options);

/// A parameter or an alias of one, under a name that checkpoints use.
struct NamedTensor {
    std::string name;
    torch::Tensor tensor;
    std::string aliasOf;  ///< empty for the parameter itself
};
/// Every parameter once, then every alias; the order is that of registration.
std::vector<NamedTensor> stateOf(ModelImpl& model);

/// Parameters that training changes, each once.
std::vector<torch::Tensor> trainableParameters(ModelImpl& model);

}  // namespace relascope
