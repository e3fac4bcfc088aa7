// SPDX-License-Identifier: GPL-3.0-or-later
// Folders as other programs leave them: what the files beside a tokenizer say is done, or refused
// by file and field.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/tokenizer_files.h"
#include "text/small_tokenizer.h"
#include "text/tokenizer.h"
#include "text/tokenizer_json.h"
#include "types/error.h"

namespace relascope {
namespace {

using nlohmann::json;
using testing_support::Ids;
using testing_support::smallTokenizer;
using testing_support::smallVocabulary;
using testing_support::TemporaryFolder;
using testing_support::writeBytes;

class TokenizerFolders : public testing_support::TokenizerFiles {
protected:
    // "12" is one piece, "1" and "2" are 49 and 50.
    void writePair(const char* merges = "#version: 0.2\nt h\nth e\nĠ the\n1 2\n") {
        auto vocabulary = smallVocabulary();
        vocabulary["12"] = 260;
        write("vocab.json", vocabulary);
        writeBytes(m_folder / "merges.txt", merges);
    }
    void settings(const json& file) { write("tokenizer_config.json", file); }
};

TEST_F(TokenizerFolders, TheClassSaysWhichPatternCounts) {
    writePair();
    EXPECT_EQ(typed("12"), Ids{260}) << "without a class they are GPT-2's";
    const Ids accent = {0xC3, 0xA9};
    for (const json& file : {json{{"tokenizer_class", "Qwen2Tokenizer"}},
                             json{{"tokenizer_class", "Qwen2TokenizerFast"}}}) {
        settings(file);
        EXPECT_EQ(typed("the 12"), (Ids{257, 32, 49, 50}));
        EXPECT_EQ(typed("e\u0301"), accent) << "NFC";
        EXPECT_EQ(typed("<|endoftext|>"), Ids{259});
        EXPECT_EQ(open()->encode("<|endoftext|>").size(), 13U);
    }
    settings({{"tokenizer_class", "GPTNeoXTokenizer"}});
    EXPECT_EQ(typed("12"), Ids{260});
    EXPECT_EQ(typed("e\u0301"), accent);
    settings({{"tokenizer_class", "GPT2Tokenizer"}});
    EXPECT_EQ(typed("e\u0301").size(), 3U);

    settings({{"tokenizer_class", "RobertaTokenizer"}});
    expectRefusal("tokenizer_config.json",
                  {"tokenizer_class is 'RobertaTokenizer'", "tokenizer.json"});
    std::filesystem::remove(m_folder / "tokenizer_config.json");
    for (const json& model :
         {json{{"model_type", "qwen2"}}, json{{"architectures", {"Qwen2ForCausalLM"}}},
          json{{"model_type", "llama"}, {"tokenizer_class", "Qwen2Tokenizer"}}}) {
        write("config.json", model);
        EXPECT_EQ(typed("12"), (Ids{49, 50}));
    }
    write("config.json", {{"model_type", "llama"}});
    expectRefusal("config.json", {"model_type is 'llama'", "save_pretrained"});
    write("config.json", {{"model_type", "bloom"}});
    expectRefusal("config.json", {"model_type is 'bloom'"});
}

TEST_F(TokenizerFolders, Llama3IsKnownByItsFirstToken) {
    writePair();
    settings({{"tokenizer_class", "PreTrainedTokenizerFast"},
              {"added_tokens_decoder",
               {{"261", {{"content", "<|begin_of_text|>"}, {"special", true}}},
                {"262", {{"content", "<|eot_id|>"}, {"special", true}}}}}});
    EXPECT_EQ(typed("12 the<|eot_id|>"), (Ids{261, 260, 258, 262}));
    EXPECT_EQ(typed("1212"), (Ids{261, 260, 49, 50})) << "digits in threes";
    EXPECT_EQ(open()->encodeTyped("e\u0301", false).size(), 3U);
}

TEST_F(TokenizerFolders, SettingsAreHonoured) {
    writePair();
    settings({{"tokenizer_class", "GPT2Tokenizer"},
              {"add_prefix_space", true},
              {"add_bos_token", true},
              {"add_eos_token", true},
              {"eos_token", {{"content", "<eos>"}, {"lstrip", true}}},
              {"pad_token", "<pad>"},
              {"mask_token", nullptr}});
    EXPECT_EQ(typed("the  <eos><pad>"), (Ids{259, 258, 261, 262, 261})) << "bos, text, eos";
    EXPECT_EQ(open()->size(), 263);
    EXPECT_EQ(open()->encode("the"), Ids{258});
    settings({{"add_bos_token", "yes"}});
    expectRefusal("tokenizer_config.json", {"add_bos_token is \"yes\"", "true or false"});
    settings({{"tokenizer_class", "Qwen2Tokenizer"}, {"add_bos_token", true}});
    expectRefusal("tokenizer_config.json", {"add_bos_token is true", "bos_token is missing"});
    settings({{"split_special_tokens", true}});
    expectRefusal("tokenizer_config.json", {"split_special_tokens is true"});
    settings({{"eos_token", 7}});
    expectRefusal("tokenizer_config.json", {"eos_token is 7"});
    writeBytes(m_folder / "tokenizer_config.json", "[]");
    expectRefusal("tokenizer_config.json", {"is not a JSON object"});
}

TEST_F(TokenizerFolders, TokensOfTheFilesBesideAreFound) {
    writePair();
    write("added_tokens.json", {{"<new>", 262}, {"Word", 261}});
    write("special_tokens_map.json",
          {{"additional_special_tokens", {"<new>"}}, {"unk_token", "<|endoftext|>"}});
    EXPECT_EQ(typed("Word<new><|endoftext|>"), (Ids{261, 262, 259}));
    EXPECT_EQ(open()->encode("Word<new>").size(), 6U) << "special tokens are of typed texts";
    write("added_tokens.json", {{"<new>", 257}});
    expectRefusal("added_tokens.json", {"'<new>' the id 257", "is of 'the'", "correct one"});
    write("added_tokens.json", {{"the", 261}});
    expectRefusal("added_tokens.json", {"'the' the id 261", "has the id 257"});
    write("added_tokens.json", {{"<new>", "a"}});
    expectRefusal("added_tokens.json", {"'<new>' has the id"});
    // What tokenizer_config.json lists counts instead.
    settings({{"added_tokens_decoder", {{"261", {{"content", "<it>"}, {"rstrip", true}}}}}});
    EXPECT_EQ(typed("<it>  the"), (Ids{261, 257}));
    settings({{"added_tokens_decoder", {{"x", {{"content", "<it>"}}}}}});
    expectRefusal("tokenizer_config.json", {"added_tokens_decoder", "'x'"});
}

TEST_F(TokenizerFolders, ATokenizerJsonIsReadWithItsSettings) {
    write("tokenizer.json", smallTokenizer());
    settings({{"add_prefix_space", true}, {"add_bos_token", true}, {"bos_token", "<|endoftext|>"}});
    EXPECT_EQ(typed("the"), (Ids{259, 258}));
    EXPECT_EQ(openTokenizer(m_folder / "tokenizer.json")->encodeTyped("the"), (Ids{259, 258}));
    // A template of its own says what is put around texts.
    auto own = smallTokenizer();
    own["post_processor"] = {
        {"type", "RobertaProcessing"}, {"cls", {"th", 256}}, {"sep", {"<|endoftext|>", 259}}};
    write("tokenizer.json", own);
    EXPECT_EQ(typed("the"), (Ids{256, 258, 259}));
    // Kept with a run, it stands alone.
    const auto opened = open();
    const TemporaryFolder run("tokenizer-folder-run");
    makeDirectories(run.path());
    writeTokenizer(*opened, run / "tokenizer.json");
    EXPECT_EQ(openTokenizer(run.path())->fingerprint(), opened->fingerprint());
    EXPECT_EQ(openTokenizer(run.path())->encodeTyped("the"), (Ids{256, 258, 259}));
}

TEST_F(TokenizerFolders, MarksOfByteOrderAndOldLineEndsAreNoTokens) {
    writePair("\xEF\xBB\xBF#version: 0.2\r\nt h\r\nth e\r\nĠ the\r\n1 2\r\n");
    writeBytes(m_folder / "tokenizer_config.json",
               "\xEF\xBB\xBF{\"tokenizer_class\": \"GPT2Tokenizer\"}");
    EXPECT_EQ(typed("the the12"), (Ids{257, 258, 260}));
    writeBytes(m_folder / "tokenizer.json", "\xEF\xBB\xBF" + smallTokenizer().dump());
    EXPECT_EQ(typed("the the"), (Ids{257, 258}));
}

TEST_F(TokenizerFolders, OtherKindsAreNamed) {
    for (const auto& [name, kind] :
         {std::pair{"tokenizer.model", "SentencePiece"}, std::pair{"spiece.model", "SentencePiece"},
          std::pair{"tekken.json", "mistral-common"}}) {
        writeBytes(m_folder / name, "x");
        settings(json::object());
        expectRefusal(name, {kind, "tokenizer.json"});
        // Nor is it taken for GPT-2's by the size of the vocabulary.
        EXPECT_EQ(tokenizerBeside(m_folder.path(), 50257), nullptr);
        const auto said = otherTokenizerBeside(m_folder / "model.safetensors");
        EXPECT_NE(said.find(kind), std::string::npos) << said;
        std::filesystem::remove(m_folder / name);
    }
}

// As BertTokenizerFast reads it.
TEST_F(TokenizerFolders, AVocabTxtAloneIsWordPiece) {
    writeBytes(m_folder / "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\n##m\nThe\r\n,\n");
    settings({{"tokenizer_class", "BertTokenizer"}});
    EXPECT_EQ(typed("Them, THE q[MASK]"), (Ids{2, 5, 6, 8, 5, 1, 4, 3}));
    EXPECT_EQ(open()->decode(Ids{5, 6, 8, 5}), "them, the");
    EXPECT_EQ(open()->maskToken(), 4);
    EXPECT_EQ(open()->unknownToken(), 1);
    settings({{"do_lower_case", false}, {"mask_token", "[PAD]"}});
    EXPECT_EQ(typed("The them"), (Ids{2, 7, 5, 6, 3}));
    EXPECT_EQ(openTokenizer(m_folder / "vocab.txt")->encodeTyped("The"), (Ids{2, 7, 3}));
    settings({{"tokenizer_class", "MPNetTokenizer"}});
    expectRefusal("tokenizer_config.json", {"MPNetTokenizer", "vocab.txt"});
    settings({{"do_lower_case", 1}});
    expectRefusal("tokenizer_config.json", {"do_lower_case is 1"});
    settings(json::object());
    writeBytes(m_folder / "vocab.txt", "a text\nof two lines\n");
    expectRefusal("vocab.txt", {"no line '[UNK]'"});
    // Beside nothing that tells of a model it is a text.
    std::filesystem::remove(m_folder / "tokenizer_config.json");
    EXPECT_THROW(open(), FileError);
    EXPECT_EQ(tokenizerBeside(m_folder.path(), 0), nullptr);
}

// Transformers and `tokenizers` give such a token the next id, whatever the file says.
TEST_F(TokenizerFolders, AHoleBeforeAnAddedTokenIsRefused) {
    auto file = smallTokenizer();
    file["added_tokens"].push_back({{"id", 262}, {"content", "<x>"}});
    write("tokenizer.json", file);
    expectRefusal("tokenizer.json", {"gives '<x>' the id 262", "the next id, 260"});
    file["added_tokens"].back()["id"] = 260;
    file["added_tokens"].push_back({{"id", 261}, {"content", "<y>"}});
    write("tokenizer.json", file);
    EXPECT_EQ(typed("<x><y>"), (Ids{260, 261}));
    std::swap(file["added_tokens"][1], file["added_tokens"][2]);
    write("tokenizer.json", file);
    expectRefusal("tokenizer.json", {"gives '<y>' the id 261", "the next id, 260"});

    write("tokenizer.json", smallTokenizer());
    settings({{"added_tokens_decoder", {{"262", {{"content", "<x>"}}}}}});
    expectRefusal("tokenizer_config.json", {"added_tokens_decoder gives '<x>' the id 262", "260"});
    // The order of such a list is that of its ids.
    json listed;
    for (int id = 260; id < 1002; ++id)
        listed[std::to_string(id)] = {{"content", "<" + std::to_string(id) + ">"}};
    settings({{"added_tokens_decoder", listed}});
    EXPECT_EQ(typed("<1001><260>"), (Ids{1001, 260}));
    std::filesystem::remove(m_folder / "tokenizer_config.json");
    write("added_tokens.json", {{"<x>", 260}, {"<y>", 263}});
    expectRefusal("added_tokens.json", {"gives '<y>' the id 263", "the next id, 261"});
}

TEST_F(TokenizerFolders, BrokenLinksAreNamed) {
    for (const char* name : {"tokenizer.json", "tokenizer_config.json"}) {
        write("tokenizer.json", smallTokenizer());
        std::filesystem::remove(m_folder / name);
        std::filesystem::create_symlink("../../blobs/none", m_folder / name);
        expectRefusal(name, {"is a link to a file that is not there (../../blobs/none)"});
        EXPECT_THROW(tokenizerBeside(m_folder.path(), 50257), FileError) << "nor is it GPT-2's";
        EXPECT_THROW(openTokenizer(m_folder / name), FileError);
        std::filesystem::remove(m_folder / name);
    }
}

// As in Llama 2: characters, spaces as a mark, and bytes for what has no piece.
TEST(CharacterPairs, AreReadAsPublished) {
    json vocabulary = {{"<unk>", 0}, {"\u2581", 1}, {"a", 2}, {"b", 3}, {"ab", 4}, {"\u2581ab", 5}};
    for (int byte = 0; byte < 256; ++byte) {
        char name[8];
        std::snprintf(name, sizeof name, "<0x%02X>", static_cast<unsigned>(byte));
        vocabulary[name] = 6 + byte;
    }
    json file = {
        {"added_tokens", {{{"id", 0}, {"content", "<unk>"}, {"special", true}}}},
        {"normalizer",
         {{"type", "Sequence"},
          {"normalizers",
           {{{"type", "Prepend"}, {"prepend", "\u2581"}},
            {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}}}}}},
        {"decoder",
         {{"type", "Sequence"},
          {"decoders",
           {{{"type", "Replace"}, {"pattern", {{"String", "\u2581"}}}, {"content", " "}},
            {{"type", "ByteFallback"}},
            {{"type", "Fuse"}}}}}},
        {"model",
         {{"type", "BPE"},
          {"unk_token", "<unk>"},
          {"byte_fallback", true},
          {"fuse_unk", true},
          {"vocab", vocabulary},
          {"merges", {"a b", "\u2581 ab"}}}}};
    const auto t = parseTokenizerJson(file.dump(), "t.json");
    EXPECT_EQ(t->encodeTyped("ab ab"), (Ids{5, 5}));
    EXPECT_EQ(t->encodeTyped("<unk>b"), (Ids{0, 1, 3}));
    EXPECT_EQ(t->encodeTyped("é"), (Ids{1, 6 + 0xC3, 6 + 0xA9}));
    EXPECT_EQ(t->encodeTyped("\xff"), (Ids{1, 6 + 0xFF}));
    EXPECT_EQ(t->decode(t->encode("ab é\n")), " ab é\n");
    EXPECT_EQ(t->encode(""), Ids{});
    // Decoders of `tokenizers` take the blank away that the normalizer puts.
    file["decoder"]["decoders"].push_back(
        {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
    const auto strips = parseTokenizerJson(file.dump(), "t.json");
    EXPECT_EQ(strips->decode(strips->encode("ab ab")), "ab ab");
    EXPECT_EQ(strips->decode(strips->encode(" ab")), " ab");
    EXPECT_EQ(strips->decode(Ids{0, 5}), "<unk> ab");
    EXPECT_EQ(strips->firstPiece(5), "ab");
    EXPECT_EQ(strips->piece(5), " ab");
    EXPECT_EQ(strips->fingerprint(), t->fingerprint());
    file["decoder"] = {{"type", "Metaspace"}, {"prepend_scheme", "always"}};
    EXPECT_EQ(parseTokenizerJson(file.dump(), "t.json")->decode(Ids{5, 5}), "ab ab");
    file["decoder"]["prepend_scheme"] = "never";
    EXPECT_EQ(parseTokenizerJson(file.dump(), "t.json")->decode(Ids{5, 5}), " ab ab");
    file["model"]["byte_fallback"] = false;
    EXPECT_EQ(parseTokenizerJson(file.dump(), "t.json")->encode("aéxb"), (Ids{1, 2, 0, 3}));
    file["model"]["fuse_unk"] = false;
    EXPECT_EQ(parseTokenizerJson(file.dump(), "t.json")->encode("aéxb"), (Ids{1, 2, 0, 0, 3}));
}

TEST(TokensBesideTheVocabulary, NeedNotBeOfTheModel) {
    auto file = smallTokenizer();
    file["added_tokens"].push_back({{"id", 260}, {"content", "<pad>"}, {"special", true}});
    const auto t = parseTokenizerJson(file.dump(), "t.json");
    EXPECT_EQ(t->size(), 261);
    EXPECT_EQ(t->ownSize(), 260);
    EXPECT_NO_THROW(requireVocabulary(*t, 260));
    EXPECT_THROW(requireVocabulary(*t, 259), OptionError);
    EXPECT_EQ(t->encodeTyped("<pad>"), Ids{260});
}

}  // namespace
}  // namespace relascope
