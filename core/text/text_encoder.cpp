// SPDX-License-Identifier: GPL-3.0-or-later
#include "text/text_encoder.h"

#include <algorithm>

#include "text/words.h"

namespace relascope::core {

void TextEncoder::add(std::string_view piece) {
    while (!piece.empty()) {
        const std::size_t count = std::min(piece.size(), kMost - m_held.size());
        m_held.append(piece.substr(0, count));
        piece.remove_prefix(count);
        if (m_held.size() < m_wanted) continue;
        std::size_t cut = m_tokenizer.lastCut(m_held);
        if (cut == 0 && m_held.size() >= kMost) cut = wholeCharacters(m_held);
        if (cut > 0) encode(cut);
        // Searching for a cut after every small piece would be quadratic.
        m_wanted = std::clamp(2 * m_held.size(), kEnough, kMost);
    }
}

void TextEncoder::finish() {
    encode(m_held.size());
    m_wanted = kEnough;
}

void TextEncoder::encode(std::size_t bytes) {
    if (bytes == 0) return;
    m_ids.clear();
    m_tokenizer.encode(std::string_view(m_held).substr(0, bytes), m_ids);
    m_held.erase(0, bytes);
    m_sink(m_ids);
}

}  // namespace relascope::core
