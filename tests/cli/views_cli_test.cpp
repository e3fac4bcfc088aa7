// SPDX-License-Identifier: GPL-3.0-or-later
// relascope-cli draw: a view gives the picture of its command, to the byte, with its data also
// without weights; and files that do not fit are refused in a sentence.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "cli/command_line.h"
#include "files/atomic_file.h"
#include "files/sha256.h"
#include "question/question_words.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"
#include "views/view_file.h"
#include "wire/figures.h"

namespace relascope {
namespace {

namespace fs = std::filesystem;
using testing_support::TemporaryFolder;
using Texts = std::vector<std::string>;

class ViewsCli : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        folder = new TemporaryFolder("views-cli");
        ASSERT_EQ(runCli("train quick --steps 4 --threads 1 --out " + run() +
                         " --set data.train_size=64 --set data.validation_size=48 --set "
                         "data.test_size=16")
                      .code,
                  0);
        ASSERT_EQ(runCli("study relational-games-same --models dat,transformer --sizes 32 --seeds "
                         "1 --quiet --set train.steps=1 --set data.validation_size=16 --set "
                         "data.test_size=16 --out " +
                         study())
                      .code,
                  0);
    }
    static void TearDownTestSuite() { delete folder; }
    static std::string run() { return folder->path() + "/run"; }
    static std::string study() { return folder->path() + "/study"; }
    static std::string file() { return folder->path() + "/x.relaview"; }
    static std::string out(const std::string& name) { return folder->path() + "/" + name; }

    static View viewOf(const std::string& command, std::vector<Option> options) {
        View view;
        view.command = command;
        view.subjects = {{command == "study" ? study() : run(), "", "", "", {}}};
        view.options = std::move(options);
        return view;
    }
    static View mapView() {
        return viewOf("inspect", {{"sample", std::int64_t{3}},
                                  {"split", std::string("validation")},
                                  {"layer", std::int64_t{1}},
                                  {"kind", std::string("relation")},
                                  {"index", std::int64_t{1}},
                                  {"source", std::int64_t{4}},
                                  {"to", std::int64_t{2}}});
    }
    static View with(View view, std::vector<Option> more) {
        for (auto& option : more) view.options.push_back(std::move(option));
        return view;
    }
    static void save(View view) {
        core::identify(view);
        core::writeViewFile(file(), view);
    }
    /// A picture without the line that names the view file.
    static std::string withoutView(const std::string& svg) {
        return std::regex_replace(svg, std::regex("\nView: x\\.relaview"), "");
    }
    static void expectDrawn(const View& view) {
        save(view);
        const auto command = core::commandOf(view, out("command.svg"));
        // What the menu copies, for the shell of the test.
        const auto words = command.substr(std::string("relascope-cli ").size());
        // With as many threads as the view, by which sums are rounded: those of one input are drawn
        // by this command itself.
        const bool own =
            view.command == "curves" || view.command == "attribute" || view.command == "data";
        const auto direct = runCli(words + (own ? "" : " --threads 1"));
        ASSERT_EQ(direct.code, 0) << command << "\n" << direct.err;
        const auto drawn = runCli("draw " + file() + " --out " + out("view.svg"));
        ASSERT_EQ(drawn.code, 0) << command << "\n" << drawn.err;
        const auto svg = slurp(out("view.svg"));
        EXPECT_EQ(withoutView(svg), slurp(out("command.svg"))) << command;
        EXPECT_NE(svg.find("View: x.relaview"), std::string::npos) << command;
        EXPECT_NE(svg.find("Command: relascope-cli " + view.command), std::string::npos);
        // A second time to the byte.
        ASSERT_EQ(runCli("draw " + file() + " --out " + out("again.svg")).code, 0);
        EXPECT_EQ(slurp(out("again.svg")), svg) << command;
    }
    static inline TemporaryFolder* folder = nullptr;
};

