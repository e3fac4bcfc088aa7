#include "model/published_start.h"

#include <torch/nn/init.h>

#include <cmath>

#include "model/abstractor.h"
#include "model/parameters.h"
#include "model/relational_attention.h"

namespace relascope {
namespace {

bool isPublishedSetModel(const ModelOptions& o) {
    return o.is("MessagePassingAbstractor") || o.is("SymbolicMLP") || o.is("PairRelations") ||
           o.is("FixedRelationAbstractor") || o.architecture.rfind("Object", 0) == 0;
}

}  // namespace

void startAsPublished(ModelImpl& model, const ModelOptions& o) {
    if (!isPublishedSetModel(o) || parameterFill() != ParameterFill::Fresh) return;
    const torch::NoGradGuard noGrad;
    for (const auto& item : model.named_modules("", false)) {
        auto* linear = item.value()->as<LinearImpl>();
        if (!linear) continue;
        torch::nn::init::xavier_uniform_(linear->weight);
        if (linear->bias.defined()) linear->bias.zero_();
    }
    for (const auto& item : model.named_modules("", false)) {
        auto* attention = item.value()->as<AbstractorAttentionImpl>();
        if (!attention) continue;
        const auto d = static_cast<double>(attention->wo->weight.size(0)),
                   width = static_cast<double>(attention->wo->weight.size(1)),
                   key = static_cast<double>(o.keyDim()), heads = width / key;
        const double in = std::sqrt(6.0 / (d * (heads + key)));
        for (auto* projection : {&attention->wq, &attention->wk, &attention->wv})
            (*projection)->weight.uniform_(-in, in);
        const double out = std::sqrt(6.0 / (heads * (key + d)));
        attention->wo->weight.uniform_(-out, out);
    }
}

void initRelationsAsMay2024(ModelImpl& model) {
    const torch::NoGradGuard noGrad;
    for (const auto& item : model.named_modules("", false)) {
        auto* attention = item.value()->as<RelationalAttentionImpl>();
        if (!attention) continue;
        const double bound = 1.0 / std::sqrt(static_cast<double>(attention->wr.size(2)));
        attention->wr.uniform_(-bound, bound);
    }
}

}  // namespace relascope
