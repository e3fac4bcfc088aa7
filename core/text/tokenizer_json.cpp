// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "files/atomic_file.h"
#include "text/byte_pair_tokenizer.h"
#include "text/character_tokenizer.h"
#include "text/piece_decoder.h"
#include "text/tokenizer_json.h"
#include "text/tokenizer_steps.h"
#include "text/words.h"
#include "types/error.h"

namespace relascope::core {
namespace {

using nlohmann::json;

constexpr std::int64_t kMostIds = 1 << 22;
std::string shown(std::string_view text) {
    std::string out = pieceText(text.substr(0, 60)).text;
    return "'" + out + (text.size() > 60 ? "...'" : "'");
}

}  // namespace

std::int64_t nextAddedId(std::int64_t pieces, std::int64_t most) {
    return most >= pieces ? most + 1 : pieces;
}

std::string otherId(std::int64_t next) {
    return ", but the library 'tokenizers' gives a new token the next id, " + std::to_string(next) +
           "; write that id, or add the tokens that are missing before it";
}

json parsedJson(const std::string& text, const std::string& path) {
    try {
        // Copies and texts of values are made level by level on the stack.
        constexpr int kDeepest = 32;
        json value = json::parse(text, [&](int depth, json::parse_event_t, json&) {
            if (depth > kDeepest)
                throw FileError(path, "is nested deeper than " + std::to_string(kDeepest) +
                                          " levels, so it is not a tokenizer");
            return true;
        });
        if (!value.is_object())
            throw FileError(path, "is not a JSON object, so it says nothing of a tokenizer");
        return value;
    } catch (const json::parse_error& error) {
        throw FileError(path, "is not JSON at byte " + std::to_string(error.byte));
    } catch (const json::exception&) {
        throw FileError(path, "has a number that no program can hold, such as 1e999");
    }
}

namespace {

// The vocabulary by piece as spelled in the file, the added tokens and the merges.
class Reader {
public:
    Reader(std::string path, std::string mergesPath)
        : m_path(std::move(path)), m_mergesPath(std::move(mergesPath)) {}

    [[noreturn]] void fail(const std::string& why) const { throw FileError(m_path, why); }

    /// Unigram's list of pieces with their scores, by id.
    std::vector<double> readScores(const json& vocabulary) {
        if (!vocabulary.is_array() || vocabulary.empty())
            fail("model.vocab has no pieces; it must be a list of pieces with their scores");
        std::vector<double> scores;
        checked("the last piece", vocabulary.size() - 1);
        m_byId.resize(vocabulary.size());
        for (const auto& entry : vocabulary) {
            const auto id = static_cast<std::int32_t>(scores.size());
            const auto refuse = [&](const std::string& why) {
                fail("model.vocab has " + why + " at piece " + std::to_string(id));
            };
            if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string())
                refuse(shown(textOf(entry)) + ", not a piece with its score,");
            if (!entry[1].is_number() || !std::isfinite(entry[1].get<double>()))
                refuse("the score " + textOf(entry[1]) + ", which must be a finite number,");
            if (m_ids.contains(entry[0])) refuse(shown(entry[0].get<std::string>()) + " again");
            scores.push_back(entry[1]);
            put(entry[0], id);
        }
        m_ownPieces = static_cast<std::int64_t>(scores.size());
        return scores;
    }

    void readVocabulary(const json& vocabulary) {
        if (!vocabulary.is_object() || vocabulary.empty())
            fail("model.vocab has no pieces; it must be an object that maps pieces to ids");
        std::int64_t most = 0;
        for (const auto& [piece, id] : vocabulary.items())
            most = std::max(most, checked(piece, id));
        m_byId.resize(static_cast<std::size_t>(most) + 1);
        for (const auto& [piece, id] : vocabulary.items()) put(piece, id.get<std::int32_t>());
        m_ownPieces = static_cast<std::int64_t>(vocabulary.size());
    }

