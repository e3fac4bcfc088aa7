// SPDX-License-Identifier: GPL-3.0-or-later
// View files: what is written is read again, what others wrote is checked, and a view in words is
// what the shell gives to the command.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "files/atomic_file.h"
#include "files/home_folder.h"
#include "files/sha256.h"
#include "question/question_fields.h"
#include "question/question_words.h"
#include "support/shell_words.h"
#include "support/temporary_folder.h"
#include "types/text_format.h"
#include "views/map_look.h"
#include "views/papers_figures.h"
#include "views/view_file.h"
#include "views/weights_checksum.h"
#include "wire/figures.h"

namespace relascope {
namespace {

namespace fs = std::filesystem;
using testing_support::shellWords;
using testing_support::TemporaryFolder;
using Json = nlohmann::ordered_json;

View mapView() {
    View view;
    view.command = "inspect";
    view.version = "1.0";
    view.subjects = {{"/data/runs/quick", "", "96", "crc32:0123abcd", {"layer 2 relation 3 zero"}}};
    view.options = {{"sample", std::int64_t{12}},
                    {"split", std::string("validation")},
                    {"layer", std::int64_t{2}},
                    {"kind", std::string("attention-x-relation")},
                    {"index", std::int64_t{3}},
                    {"source", std::int64_t{8}},
                    {"to", std::int64_t{5}},
                    {"head", std::int64_t{2}},
                    {"form", std::string("softmax")},
                    {"green_red", true},
                    {"parts", std::vector<std::string>{"source", "small"}}};
    view.paper = true;
    return view;
}

/// Of data, which are a file, or an experiment by its name.
View dataView(const std::string& place) {
    View view;
    view.command = "data";
    view.subjects = {{place, "", "", "", {}}};
    view.options = {{"split", std::string("train")}, {"sample", std::int64_t{3}}};
    return view;
}

View lensView() {
    View view;
    view.command = "lens";
    view.subjects = {{"/models/gpt2", "openai/gpt2@abc", "", "sha256:" + std::string(64, 'a'), {}}};
    view.options = {{"text", std::string("it's a \"test\"\nof $HOME")}};
    view.dpi = 150;
    return view;
}

/// The view of the file with a change.
View changed(const View& view, const std::function<void(Json&)>& change,
             const std::string& file = "/views/x.relaview") {
    auto json = core::viewToJson(view, "/views");
    change(json);
    return core::viewFromJson(json.dump(), file);
}

std::string refusal(const View& view, const std::function<void(Json&)>& change) {
    try {
        changed(view, change);
    } catch (const FileError& error) {
        return error.what();
    }
    return "taken";
}

void expectRefusal(const View& view, const std::function<void(Json&)>& change,
                   const std::string& words) {
    const auto said = refusal(view, change);
    EXPECT_NE(said.find(words), std::string::npos) << said;
    EXPECT_TRUE(said.starts_with("/views/x.relaview: ")) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
}

TEST(ViewFile, RoundTrip) {
    for (const auto& view : {mapView(), lensView(), dataView("/data/own.npz"), dataView("quick")}) {
        const auto again = changed(view, [](Json&) {});
        EXPECT_EQ(again.command, view.command);
        EXPECT_EQ(again.subjects, view.subjects);
        EXPECT_EQ(again.options, view.options);
        EXPECT_EQ(again.paper, view.paper);
        EXPECT_EQ(again.dark, view.dark);
        EXPECT_EQ(again.dpi, view.dpi);
        EXPECT_EQ(core::viewToJson(again, "/views"), core::viewToJson(view, "/views"));
    }
    EXPECT_LT(core::viewToJson(mapView(), "/views").dump(2).size(), 2000U);
}

// The figures that have a name are view files as any other, but for their models.
TEST(ViewFile, ThePapersFiguresAreViews) {
    const auto& figures = core::papersFigures();
    ASSERT_EQ(figures.size(), 23U);
    EXPECT_EQ(figures.front().name, "vidat-relation");
    for (const auto& figure : figures) {
        auto view = figure.view;
        EXPECT_FALSE(figure.title.empty() || figure.of.empty()) << figure.name;
        if (view.command == "data") continue;
        for (auto& subject : view.subjects) {
            EXPECT_TRUE(subject.path.empty()) << figure.name;
            subject.path = "/runs/quick";
        }
        EXPECT_NO_THROW(core::checkView(view)) << figure.name;
    }
    EXPECT_EQ(core::papersFigure("tasks").view.subjects[0].path, "relational-games-same");
    EXPECT_EQ(core::papersFigure("duel").view.subjects[1].checkpoint, "0");
    EXPECT_EQ(core::papersFigure("rca-language").view.options[0].value,
              FieldValue(std::vector<std::string>{"dat", "dat-rca"}));
    EXPECT_THROW(core::papersFigure("sortign"), OptionError);
    EXPECT_FALSE(core::unreadByWindow(dataView("quick")).empty())
        << "the window opens none of data";
}

TEST(ViewFile, PathsBelowItsFolderMoveWithIt) {
    auto view = mapView();
    view.subjects[0].path = "/views/runs/quick";
    EXPECT_EQ(core::viewToJson(view, "/views")["subjects"][0]["path"], "runs/quick");
    const auto moved = changed(
        view, [](Json&) {}, "/elsewhere/x.relaview");
    EXPECT_EQ(moved.subjects[0].path, "/elsewhere/runs/quick");
}

TEST(ViewFile, RefusesWhatIsHostile) {
    const auto map = mapView();
    const auto path = [](const std::string& to) {
        return [to](Json& json) { json["subjects"][0]["path"] = to; };
    };
    expectRefusal(map, path("../secret"), "subjects[0].path: '../secret' leads out of the folder");
    expectRefusal(map, path("runs/../../secret"), "leads out of the folder");
    expectRefusal(map, path("a\nb"), "control characters");
    expectRefusal(map, path(std::string("a\0b", 3)), "byte 0");
    expectRefusal(map, path(""), "subjects[0].path: is missing");
    for (const Json& dpi : {Json(0), Json(1000000), Json(1e300), Json(-96), Json("96"), Json({96}),
                            Json(18446744073709551615U), Json()})
        expectRefusal(
            map, [dpi](Json& json) { json["dpi"] = dpi; }, "dpi: ");
    expectRefusal(
        map,
        [](Json& json) {
            json["size"] = {20000, 20000};
        },
        "size: is not known");
    const auto option = [](const std::string& name, const Json& to) {
        return [name, to](Json& json) { json["options"][name] = to; };
    };
    expectRefusal(map, option("layer", 0), "options.layer: 0 is below 1");
    expectRefusal(map, option("layer", 1e9), "options.layer: ");
    expectRefusal(map, option("layer", "2"), "options.layer: needs an integer");
    expectRefusal(map, option("kind", "relatoin"), "options.kind: ");
    expectRefusal(map, option("top", -1), "options.top: ");
    expectRefusal(map, option("out", "/etc/passwd"), "options: ");
    expectRefusal(map, option("device", "cuda:0"), "options: ");
    expectRefusal(map, option("image", "../../x.png"), "options.image: '../../x.png' leads out");
    expectRefusal(map, option("text", std::string(200'000, 'a')), "options.text: ");
    expectRefusal(map, option("tokens", std::vector<int>(20'000, 1)), "options.tokens: ");
    expectRefusal(map, option("parts", {"source", "x"}), "options.parts: ");
    auto patch = mapView();
    patch.command = "patch";
    patch.options = {{"clean", std::string("image:/data/a.png")},
                     {"corrupt", std::string("text:../b")}};
    EXPECT_EQ(changed(patch, [](Json&) {}).options, patch.options);
    expectRefusal(patch, option("clean", "image:../../x.png"),
                  "options.clean: '../../x.png' leads");
    const auto edits = [](const Json& to) {
        return [to](Json& json) { json["subjects"][0]["edits"] = to; };
    };
    expectRefusal(map, edits({"/home/me/edits.json"}), "is no edit in words");
    expectRefusal(map, edits({"secret"}), "is no edit in words");
    expectRefusal(map, edits("layer 2 relation 3 zero"), "subjects[0].edits: is no list");
    expectRefusal(map, edits({1, 2}), "subjects[0].edits: is no list");
    expectRefusal(
        map, [](Json& json) { json["command"] = "train"; }, "command: ");
    expectRefusal(
        map, [](Json& json) { json["command"] = "inspct"; }, "inspect");
    expectRefusal(
        map, [](Json& json) { json["command"] = {1}; }, "command: is no text");
    expectRefusal(
        map,
        [](Json& json) {
            for (int k = 0; k < 2; ++k) json["subjects"].push_back(json["subjects"][0]);
        },
        "subjects: has 3 models; inspect takes one or two");
    expectRefusal(
        lensView(), [](Json& json) { json["subjects"].push_back(json["subjects"][0]); },
        "subjects: has 2 models; lens takes one");
    expectRefusal(
        map, [](Json& json) { json["dark"] = 1; }, "dark: is not true or false");
    expectRefusal(
        map, [](Json& json) { json["subjects"] = Json::array(); }, "subjects: ");
    expectRefusal(
        map, [](Json& json) { json["subjects"][0]["weights"] = "md5:1"; },
        "subjects[0].weights: 'md5:1' is no checksum");
    expectRefusal(
        map, [](Json& json) { json["subjects"][0]["checkpoint"] = "--out=x"; },
        "subjects[0].checkpoint: ");
    expectRefusal(
        map, [](Json& json) { json["subjects"][0]["hub"] = "../../x"; }, "subjects[0].hub: ");
    expectRefusal(
        map, [](Json& json) { json["theme"] = "neon"; }, "theme: is not known to this version");
    expectRefusal(
        map, [](Json& json) { json["format"] = "relascope-view/9"; },
        "format: \"relascope-view/9\" is not relascope-view/1");
    expectRefusal(
        map, [](Json& json) { json.erase("format"); }, "this is no view file");
    expectRefusal(
        map, [](Json& json) { json = Json::array({1}); }, "is no object");
    const auto data = [](const std::string& name) {
        return [name](Json& json) {
            json["data"] = {{"file", name}, {"checksum", "sha256:" + std::string(64, '0')}};
        };
    };
    expectRefusal(map, data("../x.data"), "data.file: '../x.data' is not the name of a file");
    expectRefusal(map, data("/etc/passwd"), "data.file: ");
    expectRefusal(map, data(".."), "data.file: ");
    EXPECT_THROW(core::viewFromJson("{", "x.relaview"), FileError);
    EXPECT_THROW(core::viewFromJson(std::string(100'000, '['), "x.relaview"), FileError);
}

// Whatever bytes a file has, it is a view or refused with a FileError.
TEST(ViewFile, DamagedFilesAreRefused) {
    std::mt19937 random(7);
    const auto whole = core::viewToJson(mapView(), "/views").dump();
    int taken = 0;
    for (int k = 0; k < 4000; ++k) {
        auto text = whole;
        for (int change = 0; change <= k % 4; ++change) {
            const auto at = random() % text.size();
            switch (random() % 4) {
                case 0:
                    text[at] = static_cast<char>(random());
                    break;
                case 1:
                    text.erase(at, 1 + random() % 8);
                    break;
                case 2:
                    text.insert(at, text.substr(random() % text.size(), random() % 20));
                    break;
                default:
                    text[at] = "0123456789-{}[]\",:"[random() % 18];
            }
            if (text.empty()) text = "x";
        }
        try {
            const auto view = core::viewFromJson(text, "/views/x.relaview");
            EXPECT_NO_THROW(core::checkView(view));
            EXPECT_NO_THROW(core::wordsOf(view));
            ++taken;
        } catch (const FileError&) {
        }
    }
    EXPECT_LT(taken, 2000);
}

TEST(ViewFile, WordsAreWhatTheShellGives) {
    auto lens = lensView();
    lens.subjects[0].hub.clear();
    for (const auto* path : {"/models/a b", "/models/it's", "-x", "/models/$(touch x)`y`"}) {
        lens.subjects[0].path = path;
        EXPECT_EQ(shellWords(core::commandOf(lens)), core::wordsOf(lens)) << path;
    }
    EXPECT_EQ(shellWords(core::commandOf(mapView())), core::wordsOf(mapView()));
    auto own = mapView();
    own.subjects[0].path = core::environment("HOME") + "/runs/my run";
    const auto line = core::commandOf(own, "a.svg");
    EXPECT_NE(line.find(" ~/'runs/my run' --step 96 "), std::string::npos) << line;
    EXPECT_TRUE(line.ends_with("--paper --out a.svg")) << line;
    EXPECT_EQ(shellWords(line)[1], own.subjects[0].path);
}

TEST(ViewFile, PythonLine) {
    auto scan = lensView();
    scan.command = "scan";
    scan.subjects = {{"/runs/x", "", "best", "", {"layer 1 symbols zero"}}};
    scan.options = {{"split", std::string("a \"b\"\n")}, {"seconds", std::int64_t{20}}};
    EXPECT_EQ(core::pythonOf(scan),
              R"(relascope.analyse("/runs/x", "scan", checkpoint="best", )"
              R"(edit=["layer 1 symbols zero"], split="a \"b\"\n", seconds=20))");
    auto map = mapView();
    EXPECT_EQ(core::pythonOf(map),
              R"(relascope.map(relascope.maps("/data/runs/quick", sample=12, split="validation", )"
              R"(step=96, edit=["layer 2 relation 3 zero"]).find("relation", 1, 2)))");
    core::addOption(map, "show", std::string("difference"));
    EXPECT_EQ(core::pythonOf(map),
              R"(relascope.map(relascope.edit("/data/runs/quick", ["layer 2 relation 3 zero"], )"
              R"(sample=12, split="validation", step=96).difference("relation", 1, 2)))");
    auto duel = scan;
    duel.command = "duel";
    duel.subjects = {{"/runs/a", "", "", "", {}}, {"/runs/b", "", "12", "", {}}};
    duel.options.clear();
    EXPECT_EQ(core::pythonOf(duel),
              R"(relascope.analyse("/runs/a", "duel", "/runs/b", other_checkpoint="12"))");
    View table;
    table.command = "compare";
    table.printed = true;
    table.subjects = {{"/runs/a b", "", "", "", {}}, {"-c", "", "", "", {}}};
    table.options = {{"differences", true}, {"columns", std::vector<std::string>{"run", "seed"}}};
    EXPECT_EQ(core::pythonOf(table), R"(relascope.command("compare", "/runs/a b", "./-c", )"
                                     R"(differences=True, columns=["run", "seed"]))");
    EXPECT_EQ(core::commandOf(table, "x.svg"),
              "relascope-cli compare '/runs/a b' ./-c --differences --columns run --columns seed");
    auto two = mapView();
    two.subjects.push_back({"/runs/b", "", "12", "", {}});
    EXPECT_EQ(core::pythonOf(two),
              R"(relascope.analyse("/data/runs/quick", "inspect", "/runs/b", step="96", )"
              R"(edit=["layer 2 relation 3 zero"], other_step="12", kind="relation", layer=2, )"
              R"(index=3, sample=12, split="validation"))");
    View study;
    study.command = "study";
    study.subjects = {{"/runs/s", "", "", "", {}}};
    study.options = {{"metric", std::string("loss")}};
    EXPECT_EQ(core::pythonOf(study),
              R"(relascope.analyse("/runs/s", "study", show=True, metric="loss"))");
    EXPECT_EQ(core::commandOf(study, "x.svg"),
              "relascope-cli study /runs/s --show --quiet --metric loss --figure x.svg");
    study.printed = true;  // its table
    EXPECT_EQ(core::commandOf(study, "x.svg"), "relascope-cli study /runs/s --show --metric loss");
    View curves;
    curves.command = "curves";
    curves.subjects = {{"/runs/a", "", "", "", {}}, {"/runs/b", "", "", "", {}}};
    EXPECT_EQ(core::pythonOf(curves),
              R"([relascope.read(run).metrics("validation") for run in ["/runs/a", "/runs/b"]])");
    View text;
    text.command = "generate";
    text.subjects = {{"/runs/t", "", "", "", {}}};
    text.options = {{"prompt", std::string("it's\n")}, {"seed", std::int64_t{2}}};
    text.printed = true;
    EXPECT_EQ(core::commandOf(text, "x.svg"),
              "relascope-cli generate /runs/t --prompt $'it\\'s\\012' --seed 2");
    EXPECT_EQ(core::pythonOf(text),
              R"(relascope.command("generate", "/runs/t", prompt="it's\n", seed=2))");
}

TEST(ViewFile, WeightsAndDataAreIdentified) {
    const TemporaryFolder folder("views");
    fs::create_directories(folder.path());
    const auto image = folder / "a.png", file = folder / "x.relaview";
    core::writeTextFile(image, "one");
    EXPECT_EQ(core::fileChecksum(image), "sha256:" + core::sha256Of("one"));
    core::writeTextFile(image, "two!");
    EXPECT_EQ(core::fileChecksum(image), "sha256:" + core::sha256Of("two!"));
    View view = lensView();
    view.subjects[0] = {folder / "weights", "", "", "sha256:" + std::string(64, 'b'), {}};
    view.options = {{"image", image}};
    view.data = "x.relaview.data";
    view.dataChecksum = "sha256:" + core::sha256Of("data");
    core::writeTextFile(folder / "x.relaview.data", "data");
    core::writeViewFile(file, view);
    auto read = core::readViewFile(file);
    EXPECT_EQ(core::readViewData(read, file), "data");
    EXPECT_THROW(core::findSubjects(read), FileError);  // there are no weights
    core::writeTextFile(folder / "x.relaview.data", "others");
    try {
        core::readViewData(read, file);
        FAIL();
    } catch (const FileError& error) {
        EXPECT_NE(std::string(error.what()).find("is not the file that was saved with x.relaview"),
                  std::string::npos);
    }
}

TEST(ViewFile, FigureOfAMap) {
    auto view = mapView();
    EXPECT_THROW(wire::figureOf(view), Error);
    ProbeResult result;
    result.step = 96;
    view.shown = std::make_shared<const ProbeResult>(result);
    view.caption = "quick";
    const auto figure = std::get<wire::MapFigure>(wire::figureOf(view));
    EXPECT_EQ(figure.layer, 1);
    EXPECT_EQ(figure.index, 2);
    EXPECT_EQ(figure.kind, MapKind::AttentionTimesRelation);
    EXPECT_EQ(figure.source, 8);
    EXPECT_EQ(figure.look.to, 5);
    EXPECT_EQ(figure.look.form, "softmax");
    EXPECT_EQ(figure.look.parts, (std::vector<std::string>{"source", "small"}));
    wire::FrameReader reader;
    reader.append(wire::figureBytes(figure, {"relascope-cli inspect", "x.relaview"}));
    const auto frame = reader.next();
    ASSERT_TRUE(frame);
    EXPECT_EQ(std::get<wire::MapFigure>(wire::figureFromFrame(*frame)).look, figure.look);
    EXPECT_EQ(wire::originOf(*frame).view, "x.relaview");
    auto wrong = *frame;
    wrong.message["look"]["form"] = "tan";
    EXPECT_THROW(wire::figureFromFrame(wrong), wire::FrameError);
}

}  // namespace
}  // namespace relascope
