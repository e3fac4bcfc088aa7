// SPDX-License-Identifier: GPL-3.0-or-later
// Models of images whose answer are features, with heads: by labelled pictures, texts and files
// (--head, --texts, --readout), and with images of another size (--image-size), as a user meets
// them.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "checkpoint/adapter.h"
#include "cli/command_line.h"
#include "datasets/pictures.h"
#include "files/atomic_file.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

namespace fs = std::filesystem;
using testing_support::TemporaryFolder;

const std::string kCases = std::string(RELASCOPE_FIXTURES) + "/golden/vision-families/";
const std::string kFeatures = kCases + "dinov2", kTexts = kCases + "clip",
                  kClasses = kCases + "dinov2_classifier";
constexpr int kEach = 9;

/// Three classes of pictures, each of a colour of its own.
class GivenHeads : public testing::Test {
protected:
    GivenHeads() : m_home("heads") {
        const std::uint8_t colours[][3] = {{220, 30, 30}, {30, 200, 40}, {20, 40, 230}};
        const char* names[] = {"a", "b", "c"};
        for (int c = 0; c < 3; ++c)
            for (int i = 0; i < kEach; ++i)
                add("flat", names[c], i, colours[c]),
                    add(i < kEach - 3 ? "parted/train" : "parted/test", names[c], i, colours[c]);
    }
    void add(const std::string& in, const char* name, int i, const std::uint8_t* colour) {
        const auto folder = m_home / in + "/" + name;
        fs::create_directories(folder);
        const auto at = [&](int k) { return static_cast<std::uint8_t>(colour[k] - 2 * i); };
        testing_support::writePng(folder + "/" + std::to_string(i) + ".png",
                                  testing_support::picture(40 + i, 30, at(0), at(1), at(2)));
    }
    std::string flat() const { return m_home / "flat"; }
    std::string file(const std::string& name) const { return m_home / name; }
    std::string write(const std::string& name, const std::string& text) const {
        core::writeTextFile(m_home / name, text);
        return m_home / name;
    }
    std::string picture(const char* name) const { return flat() + "/" + name + "/0.png"; }

    TemporaryFolder m_home;
};

