// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <queue>
#include <stdexcept>

#include "files/sha256.h"
#include "text/base64.h"
#include "text/byte_pair_tokenizer.h"
#include "text/gpt2_ranks.h"
#include "text/words.h"

namespace relascope::core {
namespace {

constexpr std::size_t kLongestWord = 100;
constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

std::uint64_t pairOf(std::int32_t left, std::int32_t right) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 |
           static_cast<std::uint32_t>(right);
}

}  // namespace

BytePairs::BytePairs(std::size_t merges) {
    const std::size_t size = std::bit_ceil(std::max<std::size_t>(16, 2 * merges + 2));
    m_shift = 64 - std::countr_zero(size);
    m_slots.assign(size, {kEmpty, kNone, 0});
    m_merges.reserve(merges);
}

const BytePairs::Slot& BytePairs::slot(std::int32_t left, std::int32_t right) const {
    const std::uint64_t pair = pairOf(left, right);
    // Fibonacci hashing: the high bits of the product depend on every bit of the pair.
    std::size_t at =
        static_cast<std::size_t>((pair ^ pair >> 29) * 0x9e3779b97f4a7c15ULL >> m_shift);
    while (m_slots[at].pair != pair && m_slots[at].pair != kEmpty)
        at = (at + 1) & (m_slots.size() - 1);
    return m_slots[at];
}

bool BytePairs::add(Merge merge, std::int32_t rank) {
    auto& place = const_cast<Slot&>(slot(merge.left, merge.right));
    if (place.pair != kEmpty) return false;
    place = {pairOf(merge.left, merge.right), rank, merge.result};
    m_merges.push_back(merge);
    return true;
}

void BytePairs::apply(std::vector<std::int32_t>& symbols) const {
    if (symbols.size() < 2) return;
    symbols.size() <= kLongestWord ? applyToWord(symbols) : applyToRun(symbols);
}

void BytePairs::applyToWord(std::vector<std::int32_t>& symbols) const {
    std::int32_t ranks[kLongestWord], results[kLongestWord];  // for the pair of symbols i and i + 1
    std::size_t count = symbols.size();
    const auto lookUp = [&](std::size_t i) {
        const auto& found = slot(symbols[i], symbols[i + 1]);
        ranks[i] = found.rank, results[i] = found.result;
    };
    for (std::size_t i = 0; i + 1 < count; ++i) lookUp(i);
    while (count > 1) {
        const auto at =
            static_cast<std::size_t>(std::min_element(ranks, ranks + count - 1) - ranks);
        if (ranks[at] == kNone) break;
        symbols[at] = results[at];
        --count;
        for (std::size_t i = at + 1; i < count; ++i) {
            symbols[i] = symbols[i + 1];
            if (i + 1 < count) ranks[i] = ranks[i + 1], results[i] = results[i + 1];
        }
        if (at + 1 < count) lookUp(at);
        if (at > 0) lookUp(at - 1);
    }
    symbols.resize(count);
}

