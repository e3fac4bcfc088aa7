// SPDX-License-Identifier: GPL-3.0-or-later
#include "data/text.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "data/text_tokens.h"
#include "data/token_cache.h"
#include "hub/hub_cache.h"
#include "types/lower_case.h"
#include "types/text_piece.h"

namespace relascope::core {
namespace {

constexpr std::size_t kScanned = 1u << 20;

struct OpenedText {
    TokenSequencePtr tokens;
    TokenizerPtr tokenizer;
    std::string note = {};
};

// Null for characters: their vocabulary comes from the text.
TokenizerPtr chosenTokenizer(const DataOptions& o) {
    if (o.tokenizer == "characters") return nullptr;
    try {
        return openTokenizer(hubPath(o.tokenizer));
    } catch (const OptionError& error) {
        throw OptionError("data." + error.field(), error.message());
    }
}

OpenedText openShards(const std::vector<TextFile>& files, const DataOptions& o) {
    OpenedText opened;
    std::vector<TokenPart> parts;
    for (const auto& file : files) parts.push_back(openShard(file.path));
    // Shards of 16 and of 32 bits come from different programs, so they are not one text.
    for (std::size_t i = 1; i < parts.size(); ++i)
        if (parts[i].width != parts[0].width)
            throw FileError(files[i].path, "has tokens of " + std::to_string(8 * parts[i].width) +
                                               " bits, " + files[0].path + " of " +
                                               std::to_string(8 * parts[0].width) +
                                               "; use one token width per folder");
    opened.tokenizer = chosenTokenizer(o);
    if (!opened.tokenizer) opened.tokenizer = tokenizerBeside(files[0].path, 0);
    if (!opened.tokenizer)  // in the folder of its sub-folders
        opened.tokenizer = tokenizerBeside((std::filesystem::path(o.path) / "shards").string(), 0);
    if (!opened.tokenizer && isGpt2Shard(parts[0])) opened.tokenizer = gpt2Tokenizer();
    opened.tokens = std::make_shared<TokenSequence>(std::move(parts));
    return opened;
}

// A note for a folder that is divided into splits already, as nanoGPT's and llm.c's: it is still
// read as one text. Empty for other folders.
std::string partsNote(const std::vector<TextFile>& files) {
    const auto named = [&](std::initializer_list<const char*> words) {
        for (const auto& file : files) {
            const auto name = lowerCase(std::filesystem::path(file.path).filename().string());
            for (const auto* word : words)
                if (name.find(word) != std::string::npos) return name;
        }
        return std::string();
    };
    const auto train = named({"train"}), other = named({"val", "test"});
    if (train.empty() || other.empty() || train == other) return {};
    return train + " and " + other +
           " are read as one text, of whose end data.validation_fraction is held out; give the "
           "file to train on alone where that is not meant";
}

OpenedText openTexts(const std::string& path, const std::vector<TextFile>& files,
                     const DataOptions& o, TextProgress& progress) {
    const auto tokenizer = chosenTokenizer(o);
    auto encoded = encodeTexts(files, tokenizer, o.text_field, progress);
    if (encoded.tokens.count == 0) throw FileError(path, "is empty; give a text");
    return {std::make_shared<TokenSequence>(std::vector{encoded.tokens}), encoded.tokenizer,
            encoded.note};
}

}  // namespace

DataSplits openText(const DataOptions& o, const ProgressCallback& callback, std::stop_token stop) {
    if (o.context < 1)
        throw OptionError("data.context",
                          std::to_string(o.context) + " is not a valid number of tokens");
    if (!(o.validation_fraction >= 0.0 && o.validation_fraction < 1.0))
        throw OptionError("data.validation_fraction", "must be at least 0 and less than 1");
    const std::string path = o.path.empty() ? installedText() : o.path;
    if (path.empty())
        throw OptionError("data.path",
                          "the English text that comes with Relascope is not there; give a text "
                          "file");
    TextProgress progress(callback, std::move(stop));
    std::string note;
    const auto files = listTextFiles(path, &note);
    const auto opened = files[0].form == TextForm::Shard ? openShards(files, o)
                                                         : openTexts(path, files, o, progress);
    for (const auto& said : {opened.note, partsNote(files)})
        if (!said.empty()) note += (note.empty() ? "" : "; ") + said;

    const std::int64_t total = opened.tokens->size();
    const auto held = static_cast<std::int64_t>(static_cast<double>(total) * o.validation_fraction);
    const TokenRange train{0, total - held, o.context}, rest{total - held, held, o.context};
    const TokenRange& validation = o.validation_fraction > 0.0 ? rest : train;
    if (train.fits() == 0 || validation.fits() == 0)
        throw ShortText(
            path,
            "has " + std::to_string(total) + " tokens, " + std::to_string(held) +
                " of them held out; a window needs " + std::to_string(o.context + 1) +
                " of each: lower data.context, change data.validation_fraction or give more text");
    const std::filesystem::path named = path;
    const std::string name =
        (named.has_filename() ? named : named.parent_path()).filename().string();
    // By value: epochs are created long after this function has returned.
    const auto windows = [name, path, note, opened, context = o.context](
                             const char* split, std::int64_t count, TokenWindows::Start start) {
        DatasetInfo info;
        info.name = name + ", " + split;
        info.origin = path;
        info.size = count;
        info.channels = info.height = info.width = 0;
        info.task = "text";
        info.note = plainName(note);
        return std::make_shared<TokenWindows>(opened.tokens, opened.tokenizer, std::move(info),
                                              split, context, std::move(start));
    };
    const auto limited = [](std::int64_t wanted, std::int64_t all) {
        return wanted > 0 ? std::min(wanted, all) : all;
    };
    DataSplits splits;
    splits.tokenizer = opened.tokenizer;
    const std::int64_t perEpoch = limited(o.train_size, train.windowsARound());
    splits.trainEpoch = [windows, train, perEpoch](std::int64_t epoch) -> DatasetPtr {
        return windows("train", perEpoch, [train, first = epoch * perEpoch](std::int64_t i) {
            return train.trainStart(first + i);
        });
    };
    splits.train = splits.trainEpoch(0);
    const std::int64_t watched = limited(o.validation_size, validation.fits());
    splits.validation = windows("validation", watched, [validation, watched](std::int64_t i) {
        return validation.evenStart(i, watched);
    });
    return splits;
}

void requireTokensWithin(const DataSplits& splits, std::int64_t vocabulary,
                         const ProgressCallback& callback, std::stop_token stop) {
    const auto windows = std::dynamic_pointer_cast<const TokenWindows>(splits.train);
    if (!windows) return;
    TextProgress progress(callback, std::move(stop));
    progress.begin(1.0);
    const auto& parts = windows->sequence().parts();
    const auto total = static_cast<double>(windows->sequence().size());
    double before = 0.0;
    for (const auto& part : parts) {
        // Text that was encoded here has only ids of its tokenizer.
        if (!part.foreign) {
            requireVocabulary(*windows->tokenizer(), vocabulary);
            if (windows->tokenizer()->size() <= vocabulary) return;
        }
        const std::string path = part.foreign ? part.file->path() : windows->info().origin;
        const auto files = part.foreign ? listTextFiles(path) : std::vector<TextFile>{};
        const std::string signature = part.foreign ? signatureOf(files) : std::string();
        const auto fact = part.foreign ? readCachedFact(signature) : std::nullopt;
        if (fact && fact->contains("largest") && (*fact)["largest"].is_number_integer() &&
            (*fact)["largest"] < vocabulary)
            continue;
        std::int64_t largest = 0;
        std::vector<std::uint8_t> piece;
        const auto width = static_cast<std::uint64_t>(part.width);
        const std::uint64_t end = part.offset + static_cast<std::uint64_t>(part.count) * width;
        for (std::uint64_t at = part.offset; at < end; at += piece.size()) {
            piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kScanned, end - at)));
            part.file->read(at, piece);
            for (std::size_t i = 0; i < piece.size(); i += width) {
                const auto id = tokenAt(&piece[i], part);
                largest = std::max(largest, id);
                if (id < 0)
                    throw FileError(path, "contains the number " + std::to_string(id) +
                                              " at byte " + std::to_string(at + i) +
                                              ", which is no token; ids are 0 or above");
                if (id >= vocabulary && !part.foreign)
                    throw FileError(
                        path, outsideVocabulary(
                                  id, windows->tokenizer()->piece(static_cast<std::int32_t>(id)),
                                  vocabulary) +
                                  "; leave it out of the text");
                if (id >= vocabulary)
                    throw FileError(path, "contains token " + std::to_string(id) + " at byte " +
                                              std::to_string(at + i) +
                                              ", outside the model's vocabulary of " +
                                              std::to_string(vocabulary) +
                                              "; raise model.vocab_size, or give shards made with "
                                              "the model's tokenizer");
            }
            progress.at((before + static_cast<double>((at - part.offset) / width)) / total);
        }
        before += static_cast<double>(part.count);
        if (part.foreign && isSettled(files)) writeCachedFact(signature, {{"largest", largest}});
    }
}

}  // namespace relascope::core
