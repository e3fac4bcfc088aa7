// SPDX-License-Identifier: GPL-3.0-or-later
// relascope-cli qk-attribution, contrast and qk-components, as a user meets them.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/command_line.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

const std::string kWhyFixtures = RELASCOPE_FIXTURES;
const std::string kWhyGolden = kWhyFixtures + "/golden/", kWhyRuns = kWhyFixtures + "/runs/0.5/";

TEST(OriginsCli, SplitsACellOfEveryKindOfModel) {
    const auto origins =
        json(runCli("qk-attribution --json " + kWhyGolden +
                    "lm_symbolic_rope_gqa --reference 1 --layer 2 --index 3 --source 10 --to 4 "
                    "--grain heads --tokens-of 'layer 1 relational head 1 relation 2' --top 3"));
    EXPECT_EQ(origins["map"], "layer 2 relation 3");
    EXPECT_EQ(origins["against"], "none");
    double sum = 0.0, tokens = 0.0, part = 0.0;
    for (const auto& row : origins["parts_i"]) {
        sum += row["value"].get<double>();
        if (row["part"] == "layer 1 relational head 1 relation 2") part = row["value"];
    }
    EXPECT_NEAR(sum, origins["value"].get<double>(), 1e-5);
    for (const auto& row : origins["tokens_i"]) tokens += row["value"].get<double>();
    EXPECT_NEAR(tokens, part, 1e-5);
    EXPECT_LE(origins["pairs"].size(), 6U);
    // Attention is read against its row, and a decoder's map names the parts of the other stack.
    const auto cross = runCli("qk-attribution " + kWhyGolden +
                              "seq2seq_dat_math --reference 1 --stack decoder --kind cross "
                              "--layer 1 --source 2 --to 1");
    EXPECT_EQ(cross.code, 0) << cross.err;
    EXPECT_NE(cross.out.find("against the mean of its row"), std::string::npos) << cross.out;
    EXPECT_NE(cross.out.find("encoder embedding"), std::string::npos) << cross.out;
    const testing_support::TemporaryFolder folder{"origins"};
    std::filesystem::create_directories(folder.path());
    const auto out = folder / "o.csv";
    EXPECT_EQ(runCli("qk-attribution " + kWhyRuns +
                     "vision --sample 1 --layer 1 --source 3 --to 5 --out " + out)
                  .code,
              0);
    EXPECT_EQ(slurp(out).rfind("i,j,value", 0), 0u);
}

TEST(OriginsCli, IsAlsoGivenByItsNameOfEarlierVersions) {
    const auto words = " --json " + kWhyGolden +
                       "lm_rca --reference 1 --layer 1 --kind attention-ra --source 4 --to 2";
    const auto now = runCli("qk-attribution" + words);
    EXPECT_EQ(now.code, 0) << now.err;
    EXPECT_EQ(runCli("origins" + words).out, now.out);
    EXPECT_EQ(runCli("--threads 1 origins" + words).out, now.out);
    EXPECT_EQ(runCli("dictionary --help").out, runCli("qk-components --help").out);
    const auto help = runCli("--help").out;
    EXPECT_NE(help.find("  qk-components "), std::string::npos) << help;
    EXPECT_EQ(help.find("dictionary"), std::string::npos) << help;
}

TEST(OriginsCli, RefusesWithTheReason) {
    const auto cell = [](const std::string& model) {
        return "qk-attribution " + kWhyGolden + model + " --reference 1 --layer 1 ";
    };
    expectRefused(cell("lm_rca") + "--kind attention-ra --source 4 --to 9", 2,
                  "token 9 lies behind the mask of token 4");
    expectRefused(cell("relational_games_corelnet") + "--source 0 --to 1", 2,
                  "compares one vector");
    expectRefused(cell("nanochat_hadamard_half") + "--kind attention-sa --source 4 --to 1", 2,
                  "rescales each query after the projection");
    expectRefused(cell("lm_rca") + "--kind attention-ra --source 4", 2, "--to");
}

TEST(ContrastCli, RefusesAnAttributeThatIsNotThere) {
    expectRefused("contrast " + kWhyRuns + "vision --layer 1 --attribute 'same colur'", 2,
                  "same colour");
}

TEST(DictionaryCli, ListsTokensPatternsAndPartners) {
    // A checkpoint has no data: all tokens count alike.
    const auto text = json(runCli("qk-components --json " + kWhyGolden +
                                  "public/gpt2_tied --layer 1 --kind attention-sa --index 2 "
                                  "--token id:17 --top 3 --components 2 --at 5,3"));
    EXPECT_EQ(text["map"], "layer 1 head 2 (attention-sa)");
    EXPECT_EQ(text["vocabulary"], 400);
    EXPECT_EQ(text["components"].size(), 2U);
    EXPECT_EQ(text["extremes"].size(), 6U);
    EXPECT_EQ(text["partners"].size(), 12U);
    EXPECT_EQ(text["tokens"].size(), 2U * 2U * 2U * 8U);
    EXPECT_NEAR(text["receivers"].get<double>(), 0.29481, 1e-4) << "golden case dictionary_gpt2";
    // What is said of a later layer is the direct path.
    const auto later =
        runCli("qk-components " + kWhyGolden + "lm_symbolic_rope_gqa --layer 2 --components 2");
    EXPECT_EQ(later.code, 0) << later.err;
    EXPECT_NE(later.out.find("As if the layers before added nothing"), std::string::npos)
        << later.out;
    // Patches of a run, with its facts; tables and numbers as files.
    const testing_support::TemporaryFolder folder{"dictionary"};
    std::filesystem::create_directories(folder.path());
    const auto out = folder / "d.json", tex = folder / "d.tex", csv = folder / "d.csv";
    const auto patches =
        "qk-components " + kWhyRuns + "vision --layer 1 --components 2 --split validation ";
    EXPECT_EQ(runCli(patches + "--attribute 'same colour' --out " + out).code, 0);
    const auto found = nlohmann::json::parse(slurp(out));
    EXPECT_EQ(found["objects"], "patches");
    EXPECT_EQ(found["components"].size(), 2U);
    EXPECT_TRUE(found["components"][0]["difference"].is_number());
    EXPECT_EQ(found["numbers"].size() % 4, 0U);
    EXPECT_EQ(runCli(patches + "--out " + tex).code, 0);
    EXPECT_NE(slurp(tex).find("Follows"), 0U);
    EXPECT_EQ(runCli(patches + "--out " + csv).code, 0);
    EXPECT_EQ(slurp(csv).rfind("component,share,", 0), 0u);
}

TEST(DictionaryCli, RefusesWithTheReason) {
    expectRefused("qk-components " + kWhyGolden + "vidat_relational_games_mixed --layer 1", 2,
                  "--data");
    expectRefused("qk-components " + kWhyGolden + "relational_games_corelnet --layer 1", 2,
                  "compares one vector");
    expectRefused("qk-components " + kWhyGolden + "lm_rca --layer 1 --kind attention-ra --at 3", 2,
                  "--at");
    expectRefused("qk-components " + kWhyGolden +
                      "lm_rca --layer 1 --kind attention-ra "
                      "--weights /nowhere.txt",
                  2, "--weights");
    expectRefused("qk-components " + kWhyGolden +
                      "public/gpt2_tied --layer 1 --kind attention-sa "
                      "--weights /nowhere.txt",
                  1, "nowhere");
}

}  // namespace
}  // namespace relascope
