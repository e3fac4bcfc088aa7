// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/blocks/experts.h"

#include <torch/utils.h>

#include "model/blocks/module_span.h"
#include "model/decode/cache.h"
#include "model/hooks/hooks.h"

namespace relascope::core {

ExpertsImpl::ExpertsImpl(const StackOptions& s)
    : FeedForwardImpl(s.block.activation), m_options(s.details) {
    gate = register_module("gate", Linear(s.d_model, m_options.experts, false));
    experts = register_module("experts", torch::nn::ModuleList());
    for (std::int64_t e = 0; e < m_options.experts; ++e)
        experts->push_back(
            FeedForward(s.d_model, s.block.dff, s.block.activation, s.feedForwardBias));
}

torch::Tensor ExpertsImpl::forward(const torch::Tensor& x) {
    const ModuleSpan span(*this);
    const auto probabilities = softmaxOf(gate(x));  // [b, n, experts]
    auto [best, ids] = probabilities.topk(m_options.experts_chosen, -1);
    if (m_options.experts_normed) best = best / best.sum(-1, true);
    const HookedModule hooks(hook, tokensBefore());
    const auto weights = hooks("hook_expert_weights", axes::experts,
                               torch::zeros_like(probabilities).scatter(-1, ids, best))
                             .flatten(0, -2);
    const auto tokens = x.flatten(0, -2);
    auto out = torch::zeros_like(tokens);
    for (std::int64_t e = 0; e < m_options.experts; ++e) {
        const auto share = weights.select(1, e);
        const auto rows = share.nonzero().squeeze(1);
        if (rows.size(0) == 0) continue;
        auto* expert = experts[static_cast<std::size_t>(e)]->as<FeedForwardImpl>();
        out = out.index_add(0, rows,
                            expert->forward(tokens.index_select(0, rows)) *
                                share.index_select(0, rows).unsqueeze(1));
    }
    return out.view_as(x);
}

FeedForward makeFeedForward(const StackOptions& s) {
    if (s.details.experts > 0)
        return FeedForward(std::shared_ptr<FeedForwardImpl>(std::make_shared<ExpertsImpl>(s)));
    return FeedForward(s.d_model, s.block.dff, s.block.activation, s.feedForwardBias);
}

}  // namespace relascope::core
