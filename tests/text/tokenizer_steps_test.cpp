// SPDX-License-Identifier: GPL-3.0-or-later
// Normalizers and pre_tokenizers as the library `tokenizers` (0.23) applies them; many lines are
// compared by tests/tokenizers_compared.py.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/rooms.h"
#include "text/tokenizer_steps.h"
#include "types/error.h"

namespace relascope {
namespace {

using nlohmann::json;

constexpr const char* kParted = R"json([
  [{"type": "Whitespace"}, ["Ab", ",", "c", "\u00bc", "_d", "12345", "\u00e9x", "!", "\u4e00\u3042"]],
  [{"type": "WhitespaceSplit"}, ["Ab,", "c\u00bc_d", "12345", "\u00e9x!", "\u4e00\u3042"]],
  [{"type": "BertPreTokenizer"}, ["Ab", ",", "c\u00bc", "_", "d", "12345", "\u00e9x", "!", "\u4e00\u3042"]],
  [{"type": "Punctuation", "behavior": "MergedWithPrevious"}, ["Ab,", " c\u00bc_", "d  12345\n\u00e9x!", " \u4e00\u3042"]],
  [{"type": "CharDelimiterSplit", "delimiter": "1"}, ["Ab, c\u00bc_d  ", "2345\n\u00e9x! \u4e00\u3042"]],
  [{"type": "Digits", "individual_digits": true}, ["Ab, c", "\u00bc", "_d  ", "1", "2", "3", "4", "5", "\n\u00e9x! \u4e00\u3042"]],
  [{"type": "Digits", "individual_digits": false}, ["Ab, c", "\u00bc", "_d  ", "12345", "\n\u00e9x! \u4e00\u3042"]],
  [{"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": true}, ["\u2581Ab,", "\u2581c\u00bc_d", "\u2581", "\u258112345\n\u00e9x!", "\u2581\u4e00\u3042"]],
  [{"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "never", "split": false}, ["Ab,\u2581c\u00bc_d\u2581\u258112345\n\u00e9x!\u2581\u4e00\u3042"]],
  [{"type": "Split", "pattern": {"Regex": "(?=(\\d{3})+(?!\\d))"}, "behavior": "Isolated"}, ["Ab, c\u00bc_d  12", "345\n\u00e9x! \u4e00\u3042"]],
  [{"type": "Split", "pattern": {"Regex": "^.|.$"}, "behavior": "Isolated"}, ["A", "b, c\u00bc_d  1234", "5", "\n", "\u00e9", "x! \u4e00", "\u3042"]],
  [{"type": "Split", "pattern": {"Regex": "\\w\\b"}, "behavior": "Isolated"}, ["A", "b", ", c\u00bc_", "d", "  1234", "5", "\n\u00e9", "x", "! \u4e00", "\u3042"]],
  [{"type": "Split", "pattern": {"Regex": "\\h"}, "behavior": "Isolated"}, ["A", "b", ", ", "c", "\u00bc_", "d", "  ", "1", "2", "3", "4", "5", "\n\u00e9x! \u4e00\u3042"]],
  [{"type": "Split", "pattern": {"Regex": "(?m:\\d.)"}, "behavior": "Isolated"}, ["Ab, c\u00bc_d  ", "12", "34", "5\n", "\u00e9x! \u4e00\u3042"]],
  [{"type": "Split", "pattern": {"Regex": "\\p{Han}|\\p{Hiragana}"}, "behavior": "Isolated"}, ["Ab, c\u00bc_d  12345\n\u00e9x! ", "\u4e00", "\u3042"]],
  [{"type": "Split", "pattern": {"Regex": "[^\\S\\n]+"}, "behavior": "Removed"}, ["Ab,", "c\u00bc_d", "12345\n\u00e9x!", "\u4e00\u3042"]],
  [{"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithNext"}, ["Ab,", " c\u00bc_d", " ", " 12345\n\u00e9x!", " \u4e00\u3042"]],
  [{"type": "Split", "pattern": {"String": ""}, "behavior": "Removed"}, ["A", "b", ",", " ", "c", "\u00bc", "_", "d", " ", " ", "1", "2", "3", "4", "5", "\n", "\u00e9", "x", "!", " ", "\u4e00", "\u3042"]],
  [{"type": "Split", "pattern": {"Regex": "[[:punct:]]"}, "behavior": "Isolated"}, ["Ab", ",", " c\u00bc", "_", "d  12345\n\u00e9x", "!", " \u4e00\u3042"]],
  [{"type": "Split", "pattern": {"Regex": "\\u00e9"}, "behavior": "Isolated"}, ["Ab, c\u00bc_d  12345\n", "\u00e9", "x! \u4e00\u3042"]],
  [{"type": "Split", "pattern": {"Regex": "[A-Za-z]|\\d"}, "behavior": "Removed"}, [", ", "\u00bc_", "  ", "\n\u00e9", "! \u4e00\u3042"]],
  [{"type": "Split", "pattern": {"Regex": "[A-Za-z]|\\d"}, "behavior": "Removed", "invert": true}, ["A", "b", "c", "d", "1", "2", "3", "4", "5", "x"]],
  [{"type": "Split", "pattern": {"Regex": "[A-Za-z]|\\d"}, "behavior": "Isolated"}, ["A", "b", ", ", "c", "\u00bc_", "d", "  ", "1", "2", "3", "4", "5", "\n\u00e9", "x", "! \u4e00\u3042"]],
  [{"type": "Split", "pattern": {"Regex": "[A-Za-z]|\\d"}, "behavior": "Isolated", "invert": true}, ["A", "b", ", ", "c", "\u00bc_", "d", "  ", "1", "2", "3", "4", "5", "\n\u00e9", "x", "! \u4e00\u3042"]],
  [{"type": "Split", "pattern": {"Regex": "[A-Za-z]|\\d"}, "behavior": "MergedWithPrevious"}, ["A", "b", ", c", "\u00bc_d", "  1", "2", "3", "4", "5", "\n\u00e9x", "! \u4e00\u3042"]],
  [{"type": "Split", "pattern": {"Regex": "[A-Za-z]|\\d"}, "behavior": "MergedWithPrevious", "invert": true}, ["A", "b, ", "c\u00bc_", "d  ", "1", "2", "3", "4", "5\n\u00e9", "x! \u4e00\u3042"]],
  [{"type": "Split", "pattern": {"Regex": "[A-Za-z]|\\d"}, "behavior": "MergedWithNext"}, ["A", "b, ", "c\u00bc_", "d  ", "1", "2", "3", "4", "5\n\u00e9", "x! \u4e00\u3042"]],
  [{"type": "Split", "pattern": {"Regex": "[A-Za-z]|\\d"}, "behavior": "MergedWithNext", "invert": true}, ["A", "b", ", c", "\u00bc_d", "  1", "2", "3", "4", "5", "\n\u00e9x", "! \u4e00\u3042"]],
  [{"type": "Split", "pattern": {"Regex": "[A-Za-z]|\\d"}, "behavior": "Contiguous"}, ["Ab", ", ", "c", "\u00bc_", "d", "  ", "12345", "\n\u00e9", "x", "! \u4e00\u3042"]],
  [{"type": "Split", "pattern": {"Regex": "[A-Za-z]|\\d"}, "behavior": "Contiguous", "invert": true}, ["Ab", ", ", "c", "\u00bc_", "d", "  ", "12345", "\n\u00e9", "x", "! \u4e00\u3042"]],
  [{"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": true}, {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}]}]}, ["Ab,", "c", "\u00bc", "_d", "1", "2", "3", "4", "5", "\u00e9x!", "\u4e00\u3042"]]
])json";

