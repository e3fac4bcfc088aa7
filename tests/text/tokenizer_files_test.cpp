// SPDX-License-Identifier: GPL-3.0-or-later
// HuggingFace's tokenizer files, whole and broken, and our own as they are written.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/tokenizer_files.h"
#include "text/small_tokenizer.h"
#include "text/split_pattern.h"
#include "text/tokenizer.h"
#include "text/tokenizer_json.h"
#include "types/error.h"
#include "types/text_piece.h"

namespace relascope {
namespace {

using nlohmann::json;
using testing_support::Ids;
using testing_support::smallTokenizer;
using testing_support::smallVocabulary;
using testing_support::TemporaryFolder;
using testing_support::TokenizerFiles;
using testing_support::writeBytes;

TokenizerPtr parse(const json& file) {
    return parseTokenizerJson(file.dump(), "t.json");
}

void expectRefused(const json& file, const std::vector<std::string>& words) {
    try {
        parse(file);
        ADD_FAILURE() << "accepted; wanted " << words.at(0);
    } catch (const FileError& error) {
        const std::string said = error.what();
        EXPECT_EQ(said.rfind("t.json: ", 0), 0u);
        for (const auto& word : words) EXPECT_NE(said.find(word), std::string::npos) << said;
    }
}

TEST(TokenizerJson, ReadsBytePairs) {
    const auto t = parse(smallTokenizer());
    EXPECT_EQ(t->size(), 260);
    EXPECT_EQ(t->name(), "t.json");
    EXPECT_EQ(t->endOfText(), 259);
    EXPECT_EQ(t->encode("the the"), (Ids{257, 258}));
    EXPECT_EQ(t->encode("<|endoftext|>").size(), 13u);
    EXPECT_EQ(t->piece(258), " the");
    EXPECT_EQ(t->decode(t->encode("\xff\0thé")), "\xff");  // the literal ends at NUL
    EXPECT_EQ(t->decode(t->encode(std::string("\xff\0thé", 6))), std::string("\xff\0thé", 6));

    auto pairs = smallTokenizer();
    pairs["model"]["merges"] =
        json::array({json::array({"t", "h"}), json::array({"th", "e"}), json::array({"Ġ", "the"})});
    EXPECT_EQ(parse(pairs)->fingerprint(), t->fingerprint());

    auto prefixed = smallTokenizer();
    prefixed["pre_tokenizer"]["add_prefix_space"] = true;
    EXPECT_EQ(parse(prefixed)->encode("the"), Ids{258});
    EXPECT_EQ(parse(prefixed)->encode(" the"), Ids{258});
    EXPECT_EQ(parse(prefixed)->encode(""), Ids{});
    EXPECT_NE(parse(prefixed)->fingerprint(), t->fingerprint());

    // Without the pattern, words are not kept apart: "e t" could merge here, and does.
    auto whole = smallTokenizer();
    whole["pre_tokenizer"]["use_regex"] = false;
    whole["model"]["vocab"]["eĠ"] = 260;
    whole["model"]["merges"].insert(whole["model"]["merges"].begin(), "e Ġ");
    EXPECT_EQ(parse(whole)->encode("e t"), (Ids{260, static_cast<std::int32_t>('t')}));
    whole["pre_tokenizer"]["use_regex"] = true;
    EXPECT_EQ(parse(whole)->encode("e t").size(), 3u);

    auto sequence = smallTokenizer();
    sequence["pre_tokenizer"] = {{"type", "Sequence"},
                                 {"pretokenizers", {smallTokenizer()["pre_tokenizer"]}}};
    EXPECT_EQ(parse(sequence)->fingerprint(), t->fingerprint());
}

TEST(TokenizerJson, RefusesWithFieldAndValue) {
    const auto changed = [](const json::json_pointer& where, const json& value) {
        auto file = smallTokenizer();
        file[where] = value;
        return file;
    };
    using namespace nlohmann::literals;
    expectRefused(json::array(), {"is not a JSON object"});
    expectRefused({{"x", 1}}, {"has no 'model'"});
    expectRefused(changed("/model/type"_json_pointer, "WordLevel"),
                  {"model.type", "WordLevel", "gpt2"});
    expectRefused(changed("/normalizer"_json_pointer, {{"type", "Nmt"}}),
                  {"normalizer.type", "Nmt"});
    expectRefused(changed("/model/ignore_merges"_json_pointer, 1), {"model.ignore_merges is 1"});
    expectRefused(changed("/pre_tokenizer/type"_json_pointer, "UnicodeScripts"),
                  {"pre_tokenizer.type", "UnicodeScripts"});
    expectRefused(changed("/pre_tokenizer"_json_pointer, nullptr), {"model.unk_token is null"});
    expectRefused(changed("/pre_tokenizer/use_regex"_json_pointer, 3), {"use_regex is 3"});
    expectRefused(changed("/model/byte_fallback"_json_pointer, 2), {"model.byte_fallback is 2"});
    expectRefused(changed("/model/end_of_word_suffix"_json_pointer, "</w>"),
                  {"lacks the byte 0", "</w>"});
    expectRefused(changed("/model/end_of_word_suffix"_json_pointer, 3),
                  {"model.end_of_word_suffix is 3"});
    expectRefused(changed("/model/dropout"_json_pointer, 0.1), {"model.dropout is 0.1"});
    expectRefused(changed("/model/vocab"_json_pointer, json::object()), {"model.vocab"});
    expectRefused(changed("/model/vocab/th"_json_pointer, 5), {"id 5 is given twice", "'th'"});
    expectRefused(changed("/model/vocab/th"_json_pointer, -1), {"'th'", "-1"});
    expectRefused(changed("/model/vocab/th"_json_pointer, 1e9), {"'th'", "integers"});
    expectRefused(changed("/model/vocab/th"_json_pointer, 1000000000), {"'th'", "1000000000"});
    expectRefused(changed("/model/merges"_json_pointer, "t h"), {"model.merges"});
    expectRefused(changed("/model/merges/1"_json_pointer, "x y z"), {"merge 2", "x y z"});
    expectRefused(changed("/model/merges/1"_json_pointer, "q q"), {"merge 2", "'qq'"});
    expectRefused(changed("/model/merges/1"_json_pointer, "zz q"), {"merge 2", "'zz'"});
    expectRefused(changed("/model/merges/1"_json_pointer, "t h"), {"merge 2", "twice"});
    expectRefused(changed("/model/merges/1"_json_pointer, {"t"}), {"merge 2"});
    const auto split = [](json pattern, const char* behavior) {
        return json{{"type", "Sequence"},
                    {"pretokenizers",
                     {{{"type", "Split"}, {"pattern", pattern}, {"behavior", behavior}},
                      {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
    };
    const auto splitter = "/pre_tokenizer"_json_pointer;
    expectRefused(changed(splitter, split({{"Regex", "(a"}}, "Isolated")),
                  {"t.json", "'(a'", "cannot be compiled"});
    expectRefused(changed(splitter, split({{"Text", " "}}, "Isolated")), {"neither a Regex"});
    expectRefused(changed(splitter, split({{"Regex", "a"}}, "Gone")), {"behavior", "Gone"});
    expectRefused(changed("/post_processor"_json_pointer, {{"type", "Other"}}),
                  {"post_processor.type", "Other"});
    expectRefused(changed("/added_tokens/0/lstrip"_json_pointer, "yes"), {"lstrip", "yes"});
    expectRefused(changed("/post_processor"_json_pointer,
                          {{"type", "TemplateProcessing"},
                           {"single", {{{"SpecialToken", {{"id", "<bos>"}}}}}}}),
                  {"post_processor", "<bos>"});
    expectRefused(changed("/added_tokens/0/id"_json_pointer, 300), {"300", "259"});
    auto lacking = smallTokenizer();
    lacking["model"]["vocab"].erase("Ā");
    expectRefused(lacking, {"lacks the byte 0"});
    try {
        parseTokenizerJson("{\"model\": ", "t.json");
        FAIL();
    } catch (const FileError& error) {
        EXPECT_NE(std::string(error.what()).find("not JSON at byte"), std::string::npos);
    }
}

// Made by the library `tokenizers` (golden.md).
TEST(TokenizerJson, EncodesAsThePublicFamilies) {
    const std::string folder = RELASCOPE_FIXTURES "/golden/";
    for (const std::string family :
         {"public-tokenizers/gpt2", "public-tokenizers/gpt_neox", "public-tokenizers/llama3",
          "public-tokenizers/qwen2", "public-tokenizers/smollm2", "families-tokenizers/clip",
          "families-tokenizers/gemma", "families-tokenizers/unigram_bytes",
          "families-tokenizers/wordpiece", "vision-families/clip"}) {
        const auto t = openTokenizer(folder + family);
        const auto cases = json::parse(readTextFile(folder + family + "/tokenizer_cases.json"));
        ASSERT_GE(cases.size(), family.starts_with("vision-families/") ? 15u : 50u);
        for (const auto& one : cases) {
            const std::string text = one["text"];
            const Ids ids = one["ids"];
            EXPECT_EQ(t->encodeTyped(text), ids) << family << ": " << text;
            if (one.contains("without_template")) {
                EXPECT_EQ(t->encodeTyped(text, false), one["without_template"].get<Ids>())
                    << family << ": " << text;
            }
            if (one.contains("back")) {
                EXPECT_EQ(validUtf8(t->decode(t->encodeTyped(text, false))),
                          one["back"].get<std::string>())
                    << family << ": " << text;
            }
        }
        // Written with a run, it is read back as it was.
        const TemporaryFolder kept("tokenizer");
        makeDirectories(kept.path());
        writeTokenizer(*t, kept / "tokenizer.json");
        EXPECT_EQ(openTokenizer(kept / "tokenizer.json")->fingerprint(), t->fingerprint());
    }
}

TEST(TokenizerJson, SpecialTokensAreThoseOfTypedTextsOnly) {
    const std::string folder = RELASCOPE_FIXTURES "/golden/public-tokenizers/";
    const auto llama = openTokenizer(folder + "llama3");
    EXPECT_EQ(llama->encodeTyped("<|eot_id|>", false), Ids{2399});
    EXPECT_GT(llama->encode("<|eot_id|>").size(), 3u) << "in training data it is spelled out";
    EXPECT_EQ(llama->encodeTyped("").front(), 2397) << "the template's first token";
    EXPECT_TRUE(llama->encode("").empty());
    const auto pythia = openTokenizer(folder + "gpt_neox");
    EXPECT_EQ(pythia->encode("        "), Ids{2393}) << "a run of spaces is not special";
    // Bytes that are no text, and a pattern that takes too long.
    const std::string bytes = std::string("a\0\xff\xc3 e\xcc\x81", 8);
    EXPECT_EQ(llama->decode(llama->encode(bytes)), bytes);
    EXPECT_EQ(pythia->decode(pythia->encode(bytes)), std::string("a\0\xff\xc3 \xc3\xa9", 7));
    const SplitPattern slow("(a+)+$", "t.json");
    try {
        slow.split(std::string(60, 'a') + "b", [](std::string_view) {});
        FAIL() << "it was fast";
    } catch (const FileError& error) {
        EXPECT_NE(std::string(error.what()).find("takes more than"), std::string::npos);
    }
}

TEST(TokenizerJson, KeepsIdsWithoutPieces) {
    auto file = smallTokenizer();
    file["model"]["vocab"]["<|endoftext|>"] = 300;
    file["added_tokens"][0]["id"] = 300;
    const auto t = parse(file);
    EXPECT_EQ(t->size(), 301);
    EXPECT_EQ(t->piece(270), "");
    EXPECT_EQ(parseTokenizerJson(tokenizerJson(*t), "t.json")->fingerprint(), t->fingerprint());
}

TEST(TokenizerJson, WritesWhatItReads) {
    TemporaryFolder folder("tokenizer-write");
    makeDirectories(folder.path());
    for (const auto& t : {gpt2Tokenizer(), characterTokenizer(std::string("\0 \"\\\né日😀", 14)),
                          parse(smallTokenizer())}) {
        writeTokenizer(*t, folder / "tokenizer.json");
        const auto again = openTokenizer(folder.path());
        EXPECT_EQ(again->fingerprint(), t->fingerprint());
        EXPECT_EQ(again->size(), t->size());
        EXPECT_EQ(again->endOfText(), t->endOfText());
        for (std::int32_t id = 0; id < t->size(); ++id) ASSERT_EQ(again->piece(id), t->piece(id));
        const std::string text = "Hello\n 日本 <|endoftext|> \xff";
        EXPECT_EQ(again->encode(text), t->encode(text));
    }
    EXPECT_THROW(writeTokenizer(*gpt2Tokenizer(), "/proc/none/tokenizer.json"), FileError);
    // A vocabulary of characters with anything longer is none.
    auto file = json::parse(tokenizerJson(*characterTokenizer("ab")));
    file["model"]["vocab"]["ab"] = 3;
    expectRefused(file, {"'ab'", "one character"});
    file["model"]["vocab"].erase("ab");
    file["model"]["unk_token"] = "<unk>";
    expectRefused(file, {"unk_token", "<unk>"});
}

TEST_F(TokenizerFiles, FindsThePublishedNames) {
    EXPECT_EQ(openTokenizer("gpt2"), gpt2Tokenizer());
    EXPECT_THROW(openTokenizer("characters"), OptionError);
    EXPECT_THROW(openTokenizer(""), OptionError);
    EXPECT_THROW(openTokenizer(m_folder / "none.json"), OptionError);
    EXPECT_THROW(openTokenizer(m_folder.path()), FileError);

    write("vocab.json", smallVocabulary());
    EXPECT_THROW(openTokenizer(m_folder / "vocab.json"), FileError);  // its merges are missing
    EXPECT_EQ(tokenizerBeside(m_folder.path(), 256), nullptr);
    writeBytes(m_folder / "merges.txt", "#version: 0.2\nt h\nth e\r\n\nĠ the\n");
    const auto t = openTokenizer(m_folder / "vocab.json");
    EXPECT_EQ(t->encode("the the"), (Ids{257, 258}));
    EXPECT_EQ(t->endOfText(), 259);
    EXPECT_EQ(openTokenizer(m_folder.path())->fingerprint(), t->fingerprint());
    writeBytes(m_folder / "merges.txt", "#version: 0.2\nt h\nth e x\n");
    expectRefusal("merges.txt", {"line 3"});
    writeBytes(m_folder / "tokenizer.model", "\n\x0e");
    try {
        openTokenizer(m_folder / "tokenizer.model");
        FAIL();
    } catch (const FileError& error) {
        EXPECT_NE(std::string(error.what()).find("SentencePiece"), std::string::npos);
    }
    writeBytes(m_folder / "large.json", "");
    std::filesystem::resize_file(m_folder / "large.json", std::uintmax_t{1} << 34);
    EXPECT_THROW(openTokenizer(m_folder / "large.json"), FileError);
}

// "model.pt" typed in the folder of the checkpoint has no folder in its name.
TEST_F(TokenizerFiles, AreLookedForBesideABareFileName) {
    EXPECT_EQ(tokenizerBeside("no_such_model.pt", 256), nullptr);
}

TEST_F(TokenizerFiles, BelongToTheCheckpointBesideThem) {
    writeBytes(m_folder / "model.safetensors", "x");
    EXPECT_EQ(tokenizerBeside(m_folder / "model.safetensors", 50257), gpt2Tokenizer());
    EXPECT_EQ(tokenizerBeside(m_folder.path(), 50304), gpt2Tokenizer());
    EXPECT_EQ(tokenizerBeside(m_folder.path(), 256), nullptr);
    writeTokenizer(*characterTokenizer("abc"), m_folder / "tokenizer.json");
    EXPECT_EQ(tokenizerBeside(m_folder / "model.safetensors", 50257)->size(), 4);
    EXPECT_EQ(tokenizerBeside(m_folder.path(), 256)->fingerprint(),
              characterTokenizer("abc")->fingerprint());
}

}  // namespace
}  // namespace relascope
