// SPDX-License-Identifier: GPL-3.0-or-later
// Texts and token ids as other programs leave them: other encodings, sub-folders, wide ids.
#include <random>

#include "files/npy.h"
#include "support/rooms.h"
#include "text/text_fixture.h"

namespace relascope {
namespace {

class ForeignText : public TextTest {
protected:
    static std::string noteOf(const DataOptions& o) {
        const auto splits = openText(o);
        EXPECT_EQ(splits.train->info().note, splits.validation->info().note);
        return splits.train->info().note;
    }
    static std::string repeated(const std::string& text, int times) {
        std::string all;
        for (int i = 0; i < times; ++i) all += text;
        return all;
    }
    // Ids of a language model: most are frequent ones, some are rare.
    static std::string ids(int width, std::uint32_t vocabulary, int count = 5000,
                           bool bigEndian = false) {
        std::mt19937 random(1);
        std::string bytes;
        for (int i = 0; i < count; ++i) {
            const auto id = random() % (random() % 3 == 0 ? vocabulary : vocabulary / 8 + 1);
            auto one = le(id, width);
            if (bigEndian) std::reverse(one.begin(), one.end());
            bytes += one;
        }
        return bytes;
    }
};

TEST_F(ForeignText, BytesThatAreNotUtf8AreCounted) {
    const std::string latin = repeated(
        "der Fuchs l\xE4uft \xFC"
        "ber die Br\xFC"
        "cke; ",
        200);
    for (const char* tokenizer : {"characters", "gpt2"}) {
        const auto o = options(write("latin1.txt", latin), tokenizer);
        for (int time = 0; time < 2; ++time) {  // the second is from the cache
            const auto note = noteOf(o);
            EXPECT_EQ(note.find("latin1.txt has 600 bytes that are not UTF-8, the first at byte "
                                "11; convert it, as in iconv -f"),
                      0u)
                << note;
        }
    }
    EXPECT_EQ(noteOf(options(write("a\n\u202Eb.txt", latin))).substr(0, 26),
              "a\\n\\u202Eb.txt has 600 byt");
    EXPECT_EQ(noteOf(options(write("utf8.txt", repeated("l\u00E4uft \u65E5\u672C ", 200)))), "");
    EXPECT_EQ(noteOf(options(write("bom.txt", "\xEF\xBB\xBF" + repeated("plain ", 200)))), "");
    // Characters across the pieces of a large file are whole, one that the end cuts is not.
    const auto large = std::string((1u << 18) - 1, 'x') + repeated("\u65E5", 100000);
    EXPECT_EQ(noteOf(options(write("large.txt", large))), "");
    EXPECT_NE(noteOf(options(write("large.txt", large.substr(0, large.size() - 1))))
                  .find("has 2 bytes that are not UTF-8, the first at byte 562140"),
              std::string::npos);
    write("many/a.txt", latin), write("many/b.txt", latin), write("many/c.txt", "plain");
    EXPECT_NE(noteOf(options(m_folder / "many")).find("and 1 more of 3 files have some"),
              std::string::npos);
}

TEST_F(ForeignText, WideEncodingsAndBinaryFilesAreRefused) {
    std::string wide, wider;
    for (const char c : repeated("some words ", 20)) {
        wide += c, wide += '\0';
        wider += std::string(3, '\0') + c;
    }
    expectRefusal(options(write("a.txt", wide)), {"a.txt: is no text", "UTF-16LE"});
    expectRefusal(options(write("a.txt", wider)), {"a.txt: is no text"});
    expectRefusal(options(write("a.txt", std::string("\xFF\xFE\0\0", 4) + wider)), {"is UTF-32"});
    expectRefusal(options(write("a.txt", std::string("\0\0\xFE\xFF", 4) + wider)), {"is UTF-32"});
    expectRefusal(options(write("a.txt", "\xFE\xFF" + wide)), {"is UTF-16"});
    expectRefusal(options(write("ids.txt", ids(4, 200))), {"token ids"});
}

// Of Chinese hardly a byte is 0.
TEST_F(ForeignText, WideEncodingsOfOtherScriptsAreRefused) {
    const auto wide = [](const std::u16string& text, bool big) {
        std::string bytes;
        for (int i = 0; i < 30; ++i)
            for (const char16_t c : text) {
                const char high = static_cast<char>(c >> 8), low = static_cast<char>(c & 255);
                bytes += big ? high : low, bytes += big ? low : high;
            }
        return bytes;
    };
    const std::u16string
        chinese = u"\u4eca\u5929\u7684\u5929\u6c14\u5f88\u597d\uff0c\u8fc7\u3002\n",
        japanese = u"\u79c1\u306f\u5b66\u751f\u3067\u3059\u3002",
        russian = u"\u044d\u0442\u043e \u0442\u0435\u043a\u0441\u0442, \u0438 \u0435\u0449\u0451";
    for (const auto& text : {chinese, japanese, russian})
        for (const bool big : {false, true}) {
            const char* name = big ? "UTF-16BE" : "UTF-16LE";
            expectRefusal(options(write("w.txt", wide(text, big))), {"UTF-16", name});
        }
    // The same in the encodings that are read with a note.
    const std::string gbk = "\xbd\xf1\xcc\xec\xb5\xc4\xcc\xec\xc6\xf8\xba\xdc\xba\xc3",
                      shiftJis = "\x8e\x84\x82\xcd\x8a\x77\x90\xb6\x82\xc5\x82\xb7\x81\x42",
                      big5 = "\xa4\xb5\xa4\xd1\xaa\xba\xa4\xd1\xae\xf0\xab\xdc\xa6\x6e";
    for (const auto& text : {gbk, shiftJis, big5}) {
        EXPECT_NE(noteOf(options(write("n.txt", repeated(text, 40)))).find("not UTF-8"),
                  std::string::npos);
        EXPECT_NE(noteOf(options(write("n.txt", repeated(text + "\n", 40)))).find("not UTF-8"),
                  std::string::npos);
    }
}

TEST_F(ForeignText, WhatIsNoCorpusSaysWhatItIs) {
    std::string big;
    for (const char c : repeated("some words ", 20)) big += '\0', big += c;
    expectRefusal(options(write("a.txt", big)), {"is no text", "UTF-16BE"});
    const auto pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 1\n";
    for (const char* name : {"a.txt", "a.jsonl", "a.bin"})
        expectRefusal(options(write(name, pointer + repeated(" ", 700))),
                      {name, "Git LFS pointer"});
    const auto page = "<!doctype html><html>not found</html>" + repeated("<p>text</p>\n", 200);
    expectRefusal(options(write("a.txt", page)), {"is a web page"});
    EXPECT_NO_THROW(openText(options(write("a.html", page), "characters")));
    expectRefusal(options(write("a.txt", "PK\x03\x04" + repeated("word/document ", 90))),
                  {"document of an office program"});
    expectRefusal(options(write("a.txt", repeated("\x01\x02z", 300))), {"control characters"});
    expectRefusal(options(write("a.bin", repeated("these are words ", 90))), {"is text"});
    expectRefusal(options(write("a.bin", "PK\x03\x04" + ids(2, 400))), {"is an archive"});
    expectRefusal(options(write("a.bin.gz", "\x1f\x8b" + ids(2, 400))), {"is a packed shard"});
    expectRefusal(options(write("t\xe9.txt", repeated("text ", 300))), {"not UTF-8; rename it"});
}

// Python's json writes NaN, as of tables with gaps.
TEST_F(ForeignText, RecordsOfPythonAreRead) {
    const std::string line =
        R"({"score": NaN, "text": "NaN and \"Infinity\" \\", "of": [-Infinity, Infinity]})";
    const auto path = write("a.jsonl", repeated(line + "\n", 200));
    const auto characters = [&](const std::string& file) {
        const auto train = openText(options(file, "characters")).train;
        return dynamic_cast<const TokenDataset&>(*train).tokenizer()->size();
    };
    const std::string plain = R"({"text": "NaN and \"Infinity\" \\"})";
    EXPECT_EQ(characters(path), characters(write("b.jsonl", repeated(plain + "\n", 200))));
    expectRefusal(options(write("c.jsonl", "{\"text\": Nan}\n")), {"is not JSON"});
    expectRefusal(options(write("c.jsonl", "{\"text\": NaN}\n")), {"a number"});
    expectRefusal(options(write("c.jsonl", "{\"text\": null}\n")),
                  {"record 1 has null as 'text'", "select(.text != null)"});
}

