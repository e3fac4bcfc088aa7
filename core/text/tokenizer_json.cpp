// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "files/atomic_file.h"
#include "text/byte_pair_tokenizer.h"
#include "text/character_tokenizer.h"
#include "text/tokenizer_json.h"
#include "text/words.h"
#include "types/error.h"

namespace relascope::core {
namespace {

using nlohmann::json;

constexpr std::int64_t kMostIds = 1 << 22;
constexpr const char* kWayOut =
    "; only byte-level BPE as in GPT-2, Llama 3, Qwen2 and Pythia, and characters are supported: "
    "choose gpt2 or characters instead";

std::string shown(std::string_view text) {
    std::string out = pieceText(text.substr(0, 60)).text;
    return "'" + out + (text.size() > 60 ? "...'" : "'");
}

json parsed(const std::string& text, const std::string& path) {
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
            throw FileError(path, "is not a JSON object, so it is not a tokenizer");
        return value;
    } catch (const json::parse_error& error) {
        throw FileError(path, "is not JSON at byte " + std::to_string(error.byte));
    }
}

// Common to both forms: the vocabulary by piece as spelled in the file, and the merges.
class Reader {
public:
    explicit Reader(std::string path) : m_path(std::move(path)) {}

    [[noreturn]] void fail(const std::string& why) const { throw FileError(m_path, why); }

    void readVocabulary(const json& vocabulary) {
        if (!vocabulary.is_object() || vocabulary.empty())
            fail("model.vocab has no pieces; it must be an object that maps pieces to ids");
        std::int64_t most = 0;
        for (const auto& [piece, id] : vocabulary.items())
            most = std::max(most, checked(piece, id));
        m_byId.resize(static_cast<std::size_t>(most) + 1);
        for (const auto& [piece, id] : vocabulary.items()) put(piece, id.get<std::int32_t>());
    }

    void readAddedTokens(const json& added) {
        if (!added.is_array()) fail("added_tokens is not a list");
        for (const auto& token : added) {
            if (!token.is_object() || !token.contains("content") || !token["content"].is_string() ||
                !token.contains("id"))
                fail("added_tokens has an entry without content and id");
            const std::string piece = token["content"];
            const auto id = static_cast<std::int32_t>(checked(piece, token["id"]));
            const auto set = [&](const char* field) {
                const auto found = token.find(field);
                return found != token.end() && *found == true;
            };
            m_added.push_back({piece, id, set("special"), set("lstrip"), set("rstrip"),
                               set("single_word"), set("normalized")});
            const auto at = static_cast<std::size_t>(id);
            if (at >= m_byId.size()) m_byId.resize(at + 1);
            if (const auto known = m_ids.find(piece); known == m_ids.end())
                put(piece, id);
            else if (known->second != id)
                fail("added_tokens gives " + shown(piece) + " the id " + std::to_string(id) +
                     ", model.vocab the id " + std::to_string(known->second));
            if (m_added.back().special) m_special.push_back(id);
        }
        std::sort(m_special.begin(), m_special.end());
        m_special.erase(std::unique(m_special.begin(), m_special.end()), m_special.end());
    }

    void addMerge(std::string left, std::string right) { m_merges.emplace_back(left, right); }
    std::size_t merges() const { return m_merges.size(); }

    /// Of a template around typed texts, {"id": "<|begin_of_text|>"}.
    std::vector<std::int32_t> idsOf(const json& names) const {
        std::vector<std::int32_t> ids;
        for (const auto& name : names) {
            const auto found = name.is_string() ? m_ids.find(name.get<std::string>()) : m_ids.end();
            if (found == m_ids.end())
                fail("post_processor puts " + shown(name.dump()) +
                     " around texts, which is not in the vocabulary");
            ids.push_back(found->second);
        }
        return ids;
    }

