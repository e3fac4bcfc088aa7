// SPDX-License-Identifier: GPL-3.0-or-later
// Text files of every form as training data, and what is wrong with them in words.
#include "files/program_folder.h"
#include "options/presets.h"
#include "support/rooms.h"
#include "text/text_fixture.h"

namespace relascope {
namespace {

const std::string kFox = "The quick brown fox jumps over the lazy dog.\n";

TEST_F(TextTest, ReadsAPlainFile) {
    const auto path = write("fox.txt", kFox);
    EXPECT_EQ(allText(options(path)), kFox);
    EXPECT_EQ(allText(options(write("bom.txt", "\xEF\xBB\xBF" + kFox))), kFox);
    EXPECT_EQ(allText(options(path, "gpt2")), "<|endoftext|>" + kFox);
    const auto splits = openText(options(path));
    EXPECT_EQ(splits.train->info().name, "fox.txt, train");
    EXPECT_EQ(splits.train->info().origin, path);
    EXPECT_EQ(splits.train->info().task, "text");
    // The vocabulary is that of the whole text, held-out end and all: g occurs there alone.
    EXPECT_EQ(splits.tokenizer->size(), 31);
    EXPECT_EQ(tokensOf(splits.train).tokenizer(), splits.tokenizer);
    EXPECT_EQ(splits.tokenizer->encode("g").at(0), splits.tokenizer->encode("f").at(0) + 1);
}

TEST_F(TextTest, KeepsBytesThatAreNoCharacters) {
    const std::string bytes = std::string("a\0b\xff\xfe", 5) + "\xe6\x97 日本 \xf0\x9f\x99\x82 end";
    EXPECT_EQ(allText(options(write("odd.txt", bytes), "gpt2")), "<|endoftext|>" + bytes);
    EXPECT_NE(allText(options(m_folder / "odd.txt")).find("\uFFFD\uFFFD"), std::string::npos);
}

TEST_F(TextTest, PartsDocuments) {
    const auto path =
        write("stories.txt", "one fish<|endoftext|><|endoftext|>two fish<|endoftext|>");
    EXPECT_EQ(allText(options(path, "gpt2")), "<|endoftext|>one fish<|endoftext|>two fish");
    EXPECT_EQ(allText(options(path)), "one fish\n\ntwo fish");
    // A mark across two pieces of the file is one all the same.
    std::string large;
    while (large.size() < (1u << 18) - 5) large += 'x';
    const auto cut = write("cut.txt", large + "<|endoftext|>y");
    EXPECT_EQ(allText(options(cut)), large + "\n\ny");
}

TEST_F(TextTest, UnpacksGzip) {
    std::string text;
    for (int i = 0; i < 20000; ++i) text += kFox + std::to_string(i);
    EXPECT_EQ(allText(options(write("fox.txt.gz", gzip(text)))), text);
    const std::string joined = gzip("first ") + gzip("second") + std::string(512, '\0');
    EXPECT_EQ(allText(options(write("two.gz", joined))), "first second");
    const std::string whole = gzip(text);
    expectRefusal(options(write("cut.gz", whole.substr(0, whole.size() / 2))),
                  {"cut.gz: is truncated", "byte " + std::to_string(whole.size() / 2)});
    std::string damaged = whole;
    damaged[damaged.size() / 2] ^= 0x40, damaged[damaged.size() / 2 + 1] ^= 0x11;
    expectRefusal(options(write("bad.gz", damaged)), {"bad.gz: has damaged gzip data"});
}

TEST_F(TextTest, ReadsAFolderInTheOrderOfNames) {
    write("all/b.txt", "second part");
    write("all/a.txt", "first part");
    write("all/c.jsonl", R"({"text":"third part"})");
    write("all/.hidden.txt", "never");
    write("all/notes.csv", "never");
    write("all/empty.txt", "");
    EXPECT_EQ(allText(options(m_folder / "all")), "first part\n\nsecond part\n\nthird part");
    EXPECT_EQ(openText(options(m_folder / "all/", "characters", 2)).train->info().name,
              "all, train");
    write("code/x.py", "print(1) # x");
    EXPECT_EQ(allText(options(m_folder / "code")), "print(1) # x");
}

TEST_F(TextTest, ReadsJsonOfEveryForm) {
    const std::string text = "one two\n\nthree\n\nfour";
    const std::pair<const char*, const char*> forms[] = {
        {"lines.jsonl",
         "{\"text\":\"one two\",\"n\":1}\n\n{\"n\":{\"text\":\"no\"},\"text\":\"three\"}\r\n"
         "{\"text\":\"four\"}"},
        {"list.json",
         R"( [{"story":"one two"}, {"story":"three","x":[[{"story":"no"}]]},{"story":"four"}] )"},
        {"strings.json", R"(["one two","three","four"])"},
        {"string_lines.jsonl", "\"one two\"\n\"three\"\n\"four\"\n"},
        {"best.jsonl",
         R"({"content":"no","text":"one two"}{"content":5,"text":"three"} {"text":"four"})"},
        {"empty.jsonl", R"({"text":"one two"} {"text":""} {"text":"three"} {"text":"four"})"},
    };
    for (const auto& [name, bytes] : forms)
        EXPECT_EQ(allText(options(write(name, bytes))), text) << name;
    EXPECT_EQ(allText(options(write("l.jsonl.gz", gzip(forms[0].second)))), text);
    EXPECT_EQ(allText(options(m_folder / "lines.jsonl", "gpt2")),
              "<|endoftext|>one two<|endoftext|>three<|endoftext|>four");
    auto o = options(write("field.jsonl", R"({"text":"no","body":"caf\u00e9 \ud83d\ude42 yes"})"));
    o.text_field = "body";
    EXPECT_EQ(allText(o), "café 🙂 yes");
}

TEST_F(TextTest, RefusesJsonNamingTheRecord) {
    const auto refused = [&](const std::string& bytes, const std::vector<std::string>& words) {
        expectRefusal(options(write("bad.jsonl", bytes)), words);
    };
    const std::string good = "{\"text\":\"good\"}\n";
    refused(good + "{\"text\": oops}",
            {"bad.jsonl: record 2 is not JSON at byte 2", "of the file"});
    refused(good + good + "{\"text\":\"cut", {"record 3 is not JSON"});
    refused("[" + good + "," + good, {"record 3 is not JSON"});
    refused(good + "{\"text\":\"\xff\"}", {"record 2 is not UTF-8"});
    refused(good + "{\"title\":\"x\",\"body\":\"y\"}",
            {"record 2 has no text, story or content", "title, body", "data.text_field"});
    refused(good + "{\"text\":12}", {"record 2 has a number as 'text'", "expected a string"});
    refused(good + "{\"text\":null}", {"record 2 has null as 'text'"});
    refused(good + "{\"text\":[\"a\"]}", {"record 2 has a list as 'text'"});
    refused("17", {"record 1 is a number"});
    refused("[[\"a\"]]", {"record 1 is a list"});
    auto o = options(write("bad.jsonl", good));
    o.text_field = "body";
    expectRefusal(o, {"record 1 has no 'body'", "text"});
    // Nested as deep as one likes: neither a crash nor a record.
    refused(std::string(100000, '['), {"record 1"});
    refused("{\"a\":" + std::string(100000, '['), {"record 1 is not JSON"});
}

TEST_F(TextTest, RefusesWhatIsNoText) {
    expectRefusal(options(m_folder / "absent.txt"), {"absent.txt: does not exist", "give a text"});
    expectRefusal(options(write("empty.txt", "")), {"empty.txt: is empty"});
    expectRefusal(options(write("mark.txt", "<|endoftext|>")), {"mark.txt: is empty"});
    expectRefusal(options(write("wide.txt", std::string("\xff\xfe\x41\0", 4))), {"is UTF-16"});
    expectRefusal(options(write("a.zip", "PK")), {"a.zip: is not a text file (.zip)"});
    expectRefusal(options(write("one.txt", "one")), {"has 3 tokens", "data.context"});
    expectRefusal(options("/dev/zero"), {"is not a file"});
    makeDirectories(m_folder / "nothing");
    expectRefusal(options(m_folder / "nothing"), {"contains no supported files"});
    expectRefusal(options(write("t.txt", kFox), "gpt3"), {"data.tokenizer: 'gpt3'"});
    auto o = options(m_folder / "t.txt");
    o.validation_fraction = 1.0;
    expectRefusal(o, {"data.validation_fraction"});
    o = options(m_folder / "t.txt");
    o.context = 0;
    expectRefusal(o, {"data.context"});
}

TEST_F(TextTest, ATextIsThereWithoutAnyPackage) {
    const std::string own = installedData("jargon-extract.txt.gz");
    ASSERT_FALSE(own.empty());
    const auto splits = openText(presetOptions("text").data);
    EXPECT_GT(splits.train->size(), 1000) << "the preset Text starts";
    auto o = presetOptions("text").data;
    o.path = own;
    const auto extract = openText(o);
    EXPECT_GT(extract.train->size(), 1000);
    EXPECT_EQ(extract.validation->size(), 40);
}

TEST_F(TextTest, TheInstalledTextOpens) {
    const std::string path = installedText();
    auto o = options("", "gpt2", 256);
    o.validation_fraction = 0.1;
    const auto splits = openText(o);
    EXPECT_GT(splits.train->size(), 1000);
    EXPECT_GT(splits.validation->size(), 100);
    EXPECT_EQ(splits.train->info().origin, path);
}

}  // namespace
}  // namespace relascope
