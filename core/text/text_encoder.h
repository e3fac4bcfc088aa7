// SPDX-License-Identifier: GPL-3.0-or-later
// Encodes a text that is given in pieces to the same ids as the whole text, in bounded memory.
#pragma once

#include <functional>

#include "text/tokenizer.h"

namespace relascope::core {

class TextEncoder {
public:
    /// A text without a place to cut (one very long word) is cut after this many bytes.
    static constexpr std::size_t kEnough = std::size_t{1} << 18, kMost = std::size_t{1} << 20;
    using Sink = std::function<void(std::span<const std::int32_t>)>;

    TextEncoder(const Tokenizer& tokenizer, Sink sink)
        : m_tokenizer(tokenizer), m_sink(std::move(sink)) {}
    void add(std::string_view piece);
    /// Encodes the rest; the next piece begins another text.
    void finish();

private:
    void encode(std::size_t bytes);

    const Tokenizer& m_tokenizer;
    Sink m_sink;
    std::string m_held;
    std::size_t m_wanted = kEnough;
    std::vector<std::int32_t> m_ids;
};

}  // namespace relascope::core
