// SPDX-License-Identifier: GPL-3.0-or-later
// relascope-cli lens and attribute, as a user meets them.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/command_line.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

namespace fs = std::filesystem;
using testing_support::TemporaryFolder;
const std::string kFixtures = RELASCOPE_FIXTURES;
const std::string kGoldenFolder = kFixtures + "/golden/", kRuns = kFixtures + "/runs/0.5/";

std::vector<std::vector<std::string>> linesOf(const std::string& path) {
    std::vector<std::vector<std::string>> lines;
    std::istringstream text(slurp(path));
    for (std::string line; std::getline(text, line);) {
        lines.emplace_back();
        std::istringstream fields(line);
        for (std::string field; std::getline(fields, field, ',');) lines.back().push_back(field);
    }
    return lines;
}

TEST(LensCli, ShowsTheAnswersOfEveryLayer) {
    const auto lens = json(runCli("lens --json " + kGoldenFolder + "lm_rca --random 3 --top 4"));
    EXPECT_EQ(lens["sample"], "random input, seed 3");
    EXPECT_EQ(lens["answers"].size(), 24u);
    ASSERT_EQ(lens["layers"].size(), 3u);
    EXPECT_EQ(lens["layers"][0]["after"], "embedding");
    const auto& cells = lens["cells"];
    ASSERT_EQ(cells.size(), 3u * 24 * 4);
    for (std::size_t c = 0; c < 24; ++c) {
        const auto& last = cells[4 * (2 * 24 + c)];
        EXPECT_EQ(last["k"], "1");
        EXPECT_EQ(last["own_rank"], 1);
        EXPECT_EQ(last["id"], lens["answers"][c]["id"]);
        EXPECT_NEAR(last["own_probability"].get<double>(),
                    lens["answers"][c]["probability"].get<double>(), 1e-6);
    }
    const auto one =
        json(runCli("lens --json " + kGoldenFolder + "lm_rca --random 3 --position -1 --answer 7"));
    ASSERT_EQ(one["answers"].size(), 1u);
    EXPECT_EQ(one["answers"][0]["position"], 23);
    EXPECT_EQ(one["cells"].back()["k"], "asked");
    EXPECT_EQ(one["cells"].back()["id"], 7);

    const auto pairs = runCli("lens " + kGoldenFolder + "seq2seq_dat_math --reference 1");
    EXPECT_NE(pairs.out.find("layer 2"), std::string::npos) << pairs.out << pairs.err;
    const auto classes = json(runCli("lens --json " + kRuns + "vision --sample 1 --answer same"));
    EXPECT_TRUE(classes["answers"][0]["position"].is_null());
    EXPECT_EQ(classes["cells"].back()["answer"], "same");
    EXPECT_NE(runCli("lens " + kRuns + "image-abstractor").out.find("symbols"), std::string::npos);
}

TEST(HeadsCli, MeasuresHeadsOfTextAndImages) {
    const auto all = json(runCli("heads --json --length 8 --seed 1 " + kGoldenFolder + "lm_rca"));
    EXPECT_EQ(all["input"], "8 random tokens, twice");
    ASSERT_FALSE(all["heads"].empty());
    const double value = all["heads"][0]["induction"];
    EXPECT_GE(value, 0.0);
    EXPECT_LE(value, 1.0);
    EXPECT_EQ(all["even"][0]["measure"], "previous token");
    EXPECT_GT(all["even"][0]["value"].get<double>(), 0.0);
    // Another input than random tokens: a text without repetitions has no duplicates.
    const auto given = json(runCli("heads --json --tokens 3,4,5 " + kGoldenFolder + "lm_rca"));
    EXPECT_EQ(given["even"][1]["measure"], "duplicate token");
    EXPECT_TRUE(given["even"][1]["value"].is_null());
    const auto edited =
        json(runCli("heads --json --length 8 --seed 1 --edit \"layer 1 sensory "
                    "head 1 uniform\" " +
                    kGoldenFolder + "lm_rca"));
    EXPECT_EQ(edited["edits"].size(), 1u);
    EXPECT_NEAR(edited["heads"][0]["previous token"].get<double>(),
                edited["even"][0]["value"].get<double>(), 1e-6);
    const auto images = runCli("heads " + kRuns + "vision --sample 1");
    EXPECT_NE(images.out.find("neighbours"), std::string::npos) << images.out << images.err;
    EXPECT_NE(images.out.find("Attention that is spread evenly"), std::string::npos);

    const TemporaryFolder folder("heads-cli");
    fs::create_directories(folder.path());
    const auto csv = folder.path() + "/heads.csv";
    EXPECT_EQ(runCli("heads " + kGoldenFolder + "lm_rca --out " + csv).code, 0);
    EXPECT_EQ(linesOf(csv)[0][3], "previous token");
    const auto refused = runCli("heads " + kGoldenFolder + "seq2seq_dat_math --reference 1");
    EXPECT_EQ(refused.code, 2);
    EXPECT_NE(refused.err.find("reads neither text nor images"), std::string::npos) << refused.err;
}