    /// Fills in what the vocabulary, the added tokens and the merges say.
    TokenizerPtr bytePairs(BytePairTokenizer::Parts parts, const std::string& mergesPath) {
        parts.special = m_special;
        parts.added = AddedTokens(m_added);
        for (int byte = 0; byte < 256; ++byte) {
            const auto letter = spelledBytes(std::string(1, static_cast<char>(byte)));
            const auto found = m_ids.find(letter);
            if (found == m_ids.end())
                fail("model.vocab lacks the byte " + std::to_string(byte) + " (" + shown(letter) +
                     "), so not every text could be encoded" + kWayOut);
            parts.byteIds[static_cast<std::size_t>(byte)] = found->second;
        }
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
        for (const char* end : {"<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>"})
            if (const auto found = m_ids.find(end); found != m_ids.end() && !parts.endOfText)
                parts.endOfText = found->second;
        parts.pieces.reserve(m_byId.size());
        for (std::size_t id = 0; id < m_byId.size(); ++id) {
            const bool added = std::any_of(m_added.begin(), m_added.end(), [&](const auto& token) {
                return token.id == static_cast<std::int32_t>(id);
            });
            // A name in other letters is not byte-encoded.
            const auto bytes = added ? std::nullopt : unspelledBytes(m_byId[id]);
            parts.pieces.push_back(bytes ? *bytes : m_byId[id]);
        }
        return std::make_shared<BytePairTokenizer>(std::move(parts));
    }

    TokenizerPtr characters(const std::string& name, const std::string& unknown) {
        const auto found = m_ids.find(unknown);
        if (found == m_ids.end())
            fail("model.unk_token is " + shown(unknown) + ", which is not in model.vocab");
        for (const auto& [piece, id] : m_ids)
            if (id != found->second && (piece.empty() || utf8Length(piece) != piece.size()))
                fail("model.vocab has " + shown(piece) +
                     ", but without merges every piece must be one character" + kWayOut);
        return std::make_shared<CharacterTokenizer>(name, m_byId, found->second);
    }

private:
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

