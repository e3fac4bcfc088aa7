// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>

#include "data/text_tokens.h"
#include "data/token_cache.h"
#include "files/sha256.h"
#include "text/character_tokenizer.h"
#include "text/text_encoder.h"
#include "types/text_piece.h"

namespace relascope::core {

ProbeSample tokenSample(const Tokenizer* tokenizer, std::vector<std::int64_t> tokens,
                        const std::string& origin) {
    ProbeSample sample;
    sample.origin = origin;
    sample.source.text = tokenizer != nullptr;
    if (tokenizer)
        for (const auto id : tokens)
            sample.source.labels.push_back(
                id >= 0 && id < tokenizer->size()
                    ? std::string(tokenizer->piece(static_cast<std::int32_t>(id)))
                    : std::to_string(id));
    sample.source.tokens = std::move(tokens);
    return sample;
}

ProbeSample inTokensOf(const Tokenizer* tokenizer, ProbeSample sample) {
    const auto& source = sample.source;
    if (!tokenizer || !source.text || sample.target.size() > 0) return sample;
    if (tokenSample(tokenizer, source.tokens, sample.origin).source.labels == source.labels)
        return sample;
    std::string text;
    for (const auto& piece : source.labels) text += piece;
    const auto ids = tokenizer->encode(text);
    return tokenSample(tokenizer, {ids.begin(), ids.end()}, sample.origin);
}

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
        const bool known = m_tokenizer && id >= 0 && id < m_tokenizer->size();
        s.source.labels.push_back(
            known ? std::string(m_tokenizer->piece(static_cast<std::int32_t>(id)))
                  : std::to_string(id));
    }
    s.source.tokens = std::move(tokens);
    return s;
}

namespace {

using nlohmann::json;

// To be incremented when a change gives other tokens for the same files.
constexpr const char* kVersion = "relascope tokens 2";

std::uint64_t totalBytes(const std::vector<TextFile>& files) {
    std::uint64_t total = 0;
    for (const auto& file : files) total += file.bytes;
    return std::max<std::uint64_t>(1, total);
}

// Iterates over all files, with progress by the bytes read.
template <class Action>
void forEachFile(const std::vector<TextFile>& files, TextProgress& progress, const Action& action) {
    const auto total = static_cast<double>(totalBytes(files));
    double before = 0.0;
    for (const auto& file : files) {
        const auto source = openFileBytes(file.path);
        action(file, source, [&](std::uint64_t consumed) {
            progress.at((before + static_cast<double>(consumed)) / total);
        });
        before += static_cast<double>(file.bytes);
    }
}

// SHA-256 of the contents of the files, cached by their sizes and times.
std::string contentOf(const std::vector<TextFile>& files, TextProgress& progress) {
    const std::string signature = signatureOf(files);
    if (const auto fact = readCachedFact(signature); fact && fact->contains("content"))
        if (const auto& known = (*fact)["content"]; known.is_string()) return known;
    Sha256 all;
    forEachFile(files, progress, [&](const TextFile& file, const auto& source, const auto& tick) {
        Sha256 hash;
        std::vector<std::uint8_t> piece;
        for (std::uint64_t at = 0; at < source->size(); at += piece.size()) {
            piece.resize(
                static_cast<std::size_t>(std::min<std::uint64_t>(1u << 20, source->size() - at)));
            source->read(at, piece, progress.stop());
            hash.add(piece.data(), piece.size());
            tick(at);
        }
        all.addField(file.form == TextForm::Json ? "json" : "plain");
        all.addField(hash.hex());
    });
    const std::string content = all.hex();
    if (isSettled(files)) writeCachedFact(signature, {{"content", content}});
    return content;
}

// Bytes of files that are no text, by kind; their facts are [file, the first, how many].
struct Lost {
    const char *key, *one, *several, *wayOut;
};
constexpr std::array kLost = {
    Lost{"invalid", " byte that is not UTF-8", " bytes that are not UTF-8",
         "; convert it, as in iconv -f WINDOWS-1252 -t UTF-8, or these letters are lost"},
    Lost{"halves", " escape that is half of a character", " escapes that are half of a character",
         "; each is read as U+FFFD"}};

void addLost(json& facts, const Lost& kind, std::size_t file, std::uint64_t first,
             std::uint64_t count) {
    facts[kind.key].push_back(json::array({file, first, count}));
}

std::string lostNote(const json& facts, const Lost& kind, const std::vector<TextFile>& files) {
    if (!facts.is_object() || !facts.contains(kind.key) || !facts[kind.key].is_array()) return {};
    const auto& all = facts[kind.key];
    std::string note;
    for (const auto& one : all) {
        if (!one.is_array() || one.size() != 3 ||
            !std::all_of(one.begin(), one.end(),
                         [](const json& n) { return n.is_number_unsigned(); }))
            return {};
        if (!note.empty()) continue;
        const auto file = one[0].get<std::size_t>();
        if (file >= files.size()) return {};
        const auto count = one[2].get<std::uint64_t>();
        note = std::filesystem::path(files[file].path).filename().string() + " has " +
               std::to_string(count) + (count == 1 ? kind.one : kind.several) +
               ", the first at byte " + std::to_string(one[1].get<std::uint64_t>());
    }
    if (note.empty()) return {};
    if (all.size() > 1)
        note += ", and " + std::to_string(all.size() - 1) + " more of " +
                std::to_string(files.size()) + " files have some";
    return note + kind.wayOut;
}

std::string lostNotes(const json& facts, const std::vector<TextFile>& files) {
    std::string all;
    for (const auto& kind : kLost)
        if (const auto note = lostNote(facts, kind, files); !note.empty())
            all += (all.empty() ? "" : "; ") + note;
    return all;
}

// The documents of all files; `part` is called between two.
void forEachDocument(const std::vector<TextFile>& files, const std::string& field,
                     TextProgress& progress, const DocumentSink& sink, json* facts = nullptr) {
    forEachFile(files, progress, [&](const TextFile& file, const auto& source, const auto& tick) {
        TextBytes bytes(source, progress.stop());
        const auto lost = [&](const Lost& kind) {
            return [&](std::uint64_t begin, std::uint64_t count) {
                if (facts)
                    addLost(*facts, kind, static_cast<std::size_t>(&file - files.data()), begin,
                            count);
            };
        };
        readDocuments(bytes, file.form, field,
                      {sink.begin,
                       [&](std::string_view text) {
                           sink.text(text);
                           tick(bytes.consumed());
                       },
                       lost(kLost[0]), lost(kLost[1])});
    });
}

// Gives the text of the documents with a blank line between two, for tokenizers without a separator
// token.
void forEachText(const std::vector<TextFile>& files, const std::string& field,
                 TextProgress& progress, const std::function<void(std::string_view)>& text,
                 json* facts = nullptr) {
    bool first = true;
    forEachDocument(files, field, progress,
                    {[&] {
                         if (!first) text("\n\n");
                         first = false;
                     },
                     text},
                    facts);
}

TokenizerPtr charactersOf(const std::vector<TextFile>& files, const std::string& field,
                          TextProgress& progress) {
    CharacterSet set;
    forEachText(files, field, progress, [&](std::string_view text) { set.add(text); });
    return characterTokenizer(set.characters());
}

void encodeAll(const std::vector<TextFile>& files, const std::string& field,
               const Tokenizer& tokenizer, TextProgress& progress, TokenWriter& writer,
               json& facts) {
    TextEncoder encoder(tokenizer, [&](std::span<const std::int32_t> ids) { writer.put(ids); });
    const auto text = [&](std::string_view piece) { encoder.add(piece); };
    if (const auto mark = tokenizer.endOfText()) {
        forEachDocument(files, field, progress,
                        {[&] {
                             encoder.finish();
                             writer.put(std::array{*mark});
                         },
                         text},
                        &facts);
    } else {
        forEachText(files, field, progress, text, &facts);
    }
    encoder.finish();
}

// The vocabulary stored with the tokens; nothing if the facts are invalid.
TokenizerPtr charactersFrom(const json& parsed) {
    if (!parsed.is_object() || !parsed.contains("characters") || !parsed["characters"].is_string())
        return nullptr;
    return characterTokenizer(parsed["characters"].get<std::string>());
}

}  // namespace