    /// `normalizer`: tokens that are found in normalized texts are written as those are.
    void readAddedTokens(const json& added, const TextNormalizer& normalizer) {
        if (!added.is_array()) fail("added_tokens is not a list");
        for (const auto& token : added) {
            if (!token.is_object() || !token.contains("content") || !token["content"].is_string() ||
                !token.contains("id"))
                fail("added_tokens has an entry without content and id");
            const std::string piece = token["content"];
            const auto id = static_cast<std::int32_t>(checked(piece, token["id"]));
            const auto set = [&](const char* field) {
                const auto found = token.find(field);
                if (found != token.end() && !found->is_boolean())
                    fail("added_tokens: " + std::string(field) + " of " + shown(piece) + " is " +
                         found->dump().substr(0, 40) + "; expected true or false");
                return found != token.end() && *found == true;
            };
            m_added.push_back({set("normalized") ? normalizer.apply(piece) : piece, id,
                               set("special"), set("lstrip"), set("rstrip"), set("single_word"),
                               set("normalized")});
            const auto at = static_cast<std::size_t>(id);
            if (at >= m_byId.size()) m_byId.resize(at + 1);
            if (const auto known = m_ids.find(piece); known == m_ids.end()) {
                if (const auto next = nextAddedId(m_ownPieces, m_mostAdded); id != next)
                    fail("added_tokens gives " + shown(piece) + " the id " + std::to_string(id) +
                         otherId(next));
                put(piece, id), m_beside.push_back(id);
            } else if (known->second != id) {
                fail("added_tokens gives " + shown(piece) + " the id " + std::to_string(id) +
                     ", model.vocab the id " + std::to_string(known->second));
            }
            m_mostAdded = std::max<std::int64_t>(m_mostAdded, id);
            if (m_added.back().special) m_special.push_back(id);
        }
        std::sort(m_special.begin(), m_special.end());
        m_special.erase(std::unique(m_special.begin(), m_special.end()), m_special.end());
        std::sort(m_beside.begin(), m_beside.end());
    }

    void addMerge(std::string left, std::string right) { m_merges.emplace_back(left, right); }
    std::size_t merges() const { return m_merges.size(); }
    bool hasAddedTokens() const { return !m_added.empty(); }

    /// The id of a piece that a field names. Throws FileError if it is not in the vocabulary.
    std::int32_t idOf(const std::string& field, const json& piece) const {
        const auto found = piece.is_string() ? m_ids.find(piece.get<std::string>()) : m_ids.end();
        if (found == m_ids.end())
            fail(field + " names " + shown(textOf(piece)) + ", which is not in the vocabulary");
        return found->second;
    }
    /// An id that a field gives.
    std::int32_t givenId(const std::string& field, const json& id) const {
        if (!id.is_number_integer() || id < 0 || id >= static_cast<std::int64_t>(m_byId.size()))
            fail(field + " gives the id " + textOf(id).substr(0, 40) +
                 ", which is not in the vocabulary");
        return id;
    }

