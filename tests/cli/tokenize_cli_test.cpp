// SPDX-License-Identifier: GPL-3.0-or-later
// relascope-cli tokenize: text to ids and back.
#include "cli/command_line.h"
#include "support/bytes_of.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

using testing_support::TemporaryFolder;
using testing_support::writeBytes;

class TokenizeCli : public ::testing::Test {
protected:
    TokenizeCli() { std::filesystem::create_directories(m_folder.path()); }
    std::string write(const std::string& name, const std::string& bytes) {
        writeBytes(m_folder / name, bytes);
        return m_folder / name;
    }
    TemporaryFolder m_folder{"tokenize"};
};

TEST_F(TokenizeCli, EncodesAndDecodes) {
    const auto hello = write("hello.txt", "Hello world");
    EXPECT_EQ(runCli("tokenize " + hello).out, "15496 995\n");
    const auto o = json(runCli("tokenize --json " + hello));
    EXPECT_EQ(o["ids"], (std::vector<int>{15496, 995}));
    EXPECT_EQ(o["count"], 2);
    EXPECT_EQ(o["tokenizer"], "gpt2");
    EXPECT_EQ(runCli("tokenize " + write("empty.txt", "")).out, "\n");
    EXPECT_EQ(json(runCli("tokenize --json " + m_folder / "empty.txt"))["count"], 0);
    EXPECT_EQ(runCli("tokenize --decode " + write("ids.txt", " 15496,995\n\n0 ")).out,
              "Hello world!");
    EXPECT_EQ(json(runCli("tokenize --decode --json " + write("half.txt", "8582")))["text"],
              "\uFFFD\uFFFD");
    // Everything comes back: bytes that are no text, and more than is held at once.
    std::string bytes;
    for (int i = 0; i < 400000; ++i) bytes += static_cast<char>(i * i / 7 + i % 11);
    const auto odd = write("odd.bin", bytes);
    const auto ids = write("odd.ids", runCli("tokenize " + odd).out);
    EXPECT_EQ(runCli("tokenize --decode " + ids).out, bytes);
}

TEST_F(TokenizeCli, RefusesInWords) {
    const auto text = write("t.txt", "text");
    expectRefused("tokenize", 2, "file");
    expectRefused("tokenize " + m_folder / "none.txt", 1, "none.txt: cannot be opened");
    expectRefused("tokenize --tokenizer gpt3 " + text, 2, "'gpt3' is not gpt2");
    expectRefused("tokenize --tokenizer characters " + text, 2, "is built from a text");
    expectRefused("tokenize --decode " + text, 1, "token 1 is 'text', which is not an integer");
    expectRefused("tokenize --decode " + write("n.txt", "1 50257"), 1, "token 2 is 50257");
    expectRefused("tokenize --decode " + write("l.txt", std::string(100000, '1')), 1, "token 1");
    expectRefused("tokenize --tokenizer " + text + " " + text, 1, "t.txt: is not JSON at byte");
    EXPECT_EQ(runCli("tokenize " + text + " >/dev/full 2>/dev/null; exit $? #").code, 1);
}

}  // namespace
}  // namespace relascope