void TextProgress::begin(double fraction) {
    m_from = m_to;
    m_to = fraction;
    at(0.0);
}

void TextProgress::at(double fractionOfPass) {
    if (m_stop.stop_requested()) throw Cancelled();
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    if (!m_callback || now - m_shown < 100'000'000) return;
    m_shown = now;
    if (!m_callback(m_from + (m_to - m_from) * std::clamp(fractionOfPass, 0.0, 1.0)))
        throw Cancelled();
}

bool isSettled(const std::vector<TextFile>& files) {
    const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
    return std::all_of(files.begin(), files.end(),
                       [&](const TextFile& file) { return now - file.modified > 2'000'000'000; });
}

EncodedText encodeTexts(const std::vector<TextFile>& files, const TokenizerPtr& tokenizer,
                        const std::string& field, TextProgress& progress) {
    progress.begin(0.1);
    const std::string content = contentOf(files, progress);
    Sha256 hash;
    hash.addField(kVersion);
    hash.addField(content);
    hash.addField(tokenizer ? tokenizer->fingerprint() : "characters");
    hash.addField(field);
    const std::string key = hash.hex();

    progress.begin(0.2);
    if (auto known = openCachedTokens(key, [&](double fraction) { progress.at(fraction); })) {
        const auto facts = json::parse(known->facts, nullptr, false);
        const auto found = tokenizer ? tokenizer : charactersFrom(facts);
        if (found) return {known->tokens, found, lostNotes(facts, files)};
    }
    TokenizerPtr used = tokenizer;
    if (!used) {
        progress.begin(0.4);
        used = charactersOf(files, field, progress);
    }
    progress.begin(1.0);
    json facts = {{"tokenizer", validUtf8(used->name())}};
    if (!tokenizer) {
        std::string characters;
        for (std::int64_t id = 1; id < used->size(); ++id)
            characters += used->piece(static_cast<std::int32_t>(id));
        facts["characters"] = characters;
    }
    const auto made =
        makeCachedTokens(key, used->size() <= 65536 ? 2 : 4, [&](TokenWriter& writer) {
            facts.erase("invalid");  // left by a first try, which the cache could not store
            encodeAll(files, field, *used, progress, writer, facts);
            // The files changed while they were read, so the tokens must not be found under this
            // key.
            for (const auto& file : files)
                if (signatureOf(listTextFiles(file.path)) != signatureOf({file}))
                    throw FileError(file.path, "was changed while it was read; try again");
            return facts.dump();
        });
    return {made.tokens, used, lostNotes(facts, files)};
}

}  // namespace relascope::core
