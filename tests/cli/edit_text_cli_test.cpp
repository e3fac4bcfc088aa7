// SPDX-License-Identifier: GPL-3.0-or-later
// Texts that are generated with edits and without a prompt: they begin after the token that
// separates documents.
#include <fstream>

#include "cli/command_line.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

using testing_support::TemporaryFolder;

/// A tiny run with the tokens of GPT-2, which have a separator.
const TemporaryFolder& home() {
    static const TemporaryFolder folder("edit-text-cli");
    static const bool trained = [] {
        std::filesystem::create_directories(folder.path());
        ::setenv("XDG_CACHE_HOME", (folder / "cache").c_str(), 1);
        std::ofstream text(folder / "text.txt");
        for (int i = 0; i < 200; ++i) text << "the cat sat on the mat, and the dog saw it. ";
        text.close();
        const auto run =
            runCli("train text --steps 2 --threads 1 --device cpu --out " + folder / "run" +
                   " --set data.path=" + folder / "text.txt" +
                   " --set data.tokenizer=gpt2 --set model.vocab_size=50257 "
                   "--set data.context=8 --set data.validation_size=2 --set model.d_model=8 "
                   "--set model.dff=8 --set model.n_layers=1 --set model.n_heads_sa=1 "
                   "--set model.n_heads_ra=1 --set model.n_relations=2 --set model.n_symbols=4 "
                   "--set model.symbol_heads=1 --set train.batch_size=2 "
                   "--set data.sample_tokens=0");
        ::unsetenv("XDG_CACHE_HOME");
        EXPECT_EQ(run.code, 0) << run.err;
        return true;
    }();
    EXPECT_TRUE(trained);
    return folder;
}

nlohmann::json generated(const std::string& more) {
    const auto out =
        runCli("generate --json " + home() / "run" + " --tokens 5 --seed 1 --prompt ''" + more);
    EXPECT_EQ(out.code, 0) << out.err;
    return out.code == 0 ? json(out)["tokens"] : nlohmann::json();
}

std::string editFile(const std::string& when) {
    const auto path = home() / (when + ".json");
    std::ofstream(path) << nlohmann::json{
        {"format", "relascope-edit/1"},
        {"edits",
         {{{"op", "scale"}, {"at", "blocks.0.rel.hook_r"}, {"factor", 50}, {"when", when}}}}};
    return " --edit " + path;
}

TEST(EditTextCli, AnEmptyPromptIsTheSeparatorWithEditsAsWithout) {
    const auto plain = generated("");
    ASSERT_EQ(plain.size(), 5u);
    const auto same = generated(" --edit 'layer 1 relation 1 scale 1'");
    ASSERT_EQ(same.size(), 5u);
    for (std::size_t k = 0; k < 5; ++k) {
        EXPECT_EQ(same[k]["id"], plain[k]["id"]);
        EXPECT_NEAR(same[k]["probability"].get<double>(), plain[k]["probability"].get<double>(),
                    1e-6);
    }
    EXPECT_NE(generated(" --edit 'layer 1 relation 1 set 40'")[0]["probability"],
              plain[0]["probability"]);
    // The separator counts as the prompt.
    const auto first = [](const nlohmann::json& tokens) {
        return tokens[0]["probability"].get<double>();
    };
    EXPECT_NE(first(generated(editFile("prompt"))), first(plain));
    EXPECT_NEAR(first(generated(editFile("new"))), first(plain), 1e-6);
}

}  // namespace
}  // namespace relascope
