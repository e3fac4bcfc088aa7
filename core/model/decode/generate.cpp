// SPDX-License-Identifier: GPL-3.0-or-later
#include <c10/core/InferenceMode.h>
#include <torch/utils.h>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/architecture.h"
#include "model/decode/generate.h"
#include "model/decode/row_decoder.h"
#include "model/public/public_options.h"
#include "types/error.h"

namespace relascope::core {
namespace {

/// Tokens that there is room for at first: a context of 131,072 would take gigabytes.
constexpr std::int64_t kFirstCapacity = 2048;

/// Passes before one is recorded: libraries set up memory in the first ones.
constexpr int kRehearsals = 3;

}  // namespace

RepeatedToken::RepeatedToken(ModelImpl& model, DecodingCache& cache, const torch::Device& device)
    : m_model(model),
      m_cache(cache),
      m_graph(makeDeviceGraph(device)),
      m_token(torch::zeros({1, 1}, torch::TensorOptions(torch::kLong).device(device))) {
    if (!m_graph) m_problem = graphLibrary().problem;
}

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
    } catch (const std::exception& error) {  // as for any device that records nothing
        m_problem = userMessage(error);
    }
    m_cache.setCount(past);  // nothing was computed
    return m_recorded;
}

std::int64_t usableVocabulary(const ModelOptions& options) {
    constexpr std::int64_t padded = 50304, tokens = 50257;  // GPT-2's, rounded up to 128
    if (options.info().opened) return options.outputs();
    return options.outputs() == padded ? tokens : options.outputs();
}

bool canCache(const ModelOptions& o) {
    if (readsBothWays(o)) return false;
    const auto* block = o.find<BlockOptions>();
    if (const auto* details = o.find<BlockDetails>(); details && details->masked_relations)
        return true;
    return !o.info().dual || block->n_heads_ra == 0 || block->ra_type == "rca" ||
           block->rel_activation != "softmax";
}

LanguageReader::LanguageReader(ModelImpl& model, const ModelOptions& options)
    : m_model(model),
      m_options(options),
      m_cache(std::min(options.tokens(), kFirstCapacity)),
      m_device(model.device()) {
    if (const auto why = noNextTokenText(options); !why.empty()) throw OptionError("model", why);
    if (RowDecoder::takes(model, options)) m_row = std::make_unique<RowDecoder>(model, options);
    if (!m_device.is_cpu() && canCache(options))
        m_repeated = std::make_unique<RepeatedToken>(model, m_cache, m_device);
}

LanguageReader::~LanguageReader() = default;

torch::Tensor LanguageReader::read(std::span<const std::int64_t> tokens) {
    const c10::InferenceMode inference;
    for (const auto id : tokens)
        if (id < 0 || id >= m_options.outputs())
            throw OptionError("tokens", "token " + std::to_string(id) +
                                            " is outside the vocabulary of " +
                                            std::to_string(m_options.outputs()));
    m_tokens.insert(m_tokens.end(), tokens.begin(), tokens.end());
    if (m_tokens.empty()) throw OptionError("prompt", "is empty; give at least one token");
    const auto total = static_cast<std::int64_t>(m_tokens.size());
    const std::int64_t window = std::min(total, m_options.tokens());
    // Beyond the context all positions shift, so cached values are no longer valid.
    if (total > m_options.tokens() || !canCache(m_options)) m_cache.clear();
    // A text that grows past the original context turns otherwise from its first token on.
    if (const auto* details = m_options.find<BlockDetails>();
        details && details->dependsOnLength() && window > details->rope_original &&
        m_cache.past() <= details->rope_original)
        m_cache.clear();
    if (auto* hooks = activeHooks()) hooks->setOrigin(total - window);
    const std::int64_t fresh = window - m_cache.past();
    if (window > m_cache.capacity()) {
        auto capacity = m_cache.capacity();
        while (capacity < window) capacity *= 2;
        m_cache.grow(std::min(capacity, m_options.tokens()));
        // A graph that was recorded has the smaller buffers.
        if (m_repeated) m_repeated = std::make_unique<RepeatedToken>(m_model, m_cache, m_device);
    }
    const std::int64_t usable = usableVocabulary(m_options);
    const bool plain = !activeRecorder() && !activeHooks();
    if (m_row && fresh == 1 && m_cache.past() > 0 && plain) {
        auto logits = torch::empty({m_options.outputs()});
        m_row->read(m_tokens.back(), m_cache,
                    {logits.mutable_data_ptr<float>(), static_cast<std::size_t>(logits.numel())});
        return logits.slice(0, 0, usable);
    }
    const auto forward = [&] {
        const auto ids =
            torch::from_blob(m_tokens.data() + (total - fresh), {1, fresh}, torch::kLong);
        const CacheScope scope(m_cache);
        return m_model.forward(ids.to(m_device));
    };
    const bool repeats = m_repeated && fresh == 1 && m_cache.past() > 0 && plain;
    const auto logits = repeats ? m_repeated->read(m_tokens.back()) : forward();  // [1, 1, vocab]
    return logits[0][-1]
        .slice(0, 0, usable)
        .to(torch::TensorOptions().dtype(torch::kFloat).device(torch::kCPU))
        .contiguous();
}