    /// One symbol for each byte.
    void beginWithBytes(BytePairTokenizer::Parts& parts) const {
        const auto idsWith = [&](const std::string& suffix) {
            std::array<std::int32_t, 256> ids{};
            for (int byte = 0; byte < 256; ++byte) {
                const auto letter = spelledBytes(std::string(1, static_cast<char>(byte))) + suffix;
                const auto found = m_ids.find(letter);
                if (found == m_ids.end())
                    fail("model.vocab lacks the byte " + std::to_string(byte) + " (" +
                         shown(letter) + "), so not every text could be encoded" + kTokenizersRead);
                ids[static_cast<std::size_t>(byte)] = found->second;
            }
            return ids;
        };
        parts.byteIds = idsWith("");
        if (!parts.endOfWord.empty()) parts.byteIdsAtEnd = idsWith(parts.endOfWord);
    }
    /// WordPiece and Unigram, whose vocabulary has been read.
    std::shared_ptr<const PieceModel> wordPieces(const json& model) const {
        WordPieces::Parts parts{ownPieces()};
        parts.unknown = idOf("model.unk_token", model.value("unk_token", json("[UNK]")));
        const auto prefix = model.value("continuing_subword_prefix", json("##"));
        if (!prefix.is_string())
            fail("model.continuing_subword_prefix is " + textOf(prefix) + "; expected a text");
        parts.prefix = prefix;
        const auto longest = model.value("max_input_chars_per_word", json(100));
        if (!longest.is_number_integer() || longest < 0)
            fail("model.max_input_chars_per_word is " + textOf(longest) + "; expected a number");
        parts.longest = longest;
        return std::make_shared<WordPieces>(std::move(parts));
    }
    std::shared_ptr<const PieceModel> unigram(const json& unknown, bool bytes,
                                              std::vector<double> scores) const {
        Unigram::Parts parts{ownPieces(), std::move(scores)};
        bool all = bytes;
        if (bytes) {
            auto& ids = parts.bytes.emplace();
            for (std::size_t byte = 0; byte < ids.size(); ++byte) {
                const auto found = m_ids.find(bytePiece(byte));
                ids[byte] = found == m_ids.end() ? -1 : found->second;
                all = all && ids[byte] >= 0;
            }
        }
        if (!unknown.is_null())
            parts.unknown = givenId("model.unk_id", unknown);
        else if (!all)
            fail("model.unk_id is null, so characters that have no piece would be lost" +
                 std::string(kTokenizersRead));
        return std::make_shared<Unigram>(std::move(parts));
    }
    /// One for each character; others are `unknown`, or with `bytes` the pieces "<0x00>" to
    /// "<0xFF>".
    void beginWithCharacters(BytePairTokenizer::Parts& parts, const json& unknown, bool bytes,
                             bool fused) const {
        auto& characters = parts.characters.emplace();
        for (const auto& [piece, id] : m_ids) {
            std::string_view rest = piece;
            if (rest.empty()) continue;
            const auto c = takeCharacter(rest);
            const bool beside = std::binary_search(m_beside.begin(), m_beside.end(), id);
            if (beside || !c) continue;
            if (rest.empty()) characters.ids.emplace(*c, id);
            if (!parts.endOfWord.empty() && rest == parts.endOfWord)
                characters.atEnd.emplace(*c, id);
        }
        bool all = bytes;
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const auto found = bytes ? m_ids.find(bytePiece(byte)) : m_ids.end();
            parts.byteIds[byte] = found == m_ids.end() ? -1 : found->second;
            all = all && parts.byteIds[byte] >= 0;
        }
        characters.bytes = bytes;
        characters.fused = fused;
        if (!unknown.is_null())
            characters.unknown = idOf("model.unk_token", unknown);
        else if (!all)
            fail("model.unk_token is null, so characters that have no piece would be lost" +
                 std::string(kTokenizersRead));
    }

    /// Fills in what the vocabulary, the added tokens and the merges say.
    TokenizerPtr bytePairs(BytePairTokenizer::Parts parts, const PieceDecoder& decoder) {
        const auto& mergesPath = m_mergesPath;
        parts.special = m_special;
        parts.beside = m_beside;
        parts.added = AddedTokens(m_added);
        parts.pairs = BytePairs(m_merges.size());
        for (std::size_t i = 0; i < m_merges.size(); ++i) {
            const std::string &left = m_merges[i].first, &right = m_merges[i].second;
            const auto id = [&](const std::string& piece) {
                const auto found = m_ids.find(piece);
                if (found == m_ids.end())
                    throw FileError(mergesPath, "merge " + std::to_string(i + 1) + " (" +
                                                    shown(left) + " " + shown(right) + ") needs " +
                                                    shown(piece) +
                                                    ", which is not in the vocabulary");
                return found->second;
            };
            if (!parts.pairs.add({id(left), id(right), id(left + right)}))
                throw FileError(mergesPath, "merge " + std::to_string(i + 1) + " (" + shown(left) +
                                                " " + shown(right) + ") is listed twice");
        }
        if (parts.ranked) addRankedPairs(parts);
        // nanochat's: the first begins the next document.
        if (parts.ends.empty() && m_ids.contains("<|bos|>") && m_ids.contains("<|assistant_end|>"))
            parts.ends = {m_ids.at("<|bos|>"), m_ids.at("<|assistant_end|>")};
        if (!parts.ends.empty()) parts.endOfText = parts.ends.front();
        for (const char* end : {"<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>"})
            if (const auto found = m_ids.find(end); found != m_ids.end() && !parts.endOfText)
                parts.endOfText = found->second;
        addPieces(parts, decoder);
        return std::make_shared<BytePairTokenizer>(std::move(parts));
    }

