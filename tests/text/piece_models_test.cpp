// SPDX-License-Identifier: GPL-3.0-or-later
// WordPiece, Unigram and byte pairs with an end of words: their cuts, decoders, hostile files and
// time. Whole tokenizers are compared with the published library by the golden cases and
// tests/tokenizers_compared.py.
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "support/tokenizer_files.h"
#include "text/charsmap.h"
#include "text/piece_decoder.h"
#include "text/tokenizer_json.h"
#include "text/tokenizer_steps.h"
#include "text/unicode_8.h"

namespace relascope {
namespace {

using nlohmann::json;
using namespace nlohmann::literals;
using testing_support::Ids;

TokenizerPtr parsed(const json& file) {
    return parseTokenizerJson(file.dump(), "t.json");
}

void refused(const json& file, const std::vector<std::string>& words) {
    try {
        parsed(file);
        ADD_FAILURE() << "accepted; wanted " << words.at(0);
    } catch (const FileError& error) {
        const std::string said = error.what();
        for (const auto& word : words) EXPECT_NE(said.find(word), std::string::npos) << said;
    }
}

json wordPiece() {
    return {{"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
            {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
            {"model",
             {{"type", "WordPiece"},
              {"unk_token", "[UNK]"},
              {"continuing_subword_prefix", "##"},
              {"max_input_chars_per_word", 6},
              {"vocab",
               {{"[UNK]", 0},
                {"un", 1},
                {"##a", 2},
                {"##aff", 3},
                {"##able", 4},
                {"'", 5},
                {"t", 6},
                {"\u00e9", 7}}}}}};
}

TEST(WordPiece, TakesTheLongestPiece) {
    const auto t = parsed(wordPiece());
    EXPECT_EQ(t->encode("unaff una"), (Ids{1, 3, 1, 2}));
    EXPECT_EQ(t->encode("unaf"), Ids{0});     // "##a" leaves an f without a piece
    EXPECT_EQ(t->encode("unablea"), Ids{0});  // too long
    EXPECT_EQ(t->encode("\u00e9\u00e9"), Ids{0});
    EXPECT_EQ(t->encode(""), Ids{});
    EXPECT_EQ(t->encode("\xff un"), (Ids{0, 1}));
    EXPECT_EQ(t->decode(Ids{2, 1, 5, 6, 2}), "##a un ' ta");
    EXPECT_EQ(t->piece(1), " un");
    EXPECT_EQ(t->piece(2), "a");
    auto plain = wordPiece();
    plain["decoder"] = nullptr;
    EXPECT_EQ(parsed(plain)->decode(Ids{1, 2}), "un ##a");
    EXPECT_EQ(parsed(plain)->encode("una"), (Ids{1, 2}));
    EXPECT_NE(parsed(plain)->fingerprint(), t->fingerprint());
}

TEST(WordPiece, RefusesByField) {
    const auto with = [](const json::json_pointer& where, const json& value) {
        auto file = wordPiece();
        file[where] = value;
        return file;
    };
    refused(with("/model/unk_token"_json_pointer, "<unk>"), {"model.unk_token", "<unk>"});
    refused(with("/model/vocab"_json_pointer, json::array()), {"model.vocab"});
    refused(with("/model/max_input_chars_per_word"_json_pointer, -1),
            {"max_input_chars_per_word is -1"});
    refused(with("/model/continuing_subword_prefix"_json_pointer, 2),
            {"continuing_subword_prefix is 2"});
    refused(with("/pre_tokenizer"_json_pointer, {{"type", "ByteLevel"}}),
            {"ByteLevel", "WordPiece"});
    refused(with("/model/vocab/un"_json_pointer, 2), {"given twice"});
}

json unigram() {
    auto file = R"({"pre_tokenizer": {"type": "Metaspace", "replacement": "_"},
                    "decoder": {"type": "Metaspace", "replacement": "_"},
                    "model": {"type": "Unigram", "unk_id": 0}})"_json;
    file["model"]["vocab"] = R"([["<unk>", 0.0], ["_", -2.0], ["a", -3.0], ["b", -3.5],
                                 ["ab", -6.5], ["_ab", -9.0], ["bc", -1.0]])"_json;
    return file;
}