TEST(LensCli, PartsOfALogitAddUp) {
    const auto found = json(runCli("attribute --json " + kGoldenFolder +
                                   "vidat_relational_games_mixed --random 3 --logit 1 --minus 0"));
    double sum = 0.0, inside = 0.0, heads = 0.0;
    for (const auto& part : found["parts"]) {
        const auto value = part["value"].get<double>();
        (part["inside"].get<bool>() ? inside : sum) += value;
        if (part["kind"] == "relational head") heads += value;
    }
    EXPECT_NEAR(sum, found["logit"].get<double>(), 1e-5);
    EXPECT_NEAR(sum, found["sum"].get<double>(), 1e-9);
    EXPECT_NEAR(inside, heads, 1e-9);
    EXPECT_EQ(found["answer_id"], 1);
    EXPECT_EQ(found["minus_id"], 0);
    const auto words = runCli("attribute " + kRuns + "vision --logit same --minus different");
    for (const char* part : {"logit of 'same' minus that of 'different': ", "positions",
                             "layer 2 relational head 1", "bias of the output layer", "sum"})
        EXPECT_NE(words.out.find(part), std::string::npos) << part << "\n" << words.out;
}

TEST(LensCli, TheModelsOwnAnswerIsTakenApartUnlessOneIsNamed) {
    const std::string model = kGoldenFolder + "lm_rca --random 3";
    const auto own = json(runCli("attribute --json " + model));
    const auto lens = json(runCli("lens --json " + model + " --position -1"));
    EXPECT_EQ(own["answer_id"], lens["answers"][0]["id"]);
    const auto named = json(runCli("attribute --json " + model +
                                   " --logit id:" + std::to_string(own["answer_id"].get<int>())));
    EXPECT_EQ(own["parts"], named["parts"]);
}

TEST(LensCli, IsDrawn) {
    if (!fs::exists(std::string(RELASCOPE_BIN) + "/relascope"))
        GTEST_SKIP() << "the program that draws is not built";
    const TemporaryFolder folder("lens-cli-figures");
    fs::create_directories(folder.path());
    const auto lens = folder.path() + "/lens.svg", parts = folder.path() + "/parts.png";
    const auto drawn = runCli("lens " + kRuns + "vision --sample 1 --out " + lens);
    EXPECT_EQ(drawn.code, 0) << drawn.err;
    const auto text = slurp(lens);
    for (const char* word : {"layer 2", "same", "Likeliest", "vision"})
        EXPECT_NE(text.find(word), std::string::npos) << word;
    EXPECT_EQ(
        runCli("attribute " + kGoldenFolder + "lm_rca --random 3 --logit 1 --out " + parts).code,
        0);
    EXPECT_EQ(slurp(parts).rfind("\x89PNG", 0), 0u);
    const auto latex = folder.path() + "/parts.tex";
    EXPECT_EQ(runCli("attribute " + kRuns + "vision --logit same --out " + latex).code, 0);
    EXPECT_EQ(slurp(latex).rfind("\\begin{tabular}{lr}", 0), 0u) << slurp(latex);
    expectRefused("lens " + kRuns + "vision --out t.gif", 2,
                  "must end in .png, .svg, .pdf, .csv, .tex or .json");
}

TEST(LensCli, WritesTables) {
    TemporaryFolder home("lens-cli");
    fs::create_directories(home.path());
    const auto table = home / "lens.csv", parts = home / "parts.csv";
    EXPECT_EQ(
        runCli("lens " + kGoldenFolder + "lm_rca --tokens 3,4,5 --top 2 --answer 9 --out " + table)
            .code,
        0);
    auto lines = linesOf(table);
    EXPECT_EQ(lines[0], (std::vector<std::string>{"after", "position", "input", "own_id", "own",
                                                  "own_probability", "own_rank", "entropy", "k",
                                                  "id", "answer", "logit", "probability"}));
    EXPECT_EQ(lines.size(), 1 + 3 * 3 * (2 + 1u));
    EXPECT_EQ(lines[1][0], "embedding");
    EXPECT_EQ(lines[3][8], "asked");
    EXPECT_EQ(lines[3][9], "9");
    EXPECT_EQ(
        runCli("attribute " + kGoldenFolder + "lm_rca --tokens 3,4,5 --logit 9 --out " + parts)
            .code,
        0);
    lines = linesOf(parts);
    EXPECT_EQ(lines[0], (std::vector<std::string>{"part", "kind", "layer", "head", "relation",
                                                  "inside", "value", "of"}));
    EXPECT_EQ(lines[1][1], "embedding");
}

