// SPDX-License-Identifier: GPL-3.0-or-later
#include "data/token_prefix.h"

#include <algorithm>

#include "data/token_hidden.h"

namespace relascope::core {
namespace {

class ShorterWindows : public TokenDataset {
public:
    ShorterWindows(std::shared_ptr<const TokenDataset> whole, std::int64_t tokens)
        : m_whole(std::move(whole)), m_tokens(tokens) {}

    const DatasetInfo& info() const override { return m_whole->info(); }
    std::int64_t context() const override { return m_tokens; }
    TokenizerPtr tokenizer() const override { return m_whole->tokenizer(); }
    void read(std::int64_t index, std::span<std::int64_t> tokens) const override {
        std::vector<std::int64_t> all(static_cast<std::size_t>(m_whole->context()) + 1);
        m_whole->read(index, all);
        std::copy_n(all.begin(), tokens.size(), tokens.begin());
    }
    ProbeSample sample(std::int64_t index) const override {
        auto sample = m_whole->sample(index);
        const auto count = static_cast<std::size_t>(m_tokens);
        sample.source.tokens.resize(std::min(count, sample.source.tokens.size()));
        sample.source.labels.resize(std::min(count, sample.source.labels.size()));
        return sample;
    }

private:
    std::shared_ptr<const TokenDataset> m_whole;
    std::int64_t m_tokens;
};

}  // namespace

DatasetPtr withShorterWindows(DatasetPtr data, std::int64_t tokens) {
    if (const auto hidden = std::dynamic_pointer_cast<const HiddenWords>(data)) {
        auto shorter = std::dynamic_pointer_cast<const TokenDataset>(
            withShorterWindows(hidden->text(), tokens));
        return std::make_shared<HiddenWords>(std::move(shorter), hidden->mask());
    }
    auto text = std::dynamic_pointer_cast<const TokenDataset>(data);
    if (!text || tokens <= 0 || text->context() <= tokens) return data;
    return std::make_shared<ShorterWindows>(std::move(text), tokens);
}

}  // namespace relascope::core