    std::string m_path;
    std::unordered_map<std::string, std::int32_t> m_ids;
    std::vector<std::string> m_byId;
    std::vector<bool> m_taken;
    std::vector<std::int32_t> m_special;
    std::vector<AddedToken> m_added;
    std::vector<std::pair<std::string, std::string>> m_merges;
};

std::string typeOf(const json& part) {
    if (part.is_object() && part.contains("type") && part["type"].is_string()) return part["type"];
    return "unknown";
}

// A field that must be absent, null or have no effect.
void requireUnused(const Reader& reader, const json& object, const char* field,
                   const json& nothing) {
    const auto found = object.find(field);
    if (found != object.end() && !found->is_null() && *found != nothing)
        reader.fail("model." + std::string(field) + " is " + found->dump().substr(0, 40) + kWayOut);
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

bool flag(const Reader& reader, const json& part, const char* field, bool otherwise) {
    const auto found = part.find(field);
    if (found == part.end()) return otherwise;
    if (!found->is_boolean())
        reader.fail("pre_tokenizer." + std::string(field) + " is " + found->dump().substr(0, 40) +
                    "; expected true or false");
    return *found;
}

// What divides texts: {"type": "ByteLevel"}, alone or at the end of a sequence of patterns.
void readSplitter(const Reader& reader, const json& part, const std::string& path,
                  BytePairTokenizer::Parts& parts, bool& ends) {
    const std::string type = typeOf(part);
    if (ends) reader.fail("pre_tokenizer has " + shown(type) + " behind ByteLevel" + kWayOut);
    if (type == "Sequence" && part.contains("pretokenizers") && part["pretokenizers"].is_array()) {
        for (const auto& one : part["pretokenizers"]) readSplitter(reader, one, path, parts, ends);
    } else if (type == "Split") {
        const auto pattern = part.find("pattern");
        if (pattern == part.end() || !pattern->is_object() || !pattern->contains("Regex") ||
            !(*pattern)["Regex"].is_string())
            reader.fail(std::string("pre_tokenizer.pattern is not a Regex") + kWayOut);
        if (part.value("behavior", json()) != "Isolated" || part.value("invert", json()) == true)
            reader.fail(std::string("pre_tokenizer.behavior is not Isolated, or inverted") +
                        kWayOut);
        parts.patterns.emplace_back((*pattern)["Regex"].get<std::string>(), path);
    } else if (type == "Digits") {
        parts.patterns.emplace_back(
            flag(reader, part, "individual_digits", false) ? "\\p{N}" : "\\p{N}+", path);
    } else if (type == "ByteLevel") {
        ends = true;
        parts.prefixSpace = flag(reader, part, "add_prefix_space", true);
        parts.splitsWords = flag(reader, part, "use_regex", true) || !parts.patterns.empty();
        if (parts.prefixSpace && !parts.patterns.empty())
            reader.fail(std::string("pre_tokenizer puts a space before each part") + kWayOut);
        if (!parts.patterns.empty() && flag(reader, part, "use_regex", true))
            parts.patterns.emplace_back(gpt2Pattern(), path);
    } else {
        reader.fail("pre_tokenizer.type is " + shown(type) + kWayOut);
    }
}

// The tokens that a template puts before and behind a typed text.
void readTemplate(const Reader& reader, const json& part, BytePairTokenizer::Parts& parts) {
    const std::string type = typeOf(part);
    if (type == "Sequence" && part.contains("processors") && part["processors"].is_array()) {
        for (const auto& one : part["processors"]) readTemplate(reader, one, parts);
    } else if (type == "TemplateProcessing") {
        const auto single = part.find("single");
        if (single == part.end() || !single->is_array())
            reader.fail("post_processor.single is not a list");
        json before = json::array(), behind = json::array();
        bool text = false;
        for (const auto& item : *single) {
            if (item.is_object() && item.contains("Sequence"))
                text = true;
            else if (item.is_object() && item.contains("SpecialToken") &&
                     item["SpecialToken"].is_object())
                (text ? behind : before).push_back(item["SpecialToken"].value("id", json()));
        }
        parts.first = reader.idsOf(before);
        parts.last = reader.idsOf(behind);
    }
}

}  // namespace

TokenizerPtr parseTokenizerJson(const std::string& text, const std::string& path) {
    const json file = parsed(text, path);
    Reader reader(path);
    const auto part = [&](const char* name) {
        const auto found = file.find(name);
        return found == file.end() ? json() : *found;
    };
    const json model = part("model");
    if (!model.is_object()) reader.fail("has no 'model', so it is not a tokenizer.json");
    const bool untyped = !model.contains("type") && model.contains("merges");
    if (!untyped && typeOf(model) != "BPE")
        reader.fail("model.type is " + shown(typeOf(model)) + kWayOut);
    BytePairTokenizer::Parts parts;
    parts.name = path;
    if (const json normalizer = part("normalizer"); !normalizer.is_null()) {
        if (typeOf(normalizer) != "NFC")
            reader.fail("normalizer is " + shown(typeOf(normalizer)) +
                        ", which changes the text before it is encoded" + kWayOut);
        parts.nfc = true;
    }
    requireUnused(reader, model, "dropout", 0.0);
    requireUnused(reader, model, "continuing_subword_prefix", "");
    requireUnused(reader, model, "end_of_word_suffix", "");
    requireUnused(reader, model, "byte_fallback", false);
    requireUnused(reader, model, "fuse_unk", false);
    if (const auto whole = model.find("ignore_merges"); whole != model.end() && !whole->is_null()) {
        if (!whole->is_boolean())
            reader.fail("model.ignore_merges is " + whole->dump().substr(0, 40) +
                        "; expected true or false");
        parts.wholeWords = *whole;
    }

    reader.readVocabulary(model.contains("vocab") ? model["vocab"] : json());
    if (const json added = part("added_tokens"); !added.is_null()) reader.readAddedTokens(added);
    readMerges(reader, model.contains("merges") ? model["merges"] : json());

    const json splitter = part("pre_tokenizer");
    if (splitter.is_null()) {
        const auto unknown = model.find("unk_token");
        if (reader.merges() > 0 || unknown == model.end() || !unknown->is_string())
            reader.fail(std::string("pre_tokenizer is missing; merges need ByteLevel, characters "
                                    "need an unk_token and no merges") +
                        kWayOut);
        return reader.characters(path, *unknown);
    }
    bool ends = false;
    readSplitter(reader, splitter, path, parts, ends);
    if (!ends) reader.fail(std::string("pre_tokenizer has no ByteLevel") + kWayOut);
    readTemplate(reader, part("post_processor"), parts);
    parts.source = text;
    return reader.bytePairs(std::move(parts), path);
}

TokenizerPtr parseVocabulary(const std::string& vocabulary, const std::string& vocabularyPath,
                             const std::string& merges, const std::string& mergesPath) {
    Reader reader(vocabularyPath);
    reader.readVocabulary(parsed(vocabulary, vocabularyPath));
    std::string_view rest = merges;
    for (int line = 1; !rest.empty(); ++line) {
        auto text = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), text.size() + 1));
        if (text.ends_with('\r')) text.remove_suffix(1);
        if (text.empty() || (line == 1 && text.starts_with("#version"))) continue;
        const auto space = text.find(' ');
        if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos)
            throw FileError(mergesPath, "line " + std::to_string(line) + " is " + shown(text) +
                                            "; expected two pieces separated by a space");
        reader.addMerge(std::string(text.substr(0, space)), std::string(text.substr(space + 1)));
    }
    BytePairTokenizer::Parts parts;
    parts.name = vocabularyPath;
    return reader.bytePairs(std::move(parts), mergesPath);
}

