// SPDX-License-Identifier: GPL-3.0-or-later
#include <map>
#include <stdexcept>
#include <string>

#include "model/blocks/parameters.h"
#include "model/blocks/recording.h"
#include "model/hooks/hook_names.h"
#include "model/model.h"
#include "types/error.h"

namespace relascope::core {

void requireInput(const torch::Tensor& images, const ImageInput& o) {
    const auto& s = o.image_shape;
    if (images.dim() == 4 && images.size(1) == s[0] && images.size(3) == s[1] &&
        images.size(2) == s[2])
        return;
    std::string shape;
    for (const auto n : images.sizes()) shape += (shape.empty() ? "" : " x ") + std::to_string(n);
    throw OptionError("images", "are " + shape + ", but the model expects batches of " +
                                    std::to_string(s[0]) + " x " + std::to_string(s[2]) + " x " +
                                    std::to_string(s[1]));
}

void requireInput(const torch::Tensor& objects, const ObjectInput& o) {
    if (objects.dim() == 3 && objects.size(1) == o.n_objects && objects.size(2) == o.object_dim &&
        objects.is_floating_point())
        return;
    throw OptionError("objects", "the model expects sets of " + std::to_string(o.n_objects) +
                                     " objects of " + std::to_string(o.object_dim) + " numbers");
}

namespace {

struct Maker {
    ModelPtr (*build)(const ModelOptions&);
    RegisterModel::Initialise initialise;
};

std::map<std::string, Maker>& makers() {
    static std::map<std::string, Maker> all;
    return all;
}

}  // namespace

RegisterModel::RegisterModel(const char* architecture, Build build, Initialise initialise) {
    makers()[architecture] = {build, initialise};
}

ModelPtr makeModel(const ModelOptions& options) {
    options.check();
    const auto found = makers().find(options.architecture());
    if (found == makers().end())
        throw std::logic_error("no class is registered for " + options.architecture());
    auto model = found->second.build(options);
    if (found->second.initialise && parameterFill() == ParameterFill::Fresh)
        found->second.initialise(*model);
    for (const auto& item : model->named_modules())
        if (auto* point = dynamic_cast<RecordingPoint*>(item.value().get()))
            if (point->path.empty()) {  // shared modules: the first name
                point->path = item.key();
                if (point->hook.empty())
                    point->hook = hookName(point->path, options.input() == InputKind::Pairs);
            }
    return model;
}

std::vector<NamedTensor> stateOf(ModelImpl& model) {
    std::vector<NamedTensor> state, aliases;
    std::map<const void*, std::string> first;  // tensor -> its first name
    const auto add = [&](const std::string& name, const torch::Tensor& tensor, bool buffer) {
        const auto [at, isNew] = first.emplace(tensor.unsafeGetTensorImpl(), name);
        if (isNew)
            state.push_back({name, tensor, "", buffer});
        else
            aliases.push_back({name, tensor, at->second, buffer});
    };
    for (const auto& item : model.named_parameters()) add(item.key(), item.value(), false);
    for (const auto& item : model.named_buffers()) add(item.key(), item.value(), true);
    state.insert(state.end(), aliases.begin(), aliases.end());
    return state;
}

std::vector<torch::Tensor> trainableParameters(ModelImpl& model) {
    std::vector<torch::Tensor> parameters;
    for (const auto& entry : stateOf(model))
        if (entry.aliasOf.empty() && entry.tensor.requires_grad())
            parameters.push_back(entry.tensor);
    return parameters;
}

}  // namespace relascope::core