constexpr const char* kChanged = R"json([
  [{"type": "NFC"}, " \uff21\u2460\ufb01 \u00e9 \u00c9 \u0130\u01c5 12.  \uac00\u0488\u093e "],
  [{"type": "NFD"}, " \uff21\u2460\ufb01 e\u0301 E\u0301 I\u0307\u01c5 12.  \u1100\u1161\u0488\u093e "],
  [{"type": "NFKC"}, " A1fi \u00e9 \u00c9 \u0130D\u017e 12.  \uac00\u0488\u093e "],
  [{"type": "NFKD"}, " A1fi e\u0301 E\u0301 I\u0307Dz\u030c 12.  \u1100\u1161\u0488\u093e "],
  [{"type": "Lowercase"}, " \uff41\u2460\ufb01 e\u0301 \u00e9 i\u0307\u01c6 12.  \u1100\u1161\u0488\u093e "],
  [{"type": "StripAccents"}, " \uff21\u2460\ufb01 e \u00c9 \u0130\u01c5 12.  \u1100\u1161 "],
  [{"type": "Sequence", "normalizers": []}, " \uff21\u2460\ufb01 e\u0301 \u00c9 \u0130\u01c5 12.  \u1100\u1161\u0488\u093e "],
  [{"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "Sequence", "normalizers": [{"type": "StripAccents"}, {"type": "Lowercase"}]}]}, " \uff41\u2460\ufb01 e e i\u01c6 12.  \u1100\u1161 "],
  [{"type": "Strip", "strip_left": true, "strip_right": false}, "\uff21\u2460\ufb01 e\u0301 \u00c9 \u0130\u01c5 12.  \u1100\u1161\u0488\u093e "],
  [{"type": "Strip", "strip_left": false, "strip_right": true}, " \uff21\u2460\ufb01 e\u0301 \u00c9 \u0130\u01c5 12.  \u1100\u1161\u0488\u093e"],
  [{"type": "Prepend", "prepend": "\u2581"}, "\u2581 \uff21\u2460\ufb01 e\u0301 \u00c9 \u0130\u01c5 12.  \u1100\u1161\u0488\u093e "],
  [{"type": "Replace", "pattern": {"String": "."}, "content": "$0"}, " \uff21\u2460\ufb01 e\u0301 \u00c9 \u0130\u01c5 12$0  \u1100\u1161\u0488\u093e "],
  [{"type": "Replace", "pattern": {"Regex": "\\s+|(?=1)"}, "content": "_"}, "_\uff21\u2460\ufb01_e\u0301_\u00c9_\u0130\u01c5_12._\u1100\u1161\u0488\u093e_"]
])json";

