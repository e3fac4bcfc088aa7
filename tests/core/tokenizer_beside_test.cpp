// SPDX-License-Identifier: GPL-3.0-or-later
// A checkpoint whose tokenizer has more tokens than the model, and one whose tokenizer is of
// another kind.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "analysis/open_model.h"
#include "files/atomic_file.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "text/tokenizer.h"
#include "types/error.h"

namespace relascope {
namespace {

namespace fs = std::filesystem;

class TokenizerBeside : public ::testing::Test {
protected:
    TokenizerBeside() {
        fs::copy(RELASCOPE_FIXTURES "/golden/public/llama3_scaled_tied", m_folder.path(),
                 fs::copy_options::recursive);
    }
    core::OpenedModel open() const { return {m_folder.path(), "", "cpu"}; }

    testing_support::TemporaryFolder m_folder{"tokenizer-beside"};
};

TEST_F(TokenizerBeside, ATokenThatTheModelLacksIsRefusedAlone) {
    const auto path = m_folder / "tokenizer.json";
    auto file = nlohmann::json::parse(readTextFile(path));
    file["added_tokens"].push_back({{"id", 400}, {"content", "<|pad|>"}, {"special", true}});
    writeTextFile(path, file.dump());
    auto model = open();
    ASSERT_EQ(model.options().outputs(), 400);
    EXPECT_EQ(model.warning(), "");
    EXPECT_NO_THROW(model.probe(model.textInput("a text"), {}));
    GenerateOptions two;
    two.tokens = 2;
    int chosen = 0;
    const auto count = [&](const GeneratedToken&) { return ++chosen, true; };
    EXPECT_NO_THROW(model.generate("a text", two, count, {}));
    EXPECT_EQ(chosen, 2);
    const auto refused = [](const std::function<void()>& run) {
        try {
            run();
            ADD_FAILURE() << "accepted";
        } catch (const OptionError& error) {
            for (const char* part : {"token 400", "'<|pad|>'", "vocabulary of 400"})
                EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
        }
    };
    refused([&] { model.probe(model.textInput("a<|pad|>text"), {}); });
    refused([&] { model.generate("a<|pad|>text", two, count, {}); });
    EXPECT_NO_THROW(model.setTokenizer(path));
    EXPECT_THROW(model.setTokenizer("gpt2"), OptionError);
}

TEST_F(TokenizerBeside, OneOfAnotherKindIsNamed) {
    for (const char* name : {"tokenizer.json", "tokenizer_config.json"})
        fs::remove(m_folder / name);
    writeTextFile(m_folder / "tokenizer.model", "x");
    const auto model = open();
    EXPECT_EQ(model.tokenizer(), nullptr);
    EXPECT_NE(model.warning().find("tokenizer.model is a SentencePiece model"), std::string::npos)
        << model.warning();
}

}  // namespace
}  // namespace relascope
