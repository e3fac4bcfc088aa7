// SPDX-License-Identifier: GPL-3.0-or-later
// Whole models from options.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/model.h"
#include "types/model_options.h"

namespace relascope::core {

/// Builds the model. Its weights follow the current ParameterScope (without one, they are
/// initialised from torch's default generator). Sets the paths of all recording points. Throws
/// OptionError before anything is allocated.
ModelPtr makeModel(const ModelOptions& options);

/// Registers the class of an architecture, as a static object in the file that defines the class.
/// `initialise` sets the published initial weights, if they differ from those of the modules.
class RegisterModel {
public:
    using Initialise = void (*)(torch::nn::Module& model);

    template <class Impl, class Options = typename Impl::Options>
    static RegisterModel of(const char* architecture, Initialise initialise = nullptr) {
        return RegisterModel(
            architecture,
            [](const ModelOptions& options) -> ModelPtr {
                return std::make_shared<Impl>(options.get<Options>());
            },
            initialise);
    }

private:
    using Build = ModelPtr (*)(const ModelOptions&);
    RegisterModel(const char* architecture, Build build, Initialise initialise);
};

/// A parameter or stored buffer, or a further name of one, as in checkpoints.
struct NamedTensor {
    std::string name;
    torch::Tensor tensor;
    std::string aliasOf;  ///< empty for the first name
    bool buffer = false;  ///< stored, but no parameter: positions
};
/// Every tensor under its first name, in the order of registration, then every further name.
std::vector<NamedTensor> stateOf(ModelImpl& model);

/// Parameters that training changes, each once.
std::vector<torch::Tensor> trainableParameters(ModelImpl& model);

}  // namespace relascope::core
