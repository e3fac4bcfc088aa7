// SPDX-License-Identifier: GPL-3.0-or-later
// relascope-cli figure: every figure that has a name is drawn, by its elements, and what it is not
// of is refused in words.
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/command_line.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "views/papers_figures.h"

namespace relascope {
namespace {

namespace fs = std::filesystem;
using testing_support::TemporaryFolder;

class FigureCli : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        folder = new TemporaryFolder("figure-cli");
        const std::string small =
            " --set data.train_size=64 --set data.validation_size=48 --set data.test_size=16";
        ASSERT_EQ(runCli("train quick --steps 3 --threads 1 --out " + run() + small).code, 0);
        ASSERT_EQ(runCli("train text --steps 2 --threads 1 --set model.d_model=32 --set "
                         "model.dff=32 --set train.batch_size=2 --set data.validation_size=8 "
                         "--set \"data.pinned_text=a model in a state of\" --out " +
                         text())
                      .code,
                  0);
        ASSERT_EQ(runCli("study relational-games-same --models dat,dat-asymmetric,transformer "
                         "--sizes 32,64 --seeds 1 --quiet --set train.steps=1 --set "
                         "data.validation_size=16 --set data.test_size=16 --out " +
                         study())
                      .code,
                  0);
        ASSERT_EQ(runCli("study text --models dat,dat-rca --vary model.n_layers=1,2 --seeds 1 "
                         "--quiet --set train.steps=1 --set model.d_model=32 --set model.dff=32 "
                         "--set train.batch_size=2 --set data.validation_size=8 --out " +
                         languages())
                      .code,
                  0);
    }
    static void TearDownTestSuite() { delete folder; }
    static std::string run() { return folder->path() + "/run"; }
    static std::string text() { return folder->path() + "/text"; }
    static std::string study() { return folder->path() + "/study"; }
    static std::string languages() { return folder->path() + "/languages"; }
    /// The words in a figure.
    static std::string drawn(const std::string& words) {
        const auto out = folder->path() + "/figure.svg";
        fs::remove(out);
        const auto said = runCli("figure " + words + " --out " + out);
        EXPECT_EQ(said.code, 0) << words << ": " << said.err;
        return slurp(out);
    }
    static void expectWords(const std::string& svg, std::initializer_list<const char*> words) {
        for (const auto* word : words)
            EXPECT_NE(svg.find(word), std::string::npos) << word << " is not drawn";
    }
    static inline TemporaryFolder* folder = nullptr;
};

TEST_F(FigureCli, ListsAndDocumentsEveryFigure) {
    const auto list = runCli("figure").out;
    const auto document =
        slurp(std::string(RELASCOPE_FIXTURES) + "/../../resources/docs/interface.md");
    for (const auto& figure : core::papersFigures()) {
        EXPECT_NE(("\n" + list).find("\n" + figure.name + " "), std::string::npos) << figure.name;
        EXPECT_NE(
            document.find("| `" + figure.name + "` | " + figure.title + " | " + figure.of + " |"),
            std::string::npos)
            << figure.name << " is not in interface.md as in the table";
    }
}

TEST_F(FigureCli, RefusesInWords) {
    const auto out = " --out " + folder->path() + "/x.svg";
    expectRefused("figure vidat-relatoin " + run() + out, 2, "vidat-relation");
    expectRefused("figure ablation " + run(), 2, "is missing");
    expectRefused("figure ablation " + run() + " --out x.csv", 2, ".png, .svg or .pdf");
    expectRefused("figure ablation" + out, 2, "is of a run");
    expectRefused("figure tasks " + run() + out, 2, "leave out");
    expectRefused("figure sorting " + study() + out, 2, "is a study of relational-games-same");
    expectRefused("figure relational-games-rca " + study() + out, 2,
                  "the study has dat, dat-asymmetric, transformer");
    expectRefused("figure lm-relation " + run() + out, 2, "language models only");
    expectRefused("figure ablation " + run() + out + " --exampels 3", 2, "--examples");
}

TEST_F(FigureCli, DrawsThoseOfRuns) {
    if (!fs::exists(std::string(RELASCOPE_BIN) + "/relascope")) GTEST_SKIP();
    // Two layers: the second stands for the fifth.
    expectWords(drawn("vidat-relation " + run() + " --sample 3 --source 5"),
                {"layer 1", "layer 2", "pentos 3"});
    expectWords(drawn("lm-relation " + text()), {"token 6 ", "token 17 ", "layer 1", "layer 4"});
    const auto forms = drawn("authors-app " + text());
    expectWords(forms, {"sign r", "sigmoid r", "softmax r", "2nd to 98th percentile", ">ij<"});
    const auto transposed = drawn("authors-app " + text() + " --transposed --tints relation,sign");
    expectWords(transposed, {"sign r", ">ji<"});
    EXPECT_EQ(transposed.find("softmax"), std::string::npos);
    expectWords(drawn("ablation " + run() + " --examples 8 --how zero"),
                {"layer 1 relation 1", "Parts removed"});
    expectWords(drawn("patching " + run() + " --estimate"), {"Relational heads"});
    const std::string quick = " --examples 16 --untrained 0 --use-examples 0";
    expectWords(drawn("atlas-page " + run() + quick), {"Relation atlas", "layer 2 relation 1"});
    expectWords(drawn("appeared " + run() + quick), {"Along training"});
    const auto tasks = drawn("tasks");
    expectWords(tasks, {"XOccurs", "not between", "Match pattern"});
}

TEST_F(FigureCli, DrawsForAPaperWithTheCaptionBesideIt) {
    if (!fs::exists(std::string(RELASCOPE_BIN) + "/relascope")) GTEST_SKIP();
    const auto svg = drawn("vidat-relation " + run() + " --sample 3 --source 5 --paper");
    expectWords(svg, {"Relation 1 of layer 1"});
    EXPECT_EQ(svg.find("pentos 3"), std::string::npos);
    expectWords(slurp(folder->path() + "/figure.txt"), {"pentos 3", "step 3", "Relation 1 of"});
    const auto ablation = drawn("ablation " + run() + " --examples 8 --how zero --paper");
    expectWords(ablation, {"Parts removed"});
    expectWords(slurp(folder->path() + "/figure.txt"), {"run, step 3"});
    expectWords(drawn("relational-games " + study() + " --paper"), {"transformer"});
    EXPECT_EQ(runCli("presets --paper").code, 2) << "no picture";
}

TEST_F(FigureCli, DrawsThoseOfStudies) {
    if (!fs::exists(std::string(RELASCOPE_BIN) + "/relascope")) GTEST_SKIP();
    expectWords(drawn("relational-games " + study()), {"dat-asymmetric", "transformer"});
    const auto symmetry = drawn("relational-games-symmetry " + study());
    expectWords(symmetry, {"dat-asymmetric"});
    EXPECT_EQ(symmetry.find("transformer"), std::string::npos) << "it compares others";
    expectWords(drawn("scaling " + languages()), {"dat-rca", "n_layers", "erplexity"});
    expectWords(drawn("rca-language " + languages()), {"dat-rca", "erplexity"});
}

}  // namespace
}  // namespace relascope
