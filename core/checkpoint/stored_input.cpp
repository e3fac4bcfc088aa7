// SPDX-License-Identifier: GPL-3.0-or-later
#include "checkpoint/stored_input.h"

#include "types/error.h"

namespace relascope::core {

torch::Tensor storedTensor(const std::map<std::string, torch::Tensor>& tensors,
                           const std::string& name, const std::string& file) {
    const auto found = tensors.find(name);
    if (found == tensors.end()) throw FileError(file, "has no tensor '" + name + "'");
    return found->second;
}

ModelInput storedInput(const std::map<std::string, torch::Tensor>& tensors,
                       const std::string& prefix, const ModelOptions& options,
                       const std::string& file) {
    const auto tensor = [&](const char* name) {
        return storedTensor(tensors, prefix + name, file);
    };
    switch (options.input()) {
        case InputKind::Images:
            return tensor("images");
        case InputKind::Tokens:
            return tensor("tokens");
        case InputKind::Pairs:
            return {tensor("source"), tensor("target_in")};
        case InputKind::Objects:
            break;
    }
    return tensor("objects");
}

}  // namespace relascope::core
