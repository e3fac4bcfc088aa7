// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/language/masked_language.h"

#include <torch/utils.h>

namespace relascope::core {

MaskedHeadImpl::MaskedHeadImpl(const PublicEncoderOptions& o) : m_activation(o.head_activation) {
    dense = register_module("dense", Linear(o.d_model, o.d_model, o.head_bias));
    norm = register_module("norm", Norm(o.d_model, o.norm_type, o.norm_eps));
}

torch::Tensor MaskedHeadImpl::forward(const torch::Tensor& x) {
    return norm(applyActivation(m_activation, dense(x)));
}

MaskedLMImpl::MaskedLMImpl(const PublicEncoderOptions& o)
    : TransformerLMImpl(o, stackOf(o)), m_details(o) {
    if (o.token_types > 0)
        m_types = m_layers->register_module("token_types", Embedding(o.token_types, o.d_model));
    m_head = m_layers->register_module("head", MaskedHead(o));
    if (!normsFirstAttention(o)) {
        auto* first = m_blocks[0]->as<EncoderBlockImpl>();
        first->norm1 = first->replace_module("norm1", Norm(o.d_model, "none"));
    }
}

torch::Tensor MaskedLMImpl::positions(const torch::Tensor& tokens) const {
    const auto& table = m_positions->weight;
    const auto first = m_further.ends.position_offset, n = tokens.size(1);
    if (m_details.padding_row < 0)
        return table.slice(0, first, first + n).unsqueeze(0).expand({tokens.size(0), n, -1});
    const auto counted = tokens.ne(m_details.padding_row);
    const auto rows = counted.cumsum(1) * counted + (first - 1);  // [b, n]
    return torch::embedding(table, rows);
}

torch::Tensor MaskedLMImpl::forward(const ModelInput& input) {
    if (beforePass) beforePass();
    const auto& tokens = input.x;
    requireTokens(tokens, m_options.vocab_size, m_options.max_block_size, "tokens");
    const HookedModule hooks("", 0);
    auto x = hooks("hook_embed", axes::stream, m_tokens(tokens));  // [b, n, d]
    if (!m_types.is_empty()) x = x + m_types->weight[0];
    if (!m_positions.is_empty()) x = x + hooks("hook_pos_embed", axes::stream, positions(tokens));
    if (!m_embedNorm.is_empty()) x = m_embedNorm(x);
    x = m_norm(decode(x));
    if (m_further.ends.final_norm)
        x = HookedModule("ln_final", 0)("hook_normalized", axes::stream, x);
    return hookedLogits(scoresOf(m_further.form, m_out(m_head(x)), m_options.vocab_size));
}

namespace {

const auto publicEncoder = RegisterModel::of<MaskedLMImpl, PublicEncoderOptions>(kPublicEncoder);

}  // namespace
}  // namespace relascope::core