void BytePairs::applyToRun(std::vector<std::int32_t>& symbols) const {
    // A linked list of symbols, and a heap of candidate pairs that may be outdated.
    struct Candidate {
        std::int32_t rank;
        std::size_t at;
        bool operator>(const Candidate& o) const {
            return rank != o.rank ? rank > o.rank : at > o.at;
        }
    };
    const std::size_t count = symbols.size();
    std::vector<std::size_t> next(count), previous(count);
    std::vector<Candidate> first;
    first.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        next[i] = i + 1, previous[i] = i - 1;
        if (i + 1 == count) break;
        const auto rank = slot(symbols[i], symbols[i + 1]).rank;
        if (rank != kNone) first.push_back({rank, i});
    }
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> heap(std::greater<>{},
                                                                                std::move(first));
    constexpr std::int32_t gone = -1;
    while (!heap.empty()) {
        const auto [rank, at] = heap.top();
        heap.pop();
        if (symbols[at] == gone || next[at] >= count) continue;
        const auto right = next[at];
        const auto& merge = slot(symbols[at], symbols[right]);
        if (merge.rank != rank) continue;
        symbols[at] = merge.result;
        symbols[right] = gone;
        next[at] = next[right];
        if (next[at] < count) previous[next[at]] = at;
        const auto offer = [&](std::size_t i) {
            const auto found = slot(symbols[i], symbols[next[i]]).rank;
            if (found != kNone) heap.push({found, i});
        };
        if (next[at] < count) offer(at);
        if (at > 0) offer(previous[at]);
    }
    std::erase(symbols, gone);
}

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
    // Tokenizers without a splitter keep the keys of the caches of earlier versions.
    for (const auto& step : parts.splitter.keys()) hash.addField(step);
    for (const auto& token : parts.added.tokens())
        if (!token.special)
            hash.addField("added " + token.text + (token.leftStrip ? " l" : "") +
                          (token.rightStrip ? " r" : "") + (token.singleWord ? " w" : "") +
                          (token.normalized ? " n" : ""));
    if (!parts.normalizer.empty()) hash.addField(parts.normalizer.key());
    if (parts.wholeWords) hash.addField("whole words");
    if (parts.ranked) hash.addField("ranks");
    if (parts.characters) {
        const auto& c = *parts.characters;
        hash.addField(std::string("characters") + (c.fused ? " fused" : "") +
                      (c.bytes ? " bytes" : ""));
        number(c.unknown.value_or(-1));
        std::vector<std::pair<char32_t, std::int32_t>> sorted(c.ids.begin(), c.ids.end());
        std::sort(sorted.begin(), sorted.end());
        for (const auto& [letter, id] : sorted) number(letter), number(id);
    }
    if (parts.model) hash.addField(parts.model->key());
    if (!parts.endOfWord.empty()) {
        hash.addField("end of word " + parts.endOfWord);
        for (const auto id : parts.byteIdsAtEnd) number(id);
        if (parts.characters) number(static_cast<std::int64_t>(parts.characters->atEnd.size()));
    }
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
    : m_parts(std::move(parts)), m_fingerprint(fingerprintOf(m_parts)) {
    m_ownSize = static_cast<std::int64_t>(m_parts.pieces.size());
    for (auto id = m_parts.beside.rbegin(); id != m_parts.beside.rend() && *id == m_ownSize - 1;
         ++id)
        --m_ownSize;
    for (const auto& token : m_parts.added.tokens())
        if (token.special && (token.text == "[MASK]" || token.text == "<mask>")) m_mask = token.id;
    if (!m_parts.endOfWord.empty())
        for (const auto& piece : m_parts.pieces) m_padded.push_back(" " + piece);
    if (!m_parts.wholeWords) return;
    const auto isOneOf = [](const std::vector<std::int32_t>& ids, std::int32_t id) {
        return std::binary_search(ids.begin(), ids.end(), id);
    };
    for (std::int32_t id = 0; id < size(); ++id)
        if (!isOneOf(m_parts.special, id) && !isOneOf(m_parts.beside, id))
            m_whole.emplace(piece(id), id);
}
BytePairTokenizer::~BytePairTokenizer() = default;

std::string_view BytePairTokenizer::firstPiece(std::int32_t id) const {
    if (!m_padded.empty()) return pieceAfter(id, id).substr(endsWord(id) ? 1 : 0);
    const auto first = m_parts.firstPieces.find(id);
    return first == m_parts.firstPieces.end() ? piece(id) : first->second;
}

bool BytePairTokenizer::endsWord(std::int32_t id) const {
    return m_parts.endsWord.at(static_cast<std::size_t>(id));
}

std::string_view BytePairTokenizer::pieceAfter(std::int32_t id, std::int32_t previous) const {
    // The blank at the end of a word is written before the next token, so that none ends a text.
    if (!m_padded.empty()) {
        std::string_view text = m_padded.at(static_cast<std::size_t>(id));
        if (endsWord(id)) text.remove_suffix(1);
        return text.substr(endsWord(previous) ? 0 : 1);
    }
    auto text = piece(id);
    if (text.starts_with(' '))
        for (const auto& before : m_parts.blankTakenAfter)
            if (piece(previous).ends_with(before)) {
                text.remove_prefix(1);
                break;
            }
    return text;
}

std::optional<std::int32_t> BytePairTokenizer::unknownToken() const {
    if (m_parts.model) return m_parts.model->unknown();
    return m_parts.characters && !m_parts.characters->bytes ? m_parts.characters->unknown
                                                            : std::nullopt;
}

void BytePairTokenizer::encodeWord(std::string_view word,
                                   std::vector<std::int32_t>& symbols) const {
    symbols.clear();
    if (m_parts.model) return m_parts.model->encode(word, symbols);
    if (m_parts.wholeWords)
        if (const auto whole = m_whole.find(word); whole != m_whole.end())
            return symbols.push_back(whole->second);
    spell(word, symbols);
    m_parts.pairs.apply(symbols);
}

/// The symbols that the merges begin with: one for each byte, or for each character.
void BytePairTokenizer::spell(std::string_view word, std::vector<std::int32_t>& symbols) const {
    const auto putBytes = [&](std::string_view bytes) {
        for (const char c : bytes)
            symbols.push_back(m_parts.byteIds[static_cast<unsigned char>(c)]);
    };
    if (!m_parts.characters) {
        putBytes(word);
        if (!m_parts.endOfWord.empty())
            symbols.back() = m_parts.byteIdsAtEnd[static_cast<unsigned char>(word.back())];
        return;
    }
    const auto& known = *m_parts.characters;
    bool unknown = false;  // the one before
    while (!word.empty()) {
        std::string_view one = word;
        const auto c = takeCharacter(word);
        one.remove_suffix(word.size());
        const auto& ids = word.empty() && !m_parts.endOfWord.empty() ? known.atEnd : known.ids;
        const auto found = c ? ids.find(*c) : ids.end();
        const bool bytes = known.bytes && std::all_of(one.begin(), one.end(), [&](char byte) {
                               return m_parts.byteIds[static_cast<unsigned char>(byte)] >= 0;
                           });
        if (found != ids.end())
            symbols.push_back(found->second);
        else if (bytes)
            putBytes(one);
        else if (known.unknown && !(unknown && known.fused))
            symbols.push_back(*known.unknown);
        unknown = found == ids.end() && !bytes;
    }
}

