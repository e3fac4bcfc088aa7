// SPDX-License-Identifier: GPL-3.0-or-later
// Files and words of edits: round trips, refusals by name, hostile input.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "interventions/check_edits.h"
#include "interventions/edit_json.h"
#include "interventions/edit_words.h"
#include "support/rooms.h"
#include "types/error.h"

namespace relascope {
namespace {

const std::vector<PointInfo> kPoints = {
    {"hook_embed", {"batch", "position", "dim"}, {1, 9, 8}, false},
    {"blocks.0.sym.hook_library", {"symbol", "dim"}, {6, 8}, false},
    {"blocks.0.sym.hook_attn_scores", {"batch", "head", "position", "symbol"}, {1, 2, 9, 6}, false},
    {"blocks.0.sym.hook_symbols", {"batch", "position", "dim"}, {1, 9, 8}, false},
    {"blocks.0.hook_resid_pre", {"batch", "position", "dim"}, {1, 9, 8}, false},
    {"blocks.0.attn.hook_attn_scores", {"batch", "head", "i", "j"}, {1, 2, 9, 9}, true},
    {"blocks.0.attn.hook_pattern", {"batch", "head", "i", "j"}, {1, 2, 9, 9}, true},
    {"blocks.0.attn.hook_z", {"batch", "position", "head", "dim"}, {1, 9, 2, 4}, false},
    {"blocks.0.rel.hook_attn_scores", {"batch", "head", "i", "j"}, {1, 2, 9, 9}, true},
    {"blocks.0.rel.hook_pattern", {"batch", "head", "i", "j"}, {1, 2, 9, 9}, true},
    {"blocks.0.rel.hook_r", {"batch", "i", "j", "relation"}, {1, 9, 9, 4}, true},
    {"blocks.0.rel.hook_attended_r",
     {"batch", "position", "head", "relation"},
     {1, 9, 2, 4},
     false},
    {"blocks.0.rel.hook_z_rel", {"batch", "position", "head", "dim"}, {1, 9, 2, 4}, false},
    {"blocks.0.rel.hook_z_sym", {"batch", "position", "head", "dim"}, {1, 9, 2, 4}, false},
    {"blocks.0.rel.hook_z", {"batch", "position", "head", "dim"}, {1, 9, 2, 4}, false},
    {"blocks.0.hook_attn_out", {"batch", "position", "dim"}, {1, 9, 8}, false},
    {"blocks.0.hook_mlp_out", {"batch", "position", "dim"}, {1, 9, 8}, false},
    {"blocks.0.hook_resid_post", {"batch", "position", "dim"}, {1, 9, 8}, false},
};

std::string fileOf(const std::string& edit, const std::string& more = "") {
    return R"({"format": "relascope-edit/1", )" + more + R"("edits": [)" + edit + "]}";
}

std::string refusal(const std::string& text, EditUse use = EditUse::Inspect) {
    try {
        checkEdits(editsFromJson(text, "e.json"), kPoints, use);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(EditFile, KeepsEverythingInARoundTrip) {
    const auto text = R"({"format": "relascope-edit/1", "name": "all", "model": "ViDAT",
 "inputs": {"B": {"split": "validation", "sample": 12}, "C": {"file": "io.safetensors", "prefix": "B/"}},
 "edits": [
  {"op": "zero", "at": "blocks.0.rel.hook_r", "relation": 2, "note": "why"},
  {"op": "set", "at": "blocks.0.rel.hook_r", "relation": [0, 1], "i": "2:", "j": ":-1", "value": 0.1},
  {"op": "set", "at": "blocks.0.attn.hook_z", "head": 1, "value": [1, 2, 3, 4.5]},
  {"op": "scale", "at": "hook_embed", "factor": -1e-7, "enabled": false},
  {"op": "add", "at": "hook_embed", "position": -1, "value": [[1], [2]]},
  {"op": "mean", "at": "blocks.0.attn.hook_z", "reference": {"split": "train", "examples": 64, "seed": 3, "over": "all"}},
  {"op": "mean", "at": "blocks.0.attn.hook_z", "head": 0, "values": [0.25, 1, 2, 3]},
  {"op": "resample", "at": "blocks.0.attn.hook_z", "shift": 7},
  {"op": "patch", "at": "blocks.0.hook_resid_pre", "position": [4, 5], "from": "B"},
  {"op": "clean", "at": "blocks.0.hook_mlp_out", "when": "new"},
  {"op": "uniform", "at": "blocks.0.rel.hook_pattern"},
  {"op": "mask", "at": "blocks.0.attn.hook_attn_scores", "i": 5, "j": 2},
  {"op": "swap", "at": "blocks.0.sym.hook_library", "axis": "symbol", "pair": [2, 5]}]})";
    const auto list = editsFromJson(text, "e.json");
    EXPECT_EQ(list.edits.size(), 13u);
    EXPECT_EQ(editsFromJson(editsToJson(list), "again"), list);
    EXPECT_EQ(list.edits[1].selection.at("j").high, -1);
    EXPECT_EQ(list.edits[4].values.shape, (std::vector<std::int64_t>{2, 1}));
}

TEST(EditFile, RefusalsNameTheFieldAndTheWayOut) {
    const std::pair<const char*, const char*> cases[] = {
        {R"({"op": "zeroo", "at": "x"})", "'zero'"},
        {R"({"op": "zero"})", "edits[0].at: is missing"},
        {R"({"op": "zero", "at": "blocks.0.rel.hook_s"})", "did you mean 'blocks.0.rel.hook_r'"},
        {R"({"op": "zero", "at": "hook_embed", "head": 1})", "has no such axis"},
        {R"({"op": "zero", "at": "hook_embed", "position": 9})",
         "edits[0].position: 9 is out of range: there are 9"},
        {R"({"op": "zero", "at": "hook_embed", "position": "5:5"})", "selects nothing"},
        {R"({"op": "zero", "at": "hook_embed", "position": []})", "at least one"},
        {R"({"op": "zero", "at": "hook_embed", "position": 1.5})", "not an integer"},
        {R"({"op": "zero", "at": "hook_embed", "positions": 1})", "did you mean 'position'"},
        {R"({"op": "scale", "at": "hook_embed"})", "edits[0].factor: is missing"},
        {R"({"op": "set", "at": "hook_embed", "value": [1, 2]})",
         "edits[0].value: have the shape 2"},
        {R"({"op": "mean", "at": "blocks.0.attn.hook_pattern", "values": [1, 2, 3, 4], "reference": {"over": "offset"}})",
         "have the shape 4, but the selected part is 2 x 2 n + 1 offsets"},
        {R"({"op": "mean", "at": "hook_embed", "values": {"file": "x.safetensors", "tensor": "y"}})",
         "edits[0].values: name a file, which only files of edits may"},
        {R"({"op": "mean", "at": "hook_embed", "values": {"file": "x.safetensors"}})",
         "edits[0].values.tensor: is missing"},
        {R"({"op": "mask", "at": "blocks.0.attn.hook_pattern"})", "hook_attn_scores only"},
        {R"({"op": "uniform", "at": "blocks.0.attn.hook_z"})", "hook_pattern only"},
        {R"({"op": "patch", "at": "hook_embed", "from": "B"})", "not in \"inputs\""},
        {R"({"op": "resample", "at": "blocks.0.sym.hook_library"})", "the same for every example"},
        {R"({"op": "zero", "at": "blocks.0.rel.hook_r", "i": 2, "j": [5, 6]})",
         "behind the causal mask"},
        {R"({"op": "swap", "at": "hook_embed", "axis": "position", "pair": [1, 1]})",
         "with itself"},
        {R"({"op": "swap", "at": "hook_embed", "axis": "batch", "pair": [0, 1]})",
         "no axis 'batch'"},
    };
    for (const auto& [edit, wanted] : cases)
        EXPECT_NE(refusal(fileOf(edit)).find(wanted), std::string::npos)
            << edit << "\n  " << refusal(fileOf(edit));
    EXPECT_NE(refusal(R"({"format": "relascope-edit/2", "edits": []})").find("relascope-edit/1"),
              std::string::npos);
    EXPECT_NE(refusal(fileOf("", R"("extra": 1, )")).find("extra"), std::string::npos);
    EXPECT_NE(refusal("{").find("e.json: is not JSON"), std::string::npos);
    std::string many;
    for (int i = 0; i < 1001; ++i)
        many += std::string(i ? "," : "") + R"({"op": "zero", "at": "hook_embed"})";
    EXPECT_NE(refusal(fileOf(many)).find("more than 1000"), std::string::npos);
    EXPECT_NE(refusal(std::string(2u << 20, ' ')).find("1 MiB"), std::string::npos);
}

TEST(EditFile, SaysWhatGenerationAndTrainingCannotDo) {
    const auto generating = [](const char* edit) {
        return refusal(fileOf(edit), EditUse::Generate);
    };
    EXPECT_NE(generating(R"({"op": "zero", "at": "hook_embed", "position": -1})")
                  .find("count from its start"),
              std::string::npos);
    EXPECT_NE(generating(R"({"op": "resample", "at": "hook_embed"})").find("a split"),
              std::string::npos);
    EXPECT_EQ(generating(R"({"op": "zero", "at": "hook_embed", "position": "20:30"})"), "");
    const auto training = [](const char* edit) { return refusal(fileOf(edit), EditUse::Train); };
    EXPECT_NE(training(R"({"op": "clean", "at": "hook_embed"})").find("not for training"),
              std::string::npos);
    EXPECT_NE(training(R"({"op": "mean", "at": "hook_embed"})").find("needs its values"),
              std::string::npos);
    EXPECT_EQ(training(R"({"op": "zero", "at": "hook_embed"})"), "");
}

TEST(EditWords, NameThePartsOfAModel) {
    const std::pair<const char*, const char*> cases[] = {
        {"layer 1 relation 3 zero", "blocks.0.rel.hook_r"},
        {"layer 1 relation 3 head 1 zero", "blocks.0.rel.hook_attended_r"},
        {"layer 1 relations zero", "blocks.0.rel.hook_z_rel"},
        {"layer 1 symbols zero", "blocks.0.rel.hook_z_sym"},
        {"layer 1 symbols 2 5 swap", "blocks.0.sym.hook_symbols"},
        {"layer 1 symbol 4 zero", "blocks.0.sym.hook_symbols"},
        {"layer 1 library symbol 2 mask", "blocks.0.sym.hook_attn_scores"},
        {"layer 1 sensory head 2 mean", "blocks.0.attn.hook_z"},
        {"layer 1 relational head 2 uniform", "blocks.0.rel.hook_pattern"},
        {"layer 1 head 2 edge 5 2 mask", "blocks.0.attn.hook_attn_scores"},
        {"layer 1 edge 5 2 zero", "blocks.0.attn.hook_pattern"},
        {"layer 1 relation 1 i 2 j 1 set 2.5", "blocks.0.rel.hook_r"},
        {"layer 1 attention zero", "blocks.0.hook_attn_out"},
        {"layer 1 feed-forward invert", "blocks.0.hook_mlp_out"},
        {"layer 1 stream position 4,5 patch B", "blocks.0.hook_resid_pre"},
        {"blocks.0.rel.hook_r relation 2 scale 0.5", "blocks.0.rel.hook_r"},
    };
    for (const auto& [words, point] : cases) {
        const auto edit = editFromWords(words, kPoints);
        EXPECT_EQ(edit.point, point) << words;
        EXPECT_EQ(editFromWords(wordsOf(edit), kPoints), edit) << words << " -> " << wordsOf(edit);
    }
    EXPECT_EQ(wordsOf(editFromWords("layer 1 relation 3 zero", kPoints)),
              "layer 1 relation 3 zero");
    const auto edge = editFromWords("layer 1 head 2 edge 5 2 mask", kPoints);
    EXPECT_EQ(edge.selection.at("head").places, std::vector<std::int64_t>{1});
    EXPECT_EQ(edge.selection.at("i").places, std::vector<std::int64_t>{5});
}

TEST(EditWords, SayWhatIsWrong) {
    const std::pair<const char*, const char*> cases[] = {
        {"", "is empty"},
        {"layer 2 relation 1 zero", "there is no layer 2; there are 1"},
        {"layer 1 relation 0 zero", "count from 1"},
        {"layer 1 relation 1", "operation"},
        {"layer 1 relation 1 zap", "'swap'"},
        {"layer 1 relashun 1 zero", "did you mean 'relation'"},
        {"encoder 1 relation 1 zero", "this model has layer N"},
        {"layer 1 relation 1 set", "a number"},
        {"layer 1 relation 1 zero 3", "follows the operation"},
        {"layer 1 symbols 2 5 zero", "exchanged only"},
    };
    for (const auto& [words, wanted] : cases) {
        try {
            editFromWords(words, kPoints);
            ADD_FAILURE() << words << " was taken";
        } catch (const OptionError& error) {
            EXPECT_NE(std::string(error.what()).find(wanted), std::string::npos)
                << words << ": " << error.what();
        }
    }
}

// Any edit in words, and back.
TEST(EditWords, OfRandomEditsGiveThemAgain) {
    std::mt19937 random(11);
    for (int i = 0; i < 3000; ++i) {
        const auto& point = kPoints[random() % kPoints.size()];
        Edit edit;
        edit.point = point.name;
        for (std::size_t d = 0; d < point.axes.size(); ++d) {
            if (point.axes[d] == "batch" || random() % 2) continue;
            const auto place = static_cast<std::int64_t>(random() % 3);
            edit.selection[point.axes[d]] =
                random() % 3 ? AxisSelection{{place}, {}, {}} : AxisSelection{{}, place, place + 2};
        }
        const EditOp ops[] = {EditOp::Zero,  EditOp::Set,      EditOp::Scale,
                              EditOp::Clean, EditOp::Resample, EditOp::Add};
        edit.op = ops[random() % 6];
        if (edit.op == EditOp::Set || edit.op == EditOp::Add) edit.values.numbers = {-0.5};
        if (edit.op == EditOp::Scale) edit.factor = random() % 2 ? -1.0 : 0.75;
        if (edit.op == EditOp::Resample) edit.shift = 1 + static_cast<std::int64_t>(random() % 3);
        EXPECT_EQ(editFromWords(wordsOf(edit), kPoints), edit) << wordsOf(edit);
    }
}

// Mutated files are refused with a sentence or read; they never crash.
TEST(EditFile, MutationsNeverCrash) {
    std::vector<std::string> seeds;
    for (const auto& entry : std::filesystem::directory_iterator(std::string(RELASCOPE_FIXTURES) +
                                                                 "/golden/interventions")) {
        std::ifstream file(entry.path() / "edit.json");
        if (file)
            seeds.emplace_back(std::istreambuf_iterator<char>(file),
                               std::istreambuf_iterator<char>());
    }
    ASSERT_GE(seeds.size(), 37u);
    std::mt19937 random(1);
    const std::string alphabet = "{}[]\",:0123456789-.e trufalsnih\\\xff";
    int read = 0;
    for (int i = 0; i < 10000; ++i) {
        auto text = seeds[random() % seeds.size()];
        for (unsigned m = 1 + random() % 4; m > 0; --m) {
            const auto at = random() % text.size();
            switch (random() % 3) {
                case 0:
                    text[at] = alphabet[random() % alphabet.size()];
                    break;
                case 1:
                    text.erase(at, 1 + random() % 8);
                    break;
                default:
                    text.insert(at, text.substr(random() % text.size(), random() % 12));
            }
            if (text.empty()) text = "{";
        }
        try {
            const auto list = editsFromJson(text, "m.json");
            checkEdits(list, kPoints, EditUse::Inspect);
            ++read;
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()), "");
        }
    }
    EXPECT_GT(read, 0);
    EXPECT_THROW(editsFromJson(std::string(100000, '['), "deep.json"), FileError);
}

}  // namespace
}  // namespace relascope
