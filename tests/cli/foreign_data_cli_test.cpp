// SPDX-License-Identifier: GPL-3.0-or-later
// What is said of data that other programs wrote: in the terminal and in the run's events.
#include "cli/command_line.h"
#include "support/bytes_of.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

namespace fs = std::filesystem;
using testing_support::TemporaryFolder;
using testing_support::writeBytes;

class ForeignData : public testing::Test {
protected:
    ForeignData() {
        fs::create_directories(m_folder.path());
        ::setenv("XDG_CACHE_HOME", (m_folder / "cache").c_str(), 1);
    }
    ~ForeignData() override { ::unsetenv("XDG_CACHE_HOME"); }

    // In the terminal and in events.jsonl alike, once.
    void expectWarned(const std::string& train, const std::string& sentence) {
        const auto run = m_folder / "run";
        const auto o = runCli("train " + train + " --steps 1 --threads 1 --out " + run);
        ASSERT_EQ(o.code, 0) << o.err;
        const auto shown = o.out + o.err, kept = slurp(run + "/events.jsonl");
        EXPECT_NE(shown.find("warning: " + sentence), std::string::npos) << shown;
        const auto at = kept.find(sentence);
        EXPECT_NE(at, std::string::npos) << kept;
        EXPECT_EQ(kept.find(sentence, at + 1), std::string::npos) << kept;
        const auto again = runCli("eval " + run + " --threads 1");
        EXPECT_EQ(again.code, 0) << again.err;
        const auto words = sentence.substr(sentence.find(": "));
        EXPECT_NE(again.err.find(words), std::string::npos) << again.err;
    }

    TemporaryFolder m_folder{"foreign-data"};
};

TEST_F(ForeignData, PicturesThatAreSkippedAreCounted) {
    const std::string fixtures = std::string(RELASCOPE_FIXTURES) + "/pictures/";
    for (const char* label : {"a", "b"}) {
        fs::create_directories(m_folder / ("pictures/" + std::string(label)));
        for (const char* name : {"exif6.jpg", "cmyk.jpg", "grey16.png", "rgb16_gama.png"})
            fs::copy_file(fixtures + name,
                          m_folder / ("pictures/" + std::string(label) + "/" + name));
    }
    writeBytes(m_folder / "pictures/a/notes.txt", "words");
    writeBytes(m_folder / "pictures/b/.DS_Store", "x");
    writeBytes(m_folder / "pictures/b/x.webp", std::string("RIFF\x20\0\0\0WEBPVP8 ", 16));
    expectWarned(
        "fashion-mnist --set data.task=folder --set model.image_norm=none "
        "--set data.train_size=0 --set data.validation_size=1 --set data.test_size=0 "
        "--data " +
            (m_folder / "pictures"),
        "folder, train: 3 of 11 files were skipped: 1 WebP picture (b/x.webp), 1 hidden "
        "(b/.DS_Store), 1 neither PNG nor JPEG (a/notes.txt)");
}

TEST_F(ForeignData, BytesThatAreNotUtf8AreCounted) {
    std::string text;
    for (int i = 0; i < 200; ++i)
        text +=
            "der Fuchs l\xE4uft \xFC"
            "ber die Br\xFC"
            "cke; ";
    writeBytes(m_folder / "latin1.txt", text);
    expectWarned("text --data " + (m_folder / "latin1.txt"),
                 "latin1.txt, train: latin1.txt has 600 bytes that are not UTF-8, the first at "
                 "byte 11");
}

TEST_F(ForeignData, RawIdsOf32BitsAreNamed) {
    std::string ids;
    for (std::uint64_t i = 0; i < 5000; ++i) ids += testing_support::le(i * 7919 % 50000, 4);
    writeBytes(m_folder / "ids32.bin", ids);
    const auto o = runCli("train text --steps 1 --set data.tokenizer=gpt2 --data " +
                          (m_folder / "ids32.bin") + " --out " + (m_folder / "run"));
    EXPECT_NE(o.code, 0);
    EXPECT_NE(o.err.find("ids32.bin: holds ids of 32 bits"), std::string::npos) << o.err;
}

}  // namespace
}  // namespace relascope
