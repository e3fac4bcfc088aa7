// SPDX-License-Identifier: GPL-3.0-or-later
// The cache of tokens: found again without reading, never believed when damaged, never needed.
#include <fcntl.h>
#include <sys/resource.h>

#include <fstream>
#include <thread>

#include "files/sha256.h"
#include "support/rooms.h"
#include "text/text_fixture.h"

namespace relascope {
namespace {

TEST(Sha256, IsThePublishedFunction) {
    EXPECT_EQ(sha256Of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256Of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256Of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(sha256Of(std::string(1000000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    for (std::size_t size = 0; size < 200; ++size) {  // in pieces as in one
        Sha256 hash;
        for (std::size_t i = 0; i < size; ++i) hash.add("x");
        EXPECT_EQ(hash.hex(), sha256Of(std::string(size, 'x')));
    }
}

TEST_F(TextTest, ASecondOpenReadsNoSource) {
    const auto path = write("t.txt", "the first text, which is kept");
    for (const char* tokenizer : {"characters", "gpt2"})
        EXPECT_NE(allText(options(path, tokenizer)).find("the first text"), std::string::npos);
    EXPECT_EQ(cached().size(), 2u);
    // Other bytes of the same size and time: who looked at them would notice.
    write("t.txt", "the other text, never looked!");
    for (const char* tokenizer : {"characters", "gpt2"})
        EXPECT_NE(allText(options(path, tokenizer)).find("the first text"), std::string::npos);
}

TEST_F(TextTest, AChangeOfContentIsNoticed) {
    const auto path = write("t.txt", "the first text, which is kept");
    EXPECT_EQ(allText(options(path)), "the first text, which is kept");
    testing_support::writeBytes(path,
                                "the other text, seen at once!");  // of the same size, just now
    EXPECT_EQ(allText(options(path)), "the other text, seen at once!");
    // A file this fresh may change again within the same tick of the clock.
    const auto time = std::filesystem::last_write_time(path);
    testing_support::writeBytes(path, "the third text, as fast as it");
    std::filesystem::last_write_time(path, time);
    EXPECT_EQ(allText(options(path)), "the third text, as fast as it");
    // The same content elsewhere is known.
    EXPECT_EQ(cached().size(), 3u);
    EXPECT_EQ(allText(options(write("copy.txt", "the third text, as fast as it"))),
              "the third text, as fast as it");
    EXPECT_EQ(cached().size(), 3u);
}

TEST_F(TextTest, OptionsThatMatterAreTold) {
    const auto path = write("t.jsonl", R"({"text":"some text here","body":"another body"})");
    EXPECT_EQ(allText(options(path)), "some text here");
    auto o = options(path);
    o.text_field = "body";
    EXPECT_EQ(allText(o), "another body");
    EXPECT_EQ(allText(options(write("t.txt", "{\"text\":\"plain\"}"))), "{\"text\":\"plain\"}");
    EXPECT_EQ(allText(options(write("u.jsonl", "{\"text\":\"plain\"}"))), "plain");
}

TEST_F(TextTest, DamageIsNoticedAndMended) {
    const std::string text = "the text that is read again when its tokens are damaged";
    const auto path = write("t.txt", text);
    const auto o = options(path);
    ASSERT_EQ(allText(o), text);
    ASSERT_EQ(cached().size(), 1u);
    const std::string entry = cached()[0], whole = readTextFile(entry);
    const auto expectMended = [&](const std::string& bytes) {
        testing_support::writeBytes(entry, bytes);
        ASSERT_EQ(allText(o), text);
        ASSERT_EQ(readTextFile(entry), whole);
    };
    for (std::size_t at = 0; at < whole.size(); ++at) {
        std::string bytes = whole;
        bytes[at] ^= 1;
        expectMended(bytes);
    }
    for (const std::size_t size : {0ul, 1ul, 39ul, 40ul, whole.size() / 2, whole.size() - 1})
        expectMended(whole.substr(0, size));
    expectMended(whole + "x");
    std::filesystem::remove(entry);
    std::filesystem::create_directory(entry);  // even something that is no file
    EXPECT_EQ(allText(o), text);
}

TEST_F(TextTest, ACacheThatCannotBeWrittenIsNotNeeded) {
    const std::string text = "words that fit nowhere but are read all the same";
    const auto path = write("t.txt", text);
    write("cache", "a file where the folder should be");
    EXPECT_EQ(allText(options(path)), text);
    ::setenv("XDG_CACHE_HOME", "/proc/none", 1);
    EXPECT_EQ(allText(options(path)), text);
    ::setenv("TMPDIR", "/proc/none", 1);
    EXPECT_EQ(allText(options(path)), text);
    ::unsetenv("TMPDIR");
    // Full: writing fails in the middle of the tokens, not at the start.
    ::setenv("XDG_CACHE_HOME", (m_folder / "full").c_str(), 1);
    std::string large;
    while (large.size() < 3'000'000) large += "more and more words " + std::to_string(large.size());
    const auto big = write("big.txt", large);
    rlimit before{}, small{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 1 << 20;
    ::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &small);
    std::string said;
    try {
        openText(options(big));
    } catch (const Error& error) {
        said = error.what();
    }
    ::setrlimit(RLIMIT_FSIZE, &before);
    // Not even memory takes it under that limit: an error in words, nothing left behind.
    EXPECT_NE(said.find("free some space"), std::string::npos) << said;
    EXPECT_TRUE(std::filesystem::is_empty(m_folder / "full/relascope/tokens"));
    EXPECT_GT(openText(options(big)).train->size(), 1000);
}

TEST_F(TextTest, LeftoversOfTheDeadAreRemoved) {
    makeDirectories(m_folder / "cache/relascope/tokens");
    write("cache/relascope/tokens/x.tokens.tmp-999999999-0", "left by a process that was killed");
    const std::string own =
        "cache/relascope/tokens/x.tokens.tmp-" + std::to_string(::getpid()) + "-77";
    write(own, "being written");
    EXPECT_EQ(allText(options(write("t.txt", "some text to read"))), "some text to read");
    EXPECT_EQ(cached().size(), 2u);
    EXPECT_TRUE(std::filesystem::exists(m_folder / own));
}

TEST_F(TextTest, CancelsAtOnceAndLeavesNothing) {
    std::string text;
    while (text.size() < 4'000'000) text += "some words " + std::to_string(text.size()) + "\n";
    const auto path = write("t.txt", text);
    std::stop_source source;
    source.request_stop();
    EXPECT_THROW(openText(options(path), {}, source.get_token()), Cancelled);
    EXPECT_THROW(openText(options(path), [](double) { return false; }), Cancelled);
    std::vector<double> fractions;
    int calls = 0;
    EXPECT_THROW(openText(options(path, "gpt2"),
                          [&](double fraction) {
                              fractions.push_back(fraction);
                              std::this_thread::sleep_for(std::chrono::milliseconds(110));
                              return ++calls < 12;
                          }),
                 Cancelled);
    EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
    EXPECT_GT(fractions.back(), 0.2);
    EXPECT_LE(fractions.back(), 1.0);
    for (const auto& name : cached()) ADD_FAILURE() << name << " was left";
    EXPECT_GT(openText(options(path)).train->size(), 0);
}

TEST_F(TextTest, MemoryIsBoundedWhateverTheSize) {
    // 160 MB of text that is one line: the process may not grow by a fifth of it.
    const std::string path = m_folder / "large.txt";
    {
        std::ofstream file(path, std::ios::binary);
        std::string line;
        while (line.size() < 1'000'000) line += "the same words again and again ";
        for (int i = 0; i < 160; ++i) file << line;
    }
    const auto peak = [] {
        rusage usage{};
        ::getrusage(RUSAGE_SELF, &usage);
        return usage.ru_maxrss;  // KiB
    };
    gpt2Tokenizer()->encode("words");
    const auto before = peak();
    const auto splits = openText(options(path, "gpt2", 128));
    EXPECT_GT(splits.train->size(), 100000);
    EXPECT_LT(peak() - before, 32 * 1024);
}

}  // namespace
}  // namespace relascope
