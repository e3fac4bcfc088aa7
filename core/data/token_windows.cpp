// SPDX-License-Identifier: GPL-3.0-or-later
#include "data/token_windows.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace relascope::core {

std::int64_t TokenRange::windowsARound() const {
    // The last offset, context - 1, leaves room for these.
    return fits() == 0 ? 0 : std::max<std::int64_t>(1, (tokens - context) / context);
}

std::int64_t TokenRange::trainStart(std::int64_t number) const {
    const std::int64_t windows = windowsARound(), round = number / windows;
    const std::int64_t offsets = std::min(context, tokens - windows * context);
    // Steps of about the golden section spread the offsets; without a common divisor with their
    // number they meet every one.
    auto step =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(0.618 * static_cast<double>(offsets)));
    while (std::gcd(step, offsets) != 1) ++step;
    const std::int64_t offset = round % offsets * step % offsets;
    return begin + offset + number % windows * context;
}

std::int64_t TokenRange::evenStart(std::int64_t i, std::int64_t count) const {
    // Divides first, as the product of two large counts could overflow.
    const std::int64_t windows = fits();
    return begin + (i * (windows / count) + i * (windows % count) / count) * context;
}

TokenWindows::TokenWindows(TokenSequencePtr sequence, TokenizerPtr tokenizer, DatasetInfo info,
                           std::string split, std::int64_t context, Start start)
    : m_sequence(std::move(sequence)),
      m_tokenizer(std::move(tokenizer)),
      m_info(std::move(info)),
      m_split(std::move(split)),
      m_context(context),
      m_start(std::move(start)) {}

void TokenWindows::read(std::int64_t index, std::span<std::int64_t> tokens) const {
    if (index < 0 || index >= m_info.size)
        throw std::out_of_range(m_info.name + " has no window " + std::to_string(index));
    if (static_cast<std::int64_t>(tokens.size()) != m_context + 1)
        throw std::invalid_argument("a window has context + 1 tokens");
    m_sequence->read(m_start(index), tokens);
}

ProbeSample TokenWindows::sample(std::int64_t index) const {
    std::vector<std::int64_t> tokens(static_cast<std::size_t>(m_context) + 1);
    read(index, tokens);
    tokens.pop_back();
    ProbeSample s;
    s.origin = m_split + " " + std::to_string(index);
    s.source.text = m_tokenizer != nullptr;
    for (const auto id : tokens) {
        // Shards may contain ids that their tokenizer does not have.
        const bool known = m_tokenizer && id < m_tokenizer->size();
        s.source.labels.push_back(
            known ? std::string(m_tokenizer->piece(static_cast<std::int32_t>(id)))
                  : std::to_string(id));
    }
    s.source.tokens = std::move(tokens);
    return s;
}

}  // namespace relascope::core