TEST(TokenizerSteps, DivideAsPublished) {
    const std::string text = "Ab, c\u00bc_d  12345\n\u00e9x! \u4e00\u3042";
    for (const auto& row : json::parse(kParted)) {
        std::vector<std::string> parts;
        TextSplitter(readSplitter(row[0], "t.json").steps).split(text, true, [&](auto part) {
            parts.emplace_back(part);
        });
        EXPECT_EQ(parts, row[1].get<std::vector<std::string>>()) << row[0];
    }
}

TEST(TokenizerSteps, ChangeAsPublished) {
    const std::string text =
        " \uff21\u2460\ufb01 e\u0301 \u00c9 \u0130\u01c5 12.  \u1100\u1161\u0488\u093e ";
    for (const auto& row : json::parse(kChanged))
        EXPECT_EQ(readNormalizer(row[0], "t.json").apply(text), row[1].get<std::string>())
            << row[0];
    // Bytes that are no text stay.
    for (const char* type : {"NFC", "NFKD", "Lowercase", "StripAccents", "Strip"})
        EXPECT_EQ(readNormalizer({{"type", type}}, "t.json").apply("a\xff\xc3 b\xf0\x9f"),
                  "a\xff\xc3 b\xf0\x9f");
    EXPECT_TRUE(readNormalizer(nullptr, "t.json").empty());
}

TEST(TokenizerSteps, AMarkStandsAtTheBeginningOnce) {
    const auto parts = [](const char* scheme, bool begins) {
        std::string all;
        TextSplitter(readSplitter({{"type", "Metaspace"},
                                   {"replacement", "_"},
                                   {"prepend_scheme", scheme},
                                   {"split", true}},
                                  "t.json")
                         .steps)
            .split("a b", begins, [&](auto part) { all += std::string(part) + "|"; });
        return all;
    };
    EXPECT_EQ(parts("first", true), "_a|_b|");
    EXPECT_EQ(parts("first", false), "a|_b|");
    EXPECT_EQ(parts("always", false), "_a|_b|");
    EXPECT_EQ(parts("never", true), "a|_b|");
}

TEST(TokenizerSteps, RefuseByFieldAndValue) {
    const auto said = [](const json& part, bool normalizer) -> std::string {
        try {
            if (normalizer)
                readNormalizer(part, "t.json");
            else
                readSplitter(part, "t.json");
            return "nothing";
        } catch (const FileError& error) {
            return error.what();
        }
    };
    const auto split = [&](const char* pattern) {
        return said(
            {{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}},
            false);
    };
    const auto has = [](const std::string& text, const std::string& part) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    has(said({{"type", "Nmt"}}, true), "normalizer.type is 'Nmt'");
    has(said({{"type", "Precompiled"}}, true), "normalizer.precompiled_charsmap is missing");
    has(said({{"type", "BertNormalizer"}, {"lowercase", "no"}}, true), "normalizer.lowercase is");
    // A tree that is cut, a text outside of the texts, texts that do not end.
    for (const auto& [charsmap, why] :
         {std::pair{"?", "not in base64"}, std::pair{"AAA=", "has 2 bytes"},
          std::pair{"/wAAAAAAAAA=", "has a tree of 255 bytes in 8, so it is cut"},
          std::pair{"DAAAAACAAQBhDQAAAQAAAAA=", "has a text at byte 1"},
          std::pair{"DAAAAACAAQBhIQAAAQAAAAA=", "has an entry at unit 9"},
          std::pair{"BAAAAAAAAABh", "does not end"}})
        has(said({{"type", "Precompiled"}, {"precompiled_charsmap", charsmap}}, true), why);
    has(said({{"type", "Replace"}, {"content", ""}}, true), "normalizer.pattern");
    has(said({{"type", "Prepend"}}, true), "normalizer.prepend is missing");
    has(said({{"type", "Sequence"}}, true), "normalizer.normalizers is not a list");
    has(said({{"type", "UnicodeScripts"}}, false), "pre_tokenizer.type is 'UnicodeScripts'");
    has(said({{"type", "Punctuation"}, {"behavior", "Gone"}}, false), "pre_tokenizer.behavior is ");
    has(said({{"type", "Metaspace"}, {"prepend_scheme", "last"}}, false), "prepend_scheme");
    has(said({{"type", "CharDelimiterSplit"}, {"delimiter", "ab"}}, false), "one character");
    has(said({{"type", "Sequence"},
              {"pretokenizers", {{{"type", "ByteLevel"}}, {{"type", "ByteLevel"}}}}},
             false),
        "'ByteLevel' twice");
    has(split("(a"), "cannot be compiled");
    // What PCRE2 would read otherwise.
    has(split("\\p{N}{1,3}+"), "{1,3}+");
    has(split("[a-z&&[aeiou]]"), "&& within a class");
    has(split("[a[bc]]"), "a class within a class");
    has(split("[\\W_]"), "complement");
    has(split("[[:alpha:]]"), "[:alpha:]");
}

}  // namespace
}  // namespace relascope