TEST(Unigram, TakesTheBestSum) {
    const auto t = parsed(unigram());
    // "_" "a" "b" is -8.5, "_ab" -9. Of "ab" and "a" "b", both -6.5, the last piece that begins
    // earlier.
    EXPECT_EQ(t->encode("ab"), (Ids{1, 4}));
    EXPECT_EQ(t->encode("abc"), (Ids{1, 2, 6}));
    // What has no piece of one character is unknown, and neighbours are one.
    EXPECT_EQ(t->encode("xya x"), (Ids{1, 0, 2, 1, 0}));
    EXPECT_EQ(t->encode("\xff\xfe"), (Ids{1, 0}));
    EXPECT_EQ(t->decode(Ids{1, 4, 5, 1}), "ab ab ");
    EXPECT_EQ(t->decode(Ids{5, 5}), "ab ab");
    EXPECT_EQ(t->unknownToken(), 0);
    auto bytes = unigram();
    bytes["model"]["byte_fallback"] = true;
    EXPECT_EQ(parsed(bytes)->encode("x"), (Ids{1, 0}));  // without all 256
    auto& vocabulary = bytes["model"]["vocab"];
    for (int byte = 0; byte < 256; ++byte) {
        char name[8];
        std::snprintf(name, sizeof name, "<0x%02X>", static_cast<unsigned>(byte));
        vocabulary.push_back(json::array({name, -20.0}));
    }
    EXPECT_EQ(parsed(bytes)->encode("\u00e9"), (Ids{1, 7 + 0xC3, 7 + 0xA9}));
    EXPECT_EQ(parsed(bytes)->unknownToken(), std::nullopt);
    bytes["model"]["unk_id"] = nullptr;
    EXPECT_NO_THROW(parsed(bytes));
    bytes["model"]["byte_fallback"] = false;
    refused(bytes, {"model.unk_id is null"});
}

TEST(Unigram, RefusesByPlace) {
    const auto with = [](const json::json_pointer& where, const json& value) {
        auto file = unigram();
        file[where] = value;
        return file;
    };
    refused(with("/model/vocab/2/1"_json_pointer, nullptr), {"score null", "piece 2"});
    refused(with("/model/vocab/2"_json_pointer, json::array({"a"})), {"[\"a\"]", "piece 2"});
    refused(with("/model/vocab/2/0"_json_pointer, "b"), {"'b' again", "piece 3"});
    refused(with("/model/vocab"_json_pointer, json::object()), {"model.vocab", "list"});
    refused(with("/model/unk_id"_json_pointer, 9), {"model.unk_id", "9"});
    // NaN and infinity are no JSON; a number too large for a double is infinite.
    auto text = unigram().dump();
    text.replace(text.find("-9.0"), 4, "-1e999");
    EXPECT_THROW(parseTokenizerJson(text, "t.json"), FileError);
}

// Small letters, no punctuation, one blank between words: as the text tower of SigLIP is trained.
// The ids are those of the library `tokenizers` 0.23.
TEST(Unigram, ReadsTheFormOfSiglip) {
    auto file = R"({"added_tokens": [{"id": 1, "content": "</s>", "special": true}],
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Lowercase"},
            {"type": "Replace", "content": "", "pattern": {"Regex":
             "[\\!\\\"\\#\\$\\%\\&\\'\\(\\)\\*\\+\\,\\-\\.\\/\\:\\;\\<\\=\\>\\?\\@\\[\\\\\\]\\^\\_\\`\\{\\|\\}\\~]"}},
            {"type": "Replace", "content": " ", "pattern": {"Regex": "\\s+"}},
            {"type": "Strip", "strip_left": true, "strip_right": true}]},
        "pre_tokenizer": {"type": "Metaspace", "prepend_scheme": "always", "split": true},
        "decoder": {"type": "Metaspace", "prepend_scheme": "always", "split": true},
        "post_processor": {"type": "TemplateProcessing",
            "single": [{"Sequence": {"id": "A", "type_id": 0}},
                       {"SpecialToken": {"id": "</s>", "type_id": 0}}],
            "special_tokens": {"</s>": {"id": "</s>", "ids": [1], "tokens": ["</s>"]}}},
        "model": {"type": "Unigram", "unk_id": 0, "byte_fallback": false}})"_json;
    file["model"]["vocab"] =
        R"([["<unk>", 0.0], ["</s>", 0.0], ["\u2581", -2.0], ["\u2581a", -3.0],
            ["\u2581photo", -4.0], ["\u2581of", -3.5], ["\u2581cat", -5.0], ["s", -3.2],
            ["\u2581don", -6.0], ["t", -3.3], ["\u2581x", -4.5], ["o", -4.0]])"_json;
    const auto t = parsed(file);
    EXPECT_EQ(t->encodeTyped("A Photo of a CAT."), (Ids{3, 4, 5, 3, 6, 1}));
    EXPECT_EQ(t->encodeTyped("  a  photo,\tof\ncats!! "), (Ids{3, 4, 5, 6, 7, 1}));
    EXPECT_EQ(t->encodeTyped("don't x_o (cat)"), (Ids{8, 9, 10, 11, 6, 1}));
    EXPECT_EQ(t->encodeTyped(""), Ids{1});
    EXPECT_EQ(t->decode(Ids{8, 9, 10, 11, 6}), "dont xo cat");
}