    TokenizerPtr characters(const std::string& name, const json& unknown) {
        const auto other = idOf("model.unk_token", unknown);
        for (const auto& [piece, id] : m_ids)
            if (id != other && (piece.empty() || utf8Length(piece) != piece.size()))
                fail("model.vocab has " + shown(piece) +
                     ", but without merges every piece must be one character" + kTokenizersRead);
        return std::make_shared<CharacterTokenizer>(name, m_byId, other);
    }

private:
    std::vector<std::string> ownPieces() const {
        auto pieces = m_byId;
        for (const auto id : m_beside) pieces[static_cast<std::size_t>(id)].clear();
        return pieces;
    }
    // The texts of all tokens, of which those of bytes are spelled.
    void addPieces(BytePairTokenizer::Parts& parts, const PieceDecoder& decoder) const {
        const bool spelled = !parts.characters && !parts.model;
        std::vector<bool> asItIs(m_byId.size());
        for (const auto& token : m_added) asItIs[static_cast<std::size_t>(token.id)] = true;
        parts.pieces.reserve(m_byId.size());
        for (std::size_t id = 0; id < m_byId.size(); ++id) {
            auto piece = m_byId[id];
            const bool ends =
                !parts.endOfWord.empty() && !asItIs[id] && piece.ends_with(parts.endOfWord);
            if (ends) piece.resize(piece.size() - parts.endOfWord.size());
            // A name in other letters is not byte-encoded.
            if (spelled && !asItIs[id]) piece = unspelledBytes(piece).value_or(piece);
            parts.pieces.push_back(decoder.text(piece, false) + (ends ? " " : ""));
            if (!parts.endOfWord.empty()) {
                parts.endsWord.push_back(ends);
            } else if (auto first = decoder.text(piece, true); first != parts.pieces.back()) {
                parts.firstPieces.emplace(static_cast<std::int32_t>(id), std::move(first));
            }
        }
        if (parts.characters && parts.characters->bytes)
            for (std::size_t byte = 0; byte < 256; ++byte)
                if (const auto id = parts.byteIds[byte]; id >= 0) {
                    parts.pieces[static_cast<std::size_t>(id)] =
                        std::string(1, static_cast<char>(byte));
                    parts.firstPieces.erase(id);
                }
    }
    // Every way to cut a token into two others is a merge, of the rank that is its id.
    void addRankedPairs(BytePairTokenizer::Parts& parts) const {
        std::unordered_map<std::string, std::int32_t> ids;
        for (const auto& [piece, id] : m_ids)
            if (!std::binary_search(m_beside.begin(), m_beside.end(), id))
                if (auto bytes = unspelledBytes(piece)) ids.emplace(std::move(*bytes), id);
        std::vector<BytePairs::Merge> merges;
        for (const auto& [piece, id] : ids)
            for (std::size_t at = 1; at < piece.size(); ++at) {
                const auto left = ids.find(piece.substr(0, at)), right = ids.find(piece.substr(at));
                if (left != ids.end() && right != ids.end())
                    merges.push_back({left->second, right->second, id});
            }
        std::sort(merges.begin(), merges.end(), [](const auto& a, const auto& b) {
            return std::pair(a.result, a.left) < std::pair(b.result, b.left);
        });
        parts.pairs = BytePairs(merges.size());
        for (const auto& merge : merges) parts.pairs.add(merge, merge.result);
    }

    std::int64_t checked(const std::string& piece, const json& id) const {
        if (!id.is_number_integer() || id < 0 || id >= kMostIds)
            fail(shown(piece) + " has the id " + id.dump().substr(0, 40) +
                 "; ids must be integers from 0 to " + std::to_string(kMostIds - 1));
        return id.get<std::int64_t>();
    }
    void put(const std::string& piece, std::int32_t id) {
        auto& place = m_byId[static_cast<std::size_t>(id)];
        if (m_taken.size() < m_byId.size()) m_taken.resize(m_byId.size());
        if (m_taken[static_cast<std::size_t>(id)])
            fail("the id " + std::to_string(id) + " is given twice, to " + shown(place) + " and " +
                 shown(piece));
        m_taken[static_cast<std::size_t>(id)] = true;
        place = piece;
        m_ids.emplace(piece, id);
    }

    static std::string textOf(const json& value) {
        return value.dump(-1, ' ', false, json::error_handler_t::replace);
    }
    static std::string bytePiece(std::size_t byte) {
        static constexpr char digits[] = "0123456789ABCDEF";
        return std::string("<0x") + digits[byte >> 4] + digits[byte & 15] + ">";
    }
    std::string m_path, m_mergesPath;
    std::unordered_map<std::string, std::int32_t> m_ids;
    std::vector<std::string> m_byId;
    std::vector<bool> m_taken;
    std::vector<std::int32_t> m_special, m_beside;
    std::int64_t m_ownPieces = 0, m_mostAdded = -1;
    std::vector<AddedToken> m_added;
    std::vector<std::pair<std::string, std::string>> m_merges;
};