TEST(LensCli, ReadsThroughJacobians) {
    const TemporaryFolder folder("lens-cli-jacobian");
    fs::create_directories(folder.path());
    const auto text = folder / "text.txt", fitted = folder / "fitted.safetensors";
    std::string lines;
    for (int i = 0; i < 200; ++i) lines += "a text of line " + std::to_string(i) + "\n";
    std::ofstream(text) << lines;
    ASSERT_EQ(
        runCli(
            "train text --steps 2 --threads 1 --set data.context=16 --set train.batch_size=4 --set "
            "data.validation_size=4 --set model.d_model=16 --set model.dff=16 --set "
            "model.n_layers=2 --set model.n_relations=4 --set model.max_block_size=16 --set "
            "data.path=" +
            text + " --out " + folder.path() + "/run")
            .code,
        0);
    const auto run = folder.path() + "/run", base = "lens " + run + " --text \"a text\" --json ";
    const auto fit = runCli(base + "--fit-jacobian 3 --save " + fitted);
    const auto lens = json(fit);
    std::vector<std::string> rows;
    for (const auto& row : lens["layers"]) rows.push_back(row["after"]);
    EXPECT_EQ(rows, (std::vector<std::string>{"embedding", "embedding J", "layer 1", "layer 1 J",
                                              "layer 2"}));
    // It is kept beside the run, and read from there and from the file that was saved.
    const auto kept = run + "/jacobian/step-2.safetensors";
    ASSERT_TRUE(fs::exists(kept));
    const auto written = fs::last_write_time(kept);
    EXPECT_EQ(runCli(base + "--fit-jacobian 3").out, fit.out);
    EXPECT_EQ(fs::last_write_time(kept), written);
    EXPECT_EQ(runCli(base + "--jacobian " + fitted).out, fit.out);
    EXPECT_EQ(json(runCli(base + "--fit-jacobian 1"))["layers"], lens["layers"]);
    EXPECT_NE(fs::last_write_time(kept), written) << "of another number of texts";
    const auto all = runCli(base + "--fit-jacobian 100000").out;  // the text has fewer windows
    const auto whole = fs::last_write_time(kept);
    EXPECT_EQ(runCli(base + "--fit-jacobian 100000").out, all);
    EXPECT_EQ(fs::last_write_time(kept), whole);

    const auto refusal = [&](const std::string& options, const std::string& said) {
        expectRefused("lens " + run + " --text a " + options, 2, said);
    };
    refusal("--fit-jacobian 1 --jacobian " + fitted,
            "--fit-jacobian: fits a lens, and --jacobian names one");
    refusal("--save x.safetensors",
            "--save: is for a lens that is fitted; give --fit-jacobian N, too");
    refusal("--fit-text " + text, "--fit-text: is for a lens that is fitted");
    expectRefused("lens " + run + " --text a --jacobian " + text, 1,
                  text + ": is no lens by its name; give a .safetensors or a .pt file");
    expectRefused(
        "lens " + kGoldenFolder + "public/gpt2_tied --random 1 --jacobian " + fitted, 1,
        "is [16, 16]; a Jacobian lens of this model has layers.0 to layers.1, each [32, 32]");
    expectRefused("lens " + kGoldenFolder + "public/gpt2_tied --random 1 --fit-jacobian 1", 2,
                  "a checkpoint has no text of its own; name one with --fit-text FILE");
    expectRefused("lens " + kRuns + "vision --sample 1 --fit-jacobian 1", 2,
                  "fits on texts, and VisionDualAttnTransformer reads none");
}

TEST(LensCli, RefusesInOneSentence) {
    const auto lm = "attribute " + kGoldenFolder + "lm_rca --random 3 ";
    expectRefused(lm + "--logit 61", 2,
                  "--logit: there is no answer 61: the model has 61, 0 to 60");
    expectRefused(lm + "--logit x", 2, "--logit: unknown answer 'x'; give a number from 0 to 60");
    expectRefused(lm + "--logit 1 --position 24", 2, "--position: 24 is out of range");
    expectRefused(lm + "--logit 1 --out x.txt", 2, "--out: 'x.txt' must end in .png");
    expectRefused("lens " + kGoldenFolder + "lm_rca", 2, "--reference N or --random SEED");
    expectRefused("lens " + kGoldenFolder + "lm_rca --random 1 --top 0", 2, "--top");
    const auto vision = kRuns + "vision ";
    expectRefused("attribute " + vision + "--logit sane", 2, "did you mean 'same'?");
    expectRefused("lens " + vision + "--position 2", 2, "--position: this model gives one answer");
    expectRefused("lens " + kRuns + "corelnet", 2, "has no residual stream");
    expectRefused("attribute " + kRuns + "mathematics --logit 1", 2, "post-norm");
    expectRefused("attribute " + kRuns + "sorting --logit 1", 2, "those of an Abstractor");
}

}  // namespace
}  // namespace relascope
