// SPDX-License-Identifier: GPL-3.0-or-later
// nanochat's tokenizer.pkl: a pickled tiktoken.core.Encoding, read without running any of its code.
#include "text/tokenizer_pickle.h"

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "checkpoint/pickle.h"
#include "files/atomic_file.h"
#include "files/byte_source.h"
#include "text/tokenizer_json.h"
#include "text/words.h"
#include "types/error.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

namespace fs = std::filesystem;
constexpr const char* kEncoding = "tiktoken.core.Encoding";
constexpr std::uint64_t kMostPickle = 256u << 20;
constexpr std::int64_t kMostRanks = 10'000'000;
// What ends a text, of the special tokens: the first begins the next document.
constexpr const char* kBegin = "<|bos|>";
constexpr const char* kAnswerEnd = "<|assistant_end|>";

GlobalUse encodingUse(std::string_view name) {
    return name == kEncoding ? GlobalUse::Read : GlobalUse::Refused;
}

class EncodingReader {
public:
    EncodingReader(const Pickle& pickle, const std::string& path)
        : m_pickle(pickle), m_path(path) {}

    TokenizerPtr read() {
        const auto& root = m_pickle.root();
        if (m_pickle.callee(root) != kEncoding)
            fail("holds " + m_pickle.describe(root) + ", and no tokenizer of tiktoken");
        if (root.items.size() < 3) fail("holds a tokenizer without its state");
        const auto& state = m_pickle[root.items[2]];
        if (state.kind == PickleKind::String)
            fail("holds only the name of a public encoding, '" +
                 plainName(std::string(state.text)) + "'; save the tokenizer that was trained");
        if (state.kind != PickleKind::Dict) fail("holds a tokenizer without its state");
        const auto pattern = text(state, "pat_str");
        readRanks(field(state, "mergeable_ranks"));
        readSpecial(field(state, "special_tokens"));
        return asJson(pattern);
    }

private:
    using json = nlohmann::json;

    [[noreturn]] void fail(const std::string& why) const { throw FileError(m_path, why); }

    const PickleValue& field(const PickleValue& state, const char* name) const {
        const auto* found = m_pickle.find(state, name);
        if (!found) fail(std::string("has no ") + name + "; save the tokenizer again");
        return *found;
    }
    std::string text(const PickleValue& state, const char* name) const {
        const auto& value = field(state, name);
        if (value.kind != PickleKind::String)
            fail(std::string(name) + " is " + m_pickle.describe(value) + ", not a text");
        return std::string(value.text);
    }
    std::int64_t id(const PickleValue& value, const char* of) const {
        if (value.kind != PickleKind::Integer || value.integer < 0 || value.integer >= kMostRanks)
            fail(std::string(of) + " has an id that is not a whole number from 0 to " +
                 std::to_string(kMostRanks - 1));
        return value.integer;
    }

    void readRanks(const PickleValue& ranks) {
        if (ranks.kind != PickleKind::Dict)
            fail("mergeable_ranks is " + m_pickle.describe(ranks) + ", not a dict");
        for (std::size_t i = 0; i + 1 < ranks.items.size(); i += 2) {
            const auto& bytes = m_pickle[ranks.items[i]];
            if (bytes.kind != PickleKind::Bytes || bytes.text.empty())
                fail("mergeable_ranks has " + m_pickle.describe(bytes) +
                     " as a key; keys are the bytes of tokens");
            const auto rank = id(m_pickle[ranks.items[i + 1]], "mergeable_ranks");
            if (!m_pieces.emplace(rank, bytes.text).second)
                fail("mergeable_ranks gives the id " + std::to_string(rank) + " twice");
            if (!m_ids.emplace(bytes.text, rank).second)
                fail("mergeable_ranks has a token twice, with the ids " +
                     std::to_string(m_ids.at(bytes.text)) + " and " + std::to_string(rank));
        }
        for (int byte = 0; byte < 256; ++byte)
            if (const char one = static_cast<char>(byte); !m_ids.count({&one, 1}))
                fail("mergeable_ranks lacks the byte " + std::to_string(byte) +
                     ", so not every text could be encoded");
        std::int64_t next = 0;
        for (const auto& [rank, bytes] : m_pieces)
            if (rank != next++)
                fail("mergeable_ranks has no token of the id " + std::to_string(next - 1) +
                     ", but later ones; ids follow one another from 0");
    }