TokenSampler::TokenSampler(const GenerateOptions& options)
    : m_options(options), m_random(static_cast<std::uint64_t>(options.seed)) {
    options.check();
}

GeneratedToken TokenSampler::sample(const torch::Tensor& logits) {
    const auto& o = m_options;
    const auto count = logits.size(0);
    const auto* value = logits.const_data_ptr<float>();
    const auto* best = std::max_element(value, value + count);
    if (!std::isfinite(*best) || torch::isnan(logits).any().item<bool>())
        throw Error("the outputs of the model are not finite; its weights are damaged");
    std::vector<float> probability(static_cast<std::size_t>(count));
    const auto softmax = torch::softmax(logits, 0);
    std::copy_n(softmax.const_data_ptr<float>(), count, probability.begin());

    GeneratedToken token;
    const auto choice = [&](std::int64_t id) {
        return TokenChoice{id, {}, probability[static_cast<std::size_t>(id)]};
    };
    // Most likely first; equal ones in the order of their ids, so that generation is deterministic.
    const auto likelier = [&](std::int64_t a, std::int64_t b) {
        return value[a] != value[b] ? value[a] > value[b] : a < b;
    };
    std::vector<std::int64_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    const auto sortFirst = [&](std::int64_t first) {
        std::partial_sort(order.begin(), order.begin() + std::min(first, count), order.end(),
                          likelier);
    };
    const bool greedy = o.temperature == 0.0;
    std::int64_t candidates = greedy ? 1 : o.top_k > 0 ? std::min(o.top_k, count) : count;
    const bool needsOrder = o.top_p < 1.0 || (o.top_k > 0 && o.top_k < count);
    sortFirst(std::max(o.alternatives, !greedy && needsOrder ? candidates : std::int64_t{1}));
    for (std::int64_t i = 0; i < std::min(o.alternatives, count); ++i)
        token.alternatives.push_back(choice(order[static_cast<std::size_t>(i)]));
    if (greedy) {
        token.chosen = choice(order[0]);
        return token;
    }
    if (!needsOrder) std::iota(order.begin(), order.end(), std::int64_t{0});  // as if never sorted
    // Weights at that temperature; the sum of a fraction of them is what top-p cuts.
    std::vector<double> weight(static_cast<std::size_t>(candidates));
    double total = 0.0;
    for (std::int64_t i = 0; i < candidates; ++i)
        total += weight[static_cast<std::size_t>(i)] =
            std::exp((static_cast<double>(value[order[static_cast<std::size_t>(i)]]) - *best) /
                     o.temperature);
    if (o.top_p < 1.0) {
        double seen = 0.0;
        std::int64_t kept = 0;
        while (kept < candidates && seen < o.top_p * total)
            seen += weight[static_cast<std::size_t>(kept++)];
        candidates = std::max<std::int64_t>(1, kept);
        total = seen;
    }
    // 53 bits of the generator: std::uniform_real_distribution differs between libraries.
    double left = static_cast<double>(m_random() >> 11) * 0x1.0p-53 * total;
    std::int64_t pick = 0;
    while (pick + 1 < candidates && left >= weight[static_cast<std::size_t>(pick)])
        left -= weight[static_cast<std::size_t>(pick++)];
    token.chosen = choice(order[static_cast<std::size_t>(pick)]);
    return token;
}

torch::Tensor generateGreedy(ModelImpl& model, const ModelOptions& options, torch::Tensor prompt,
                             std::int64_t count) {
    if (const auto why = noNextTokenText(options); !why.empty()) throw OptionError("model", why);
    const torch::NoGradGuard noGrad;
    const std::int64_t vocabulary = usableVocabulary(options);
    for (std::int64_t i = 0; i < count; ++i) {
        const auto origin = std::max<std::int64_t>(0, prompt.size(1) - options.tokens());
        if (auto* hooks = activeHooks()) hooks->setOrigin(origin);
        const auto seen = prompt.slice(1, origin);
        const auto logits = model.forward(seen).select(1, -1);  // [b, vocab]
        prompt = torch::cat({prompt, logits.slice(1, 0, vocabulary).argmax(1, true)}, 1);
    }
    return prompt;
}

}  // namespace relascope::core
