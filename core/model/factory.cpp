#include "model/factory.h"

#include <map>

#include "model/fixed_relations.h"
#include "model/language.h"
#include "model/message_passing.h"
#include "model/object_abstractor.h"
#include "model/object_baselines.h"
#include "model/one_head.h"
#include "model/published_start.h"
#include "model/relational_baselines.h"
#include "model/robust_regression.h"
#include "model/seq2seq.h"
#include "model/seq2seq_abstractor.h"
#include "model/vision.h"

namespace relascope {
namespace {

template <class Impl>
ModelPtr build(const ModelOptions& options) {
    return std::make_shared<Impl>(options);
}

const std::map<std::string, ModelPtr (*)(const ModelOptions&)>& builders() {
    static const std::map<std::string, ModelPtr (*)(const ModelOptions&)> table = {
        {"VisionDualAttnTransformer", build<VisionDualAttnTransformerImpl>},
        {"VisionTransformer", build<VisionTransformerImpl>},
        {"AbstractorModel", build<ImageAbstractorImpl>},
        {"CoRelNet", build<CoRelNetImpl>},
        {"CoRelNetSoftmax", build<CoRelNetImpl>},
        {"PrediNet", build<PrediNetImpl>},
        {"DualAttnTransformerLM", build<DualAttnTransformerLMImpl>},
        {"TransformerLM", build<TransformerLMImpl>},
        {"Seq2SeqDualAttnTransformer", build<Seq2SeqDualAttnTransformerImpl>},
        {"Seq2SeqTransformer", build<Seq2SeqTransformerImpl>},
        {"Seq2SeqAbstractor", build<Seq2SeqAbstractorImpl>},
        {"MessagePassingAbstractor", build<MessagePassingAbstractorImpl>},
        {"ObjectAbstractor", build<ObjectAbstractorImpl>},
        {"ObjectCoRelNet", build<ObjectCoRelNetImpl>},
        {"ObjectPrediNet", build<ObjectPrediNetImpl>},
        {"ObjectTransformer", build<ObjectTransformerImpl>},
        {"RelationalHead", build<OneHeadModelImpl>},
        {"SensoryHead", build<OneHeadModelImpl>},
        {"RcaHead", build<OneHeadModelImpl>},
        {"InnerProductRelation", build<InnerProductRelationImpl>},
        {"RobustRegression", build<RobustRegressionImpl>},
        {"ObjectMLP", build<ObjectMlpImpl>},
        {"SymbolicMLP", build<ObjectMlpImpl>},
        {"PairRelations", build<PairRelationsImpl>},
        {"FixedRelationAbstractor", build<FixedRelationAbstractorImpl>}};
    return table;
}

}  // namespace

ModelPtr makeModel(const ModelOptions& options) {
    options.check();
    auto model = builders().at(options.architecture)(options);
    startAsPublished(*model, options);
    for (const auto& item : model->named_modules())
        if (auto* point = dynamic_cast<RecordingPoint*>(item.value().get()))
            if (point->path.empty()) point->path = item.key();  // shared modules: the first name
    return model;
}

std::vector<NamedTensor> stateOf(ModelImpl& model) {
    std::vector<NamedTensor> state, aliases;
    std::map<const void*, std::string> first;  // tensor -> the name it was met under
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

}  // namespace relascope
