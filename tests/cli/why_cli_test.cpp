// SPDX-License-Identifier: GPL-3.0-or-later
// relascope-cli origins and contrast, as a user meets them.
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
        json(runCli("origins --json " + kWhyGolden +
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
    const auto cross = runCli("origins " + kWhyGolden +
                              "seq2seq_dat_math --reference 1 --stack decoder --kind cross "
                              "--layer 1 --source 2 --to 1");
    EXPECT_EQ(cross.code, 0) << cross.err;
    EXPECT_NE(cross.out.find("against the mean of its row"), std::string::npos) << cross.out;
    EXPECT_NE(cross.out.find("encoder embedding"), std::string::npos) << cross.out;
    const testing_support::TemporaryFolder folder{"origins"};
    std::filesystem::create_directories(folder.path());
    const auto out = folder / "o.csv";
    EXPECT_EQ(
        runCli("origins " + kWhyRuns + "vision --sample 1 --layer 1 --source 3 --to 5 --out " + out)
            .code,
        0);
    EXPECT_EQ(slurp(out).rfind("i,j,value", 0), 0u);
}

TEST(OriginsCli, RefusesWithTheReason) {
    const auto cell = [](const std::string& model) {
        return "origins " + kWhyGolden + model + " --reference 1 --layer 1 ";
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

}  // namespace
}  // namespace relascope
