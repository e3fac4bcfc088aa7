// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/decode/repeated_token.h"

namespace relascope::core {
namespace {

/// Passes before one is recorded: libraries set up memory in the first ones.
constexpr int kRehearsals = 3;

}  // namespace

RepeatedToken::RepeatedToken(ModelImpl& model, DecodingCache& cache, const torch::Device& device)
    : m_model(model),
      m_cache(cache),
      m_graph(makeDeviceGraph(device)),
      m_token(torch::zeros({1, 1}, torch::TensorOptions(torch::kLong).device(device))) {}

torch::Tensor RepeatedToken::read(std::int64_t token) {
    m_token.fill_(token);
    const CacheScope scope(m_cache);
    const auto pass = [this] { m_logits = m_model.forward(m_token); };
    if (m_graph && m_rehearsals < kRehearsals) {
        m_graph->rehearse(pass);
        ++m_rehearsals;
        return m_logits;
    }
    if (m_graph && !m_recorded && !record()) m_graph.reset();
    if (!m_graph) {
        pass();
        return m_logits;
    }
    m_graph->replay();
    m_cache.countOne();
    return m_logits;
}

bool RepeatedToken::record() {
    const auto past = m_cache.past();
    try {
        m_graph->record([this] { m_logits = m_model.forward(m_token); });
        m_recorded = true;
    } catch (const std::exception&) {  // as for any device that records nothing
    }
    m_cache.setCount(past);  // nothing was computed
    return m_recorded;
}

}  // namespace relascope::core
