// SPDX-License-Identifier: GPL-3.0-or-later
// relascope-cli parts: all parameters of a model once, in parts that people know by their names.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/command_line.h"
#include "files/atomic_file.h"
#include "question/table_command.h"
#include "support/golden_cases.h"
#include "support/recorded_run.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "views/view_file.h"

namespace relascope {
namespace {

using testing_support::TemporaryFolder;

const std::string kPartsGolden = std::string(RELASCOPE_FIXTURES) + "/golden/";
const std::string kPartsRuns = std::string(RELASCOPE_FIXTURES) + "/runs/0.5/";

Answer partsAt(const std::string& path) {
    return core::findTableCommand("parts")->answer({"parts", {{path}}, {}});
}

TEST(Parts, AddUpToTheParametersOfEveryModel) {
    for (const auto& name : testing_support::goldenCases()) {
        SCOPED_TRACE(name);
        const auto answer = partsAt(kPartsGolden + name);
        const auto& parts = answer.table("parts");
        double parameters = 0.0, shares = 0.0;
        for (const auto count : parts.numbers("parameters")) parameters += count;
        for (const auto share : parts.numbers("share")) shares += share;
        EXPECT_EQ(parameters, answer.number("parameters"));
        EXPECT_NEAR(shares, 1.0, 1e-12);
        const auto& names = parts.texts("name");
        EXPECT_EQ(std::set(names.begin(), names.end()).size(), names.size()) << "each part once";
        for (std::size_t row = 0; row < parts.rows(); ++row) {
            const auto& kind = parts.texts("kind")[row];
            EXPECT_FALSE(kind.empty());
            EXPECT_NE(kind, "others") << "the outline has a part for everything";
            EXPECT_EQ(kind.find_first_of("0123456789"), std::string::npos) << kind;
        }
    }
}

TEST(Parts, AreNamedByLayerAndKind) {
    const auto all = json(
        runCli("parts --json " + kPartsGolden + "lm_position_relative_postnorm_rmsnorm_swiglu"));
    std::set<std::string> second;
    for (const auto& part : all["parts"])
        if (part["layer"] == 2) second.insert(part["kind"]);
    EXPECT_EQ(second, (std::set<std::string>{"sensory attention", "relational attention",
                                             "feed-forward", "norm", "symbols"}));
    EXPECT_EQ(all["parts"][0]["kind"], "token embedding");
    EXPECT_TRUE(all["parts"][0]["layer"].is_null());
    // Of a run the same as info says.
    const auto run = json(runCli("parts --json " + kPartsRuns + "vision"));
    EXPECT_EQ(run["parameters"],
              json(runCli("info --json " + kPartsRuns + "vision"))["parameters"]);
    EXPECT_EQ(run["trainable"], run["parameters"]);
    const auto text = runCli("parts " + kPartsGolden + "public/gpt2_tied");
    EXPECT_EQ(text.code, 0) << text.err;
    EXPECT_NE(text.out.find("self-attention"), std::string::npos) << text.out;
}

TEST(Parts, AreWrittenAndAreAView) {
    const TemporaryFolder folder("parts");
    std::filesystem::create_directories(folder.path());
    const auto run = kPartsRuns + "vision";
    for (const std::string ending : {".csv", ".tex", ".json"})
        EXPECT_EQ(runCli("parts " + run + " --out " + (folder / "parts") + ending).code, 0);
    const auto csv = slurp(folder / "parts.csv");
    EXPECT_TRUE(csv.starts_with("name,kind,layer,parameters,share\n")) << csv;
    EXPECT_EQ(nlohmann::json::parse(slurp(folder / "parts.json")),
              json(runCli("parts --json " + run)));
    View view;
    view.command = "parts";
    view.subjects = {{run}};
    core::writeTextFile(folder / "x.relaview", core::viewToJson(view, folder.path()).dump());
    const auto drawn =
        runCli("draw " + (folder / "x.relaview") + " --out " + (folder / "view.csv"));
    EXPECT_EQ(drawn.code, 0) << drawn.err;
    EXPECT_EQ(slurp(folder / "view.csv"), csv);
    expectRefused("parts " + run + " --out a.txt", 2, "a.txt");
}

TEST(Parts, RefusesWhatHasNoModel) {
    const TemporaryFolder folder("parts-none");
    const auto recorded = folder / "recorded", bare = folder / "bare";
    testing_support::recordRun(kPartsRuns + "vision", recorded);
    expectRefused("parts " + recorded, 2, "recorded by another program");
    std::filesystem::create_directories(bare);
    std::filesystem::copy_file(kPartsGolden + "lm_rca/model.safetensors",
                               bare + "/model.safetensors");
    expectRefused("parts " + bare, 2, "put its config.json beside it");
    expectRefused("parts " + (folder / "none"), 1, "none");
    expectRefused("parts " + kPartsRuns + "vision --checkpoint best", 2, "--checkpoint");
}

}  // namespace
}  // namespace relascope
