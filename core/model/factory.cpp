#include "model/factory.h"

#include "model/vision.h"

namespace relascope {

ModelPtr makeModel(const ModelOptions& options) {
    options.check();
    ModelPtr model;
    if (options.isDual())
        model = std::make_shared<VisionDualAttnTransformerImpl>(options);
    else
        model = std::make_shared<VisionTransformerImpl>(options);
    for (const auto& item : model->named_modules())
        if (auto* point = dynamic_cast<RecordingPoint*>(item.value().get()))
            point->path = item.key();
    return model;
}

std::vector<NamedTensor> stateOf(ModelImpl& model) {
    const auto aliases = model.aliases();
    std::vector<NamedTensor> state;
    for (const auto& item : model.named_parameters())
        if (!aliases.count(item.key())) state.push_back({item.key(), item.value(), ""});
    const std::size_t own = state.size();
    for (const auto& [alias, name] : aliases)
        for (std::size_t i = 0; i < own; ++i)
            if (state[i].name == name) state.push_back({alias, state[i].tensor, name});
    return state;
}

std::vector<torch::Tensor> trainableParameters(ModelImpl& model) {
    std::vector<torch::Tensor> parameters;
    for (const auto& entry : stateOf(model))
        if (entry.aliasOf.empty() && entry.tensor.requires_grad())
            parameters.push_back(entry.tensor);
    return parameters;
}

}  // namespace relascope