namespace {

// tokenizer.json as HuggingFace's `tokenizers` reads it.

using Json = nlohmann::ordered_json;

std::string jsonText(const std::string& text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Everything except the vocabulary and the merges, which replace `vocabulary`: as values of the
// JSON library they would take seconds.
std::string framed(Json splitter, Json decoder, Json unknown, const Json& added,
                   const std::string& vocabulary, const std::string& merges) {
    const Json file = {{"version", "1.0"},
                       {"truncation", nullptr},
                       {"padding", nullptr},
                       {"added_tokens", added},
                       {"normalizer", nullptr},
                       {"pre_tokenizer", std::move(splitter)},
                       {"post_processor", nullptr},
                       {"decoder", std::move(decoder)},
                       {"model",
                        {{"type", "BPE"},
                         {"dropout", nullptr},
                         {"unk_token", std::move(unknown)},
                         {"continuing_subword_prefix", nullptr},
                         {"end_of_word_suffix", nullptr},
                         {"fuse_unk", false},
                         {"byte_fallback", false},
                         {"ignore_merges", false}}}};
    std::string text = file.dump(2);
    text.resize(text.rfind("\n  }"));  // the end of the model
    return text + ",\n    \"vocab\": {" + vocabulary + "\n    },\n    \"merges\": [" + merges +
           (merges.empty() ? "]" : "\n    ]") + "\n  }\n}\n";
}

std::string entry(const std::string& spelled, std::size_t id, const std::string& before) {
    return (before.empty() ? "\n      " : ",\n      ") + jsonText(spelled) + ": " +
           std::to_string(id);
}

std::string bytePairsJson(const BytePairTokenizer& tokenizer) {
    const auto& parts = tokenizer.parts();
    if (!parts.source.empty()) return parts.source;
    std::vector<std::string> spelled;
    for (const auto& piece : parts.pieces) spelled.push_back(spelledBytes(piece));
    Json added = Json::array();
    for (const auto id : parts.special) {
        auto& piece = spelled[static_cast<std::size_t>(id)];
        piece = parts.pieces[static_cast<std::size_t>(id)];
        added.push_back({{"id", id},
                         {"content", piece},
                         {"single_word", false},
                         {"lstrip", false},
                         {"rstrip", false},
                         {"normalized", false},
                         {"special", true}});
    }
    std::string vocabulary, merges;
    for (std::size_t id = 0; id < spelled.size(); ++id)
        if (!spelled[id].empty()) vocabulary += entry(spelled[id], id, vocabulary);
    for (const auto& merge : parts.pairs.merges())
        merges += (merges.empty() ? "\n      " : ",\n      ") +
                  jsonText(spelled[static_cast<std::size_t>(merge.left)] + " " +
                           spelled[static_cast<std::size_t>(merge.right)]);
    const Json bytes = {{"type", "ByteLevel"},
                        {"add_prefix_space", parts.prefixSpace},
                        {"trim_offsets", true},
                        {"use_regex", parts.splitsWords}};
    return framed(bytes, bytes, nullptr, added, vocabulary, merges);
}

std::string charactersJson(const CharacterTokenizer& tokenizer) {
    std::string vocabulary;
    const auto& pieces = tokenizer.pieces();
    for (std::size_t id = 0; id < pieces.size(); ++id)
        if (!pieces[id].empty()) vocabulary += entry(pieces[id], id, vocabulary);
    const std::string unknown = pieces[static_cast<std::size_t>(tokenizer.unknown())];
    return framed(nullptr, {{"type", "Fuse"}}, unknown, Json::array(), vocabulary, "");
}

}  // namespace

std::string tokenizerJson(const Tokenizer& tokenizer) {
    if (const auto* pairs = dynamic_cast<const BytePairTokenizer*>(&tokenizer))
        return bytePairsJson(*pairs);
    if (const auto* characters = dynamic_cast<const CharacterTokenizer*>(&tokenizer))
        return charactersJson(*characters);
    throw OptionError("tokenizer",
                      "'" + tokenizer.name() + "' cannot be written in the published format");
}

void writeTokenizer(const Tokenizer& tokenizer, const std::string& path) {
    writeTextFile(path, tokenizerJson(tokenizer));
}

}  // namespace relascope::core