    void readSpecial(const PickleValue& special) {
        if (special.kind != PickleKind::Dict)
            fail("special_tokens is " + m_pickle.describe(special) + ", not a dict");
        for (std::size_t i = 0; i + 1 < special.items.size(); i += 2) {
            const auto& name = m_pickle[special.items[i]];
            if (name.kind != PickleKind::String || name.text.empty())
                fail("special_tokens has " + m_pickle.describe(name) + " as a name");
            const auto at = id(m_pickle[special.items[i + 1]], "special_tokens");
            if (m_pieces.count(at) || !m_special.emplace(at, name.text).second)
                fail("special_tokens gives '" + plainName(std::string(name.text)) + "' the id " +
                     std::to_string(at) + ", which another token has");
        }
        auto next = static_cast<std::int64_t>(m_pieces.size());
        for (const auto& [at, name] : m_special)
            if (at != next++)
                fail("special_tokens has no token of the id " + std::to_string(next - 1) +
                     ", but later ones; their ids follow those of mergeable_ranks");
    }

    // As a tokenizer.json, which runs keep: `tiktoken` says what that format cannot.
    TokenizerPtr asJson(const std::string& pattern) const {
        json vocabulary = json::object(), added = json::array(), ends = json::array();
        for (const auto& [rank, bytes] : m_pieces) vocabulary[spelledBytes(bytes)] = rank;
        std::int64_t begin = -1;
        for (const auto& [at, name] : m_special) {
            added.push_back({{"id", at},
                             {"content", name},
                             {"single_word", false},
                             {"lstrip", false},
                             {"rstrip", false},
                             {"normalized", false},
                             {"special", true}});
            if (name == kBegin) begin = at, ends.insert(ends.begin(), at);
            if (name == kAnswerEnd) ends.push_back(at);
        }
        const json bytes = {{"type", "ByteLevel"},
                            {"add_prefix_space", false},
                            {"trim_offsets", true},
                            {"use_regex", false}};
        json file = {{"version", "1.0"},
                     {"added_tokens", added},
                     {"normalizer", nullptr},
                     {"pre_tokenizer",
                      {{"type", "Sequence"},
                       {"pretokenizers",
                        {{{"type", "Split"},
                          {"pattern", {{"Regex", pattern}}},
                          {"behavior", "Isolated"},
                          {"invert", false}},
                         bytes}}}},
                     {"decoder", bytes},
                     {"model",
                      {{"type", "BPE"},
                       {"ignore_merges", true},
                       {"vocab", vocabulary},
                       {"merges", json::array()}}},
                     {"tiktoken", {{"ranks", true}, {"ends", ends}}}};
        if (begin >= 0)
            file["post_processor"] = {
                {"type", "TemplateProcessing"},
                {"single",
                 {{{"SpecialToken", {{"id", kBegin}, {"type_id", 0}}}},
                  {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}}},
                {"pair", json::array()},
                {"special_tokens",
                 {{kBegin, {{"id", kBegin}, {"ids", {begin}}, {"tokens", {kBegin}}}}}}};
        return tokenizerOf(file, file.dump(-1, ' ', false, json::error_handler_t::replace), m_path,
                           m_path);
    }

    const Pickle& m_pickle;
    const std::string& m_path;
    std::map<std::int64_t, std::string_view> m_pieces, m_special;  // by id
    std::map<std::string_view, std::int64_t> m_ids;
};

}  // namespace

TokenizerPtr openTokenizerPickle(const std::string& path) {
    const auto file = openFileBytes(path);
    if (file->size() > kMostPickle)
        throw FileError(path,
                        "is " + std::to_string(file->size() >> 20) + " MiB long, and no tokenizer");
    std::vector<std::uint8_t> bytes(file->size());
    file->read(0, bytes);
    return parseTokenizerPickle(std::move(bytes), path);
}

TokenizerPtr parseTokenizerPickle(std::vector<std::uint8_t> bytes, const std::string& path) {
    const Pickle pickle(std::move(bytes), path,
                        {encodingUse, "in a tokenizer: only a tokenizer of tiktoken is read"});
    return EncodingReader(pickle, path).read();
}

std::string tokenizerPickleBeside(const std::string& folder) {
    // The folder of a bare file name is "", which has no absolute path.
    const auto own = fs::absolute(folder.empty() ? "." : folder).lexically_normal();
    // nanochat keeps it at base/tokenizer, and weights at base/base_checkpoints/d20.
    std::error_code none;
    for (const auto& place :
         {own / kTokenizerPickle, own.parent_path().parent_path() / "tokenizer" / kTokenizerPickle})
        if (fs::is_regular_file(place, none)) return place.string();
    return {};
}

void copyTokenizerOfRanks(const std::string& weights, const std::string& folder) {
    const auto from = tokenizerPickleBeside(fs::path(weights).parent_path().string());
    const auto to = fs::path(folder) / kTokenizerPickle;
    std::error_code none;
    if (!from.empty() && !fs::equivalent(from, to, none))
        writeTextFile(to.string(), readTextFile(from, kMostPickle));
}

}  // namespace relascope::core