TEST(Unigram, AWordOfAMegabyteTakesLinearTime) {
    auto file = unigram();
    file["pre_tokenizer"] = nullptr;
    const auto t = parsed(file);
    std::string word;
    for (int i = 0; i < 1 << 19; ++i) word += "ab";
    EXPECT_EQ(t->encode(word).size(), word.size() / 2);
    EXPECT_EQ(t->encode(std::string(1 << 20, 'x')), Ids{0});
}

// Of OpenAI's first GPT, whose letters are characters.
TEST(EndOfWord, StandsBehindTheLastLetter) {
    json file = {{"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
                 {"decoder", {{"type", "BPEDecoder"}, {"suffix", "</w>"}}},
                 {"model",
                  {{"type", "BPE"},
                   {"unk_token", "<unk>"},
                   {"end_of_word_suffix", "</w>"},
                   {"vocab",
                    {{"<unk>", 0},
                     {"a", 1},
                     {"b", 2},
                     {"b</w>", 3},
                     {"ab</w>", 4},
                     {"a</w>", 5},
                     {"ab", 6}}},
                   {"merges", {"a b</w>", "a b"}}}}};
    const auto t = parsed(file);
    EXPECT_EQ(t->encode("ab aba x"), (Ids{4, 6, 5, 0}));
    EXPECT_EQ(t->decode(Ids{4, 6, 5}), "ab aba");
    EXPECT_EQ(t->decode(Ids{6}), "ab");
    EXPECT_EQ(t->piece(4), "ab ");
    EXPECT_EQ(parsed(json::parse(tokenizerJson(*t)))->fingerprint(), t->fingerprint());
    file["model"]["byte_fallback"] = true;
    refused(file, {"end_of_word_suffix", "byte_fallback"});
}

TEST(Unicode8, LaterCharactersAreInNoCategory) {
    EXPECT_TRUE(isPunctuation8('$') && isPunctuation8(0x2014) && isPunctuation8(0x166D));
    EXPECT_FALSE(isPunctuation8('a') || isPunctuation8(0x2E4F) || isPunctuation8(0x20AC));
    EXPECT_TRUE(isNonspacingMark8(0x301) && isNonspacingMark8(0xE0100));
    EXPECT_FALSE(isNonspacingMark8(0x8D3) || isNonspacingMark8(0x93E));
    EXPECT_TRUE(isFormat8(0xAD) && isFormat8(0xFEFF) && !isFormat8(0x110CD));
}

TEST(BertNormalizer, ChangesAsPublished) {
    const auto changed = [](const json& flags, const std::string& text) {
        json part = {{"type", "BertNormalizer"}};
        if (!flags.is_null()) part.update(flags);
        return readNormalizer(part, "t.json").apply(text);
    };
    EXPECT_EQ(changed({}, "\u00c9t\u00e9\u200b \u4e2d\ta\x01\ufffd"), "ete  \u4e2d  a");
    EXPECT_EQ(changed({{"lowercase", false}}, "\u00c9"), "\u00c9");
    EXPECT_EQ(changed({{"lowercase", false}, {"strip_accents", true}}, "\u00c9"), "E");
    EXPECT_EQ(changed({{"strip_accents", false}}, "\u00c9"), "\u00e9");
    EXPECT_EQ(changed({{"handle_chinese_chars", false}}, "\u4e2d"), "\u4e2d");
    EXPECT_EQ(changed({{"clean_text", false}}, "a\tB\x01"), "a\tb\x01");
    EXPECT_EQ(changed({}, "a\xff\xc3 B"), "a\xff\xc3 b");
}

TEST(WordsOfATokenizer, AreWhatIsCutAtOnce) {
    auto file = wordPiece();
    file["model"]["vocab"]["[MASK]"] = 8;
    file["added_tokens"] = {{{"id", 8}, {"content", "[MASK]"}, {"special", true}}};
    const auto t = parsed(file);
    Ids ids;
    EXPECT_EQ(t->wordsOf("unaff 't[MASK]una", ids), (Ids{0, 0, 1, 2, 3, 4, 4}));
    EXPECT_EQ(ids, (Ids{1, 3, 5, 6, 8, 1, 2}));
    EXPECT_EQ(t->maskToken(), 8);
}

}  // namespace
}  // namespace relascope
