// SPDX-License-Identifier: GPL-3.0-or-later
#include "text/piece_decoder.h"

#include <array>
#include <nlohmann/json.hpp>

#include "text/tokenizer_steps.h"

namespace relascope::core {
namespace {

using nlohmann::json;

std::string textOf(const json& object, const char* field, const char* otherwise = "") {
    const auto found = object.find(field);
    return found != object.end() && found->is_string() ? found->get<std::string>() : otherwise;
}
bool flagIn(const json& object, const char* field, bool otherwise) {
    const auto found = object.find(field);
    return found != object.end() && found->is_boolean() ? found->get<bool>() : otherwise;
}
int countOf(const json& object, const char* field) {
    const auto found = object.find(field);
    const bool good =
        found != object.end() && found->is_number_integer() && *found > 0 && *found < 1000;
    return good ? found->get<int>() : 0;
}

void replaceAll(std::string& text, const std::string& from, const std::string& to) {
    if (from.empty()) return;
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

// As BERT's decoder joins English again.
void cleanUp(std::string& text) {
    static constexpr std::array<std::pair<const char*, const char*>, 11> kJoined = {
        {{" .", "."},
         {" ?", "?"},
         {" !", "!"},
         {" ,", ","},
         {" ' ", "'"},
         {" n't", "n't"},
         {" 'm", "'m"},
         {" do not", " don't"},
         {" 's", "'s"},
         {" 've", "'ve"},
         {" 're", "'re"}}};
    for (const auto& [from, to] : kJoined) replaceAll(text, from, to);
}

/// The byte that "<0x41>" names.
std::optional<char> byteOf(const std::string& token) {
    if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
    int value = 0;
    for (const char c : {token[3], token[4]}) {
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                                 : -1;
        if (digit < 0) return std::nullopt;
        value = value * 16 + digit;
    }
    return static_cast<char>(value);
}

void strip(std::string& text, const std::string& what, int start, int stop) {
    if (what.empty()) return;
    for (; start > 0 && text.starts_with(what); --start) text.erase(0, what.size());
    for (; stop > 0 && text.ends_with(what); --stop) text.resize(text.size() - what.size());
}

}  // namespace

PieceDecoder::PieceDecoder(const json& decoder, const std::string& path) {
    bool fused = false;
    if (!decoder.is_null()) add(decoder, path, fused);
}

void PieceDecoder::add(const json& decoder, const std::string& path, bool& fused) {
    using Kind = Step::Kind;
    const std::string type = typeOf(decoder);
    if (type == "Sequence") {
        if (const auto all = decoder.find("decoders"); all != decoder.end() && all->is_array())
            for (const auto& one : *all) add(one, path, fused);
    } else if (type == "Metaspace") {
        const bool puts = textOf(decoder, "prepend_scheme", "always") != "never" &&
                          flagIn(decoder, "add_prefix_space", true);
        m_steps.push_back({Kind::Metaspace, textOf(decoder, "replacement", "\u2581"), " "});
        m_steps.back().strips = puts;
    } else if (type == "WordPiece") {
        m_steps.push_back({Kind::WordPiece, textOf(decoder, "prefix", "##")});
        m_steps.back().cleanup = flagIn(decoder, "cleanup", true);
    } else if (type == "Strip") {
        m_steps.push_back({Kind::Strip, textOf(decoder, "content")});
        m_steps.back().whole = fused;
        m_steps.back().start = countOf(decoder, "start");
        m_steps.back().stop = countOf(decoder, "stop");
    } else if (type == "Replace") {
        const auto pattern = decoder.find("pattern");
        if (pattern == decoder.end() || !pattern->is_object()) return;
        const auto with = textOf(*pattern, "String"), regex = textOf(*pattern, "Regex");
        const auto without = textOf(decoder, "content");
        if (!without.empty() && with == without + " ") return m_blankTakenAfter.push_back(without);
        m_steps.push_back({Kind::Replace, with, without});
        if (!regex.empty()) m_steps.back().pattern.emplace(regex, path);
    } else if (type == "ByteFallback") {
        m_steps.push_back({Kind::Bytes});
    } else if (type == "Fuse" || type == "ByteLevel") {
        fused = true;  // tokens are joined
    } else if (type == "Blank") {
        m_steps.push_back({Kind::Blank});
    }
}

std::string PieceDecoder::text(std::string token, bool first) const {
    using Kind = Step::Kind;
    for (const auto& step : m_steps) {
        switch (step.kind) {
            case Kind::Replace:
                if (step.pattern)
                    token = step.pattern->replaced(token, step.to, longestChanged(token.size()));
                else
                    replaceAll(token, step.from, step.to);
                break;
            case Kind::Metaspace:
                replaceAll(token, step.from, first && step.strips ? "" : step.to);
                break;
            case Kind::WordPiece:
                if (!first) {
                    const bool inside = token.starts_with(step.from) && !step.from.empty();
                    token = inside ? token.substr(step.from.size()) : " " + token;
                }
                if (step.cleanup) cleanUp(token);
                break;
            case Kind::Strip:
                if (!step.whole)
                    strip(token, step.from, step.start, step.stop);
                else if (first)
                    strip(token, step.from, step.start, 0);
                break;
            case Kind::Bytes:
                if (const auto byte = byteOf(token)) token = std::string(1, *byte);
                break;
            case Kind::Blank:
                if (!first) token = " " + token;
                break;
        }
    }
    return token;
}

}  // namespace relascope::core
