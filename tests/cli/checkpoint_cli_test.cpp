// SPDX-License-Identifier: GPL-3.0-or-later
// relascope-cli info and convert, as a user meets them.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/command_line.h"
#include "files/atomic_file.h"
#include "files/safetensors.h"
#include "support/bytes_of.h"
#include "support/rooms.h"
#include "support/tiny_run.h"

namespace relascope {
namespace {

using namespace testing_support;
const std::string kGoldenCheckpoints = std::string(RELASCOPE_FIXTURES) + "/golden/checkpoints/";

TEST(CheckpointCli, InfoShowsWhatACheckpointHolds) {
    const auto info = json(runCli("info --json " + kGoldenCheckpoints + "research_pt"));
    EXPECT_EQ(info["form"], "PyTorch archive");
    EXPECT_EQ(info["tensors"].size(), 50u);
    EXPECT_EQ(info["config"]["n_heads_ra"], 2);
    EXPECT_EQ(info["config_from"], "config");
    EXPECT_EQ(info["numbers"], 19776) << "shared ones once";
    EXPECT_EQ(info["tensors"][0]["name"], "layers.token_embedder.weight");
    EXPECT_EQ(info["tensors"][0]["stored"], "_orig_mod.layers.token_embedder.weight");
    EXPECT_EQ(info["tensors"][0]["shape"], (std::vector<int>{61, 32}));

    const auto words = runCli("info " + kGoldenCheckpoints + "hub_dat_lm");
    EXPECT_EQ(words.code, 0) << words.err;
    for (const char* part :
         {"layers.token_embedder.weight", "same as layers.final_out.weight", "[61, 32]", "F32",
          "hub_dat_lm: safetensors, 50 tensors, 19776 numbers, 84296 bytes",
          "configuration (config.json): "})
        EXPECT_NE(words.out.find(part), std::string::npos) << part;
}

TEST(CheckpointCli, AnExampleOfDataIsAnInput) {
    const std::string golden =
        std::string(RELASCOPE_FIXTURES) + "/golden/fitted-relations/same_kind/";
    const std::string pictures = "'" + golden + "pictures'";
    const auto look = [&](const std::string& words) {
        return runCli("inspect '" + golden + "model' --kind attention-sa --json " + words);
    };
    const auto example = json(look("--data " + pictures + " --sample 1")),
               file = json(look("--image '" + golden + "pictures/1.png'"));
    EXPECT_EQ(example["values"], file["values"]);
    EXPECT_NE(json(look("--data " + pictures))["values"], file["values"]) << "example 0";
    const auto behind = look("--data " + pictures + " --sample 3");
    EXPECT_EQ(behind.code, 2);
    EXPECT_NE(behind.err.find("3 is out of range: there are 3 examples of pictures"),
              std::string::npos)
        << behind.err;
    EXPECT_NE(look("--sample 1").err.find("--data with --sample N"), std::string::npos);
    // An analysis of one input takes it, too.
    const auto parts = [&](const std::string& words) {
        return json(runCli("attribute '" + golden + "model' --json " + words));
    };
    EXPECT_EQ(parts("--data " + pictures + " --sample 1")["parts"],
              parts("--image '" + golden + "pictures/1.png'")["parts"]);
}

TEST(CheckpointCli, InfoMeasuresTheValuesOfTensors) {
    const TemporaryFolder home("tensor-values");
    std::filesystem::create_directories(home.path());
    const std::vector<float> values = {-1.0f, 0.0f, 1.0f, std::nanf("")};
    const std::vector<std::uint8_t> seven = {7};
    writeSafetensors(
        home / "w.safetensors",
        {{"head.weight", "F32", {2, 2}, {reinterpret_cast<const std::uint8_t*>(values.data()), 16}},
         {"head.bias", "U8", {1}, seven}});
    const auto path = " '" + (home / "w.safetensors") + "'",
               out = " --out '" + (home / "x.csv") + "'";
    const auto found = json(runCli("info --json --tensor head.weight" + path));
    EXPECT_EQ(found["name"], "head.weight");
    EXPECT_EQ(found["shape"], "[2, 2]");
    EXPECT_EQ(found["numbers"], 4);
    EXPECT_EQ(found["not_finite"], 1);
    EXPECT_EQ(found["minimum"], -1.0);
    EXPECT_EQ(found["mean"], 0.0);
    EXPECT_EQ(found["histogram"].size(), 64u);
    EXPECT_EQ(found["histogram"][0]["count"], 1);

    ASSERT_EQ(runCli("info --tensor head.weight" + path + out).code, 0);
    EXPECT_EQ(slurp(home / "x.csv").substr(0, 34), "from,to,count\n-1,-0.96875,1\n-0.968");
    ASSERT_EQ(runCli("info" + path + out).code, 0);
    const auto table = slurp(home / "x.csv");
    EXPECT_EQ(table.substr(0, table.find('\n')),
              "name,shape,type,bytes,same_as,minimum,maximum,mean,deviation,not_finite");
    EXPECT_NE(table.find("head.weight,\"[2, 2]\",F32,16,,-1,1,0,"), std::string::npos) << table;
    EXPECT_NE(table.find("head.bias,[1],U8,1,,7,7,7,0,0"), std::string::npos) << table;

    expectRefused("info --tensor head.wieght" + path, 2, "head.weight");
    expectRefused("info --tensor head.weight --outline" + path, 2, "--outline");
    expectRefused("info --outline" + path, 2, "the model is unknown");
    const std::string model = " " RELASCOPE_FIXTURES "/golden/vidat_relational_games_mixed";
    const auto outline = runCli("info --outline" + model);
    EXPECT_EQ(outline.code, 0) << outline.err;
    EXPECT_NE(outline.out.find("\n  encoder"), std::string::npos) << outline.out;
    EXPECT_GT(json(runCli("info --json --outline" + model))["parts"].size(), 1u);
    expectRefused("info --out x.txt" + path, 2, "must end in .csv");
    EXPECT_EQ(runCli("info --tensor head.bias" + path).code, 0);
}

// A file from anywhere writes nothing to the terminal that commands it.
TEST(CheckpointCli, NoControlCharacterIsPrinted) {
    const TemporaryFolder home("controls");
    const std::vector<std::uint8_t> bytes = {1, 2, 3, 4};
    const std::string name = "a\x1b[31mred\x1b]0;title\x07\xc2\x9b\r\x7f";
    std::filesystem::create_directories(home.path());
    writeSafetensors(home / "model.safetensors", {{name, "U8", {4}, bytes}}, {{name, name}});
    core::writeTextFile(home / "config.json",
                        nlohmann::json({{"model_type", name}, {name, 1}}).dump());
    const auto quoted = "'" + home.path() + "'";
    for (const std::string command :
         {"info ", "info --json ", "verify ", "lens --text x ", "points ", "convert --json "}) {
        const auto said =
            runCli(command + quoted + (command[0] == 'c' ? " '" + (home / name) + "'" : ""));
        for (const char c : said.out + said.err)
            EXPECT_TRUE(c == '\n' || c == '\t' || (static_cast<unsigned char>(c) >= 32 && c != 127))
                << command << int(c);
        EXPECT_EQ((said.out + said.err).find("\xc2\x9b"), std::string::npos) << command;
    }
}

// The merged model of an adapter is one that any program opens.
TEST(CheckpointCli, AnAdapterIsMergedAndWritten) {
    const std::string fixtures = RELASCOPE_FIXTURES,
                      adapter = fixtures + "/training-checkpoints/adapter-gpt2",
                      base = fixtures + "/golden/public/gpt2_tied";
    const TemporaryFolder home("merged");
    const auto out = home / "model";
    EXPECT_EQ(runCli("convert " + base + " " + out + " --adapter " + adapter).code, 0);
    std::filesystem::copy_file(adapter + "/io.safetensors", out + "/io.safetensors");
    EXPECT_EQ(runCli("verify " + out).code, 0) << "without the adapter";
    EXPECT_EQ(json(runCli("info --json " + base + " --adapter " + adapter))["form"],
              "safetensors with a LoRA adapter");
    expectRefused("info " + base + " --adapter " + base, 1, "is no adapter");
    EXPECT_TRUE(std::filesystem::exists(out + "/tokenizer.json"));
}

TEST(CheckpointCli, InspectTakesStoredTypedAndMadeUpInputs) {
    const std::string pairs = std::string(RELASCOPE_FIXTURES) + "/golden/seq2seq_dat_math";
    const auto cross =
        json(runCli("inspect --json " + pairs + " --reference 2 --layer 4 --kind attention-sa"));
    EXPECT_EQ(cross["layer_name"], "decoder 1 cross");
    EXPECT_EQ(cross["sample"], "reference input 2");
    EXPECT_NE(cross["rows"], cross["columns"]);
    const auto typed = json(runCli("inspect --json " + pairs + " --tokens 1,2,3 --target 4,5"));
    EXPECT_EQ(typed["layer_name"], "encoder 1");
    EXPECT_EQ(typed["rows"], 3);
    const std::string made = "inspect --json " + pairs + " --random 7";
    EXPECT_EQ(runCli(made).out, runCli(made).out);
    EXPECT_EQ(json(runCli(made))["sample"], "random input, seed 7");

    expectRefused("inspect " + pairs, 2, "--reference N or --random SEED");
    expectRefused("inspect " + pairs + " --reference 9", 2, "no reference input");
    expectRefused("inspect " + pairs + " --tokens 29 --target 1", 2, "token 29");
    expectRefused("inspect " + pairs + " --tokens 1", 2, "target: is empty");
    expectRefused("inspect " + pairs + " --random 7 --layer 4", 2,
                  "(decoder 1 cross) has no relation maps; it has attention-sa");
    expectRefused("inspect " + pairs + " --random 7 --layer 40", 2, "beyond the model's 6");
    expectRefused("eval " + pairs + " --data x.npz", 1, "x.npz");
}

TEST(CheckpointCli, ConvertGoesFromFormToForm) {
    TemporaryFolder home("cli-convert");
    std::filesystem::create_directories(home.path());
    const auto tensors = [&](const std::string& path) {
        std::map<std::string, nlohmann::json> all;
        const auto shown = runCli("info --json " + path);
        const auto document = json(shown);
        for (const auto& t : document["tensors"]) all[t["name"]] = t["shape"];
        return all;
    };
    const auto original = tensors(kGoldenCheckpoints + "research_pt");
    std::string in = kGoldenCheckpoints + "research_pt";
    for (const char* out : {"/a.safetensors", "/b.pt"}) {
        const auto done = runCli("convert --json " + in + " " + home.path() + out);
        EXPECT_EQ(done.code, 0) << done.err;
        EXPECT_EQ(json(done)["wrote"], home.path() + out);
        EXPECT_EQ(tensors(in = home.path() + out), original);
    }
    EXPECT_EQ(runCli("convert " + kGoldenCheckpoints + "research_pt " + (home / "folder")).code, 0);
    EXPECT_EQ(tensors(home / "folder"), original);
    EXPECT_EQ(runCli("convert " + in + " " + (home / "f2")).code, 0)
        << "its configuration was kept";
    EXPECT_EQ(tensors(home / "f2"), original);
    expectRefused("convert " + in + " " + in, 1, "is the checkpoint itself");
    expectRefused("convert " + in, 2, "out");
}

TEST(CheckpointCli, RefusesBadFilesInOneSentence) {
    TemporaryFolder home("cli-bad");
    std::filesystem::create_directories(home.path());
    writeBytes(home / "evil.pt",
               archive(dict({{"w", global("os", "system") + text("true") + "\x85R"}})));
    expectRefused("info " + (home / "evil.pt"), 1, "refers to 'os.system'");
    expectRefused("convert " + (home / "evil.pt") + " " + (home / "x.pt"), 1, "os.system");
    EXPECT_FALSE(std::filesystem::exists(home / "x.pt"));
    // A name that would clear the screen is shown, not obeyed.
    writeBytes(home / "escape.pt", archive(dict({{"\x1b[2J", tensor()}})));
    const auto escape = runCli("info " + (home / "escape.pt"));
    EXPECT_EQ(escape.code, 0) << escape.err;
    EXPECT_EQ(escape.out.find('\x1b'), std::string::npos);
    EXPECT_NE(escape.out.find("\\u001B[2J"), std::string::npos);
    // Nor does one make two lines of a sentence, or turn it around.
    const auto odd = runCli("info '" + (home / "a\nb\u202Egpj.pt") + "'");
    EXPECT_EQ(odd.code, 1);
    EXPECT_NE(odd.err.find("/a\\nb\\u202Egpj.pt: does not exist\n"), std::string::npos) << odd.err;
    writeBytes(home / "short.safetensors", "1234567");
    expectRefused("info " + (home / "short.safetensors"), 1, "is text and no weights");
    writeBytes(home / "short.safetensors", "\x01\x02\x03");
    expectRefused("info " + (home / "short.safetensors"), 1, "at least 8");
    expectRefused("info " + home.path(), 1, "several weights files");
}

}  // namespace
}  // namespace relascope
