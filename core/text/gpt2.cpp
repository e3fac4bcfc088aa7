// SPDX-License-Identifier: GPL-3.0-or-later
// GPT-2's tokenizer from the ranks that are built into the program.
#include <stdexcept>

#include "text/byte_pair_tokenizer.h"
#include "text/gpt2_ranks.h"

namespace relascope::core {
namespace {

constexpr std::size_t kRanks = 50256;

std::string fromBase64(std::string_view text) {
    std::string bytes;
    std::uint32_t held = 0;
    int bits = 0;
    for (const char c : text) {
        const int value = c >= 'A' && c <= 'Z'   ? c - 'A'
                          : c >= 'a' && c <= 'z' ? c - 'a' + 26
                          : c >= '0' && c <= '9' ? c - '0' + 52
                          : c == '+'             ? 62
                          : c == '/'             ? 63
                                                 : -1;
        if (value < 0) break;  // padding
        held = held << 6 | static_cast<std::uint32_t>(value);
        bits += 6;
        if (bits >= 8) bits -= 8, bytes += static_cast<char>(held >> bits);
    }
    return bytes;
}

TokenizerPtr build() {
    BytePairTokenizer::Parts parts;
    parts.name = "gpt2";
    parts.pairs = BytePairs(kRanks - 256);
    // The rank of a piece is its id. Applying all earlier merges to the piece leaves the two
    // symbols that its own merge joins.
    std::string_view rest = gpt2Ranks();
    std::vector<std::int32_t> symbols;
    while (!rest.empty()) {
        const auto line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        if (line.empty()) continue;
        const auto id = static_cast<std::int32_t>(parts.pieces.size());
        const std::string piece = fromBase64(line.substr(0, line.find(' ')));
        if (id < 256) {
            parts.byteIds[static_cast<unsigned char>(piece.at(0))] = id;
        } else {
            symbols.clear();
            for (const char c : piece)
                symbols.push_back(parts.byteIds[static_cast<unsigned char>(c)]);
            parts.pairs.apply(symbols);
            if (symbols.size() != 2 || !parts.pairs.add({symbols[0], symbols[1], id}))
                throw std::logic_error("the built-in GPT-2 ranks are damaged: rebuild the program");
        }
        parts.pieces.push_back(piece);
    }
    if (parts.pieces.size() != kRanks)
        throw std::logic_error("the built-in GPT-2 ranks are incomplete: rebuild the program");
    parts.endOfText = static_cast<std::int32_t>(kRanks);
    parts.special = {*parts.endOfText};
    parts.pieces.emplace_back("<|endoftext|>");
    return std::make_shared<BytePairTokenizer>(std::move(parts));
}

}  // namespace

TokenizerPtr gpt2Tokenizer() {
    static const TokenizerPtr tokenizer = build();
    return tokenizer;
}

}  // namespace relascope::core