// Python's json writes what a text was cut to: "\ud83d" without its second half.
TEST_F(ForeignText, HalvesOfCharactersAreReplacedAndCounted) {
    const std::string
        line = "{\"text\": \"a\\ud83d b\\ude00 c\\ud83d\\ude00 \\\\ud83d \\ud83d\\n\"}\n",
        plain = "{\"text\": \"a\\ufffd b\\ufffd c\U0001F600 \\\\ud83d \\ufffd\\n\"}\n";
    const auto halves = options(write("a.jsonl", repeated(line, 300)));
    EXPECT_EQ(allText(halves), allText(options(write("b.jsonl", repeated(plain, 300)))));
    for (int time = 0; time < 2; ++time)  // the second is from the cache
        EXPECT_EQ(
            noteOf(halves),
            "a.jsonl has 900 escapes that are half of a character, the first at byte 11; each "
            "is read as U+FFFD");
    // Across the pieces of a file, wherever these end.
    for (int before = 0; before < 14; ++before) {
        const auto start =
            "{\"text\": \"" + std::string((1u << 18) - 24 + static_cast<unsigned>(before), 'x');
        EXPECT_EQ(allText(options(write("c.jsonl", start + "\\ud83d\\ude00\\ud83dz\"}"))),
                  allText(options(write("d.jsonl", start + "\U0001F600\\ufffdz\"}"))))
            << before;
    }
    expectRefusal(options(write("e.jsonl", "{\"text\": \"\\ud83")), {"is not JSON"});
    expectRefusal(options(write("e.jsonl", "{\"text\": \"\\uzzzz\"}")), {"is not JSON"});
}

