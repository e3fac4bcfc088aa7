// SPDX-License-Identifier: GPL-3.0-or-later
#include "text/byte_pair_tokenizer.h"

#include <algorithm>
#include <cstring>

#include "files/sha256.h"
#include "text/words.h"

namespace relascope::core {
namespace {

// For shorter texts a new cache costs more than it saves.
constexpr std::size_t kWorthCache = 64 * 1024;

std::string fingerprintOf(const BytePairTokenizer::Parts& parts) {
    Sha256 hash;
    hash.addField("byte pairs 1");
    hash.addField(parts.splitsWords ? "words" : "whole");
    hash.addField(parts.prefixSpace ? "prefix" : "plain");
    for (const auto& piece : parts.pieces) hash.addField(piece);
    const auto number = [&](std::int64_t value) { hash.addField(std::to_string(value)); };
    for (const auto id : parts.byteIds) number(id);
    for (const auto& m : parts.pairs.merges()) number(m.left), number(m.right), number(m.result);
    number(parts.endOfText.value_or(-1));
    return hash.hex();
}

}  // namespace

/// A cache of encoded words: a table of fixed size without collision chains, so that it cannot
/// grow.
class BytePairTokenizer::WordCache {
public:
    static constexpr std::size_t kLetters = 24, kIds = 9;

    struct alignas(64) Entry {
        std::array<std::uint64_t, 3> letters{};  // zero behind the word
        std::uint8_t length = 0, count = 0;      // 0 marks a free entry, as no word is empty
        std::int32_t ids[kIds] = {};
    };
    /// The entry of a word of at most kLetters bytes. `known` tells whether it has the ids already;
    /// otherwise the entry is prepared for them.
    Entry& at(std::string_view word, bool& known) {
        std::array<std::uint64_t, 3> letters{};
        std::memcpy(letters.data(), word.data(), word.size());
        std::uint64_t hash = word.size();
        for (const auto part : letters) hash = (hash ^ part ^ part >> 31) * 0x9e3779b97f4a7c15ULL;
        Entry& entry = m_entries[hash >> 48];
        known = entry.length == word.size() && entry.letters == letters;
        if (!known) entry.letters = letters, entry.length = static_cast<std::uint8_t>(word.size());
        return entry;
    }

private:
    std::vector<Entry> m_entries{std::size_t{1} << 16};
};

BytePairTokenizer::BytePairTokenizer(Parts parts)
    : m_parts(std::move(parts)), m_fingerprint(fingerprintOf(m_parts)) {}
BytePairTokenizer::~BytePairTokenizer() = default;

void BytePairTokenizer::encodeWord(std::string_view word,
                                   std::vector<std::int32_t>& symbols) const {
    symbols.clear();
    for (const char c : word) symbols.push_back(m_parts.byteIds[static_cast<unsigned char>(c)]);
    m_parts.pairs.apply(symbols);
}

void BytePairTokenizer::encode(std::string_view text, std::vector<std::int32_t>& ids) const {
    if (text.empty()) return;
    std::string prefixed;
    if (m_parts.prefixSpace && text[0] != ' ') text = prefixed = " " + std::string(text);
    std::vector<std::int32_t> symbols;
    if (!m_parts.splitsWords) {
        encodeWord(text, symbols);
        ids.insert(ids.end(), symbols.begin(), symbols.end());
        return;
    }
    std::unique_lock shared(m_cacheMutex, std::try_to_lock);
    std::unique_ptr<WordCache> own;
    if (shared && !m_cache) m_cache = std::make_unique<WordCache>();
    if (!shared && text.size() >= kWorthCache) own = std::make_unique<WordCache>();
    WordCache* cache = shared ? m_cache.get() : own.get();

    Words words(text);
    for (std::string_view word; words.next(word);) {
        WordCache::Entry* entry = nullptr;
        if (cache && word.size() <= WordCache::kLetters) {
            bool known = false;
            entry = &cache->at(word, known);
            if (known) {
                ids.insert(ids.end(), entry->ids, entry->ids + entry->count);
                continue;
            }
            entry->length = 0;
        }
        encodeWord(word, symbols);
        ids.insert(ids.end(), symbols.begin(), symbols.end());
        if (entry && symbols.size() <= WordCache::kIds) {
            std::copy(symbols.begin(), symbols.end(), entry->ids);
            entry->length = static_cast<std::uint8_t>(word.size());
            entry->count = static_cast<std::uint8_t>(symbols.size());
        }
    }
}

std::size_t BytePairTokenizer::lastCut(std::string_view text) const {
    return m_parts.splitsWords ? lastWordCut(text, m_parts.prefixSpace) : 0;
}

}  // namespace relascope::core