TEST_F(GivenHeads, MeansAreFittedOnTwoThirdsAndMeasuredOnTheRest) {
    const auto o = runCli("eval --json " + kFeatures + " --data " + flat());
    ASSERT_EQ(o.code, 0) << o.err;
    const auto found = json(o);
    EXPECT_EQ(found["examples"], 9);
    EXPECT_EQ(found["split"], "test");
    EXPECT_EQ(found["head"]["kind"], "means");
    EXPECT_EQ(found["head"]["fitted_on"], 18);
    EXPECT_EQ(found["head"]["classes"], (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_EQ(found["accuracy"], 1.0) << "colours tell the classes apart";
    EXPECT_GE(found["untrained_accuracy"], 0.0);
    EXPECT_NE(o.err.find("a head of nearest means that was fitted on 18 pictures"),
              std::string::npos)
        << o.err;
    const auto text = runCli("eval " + kFeatures + " --data " + flat()).out;
    EXPECT_NE(text.find("of a head of nearest means that was fitted on 18 pictures"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("of the same head on an untrained model"), std::string::npos) << text;
}

TEST_F(GivenHeads, NearestPicturesNeedNone) {
    const auto o = runCli("nearest --json " + kFeatures + " --top 3 --data " + flat());
    ASSERT_EQ(o.code, 0) << o.err;
    const auto found = json(o);
    EXPECT_EQ(found["examples"], 27) << "nothing is fitted, so that all are compared";
    EXPECT_EQ(found["same_class"], 1.0) << "colours tell the classes apart";
    EXPECT_EQ(found["nearest"].size(), 4U);
    expectRefused("nearest " + kFeatures + " --head means --data " + flat(), 2, "without a head");
}

TEST_F(GivenHeads, PartsOfAFolderAreKeptApart) {
    const auto parted = file("parted");
    const auto found = json(runCli("eval --json " + kFeatures + " --data " + parted));
    EXPECT_EQ(found["examples"], 9);
    EXPECT_EQ(found["head"]["fitted_on"], 18);
    expectRefused("eval " + kFeatures + " --split train --data " + parted, 2,
                  "the head is fitted on");
    expectRefused("eval " + kFeatures + " --split all --data " + flat(), 2,
                  "the head is fitted on");
    expectRefused("eval " + kFeatures + " --split hexos --data " + flat(), 2, "hexos");
}

TEST_F(GivenHeads, RidgeIsKeptAndReadAgain) {
    const auto kept = file("head.safetensors");
    const auto first = runCli("eval --json " + kFeatures + " --head ridge:0.1 --data " + flat() +
                              " --save-head " + kept);
    ASSERT_EQ(first.code, 0) << first.err;
    const auto a = json(first);
    EXPECT_EQ(a["head"]["ridge"], 0.1);
    const auto b =
        json(runCli("eval --json " + kFeatures + " --data " + flat() + " --head " + kept));
    EXPECT_EQ(b["head"]["kind"], "ridge");
    EXPECT_EQ(b["head"]["fitted_on"], 18);
    EXPECT_EQ(a["loss"], b["loss"]);
    EXPECT_EQ(a["examples"], b["examples"]) << "never on what it was fitted on";
    const auto lens =
        json(runCli("lens --json " + kFeatures + " --head " + kept + " --image " + picture("b")));
    EXPECT_EQ(lens["answers"][0]["name"], "b");
    EXPECT_EQ(lens["head"]["fitted_on"], 18);
    expectRefused("eval " + kCases + "clip --head " + kept + " --data " + flat(), 2, "width");
    EXPECT_EQ(runCli("eval " + kFeatures + " --head ridge:best --data " + flat()).code, 0);
    expectRefused("eval " + kFeatures + " --head ridge:-1 --data " + flat(), 2, "penalty above 0");
}

TEST_F(GivenHeads, PartsOfTheAnswerAddUp) {
    const auto kept = file("head.safetensors");
    for (const std::string head : {"means", "ridge"}) {
        ASSERT_EQ(runCli("eval " + kFeatures + " --head " + head + " --data " + flat() +
                         " --save-head " + kept)
                      .code,
                  0);
        const auto o = runCli("attribute --json " + kFeatures + " --head " + kept + " --image " +
                              picture("c") + " --logit c --minus a");
        ASSERT_EQ(o.code, 0) << o.err;
        const auto found = json(o);
        EXPECT_NEAR(found["sum"].get<double>(), found["logit"].get<double>(), 1e-4) << head;
    }
}

TEST_F(GivenHeads, AnalysesMeasureWithAHead) {
    const auto data = " --data " + flat();
    const auto ablated = runCli("ablate --json " + kFeatures + data + " --how zero");
    ASSERT_EQ(ablated.code, 0) << ablated.err;
    EXPECT_EQ(json(ablated)["head"]["fitted_on"], 18);
    EXPECT_EQ(json(ablated)["metric"], "accuracy");
    const auto edited =
        json(runCli("eval --json " + kFeatures + data + " --edit \"layer 1 mlp zero\""));
    EXPECT_EQ(edited["head"]["fitted_on"], 18);
    EXPECT_EQ(edited["base"]["accuracy"], 1.0);
    for (const std::string& command : std::initializer_list<std::string>{
             "duel " + kFeatures + data + " --other-edit \"layer 1 mlp zero\"",
             "scan " + kFeatures + data + " --seconds 1",
             "patch " + kFeatures + " --clean image:" + picture("a") +
                 " --corrupt image:" + picture("b") + " --head " + flat(),
             "inspect --json --kind attention-sa " + kFeatures + " --image " + picture("a") +
                 " --readout " + flat()}) {
        const auto o = runCli(command);
        EXPECT_EQ(o.code, 0) << command << "\n" << o.err;
        EXPECT_NE(o.err.find("fitted on 18 pictures"), std::string::npos) << command << o.err;
    }
}

// A head that stays says what the model says without a part; one that is fitted anew, what its
// features tell.
TEST_F(GivenHeads, AHeadIsFittedAnewBehindEdits) {
    const auto eval = [&](const std::string& edit, const std::string& more) {
        const auto o = runCli("eval --json " + kFeatures + " --data " + flat() + " --edit \"" +
                              edit + "\" " + more);
        EXPECT_EQ(o.code, 0) << o.err;
        return json(o);
    };
    const std::string last = "blocks.1.hook_resid_post ";
    for (const std::string head : {"means", "ridge"}) {
        const auto turned = eval(last + "scale -1", "--refit --head " + head);
        EXPECT_LT(turned["edited"]["accuracy"], 0.5) << head;
        EXPECT_EQ(turned["refit"]["edited"]["accuracy"], 1.0) << head;
        auto alone = eval(last + "scale -1", "--head " + head), same = turned;
        EXPECT_TRUE(alone.find("refit") == alone.end());
        same.erase("refit");
        EXPECT_EQ(alone, same) << "the head that stays says the same";
        // Features that are the same for all pictures tell no classes apart; an edit that changes
        // nothing leaves the loss as it was.
        EXPECT_NEAR(eval(last + "zero", "--refit")["refit"]["edited"]["accuracy"].get<double>(),
                    1.0 / 3, 1e-9);
        EXPECT_EQ(eval(last + "scale 1", "--refit --head " + head)["refit"]["change"]["loss"], 0.0);
    }
    const std::string ablate =
        "ablate " + kFeatures + " --data " + flat() + " --what mlp,heads --untrained 0 --json ";
    auto rows = json(runCli(ablate + "--refit"))["rows"];
    const auto plain = json(runCli(ablate))["rows"];
    ASSERT_EQ(rows.size(), plain.size());
    for (std::size_t k = 0; k < rows.size(); ++k) {
        EXPECT_GE(rows[k]["refit_change"], rows[k]["refit_low"]);
        EXPECT_NEAR(rows[k]["refit_change"].get<double>(),
                    rows[k]["refit"].get<double>() - rows[k]["base"].get<double>(), 1e-12);
        for (const char* name : {"refit", "refit_change", "refit_low", "refit_high"})
            rows[k].erase(name);
        EXPECT_EQ(rows[k], plain[k]);
    }
    expectRefused("eval " + kFeatures + " --data " + flat() + " --refit", 2, "is for --edit");
    expectRefused("eval " + kTexts + " --head texts --data " + flat() +
                      " --edit \"layer 1 mlp zero\" --refit",
                  2, "heads that were fitted");
    expectRefused("ablate " + kTexts + " --head texts --data " + flat() + " --refit", 2,
                  "heads that were fitted");
}

TEST_F(GivenHeads, TextsNameClasses) {
    const auto names = write("names.txt", "a cat\na dog\n\na tree\n");
    const auto look = json(runCli("inspect --json --kind attention-sa " + kTexts + " --image " +
                                  picture("a") + " --texts " + names));
    EXPECT_EQ(look["classes"], (std::vector<std::string>{"a cat", "a dog", "a tree"}));
    double sum = 0.0;
    for (const double p : look["probabilities"]) sum += p;
    EXPECT_NEAR(sum, 1.0, 1e-5);
    // As many texts as classes stand for them in their order, and all pictures are measured.
    const auto o = runCli("eval --json " + kTexts + " --texts " + names + " --data " + flat());
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(json(o)["examples"], 3 * kEach);
    EXPECT_NE(o.err.find("in their order"), std::string::npos) << o.err;
    const auto own = json(runCli("eval --json " + kTexts + " --head texts --data " + flat()));
    EXPECT_EQ(own["head"]["classes"], (std::vector<std::string>{"a", "b", "c"}));
    // Templates of one's own.
    const auto two = write("two.txt", "a drawing of a {}\n{}\na\nc\nb\n");
    const auto named =
        json(runCli("eval --json " + kTexts + " --texts " + two + " --data " + flat()));
    EXPECT_EQ(named["head"]["classes"], (std::vector<std::string>{"a", "b", "c"}));
    expectRefused("eval " + kTexts + " --data " + flat() + " --texts " + write("few.txt", "a\nb\n"),
                  2, "has no class 'c'");
    expectRefused("inspect --kind attention-sa " + kFeatures + " --image " + picture("a") +
                      " --texts " + names,
                  2, "text tower");
    expectRefused("inspect --kind attention-sa " + kCases + "siglip --image " + picture("a") +
                      " --texts " + names,
                  2, "no tokenizer");
}

// A tokenizer that is not there, or cannot be read, is no reason to have no texts.
TEST_F(GivenHeads, RowsOfIdsStandForTexts) {
    for (const char* name : {"config.json", "model.safetensors", "preprocessor_config.json"})
        fs::create_directories(file("clip")),
            fs::copy_file(kTexts + "/" + name, file("clip/" + std::string(name)));
    const auto tokenizer = core::checkpointTokenizer(kTexts, 0);
    ASSERT_TRUE(tokenizer);
    std::string texts, ids;
    for (const std::string name : {"a cat", "a dog"}) {
        texts += name + "\n", ids += name + " :";
        for (const auto id : tokenizer->encodeTyped("a photo of a " + name + "."))
            ids += " " + std::to_string(id);
        ids += "\n";
    }
    const auto look = [&](const std::string& model, const std::string& rows) {
        return "inspect --json --kind attention-sa " + model + " --image " + picture("a") +
               " --texts " + rows;
    };
    const auto named = json(runCli(look(kTexts, write("names.txt", texts))));
    const auto plain = runCli(look(file("clip"), write("ids.txt", ids)));
    ASSERT_EQ(plain.code, 0) << plain.err;
    EXPECT_EQ(json(plain)["classes"], named["classes"]);
    EXPECT_EQ(json(plain)["probabilities"], named["probabilities"]);
    // A file that is no tokenizer; and rows without names.
    write("clip/tokenizer.json", "{}");
    const auto bare = runCli(look(file("clip"), write("bare.txt", "320 19 699\n320,23,699\n")));
    ASSERT_EQ(bare.code, 0) << bare.err;
    EXPECT_EQ(json(bare)["classes"], (std::vector<std::string>{"320 19 699", "320,23,699"}));
    const auto refused = [&](const std::string& rows, const std::string& words) {
        expectRefused(look(file("clip"), write("rows.txt", rows)), 2, words);
    };
    refused("a cat\n", "give rows of ids");
    refused("1 2\na cat: 3 x\n", "give rows of ids");
    refused("1 99999999\n", "knows ids below");
    refused("a: 1\na: 2\n", "for two rows");
    expectRefused(look(kCases + "siglip", write("short.txt", "1 2\n")), 2, "fill each row up");
}

TEST_F(GivenHeads, AnswersWithoutAHeadAreRefused) {
    expectRefused("lens " + kFeatures + " --image " + picture("a"), 2, "labelled pictures");
    expectRefused("eval " + kFeatures + " --head none --data " + flat(), 2, "none leaves features");
    expectRefused("eval " + kFeatures + " --head means", 2, "--data");
    expectRefused("lens " + kFeatures + " --head means --image " + picture("a"), 2, "--data");
    expectRefused("lens " + kClasses + " --head means --image " + picture("a"), 2,
                  "answers by itself");
    const auto look =
        runCli("inspect --json --kind attention-sa " + kFeatures + " --image " + picture("a"));
    EXPECT_TRUE(json(look)["probabilities"].empty());
    expectRefused("eval " + kFeatures + " --data " + write("x.txt", "x"), 2, "labelled pictures");
    fs::create_directories(file("one/a"));
    fs::copy(picture("a"), file("one/a/0.png"));
    fs::copy_file(picture("a"), file("one/a/1.png"));
    expectRefused("eval " + kFeatures + " --data " + file("one"), 1, "two classes");
    fs::create_directories(file("one/b"));
    fs::copy(picture("b"), file("one/b/0.png"));
    expectRefused("eval " + kFeatures + " --data " + file("one"), 2, "one example");
}

TEST_F(GivenHeads, ImagesOfAnotherSizeScalePositions) {
    const auto look = runCli("inspect --json --kind attention-sa " + kFeatures + " --image " +
                             picture("a") + " --image-size 48x32");
    ASSERT_EQ(look.code, 0) << look.err;
    EXPECT_EQ(json(look)["rows"], 1 + 6 * 4);
    EXPECT_NE(look.err.find("positions are scaled from 5 x 5 to 6 x 4 patches"), std::string::npos)
        << look.err;
    const auto found =
        json(runCli("eval --json " + kFeatures + " --image-size 48 --data " + flat()));
    EXPECT_EQ(found["head"]["fitted_on"], 18);
    expectRefused(
        "inspect --kind attention-sa " + kFeatures + " --image-size 50 --image " + picture("a"), 2,
        "give 48 or 56");
    expectRefused(
        "inspect --kind attention-sa " + kFeatures + " --image-size big --image " + picture("a"), 2,
        "'big' is no size");
    expectRefused(
        "lens " + std::string(RELASCOPE_FIXTURES) + "/golden/lm_rca --random 1 --image-size 48", 2,
        "models of images");
}

/// Pictures of 24 x 24 with masks of two to four squares in two colours; in folders of two classes
/// or in none. Returns the folder.
std::string maskedPictures(const TemporaryFolder& home, bool classes) {
    const auto folder = home / (classes ? "masked" : "unlabelled");
    std::mt19937 random(1);
    std::string rows = "picture,object,colour\n";
    for (int n = 0; n < 90; ++n) {
        const std::string in = classes ? (n % 2 ? "b/" : "a/") : "";
        fs::create_directories(folder + "/" + in);
        Image image{24, 24, 3, std::vector<std::uint8_t>(24 * 24 * 3, 20)},
            mask{24, 24, 1, std::vector<std::uint8_t>(24 * 24, 0)};
        std::vector<int> places = {0, 1, 2, 3, 4, 5, 6, 7, 8};
        const int objects = 2 + static_cast<int>(random() % 3);
        const auto name = in + std::to_string(n);
        for (int object = 1; object <= objects; ++object) {
            const auto drawn = static_cast<std::ptrdiff_t>(random() % places.size());
            const int place = places[static_cast<std::size_t>(drawn)];
            places.erase(places.begin() + drawn);
            const bool red = random() % 2 == 0;
            for (int y = place / 3 * 8; y < place / 3 * 8 + 8; ++y)
                for (int x = place % 3 * 8; x < place % 3 * 8 + 8; ++x) {
                    mask.pixels[mask.index(y, x, 0)] = static_cast<std::uint8_t>(object);
                    image.pixels[image.index(y, x, red ? 0 : 2)] = 220;
                }
            rows += name + ".png," + std::to_string(object) + (red ? ",red\n" : ",blue\n");
        }
        testing_support::writePng(folder + "/" + name + ".png", image);
        testing_support::writePng(folder + "/" + name + ".mask.png", mask);
    }
    core::writeTextFile(folder + "/objects.csv", rows);
    return folder;
}

TEST_F(GivenHeads, ModelsOfFeaturesReadMasks) {
    const auto fit =
        "fit-relation --json " + kFeatures + " --untrained 0 --layer 0 --fact \"same colour\"";
    const auto examples = [](const nlohmann::json& found) {
        return found["examples"].get<int>() + found["examples_to_choose"].get<int>() +
               found["examples_to_test"].get<int>();
    };
    for (const bool classes : {true, false}) {
        const auto o = runCli(fit + " --remove --data " + maskedPictures(m_home, classes));
        ASSERT_EQ(o.code, 0) << o.err;
        EXPECT_EQ(o.err.find("head"), std::string::npos) << "none is fitted: " << o.err;
        const auto found = json(o);
        // All of them but copies and those without pairs, and no mask.
        EXPECT_GT(examples(found), 70);
        EXPECT_LE(examples(found), 90);
        EXPECT_GT(found["auc"].get<double>(), 0.9);
        EXPECT_NE(found.dump().find("its answers are features"), std::string::npos);
    }
    const auto masked = file("masked"), unlabelled = file("unlabelled");
    EXPECT_GT(examples(json(runCli(fit + " --head none --data " + masked))), 70);
    // With a head, on the pictures that it was not fitted on.
    const auto headed = json(runCli(fit + " --head means --remove --data " + masked));
    EXPECT_LE(examples(headed), 30);
    EXPECT_FALSE(headed["removed"].empty());
    EXPECT_EQ(json(runCli("eval --json " + kFeatures + " --data " + masked))["head"]["fitted_on"],
              60);
    expectRefused("eval " + kFeatures + " --data " + unlabelled, 2, "pictures without a class");
    EXPECT_EQ(json(runCli("nearest --json " + kFeatures + " --data " + unlabelled))["examples"],
              90);
}

TEST_F(GivenHeads, ClassifiersReadFoldersByTheNamesOfTheirClasses) {
    // The classes of the checkpoint, in another order than the alphabet's.
    const auto named = file("named");
    fs::create_directories(named);
    fs::copy(flat() + "/a", named + "/stripes");
    fs::copy(flat() + "/b", named + "/a pair");
    const auto found = json(runCli("eval --json " + kClasses + " --data " + named));
    EXPECT_EQ(found["examples"], 2 * kEach);
    expectRefused("eval " + kClasses + " --data " + flat(), 2, "not one of the model's");
    const auto masked = maskedPictures(m_home, true);
    const auto fit = runCli("fit-relation --json " + kClasses +
                            " --untrained 0 --fact \"same colour\" --remove --data " + masked);
    ASSERT_EQ(fit.code, 0) << fit.err;
    EXPECT_NE(fit.out.find("right answers of these images are not known"), std::string::npos);
}

}  // namespace
}  // namespace relascope