TEST_F(ViewsCli, TenKindsOfViewsAreTheirCommands) {
    expectDrawn(mapView());
    expectDrawn(with(mapView(), {{"transposed", true},
                                 {"form", std::string("softmax")},
                                 {"range", std::string("map")},
                                 {"green_red", true}}));
    expectDrawn(with(mapView(), {{"parts", Texts{"source"}}, {"unclipped", true}}));
    expectDrawn(with(mapView(), {{"parts", Texts{"small"}}, {"order", std::string("spread")}}));
    auto edited = mapView();
    edited.subjects[0].edits = {"layer 1 relation 1 zero"};
    expectDrawn(with(edited, {{"show", std::string("difference")}}));
    expectDrawn(viewOf("lens", {{"sample", std::int64_t{1}}}));
    expectDrawn(viewOf("attribute", {{"sample", std::int64_t{1}}}));
    expectDrawn(viewOf("heads", {{"sample", std::int64_t{2}}}));
    expectDrawn(viewOf("along", {{"sample", std::int64_t{0}},
                                 {"layer", std::int64_t{1}},
                                 {"kind", std::string("relation")},
                                 {"index", std::int64_t{1}},
                                 {"source", std::int64_t{1}},
                                 {"to", std::int64_t{2}}}));
    auto fine = viewOf("ablate", {{"split", std::string("validation")}});
    fine.dpi = 96, fine.paper = true;
    expectDrawn(fine);
    expectDrawn(viewOf("patch", {{"clean", std::string("sample:0")},
                                 {"corrupt", std::string("sample:1")},
                                 {"split", std::string("validation")}}));
    expectDrawn(viewOf("shares", {{"split", std::string("validation")}}));
    auto two = mapView();
    two.subjects[0].edits = {"layer 1 relation 1 scale 0.5"};
    two.subjects.push_back({run(), "", "0", "", {"layer 1 relation 1 zero"}});
    two.dark = true;
    expectDrawn(with(two, {{"show", std::string("difference")}}));
    expectDrawn(viewOf("study", {{"metric", std::string("accuracy")}}));
    expectDrawn(viewOf("study", {{"metric", std::string("accuracy")},
                                 {"band", std::string("two-standard-errors")},
                                 {"no_published", true},
                                 {"reference", true}}));
    expectDrawn(
        viewOf("curves",
               {{"axis", std::string("epoch")}, {"log_y", true}, {"title", std::string("a run")}}));
}

TEST_F(ViewsCli, TheLookOfAMapIsDrawn) {
    const auto drawn = [](const View& view) {
        save(view);
        EXPECT_EQ(runCli("draw " + file() + " --out " + out("look.svg")).code, 0);
        const auto svg = slurp(out("look.svg"));
        return svg.substr(svg.find("</desc>"));
    };
    const auto usual = drawn(mapView());
    for (const auto& option : std::vector<Option>{{"form", std::string("tanh")},
                                                  {"form", std::string("sign")},
                                                  {"range", std::string("fixed")},
                                                  {"green_red", true},
                                                  {"transposed", true},
                                                  {"parts", Texts{"map"}}})
        EXPECT_NE(drawn(with(mapView(), {option})), usual) << option.name;
}

TEST_F(ViewsCli, AMapMinusThatOfAnotherModel) {
    const auto values = [](const std::string& more) {
        const auto shown = runCli("inspect " + run() + " --sample 3 --json --threads 1 " + more);
        EXPECT_EQ(shown.code, 0) << more << "\n" << shown.err;
        return json(shown)["values"].get<std::vector<double>>();
    };
    const std::string edit = "'layer 1 relation 1 scale 0.5'";
    const auto a = values(""), b = values("--edit " + edit + " --step 0"),
               both = values(run() + " --other-step 0 --other-edit " + edit);
    ASSERT_EQ(both.size(), a.size());
    double largest = 0.0;
    for (std::size_t k = 0; k < a.size(); ++k) {
        EXPECT_NEAR(both[k], a[k] - b[k], 1e-5) << k;
        largest = std::max(largest, std::abs(both[k]));
    }
    EXPECT_GT(largest, 0.01);
    EXPECT_EQ(values("--other-step 0 --other-edit " + edit), both);  // the same model
    EXPECT_EQ(values("--show before --other-step 0 --other-edit " + edit), b);
    EXPECT_EQ(values("--show after --other-step 0"), a);
    // The other may have a shorter name.
    std::filesystem::create_directory_symlink(run(), out("b"));
    EXPECT_EQ(values(out("b") + " --show before"), a);
    expectRefused("inspect " + run() + " " + run() + " --along --source 1 --to 2", 2, "other: ");
    expectRefused("inspect " + run() + " nowhere", 1, "nowhere");
    expectRefused("inspect " + run() + " hub:nobody/nothing", 1, "nobody/nothing");
    expectRefused("inspect " + run() + " " + run() + "/checkpoints/step-4 --other-step 2", 2,
                  "--step: needs a run folder");
}

TEST_F(ViewsCli, AStudyIsShownByItsFolder) {
    const auto byOut = runCli("study --out " + study() + " --show"),
               byFolder = runCli("study " + study() + " --show"),
               runs = runCli("study " + study() + " --show --runs");
    EXPECT_EQ(byFolder.code, 0) << byFolder.err;
    EXPECT_EQ(byFolder.out, byOut.out);
    EXPECT_NE(runs.out.find("state"), std::string::npos) << runs.out;
    EXPECT_NE(runs.out.find("done"), std::string::npos) << runs.out;
    EXPECT_FALSE(
        json(runCli("study " + study() + " --show --json"))["cells"][0]["value"].is_null());
    expectRefused("study quick", 2, "--out: is missing");
    expectRefused("study", 2, "give the folder of a study");
    expectRefused("study " + study() + " --show --band wide --figure x.svg", 2, "--band");
}