// A field that must be absent, null or have no effect.
void requireUnused(const Reader& reader, const json& object, const char* field,
                   const json& nothing) {
    const auto found = object.find(field);
    if (found != object.end() && !found->is_null() && *found != nothing)
        reader.fail("model." + std::string(field) + " is " + found->dump().substr(0, 40) +
                    kTokenizersRead);
}

void readMerges(Reader& reader, const json& merges) {
    if (!merges.is_array()) reader.fail("model.merges is not a list");
    for (const auto& merge : merges) {
        if (merge.is_string()) {
            const std::string line = merge;
            const auto space = line.find(' ');
            if (space != std::string::npos && line.find(' ', space + 1) == std::string::npos) {
                reader.addMerge(line.substr(0, space), line.substr(space + 1));
                continue;
            }
        } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
                   merge[1].is_string()) {
            reader.addMerge(merge[0], merge[1]);
            continue;
        }
        reader.fail("merge " + std::to_string(reader.merges() + 1) + " is " +
                    shown(merge.dump(-1, ' ', false, json::error_handler_t::replace)) +
                    "; expected two pieces");
    }
}

bool flagOf(const Reader& reader, const json& model, const char* field) {
    const auto found = model.find(field);
    if (found == model.end() || found->is_null()) return false;
    if (!found->is_boolean())
        reader.fail("model." + std::string(field) + " is " + found->dump().substr(0, 40) +
                    "; expected true or false");
    return *found;
}

void readEndOfWord(const Reader& reader, const json& suffix, bool bytes,
                   BytePairTokenizer::Parts& parts) {
    if (suffix.is_null() || suffix == "") return;
    if (!suffix.is_string())
        reader.fail("model.end_of_word_suffix is " + suffix.dump().substr(0, 40) +
                    "; expected a text");
    if (bytes || parts.wholeWords)
        reader.fail("model.end_of_word_suffix is " + shown(suffix.get<std::string>()) + " with " +
                    (bytes ? "byte_fallback" : "ignore_merges") + kTokenizersRead);
    parts.endOfWord = suffix;
}

// The tokens that are put before and behind a typed text.
void readTemplate(const Reader& reader, const json& part, BytePairTokenizer::Parts& parts) {
    const std::string type = typeOf(part);
    const auto idOf = [&](const json& name) {
        // {"special_tokens": {"<s>": {"ids": [1]}}}
        if (name.is_string()) {
            const auto ids =
                json::json_pointer("/special_tokens") / name.get<std::string>() / "ids";
            if (part.contains(ids) && part[ids].is_array() && part[ids].size() == 1)
                return reader.givenId("post_processor", part[ids][0]);
        }
        return reader.idOf("post_processor", name);
    };
    if (type == "Sequence" && part.contains("processors") && part["processors"].is_array()) {
        for (const auto& one : part["processors"]) readTemplate(reader, one, parts);
    } else if (type == "RobertaProcessing" || type == "BertProcessing") {
        for (const auto& [field, place] :
             {std::pair{"cls", &parts.first}, std::pair{"sep", &parts.last}}) {
            const auto found = part.find(field);
            if (found == part.end() || !found->is_array() || found->size() != 2)
                reader.fail("post_processor." + std::string(field) + " is not a token with its id");
            *place = {reader.givenId("post_processor", (*found)[1])};
        }
    } else if (type == "TemplateProcessing") {
        const auto single = part.find("single");
        if (single == part.end() || !single->is_array())
            reader.fail("post_processor.single is not a list");
        parts.first.clear(), parts.last.clear();
        bool text = false;
        for (const auto& item : *single) {
            const auto special = item.is_object() ? item.find("SpecialToken") : item.end();
            if (item.is_object() && item.contains("Sequence") && !text)
                text = true;
            else if (item.is_object() && special != item.end() && special->is_object())
                (text ? parts.last : parts.first).push_back(idOf(special->value("id", json())));
            else
                reader.fail("post_processor.single has " +
                            shown(item.dump(-1, ' ', false, json::error_handler_t::replace)) +
                            "; expected one text, and special tokens around it");
        }
    } else if (type != "ByteLevel" && !part.is_null()) {
        reader.fail("post_processor.type is " + shown(type) + kTokenizersRead);
    }
}

