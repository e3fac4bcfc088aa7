// SPDX-License-Identifier: GPL-3.0-or-later
// From a file to its model: configurations, runs, what only the tensors tell, and the one list of
// problems.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "analysis/open_model.h"
#include "analysis/verify/verify.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/tensor_io.h"
#include "model/model.h"
#include "options/published_config.h"
#include "support/rooms.h"
#include "support/tiny_run.h"
#include "support/zoo.h"

namespace relascope {
namespace {

using testing_support::TemporaryFolder;

const std::string kGolden = std::string(RELASCOPE_FIXTURES) + "/golden/";

void write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
}

ModelOptions find(const std::string& name) {
    for (const auto& [label, options] : smallModels())
        if (label == name) return options;
    ADD_FAILURE() << name;
    return {};
}

// The model saved as a published folder.
std::string saved(const TemporaryFolder& home, const ModelOptions& options,
                  const std::string& name) {
    const std::string folder = home / name;
    std::filesystem::create_directories(folder);
    write(folder + "/config.json", modelToPublishedConfig(options));
    saveWeights(*makeModel(options), folder + "/model.safetensors");
    return folder;
}

TEST(CheckpointInfo, OfEveryGoldenCaseHasNoProblems) {
    int seen = 0;
    for (const auto& entry : std::filesystem::directory_iterator(kGolden)) {
        if (!std::filesystem::exists(entry.path() / "config.json")) continue;  // not a model
        const auto info = readCheckpointInfo(entry.path().string());
        EXPECT_TRUE(info.loads()) << entry.path();
        EXPECT_TRUE(info.problems.empty()) << entry.path() << info.problems[0].message;
        EXPECT_TRUE(info.hasReference);
        EXPECT_GT(info.parameters, 0);
        EXPECT_GE(info.parameters, info.trainable);
        EXPECT_EQ(info.outline.parameters, info.parameters);
        EXPECT_FALSE(info.outline.children.empty());
        ++seen;
    }
    EXPECT_EQ(seen, 23);
}

TEST(CheckpointInfo, ListsEveryDifferenceAtOnce) {
    TemporaryFolder home("checkpoint-model");
    const auto options = find("DualAttnTransformerLM plain");
    const auto folder = saved(home, options, "m");
    auto tensors = readTensors(folder + "/model.safetensors");
    std::vector<std::pair<std::string, torch::Tensor>> changed;
    for (auto& [name, tensor] : tensors) {
        if (name == "layers.norm.bias") continue;
        if (name == "layers.norm.weight") tensor = torch::ones({9});
        changed.emplace_back(name, tensor);
    }
    changed.emplace_back("layers.blocks.7.norm1.weight", torch::ones({8}));
    for (auto& [name, tensor] : changed)
        if (name == "layers.blocks.0.norm1.weight") tensor = tensor.to(torch::kLong);
    saveTensors(folder + "/model.safetensors", changed,
                {{"layers.token_embedder.weight", "layers.final_out.weight"}});
    const auto info = readCheckpointInfo(folder);
    EXPECT_FALSE(info.loads());
    std::map<std::string, ProblemKind> found;
    for (const auto& problem : info.problems) found[problem.subject] = problem.kind;
    // token_embedder is there or final_out is: one name of the two is enough.
    EXPECT_EQ(found.size(), 4u);
    EXPECT_EQ(found.at("layers.blocks.0.norm1.weight"), ProblemKind::File);  // whole numbers
    EXPECT_EQ(found.at("layers.norm.bias"), ProblemKind::Missing);
    EXPECT_EQ(found.at("layers.norm.weight"), ProblemKind::WrongShape);
    EXPECT_EQ(found.at("layers.blocks.7.norm1.weight"), ProblemKind::Unexpected);
    try {
        OpenedModel opened(folder, "", "cpu");
        FAIL() << "loaded";
    } catch (const FileError& error) {
        for (const char* name : {"layers.norm.bias", "layers.norm.weight",
                                 "layers.blocks.7.norm1.weight", "layers.blocks.0.norm1.weight"})
            EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    }
}

TEST(CheckpointInfo, NamesTheFieldOfAConfigurationThatCannotBeHad) {
    TemporaryFolder home("checkpoint-model");
    const auto options = find("DualAttnTransformerLM plain");
    const auto folder = saved(home, options, "m");
    const auto problem = [&](const std::string& from, const std::string& to) {
        auto text = modelToPublishedConfig(options);
        const auto at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        write(folder + "/config.json", text.replace(at, from.size(), to));
        const auto info = readCheckpointInfo(folder);
        EXPECT_FALSE(info.loads());
        EXPECT_FALSE(info.tensors.empty());
        return info.problems.empty() ? std::string() : info.problems.front().message;
    };
    EXPECT_NE(problem("\"d_model\": 8", "\"d_model\": 9").find("9"), std::string::npos);
    EXPECT_NE(problem("\"n_layers\": 2", "\"n_layers\": 1000000000").find("n_layers"),
              std::string::npos);
    EXPECT_NE(problem("\"n_layers\": 2", "\"n_layers\": 0").find("n_layers"), std::string::npos);
    EXPECT_NE(problem("\"n_layers\": 2", "\"n_layers\": 2.5").find("n_layers"), std::string::npos);
    EXPECT_NE(problem("\"vocab_size\"", "\"vocabulary\"").find("vocab"), std::string::npos);
    EXPECT_NE(problem("\"n_layers\": 2", "\"n_layers\": 2, \"use_moe\": true").find("use_moe"),
              std::string::npos);
    EXPECT_NE(problem("\"n_layers\": 2", "\"n_layers\": 2, \"symmetric_attn\": true")
                  .find("symmetric_attn"),
              std::string::npos);
    EXPECT_NE(problem("{", "[{").find("JSON"), std::string::npos);
    EXPECT_NE(problem("{", std::string(100000, '[')).find("nested"), std::string::npos);
    EXPECT_NE(problem("\"rel_proj_dim\": null", "\"rel_proj_dim\": -3").find("rel_proj_dim"),
              std::string::npos);
    // Neutral values of research configurations are taken.
    auto text = modelToPublishedConfig(options);
    text.insert(text.find('{') + 1,
                "\"use_rope\": true, \"update_symbols_each_layer\": true, \"attn_kwargs\": {}, "
                "\"symmetric_attn\": false, \"final_norm\": true, ");
    write(folder + "/config.json", text);
    EXPECT_TRUE(readCheckpointInfo(folder).loads());
}

TEST(CheckpointModel, TakesFromTheTensorsWhatTheConfigurationDoesNotSay) {
    TemporaryFolder home("checkpoint-model");
    auto vision = find("VisionDualAttnTransformer final norm");
    const auto folder = saved(home, vision, "vision");
    vision.set("final_norm", false);
    write(folder + "/config.json", modelToPublishedConfig(vision));
    EXPECT_EQ(checkpointModel(*CheckpointSource::open(folder)).value("final_norm"),
              FieldValue(true));
    EXPECT_TRUE(readCheckpointInfo(folder).loads());

    // The published class builds n_layers_enc decoder blocks, whatever n_layers_dec says.
    auto pairs = find("Seq2SeqDualAttnTransformer plain");
    pairs.set("n_layers_enc", 2), pairs.set("n_layers_dec", 2);
    const auto twin = saved(home, pairs, "pairs");
    pairs.set("n_layers_dec", 1);
    write(twin + "/config.json", modelToPublishedConfig(pairs));
    EXPECT_EQ(checkpointModel(*CheckpointSource::open(twin)).number("n_layers_dec"), 2);
    EXPECT_TRUE(readCheckpointInfo(twin).loads());
}

TEST(CheckpointModel, WithoutAConfigurationSaysWhatToDo) {
    TemporaryFolder home("checkpoint-model");
    std::filesystem::create_directories(home.path());
    saveWeights(*makeModel(find("TransformerLM plain")), home / "alone.safetensors");
    const auto info = readCheckpointInfo(home / "alone.safetensors");
    EXPECT_FALSE(info.loads());
    EXPECT_GT(info.parameters, 0);
    ASSERT_EQ(info.problems.size(), 1u);
    EXPECT_NE(info.problems[0].message.find("config.json"), std::string::npos);
}

TEST(Verify, TakesEveryFormOfCheckpoint) {
    for (const char* name : {"hub_dat_lm", "hub_transformer_lm", "research_pt"}) {
        const auto report = verifyFolder(kGolden + "checkpoints/" + name);
        EXPECT_TRUE(report.ok) << name << " " << report.worst;
        EXPECT_EQ(report.lines.size(), 1u);
    }
}

TEST(Verify, SeesAWrongNumber) {
    TemporaryFolder home("checkpoint-model");
    const std::string folder = home / "lm";
    std::filesystem::create_directories(home.path());
    std::filesystem::copy(kGolden + "lm_rca", folder);
    auto io = readTensors(folder + "/io.safetensors");
    std::vector<std::pair<std::string, torch::Tensor>> changed;
    for (auto& [name, tensor] : io) {
        if (name == "generate/greedy") {
            tensor = tensor.clone();
            tensor[0][20] = (tensor[0][20] + 1) % 61;
        }
        changed.emplace_back(name, tensor);
    }
    changed.emplace_back("output/entropy", torch::ones({1}));
    saveTensors(folder + "/io.safetensors", changed);
    const auto report = verifyFolder(folder);
    EXPECT_FALSE(report.ok);
    int wrong = 0;
    for (const auto& line : report.lines)
        if (!line.ok) {
            ++wrong;
            EXPECT_TRUE(line.name == "generate/greedy" || line.name == "output/entropy");
        }
    EXPECT_EQ(wrong, 2);
}

TEST(OpenedModel, OffersReferenceAndRandomInputs) {
    const OpenedModel pairs(kGolden + "seq2seq_transformer_vectors", "", "cpu");
    ASSERT_EQ(pairs.referenceInputs(), 2);
    const auto sample = pairs.referenceInput(1);
    EXPECT_EQ(sample.source.width, 12);
    EXPECT_EQ(sample.target.width, 0);
    EXPECT_GT(sample.target.size(), 0);
    EXPECT_THROW(pairs.referenceInput(2), OptionError);
    EXPECT_EQ(pairs.randomInput(5), pairs.randomInput(5));
    EXPECT_NE(pairs.randomInput(5).source, pairs.randomInput(6).source);

    OpenedModel image(kGolden + "relational_games_predinet", "", "cpu");
    EXPECT_EQ(image.referenceInput(0).image.width, 36);
    const auto result = image.probe(image.referenceInput(0), {});
    EXPECT_EQ(result.sides.size(), 2u);
    EXPECT_EQ(result.count(MapKind::SensoryAttention, 0), 4);
    EXPECT_EQ(result.maps.front().rows, 2);

    OpenedModel language(kGolden + "lm_symbolic_rope_gqa", "", "cpu");
    ProbeSample tokens;
    tokens.source.tokens = {1, 2, 61};
    EXPECT_THROW(language.probe(tokens, {}), OptionError);
    tokens.source.tokens.clear();
    EXPECT_THROW(language.probe(tokens, {}), OptionError);
    tokens.source.tokens.assign(25, 1);  // the context is 24
    EXPECT_THROW(language.probe(tokens, {}), OptionError);
    EXPECT_THROW(language.evaluate(nullptr, 1), OptionError);
}

}  // namespace
}  // namespace relascope
