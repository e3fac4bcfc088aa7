// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes come back from their ids, whole or in pieces.
#include "text/tokenizer.h"

#include <array>
#include <cstdlib>

#include "support/rooms.h"
#include "text/text_encoder.h"
#include "text/text_normalizer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace relascope;
    const auto tokenizer = gpt2Tokenizer();
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto ids = tokenizer->encode(text);
    if (tokenizer->decode(ids) != text) std::abort();

    const std::size_t cut = tokenizer->lastCut(text.substr(0, size / 2));
    auto joined = tokenizer->encode(text.substr(0, cut));
    tokenizer->encode(text.substr(cut), joined);
    if (joined != ids) std::abort();

    const auto characters = characterTokenizer(text.substr(0, size / 2));
    std::vector<std::int32_t> streamed;
    TextEncoder encoder(*characters, [&](std::span<const std::int32_t> more) {
        streamed.insert(streamed.end(), more.begin(), more.end());
    });
    for (std::size_t at = 0; at < size; at += 7) encoder.add(text.substr(at, 7));
    encoder.finish();
    if (streamed != characters->encode(text)) std::abort();

    // However a text is divided, without removing matches nothing of it is lost.
    static const std::array patterns = {
        SplitPattern("\\w\\b|[^\\S\\n]|(?=\\d)", "file", SplitBehavior::Isolated),
        SplitPattern("^.|.$", "file", SplitBehavior::MergedWithPrevious, true),
        SplitPattern("\\p{N}+|\\h", "file", SplitBehavior::MergedWithNext),
        SplitPattern("(?m:\\s.)", "file", SplitBehavior::Contiguous)};
    for (const auto& pattern : patterns) {
        std::string whole;
        pattern.split(text, [&](std::string_view part) {
            if (part.empty()) std::abort();
            whole += part;
        });
        if (whole != text) std::abort();
    }
    using Kind = NormalizerStep::Kind;
    for (const auto kind :
         {Kind::Nfc, Kind::Nfkd, Kind::Lowercase, Kind::StripAccents, Kind::Strip})
        TextNormalizer({{kind}}).apply(text);
    return 0;
}