// What a tokenizer.json has beside the published format where it was made of a tokenizer.pkl.
void readRanks(const Reader& reader, const json& part, BytePairTokenizer::Parts& parts) {
    if (part.is_null()) return;
    if (!part.is_object() || part.value("ranks", json()) != true ||
        !part.value("ends", json()).is_array() || parts.characters)
        reader.fail("tiktoken is not of the form that this program writes");
    parts.ranked = true;
    for (const auto& end : part["ends"]) parts.ends.push_back(reader.givenId("tiktoken.ends", end));
}

}  // namespace

TokenizerPtr tokenizerOf(const json& file, std::string source, const std::string& path,
                         const std::string& mergesPath) {
    Reader reader(path, mergesPath);
    static const json nothing;
    const auto part = [&](const char* name) -> const json& {
        const auto found = file.find(name);
        return found == file.end() ? nothing : *found;
    };
    const json& model = part("model");
    if (!model.is_object()) reader.fail("has no 'model', so it is not a tokenizer.json");
    const bool untyped = !model.contains("type") && model.contains("merges");
    const std::string type = untyped ? "BPE" : typeOf(model);
    if (type != "BPE" && type != "WordPiece" && type != "Unigram")
        reader.fail("model.type is " + shown(type) + kTokenizersRead);
    BytePairTokenizer::Parts parts;
    parts.name = path;
    parts.normalizer = readNormalizer(part("normalizer"), path);
    const bool bytes = flagOf(reader, model, "byte_fallback");
    const auto field = [&](const char* name) -> const json& {
        const auto found = model.find(name);
        return found == model.end() ? nothing : *found;
    };
    std::vector<double> scores;
    if (type == "Unigram")
        scores = reader.readScores(field("vocab"));
    else
        reader.readVocabulary(field("vocab"));
    if (const json& added = part("added_tokens"); !added.is_null())
        reader.readAddedTokens(added, parts.normalizer);

    auto splitter = readSplitter(part("pre_tokenizer"), path);
    parts.prefixSpace = splitter.prefixSpace;
    parts.splitsWords = splitter.words;
    parts.splitter = TextSplitter(std::move(splitter.steps));
    if (type != "BPE" && splitter.bytes)
        reader.fail("pre_tokenizer.type is 'ByteLevel' with " + type + kTokenizersRead);
    json decoder = part("decoder");
    if (type == "BPE") {
        requireUnused(reader, model, "dropout", 0.0);
        requireUnused(reader, model, "continuing_subword_prefix", "");
        parts.wholeWords = flagOf(reader, model, "ignore_merges");
        const bool fused = flagOf(reader, model, "fuse_unk");
        readEndOfWord(reader, field("end_of_word_suffix"), bytes, parts);
        readMerges(reader, field("merges"));
        if (splitter.bytes) {
            reader.beginWithBytes(parts);
        } else {
            const json& unknown = field("unk_token");
            if (part("pre_tokenizer").is_null() && reader.merges() == 0 && unknown.is_string() &&
                parts.normalizer.empty() && !reader.hasAddedTokens() && !bytes && !fused &&
                parts.endOfWord.empty() && part("post_processor").is_null())
                return reader.characters(path, unknown);
            if (parts.wholeWords)
                reader.fail(std::string("model.ignore_merges is true without ByteLevel") +
                            kTokenizersRead);
            reader.beginWithCharacters(parts, unknown, bytes, fused);
        }
    } else {
        parts.model = type == "WordPiece" ? reader.wordPieces(model)
                                          : reader.unigram(field("unk_id"), bytes, scores);
        // Without a decoder there is a blank between two tokens.
        if (decoder.is_null()) decoder = {{"type", "Blank"}};
    }
    readTemplate(reader, part("post_processor"), parts);
    readRanks(reader, part("tiktoken"), parts);
    parts.source = std::move(source);
    const PieceDecoder pieces(decoder, path);
    parts.blankTakenAfter = pieces.blankTakenAfter();
    return reader.bytePairs(std::move(parts), pieces);
}

TokenizerPtr parseTokenizerJson(const std::string& text, const std::string& path) {
    return tokenizerOf(parsedJson(text, path), text, path, path);
}

}  // namespace relascope::core