void BytePairTokenizer::encode(std::string_view text, std::vector<std::int32_t>& ids) const {
    Encoded to{ids};
    encodeWhole(text, false, to);
}

std::vector<std::int32_t> BytePairTokenizer::encodeTyped(std::string_view text, bool ends) const {
    std::vector<std::int32_t> ids;
    if (ends) ids = m_parts.first;
    Encoded to{ids};
    encodeWhole(text, true, to);
    if (ends) ids.insert(ids.end(), m_parts.last.begin(), m_parts.last.end());
    return ids;
}

std::vector<std::int32_t> BytePairTokenizer::wordsOf(std::string_view text,
                                                     std::vector<std::int32_t>& ids) const {
    std::vector<std::int32_t> words;
    ids.clear();
    Encoded to{ids, &words};
    encodeWhole(text, true, to);
    return words;
}

/// Divides the text at added tokens, before and after it is normalized.
void BytePairTokenizer::encodeWhole(std::string_view text, bool special, Encoded& to) const {
    const auto& added = m_parts.added;
    bool begins = true;
    const auto found = [&](std::int32_t id) {
        to.ids.push_back(id), begins = false;
        to.endWord();
    };
    const auto plain = [&](std::string_view part) {
        encodePlain(part, begins, to);
        begins = false;
    };
    const auto normalized = [&](std::string_view part) {
        std::string changed;
        if (!m_parts.normalizer.empty()) part = changed = m_parts.normalizer.apply(part);
        if (added.empty()) return plain(part);
        added.split(part, true, special, plain, found);
    };
    if (added.empty()) return normalized(text);
    added.split(text, false, special, normalized, found);
}

void BytePairTokenizer::encodePlain(std::string_view text, bool begins, Encoded& to) const {
    if (text.empty()) return;
    auto& ids = to.ids;
    std::string prefixed;
    if (m_parts.prefixSpace && text[0] != ' ') text = prefixed = " " + std::string(text);
    std::vector<std::int32_t> symbols;
    if (!m_parts.splitsWords) {
        encodeWord(text, symbols);
        ids.insert(ids.end(), symbols.begin(), symbols.end());
        return to.endWord();
    }
    std::unique_lock shared(m_cacheMutex, std::try_to_lock);
    std::unique_ptr<WordCache> own;
    if (shared && !m_cache) m_cache = std::make_unique<WordCache>();
    if (!shared && text.size() >= kWorthCache) own = std::make_unique<WordCache>();
    WordCache* cache = shared ? m_cache.get() : own.get();

    const auto encodeOne = [&](std::string_view word) {
        WordCache::Entry* entry = nullptr;
        if (cache && word.size() <= WordCache::kLetters) {
            bool known = false;
            entry = &cache->at(word, known);
            if (known) {
                ids.insert(ids.end(), entry->ids, entry->ids + entry->count);
                return to.endWord();
            }
            entry->length = 0;
        }
        encodeWord(word, symbols);
        ids.insert(ids.end(), symbols.begin(), symbols.end());
        to.endWord();
        if (entry && symbols.size() <= WordCache::kIds) {
            std::copy(symbols.begin(), symbols.end(), entry->ids);
            entry->length = static_cast<std::uint8_t>(word.size());
            entry->count = static_cast<std::uint8_t>(symbols.size());
        }
    };
    if (!m_parts.splitter.empty()) return m_parts.splitter.split(text, begins, encodeOne);
    Words words(text);
    for (std::string_view word; words.next(word);) encodeOne(word);
}

std::size_t BytePairTokenizer::lastCut(std::string_view text) const {
    const bool plain = m_parts.splitter.empty() && m_parts.normalizer.empty() &&
                       m_parts.added.empty() && !m_parts.characters && !m_parts.model &&
                       m_parts.endOfWord.empty();
    return plain && m_parts.splitsWords ? lastWordCut(text, m_parts.prefixSpace) : 0;
}

namespace {

// GPT-2's tokenizer from the ranks that are built into the program.

constexpr std::size_t kRanks = 50256;

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
        const std::string piece = fromBase64(line.substr(0, line.find(' '))).value_or("");
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