TEST_F(ForeignText, SubFoldersAreReadAndWhatIsLeftOutIsSaid) {
    write("wiki/AA/wiki_01.txt", "second part");
    write("wiki/AA/wiki_00.txt", "first part");
    write("wiki/AB/wiki_00.txt", "third part");
    EXPECT_EQ(noteOf(options(m_folder / "wiki")), "");
    EXPECT_EQ(allText(options(m_folder / "wiki")), "first part\n\nsecond part\n\nthird part");
    write("wiki/AB/.hidden/x.txt", "never");
    write("wiki/index.html", "never");
    write("wiki/AB/LICENSE", "never");
    std::filesystem::create_directory_symlink("..", m_folder / "wiki/AB/back");
    EXPECT_EQ(noteOf(options(m_folder / "wiki")),
              "3 files are read; left out: 1 .html, 1 hidden, 1 without an ending");
    EXPECT_EQ(allText(options(m_folder / "wiki")), "first part\n\nsecond part\n\nthird part");
    // Shards, wherever they are, are taken before texts.
    write("wiki/AA/ids.bin", ids(2, 50000));
    EXPECT_EQ(noteOf(options(m_folder / "wiki")),
              "1 file is read; left out: 1 .html, 3 .txt, 1 hidden, 1 without an ending");
}

TEST_F(ForeignText, AFolderThatIsPartedIsOneTextAndSaysSo) {
    write("parted/train.bin", ids(2, 50000));
    EXPECT_EQ(noteOf(options(m_folder / "parted")), "");
    write("parted/val.bin", ids(2, 50000));
    EXPECT_EQ(noteOf(options(m_folder / "parted")).substr(0, 48),
              "train.bin and val.bin are read as one text, of w");
}

TEST_F(ForeignText, RawIdsOf32And64BitsAreNoIdsOf16) {
    const auto opens = [&](const std::string& bytes) {
        EXPECT_NO_THROW(openText(options(write("ids.bin", bytes)))) << bytes.size();
    };
    for (const std::uint32_t vocabulary : {65u, 50257u, 65536u, 128256u, 151936u, 256000u}) {
        expectRefusal(options(write("ids.bin", ids(4, vocabulary))),
                      {"ids.bin: holds ids of 32 bits", ".npy", "llm.c"});
        expectRefusal(options(write("ids.bin", ids(8, vocabulary))),
                      {"ids.bin: holds ids of 64 bits", "numpy.save"});
        expectRefusal(options(write("ids.bin", ids(4, vocabulary, 5000, true))), {"32 bits"});
        if (vocabulary <= 65536) opens(ids(2, vocabulary));
    }
    opens(ids(2, 3)), opens(ids(2, 8)), opens(ids(2, 12));
    // Every second token is a small number, but rarely 0: keys before their values.
    std::string pairs;
    for (std::uint64_t i = 0; i < 2000; ++i) pairs += le(1 + i % 7, 2) + le(i * 31 % 60000, 2);
    opens(pairs);
}

TEST_F(ForeignText, NpyOfEveryIntegerTypeHoldsTokens) {
    for (const auto& [type, width] : std::vector<std::pair<const char*, int>>{{"<i8", 8},
                                                                              {"<u8", 8},
                                                                              {"<i4", 4},
                                                                              {"<u4", 4},
                                                                              {"<i2", 2},
                                                                              {"<u2", 2},
                                                                              {"|u1", 1},
                                                                              {"|i1", 1}}) {
        std::string bytes;
        std::vector<std::int64_t> expected;
        for (std::uint64_t i = 0; i < 100; ++i)
            bytes += le(i, width), expected.push_back(static_cast<std::int64_t>(i));
        const auto o = options(write("t.npy", makeNpyHeader(type, {100}) + bytes));
        EXPECT_EQ(allTokens(o), expected) << type;
        EXPECT_NO_THROW(requireTokensWithin(openText(o), 100)) << type;
    }
    auto o =
        options(write("n.npy", makeNpyHeader("<i8", {40}) + repeated(le(~std::uint64_t{4}, 8), 40)),
                "characters", 2);
    const auto splits = openText(o);
    EXPECT_EQ(window(splits.train, 0).at(0), -5);
    EXPECT_EQ(splits.train->sample(0).source.labels.at(0), "-5");
    try {
        requireTokensWithin(splits, 1000);
        ADD_FAILURE();
    } catch (const FileError& error) {
        EXPECT_NE(std::string(error.what()).find("the number -5 at byte 128"), std::string::npos)
            << error.what();
    }
    expectRefusal(options(write("w.npy", "<!doctype html><html>404</html>")), {"is a web page"});
    expectRefusal(options(write("w.npy", "Entry not found")), {"is text and no array"});
    expectRefusal(options(write("f.npy", makeNpyHeader("<f8", {8}) + std::string(64, '\0'))),
                  {"contains no tokens", "astype"});
}

}  // namespace
}  // namespace relascope