TEST_F(ViewsCli, ATableIsDrawnOfAMap) {
    save(mapView());
    const auto drawn = runCli("draw " + file() + " --out " + out("map.csv"));
    ASSERT_EQ(drawn.code, 0) << drawn.err;
    const auto direct =
        runCli("inspect " + run() + " --sample 3 --layer 1 --kind relation --index 1 --out " +
               out("direct.csv"));
    ASSERT_EQ(direct.code, 0) << direct.err;
    EXPECT_EQ(slurp(out("map.csv")), slurp(out("direct.csv")));
    EXPECT_FALSE(slurp(out("map.csv")).empty());
    save(viewOf("lens", {{"sample", std::int64_t{1}}}));
    ASSERT_EQ(runCli("draw " + file() + " --out " + out("lens.csv")).code, 0);
    ASSERT_EQ(runCli("lens " + run() + " --sample 1 --out " + out("direct.csv")).code, 0);
    EXPECT_EQ(slurp(out("lens.csv")), slurp(out("direct.csv")));
}

TEST_F(ViewsCli, LastAndBestAreSteps) {
    const auto last = json(runCli("inspect " + run() + " --sample 1 --step last --json"));
    EXPECT_EQ(last["step"], 4);
    EXPECT_EQ(last, json(runCli("inspect " + run() + " --sample 1 --json")));
    const auto best = json(runCli("inspect " + run() + " --sample 1 --step best --json"));
    const auto evaluated = json(runCli("eval " + run() + " --checkpoint best --json"));
    EXPECT_EQ(best["step"], evaluated["step"]);
    EXPECT_EQ(json(runCli("eval " + run() + " --step best --json")), evaluated);
    auto view = mapView();
    view.subjects[0].checkpoint = "best";
    expectDrawn(view);
    expectRefused("inspect " + run() + " --step newest", 2, "'newest' is no step");
    expectRefused("inspect " + run() + " --along --source 0 --to 0 --step last", 2, "--step");
}

TEST_F(ViewsCli, WhoNamesOtherWeightsDoesNotGetWhatWasSaved) {
    Answer answer{{{"t", "T", {{"x", "x", "", ColumnKind::Integer, {}, "", "", "", {7}}}}}};
    answer.tables[0].columns.push_back(answer.tables[0].columns[0]);
    answer.tables[0].columns[1].key = "y";
    const auto bytes = wire::figureBytes(wire::AnalysisFigure{"lens", answer, "saved"});
    const std::string data(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    auto view = viewOf("lens", {{"sample", std::int64_t{1}}});
    core::identify(view);
    view.data = "x.relaview.data", view.dataChecksum = "sha256:" + core::sha256Of(data);
    core::writeTextFile(file() + ".data", data);
    core::writeViewFile(file(), view);
    const auto to = " --out " + out("saved.csv");
    ASSERT_EQ(runCli("draw " + file() + to).code, 0);
    EXPECT_EQ(slurp(out("saved.csv")), "x,y\n7,7\n");
    expectRefused("draw " + file() + " --path " + out("nowhere") + to, 1, "is not on this machine");
    for (const std::string& more : {" --path " + run(), std::string(" --any-weights")}) {
        ASSERT_EQ(runCli("draw " + file() + more + to).code, 0) << more;
        EXPECT_EQ(slurp(out("saved.csv")).find("x,y\n"), std::string::npos) << more;
    }
}

TEST_F(ViewsCli, RefusesInASentence) {
    save(mapView());
    const auto refused = [](const std::string& more, const std::string& words) {
        expectRefused("draw " + file() + " --out " + out("x.svg") + more, 1, words);
    };
    // Edits that do not fit the model.
    auto edited = mapView();
    edited.subjects[0].edits = {"layer 9 relation 1 zero"};
    save(edited);
    expectRefused("draw " + file() + " --out " + out("x.svg"), 2, "layer 9");
    // Other weights.
    auto other = mapView();
    other.subjects[0].weights = "sha256:" + std::string(64, '0');
    save(other);
    refused("", "has other weights (sha256:");
    EXPECT_EQ(runCli("draw " + file() + " --any-weights --out " + out("x.svg")).code, 0);
    // No weights; and the same ones elsewhere.
    auto gone = mapView();
    core::identify(gone);
    gone.subjects[0].path = folder->path() + "/gone";
    core::writeViewFile(file(), gone);
    refused("", "is not on this machine; give the place of these weights with --path");
    EXPECT_EQ(runCli("draw " + file() + " --path " + run() + " --out " + out("x.svg")).code, 0);
    // What others wrote.
    core::writeTextFile(file(), R"({"format": "relascope-view/1", "command": "train"})");
    refused("", "x.relaview: command: ");
    core::writeTextFile(file(), "no view");
    refused("", "is no JSON");
    expectRefused("draw " + run() + " --out " + out("x.svg"), 2, "must end in .relaview");
    expectRefused("draw " + file() + " --out " + out("x.gif"), 2, "must end in");
    expectRefused("inspect " + run() + " --to 999 --out " + out("x.svg"), 2, "--to: 999");
    expectRefused("lens " + run() + " --dpi 9 --out " + out("x.svg"), 2, "--dpi");
}

}  // namespace
}  // namespace relascope
