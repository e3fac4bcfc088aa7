// SPDX-License-Identifier: GPL-3.0-or-later
// Windows of a text with hidden words, for models that read in both directions (Devlin et al. 2019,
// section 3.1, where each hidden word becomes the mask).
#pragma once

#include "data/dataset.h"

namespace relascope::core {

/// Windows of n tokens of which ceil(0.15 n), drawn by window with seed 0, are the mask. Batches
/// (makeBatch()) have the hidden words as targets, and -1 elsewhere.
class HiddenWords : public TokenDataset {
public:
    HiddenWords(std::shared_ptr<const TokenDataset> text, std::int64_t mask);

    const DatasetInfo& info() const override { return m_text->info(); }
    std::int64_t context() const override { return m_text->context(); }
    TokenizerPtr tokenizer() const override { return m_text->tokenizer(); }
    /// The window as it was.
    void read(std::int64_t index, std::span<std::int64_t> tokens) const override {
        m_text->read(index, tokens);
    }
    /// The window with its hidden words.
    ProbeSample sample(std::int64_t index) const override;
    /// Writes the window with hidden words, [n], and the words that are hidden, -1 elsewhere, [n].
    void readHidden(std::int64_t index, std::span<std::int64_t> tokens,
                    std::span<std::int64_t> targets) const;

    /// How many words of a window are hidden.
    std::int64_t hiddenEach() const;
    std::int64_t mask() const { return m_mask; }
    const std::shared_ptr<const TokenDataset>& text() const { return m_text; }

private:
    std::vector<std::size_t> placesOf(std::int64_t index) const;

    std::shared_ptr<const TokenDataset> m_text;
    std::int64_t m_mask;
};

}  // namespace relascope::core
