// SPDX-License-Identifier: GPL-3.0-or-later
// Presets, options and the parameter counts of the papers.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "model/architecture.h"
#include "model/attention/relational_attention.h"
#include "model/blocks/parameters.h"
#include "model/model.h"
#include "options/estimates.h"
#include "options/field_text.h"
#include "options/options_json.h"
#include "options/presets.h"
#include "options/published.h"
#include "options/published_config.h"
#include "options/run_settings.h"
#include "support/rooms.h"

namespace relascope {
namespace {

std::int64_t built(const ModelOptions& options) {
    std::int64_t count = 0;
    const ParameterScope scope(ParameterFill::ShapesOnly);  // whatever the size
    auto model = makeModel(options);
    for (const auto& entry : stateOf(*model))
        if (entry.aliasOf.empty() && !entry.buffer) count += entry.tensor.numel();
    return count;
}

TEST(Presets, HaveThePublishedParameterCounts) {
    const std::pair<const char*, std::int64_t> expected[] = {{"dat", 404706},
                                                             {"dat-relational", 421474},
                                                             {"transformer", 386914},
                                                             {"transformer-wide", 481250},
                                                             {"dat-asymmetric", 437474},
                                                             {"dat-relational-asymmetric", 454242}};
    for (const auto& preset : presets()) {
        if (preset.name.rfind("relational-games-", 0) != 0) continue;
        for (const auto& [variant, count] : expected) {
            const auto options = presetOptions(preset.name, variant);
            EXPECT_EQ(parameterCount(options.model), count) << preset.name << " " << variant;
            EXPECT_EQ(built(options.model), count) << preset.name << " " << variant;
        }
    }
}

TEST(Presets, RelationalGamesAreTrainedAsTheirCurvesWere) {
    for (const auto& preset : presets()) {
        if (preset.name.rfind("relational-games-", 0) != 0) continue;
        EXPECT_TRUE(preset.notes.count("train.epochs")) << "inferred, and said so";
        for (const char* model : {"dat", "dat-relational", "transformer"})
            EXPECT_EQ(presetOptions(preset.name, model).train.epochs, 100) << model;
        for (const char* model : {"transformer-wide", "transformer-4", "transformer-8"})
            EXPECT_EQ(presetOptions(preset.name, model).train.epochs, 50) << model;
        EXPECT_EQ(presetOptions(preset.name, "dat").model.number("rel_proj_dim"), 128);
        EXPECT_EQ(presetOptions(preset.name, "dat").train.init, "may-2024");
        EXPECT_EQ(presetOptions(preset.name, "transformer").train.init, "package");
        for (const auto& [key, note] : preset.notes)  // keys of options, sentences about them
            EXPECT_NO_THROW(RunOptions::field(key)) << note;
    }
    EXPECT_EQ(presetOptions("quick").train.init, "may-2024");
}

TEST(Presets, InitialWeightsOfMay2024AreWider) {
    auto options = presetOptions("relational-games-same", "dat");
    const auto model = makeModel(options.model);
    const auto largest = [&] {
        double most = 0.0;
        for (const auto& item : model->named_parameters())
            if (item.key().size() > 3 && item.key().substr(item.key().size() - 3) == ".wr")
                most = std::max(most, item.value().abs().max().item<double>());
        return most;
    };
    EXPECT_LE(largest(), 0.125);  // 1 / sqrt(64): the package counts the head's width as well
    initRelationsAsMay2024(*model);
    EXPECT_LE(largest(), 1.0);  // 1 / sqrt(1 relation)
    EXPECT_GT(largest(), 0.9);
}

TEST(Presets, OfImagesAndMathematicsAreThePublishedOnes) {
    const auto count = [](const char* preset, const char* model) {
        return parameterCount(presetOptions(preset, model).model);
    };
    EXPECT_EQ(count("cifar10", "vit"), 7148266);
    EXPECT_EQ(count("cifar10", "vidat"), 6025066);
    EXPECT_EQ(count("cifar10", "vidat-asymmetric"), 6614890);
    EXPECT_EQ(count("cifar100", "vit"), 7182916);
    EXPECT_EQ(count("cifar100", "vidat"), 6059716);
    for (const char* preset :
         {"math-linear-1d", "math-next-term", "math-differentiate", "math-add", "math-expand"}) {
        EXPECT_EQ(count(preset, "transformer"), 692949);
        EXPECT_EQ(count(preset, "transformer-wide"), 871717);
        EXPECT_EQ(count(preset, "dat"), 750421);
        EXPECT_EQ(count(preset, "dat-both"), 767317);
    }
    const auto math = presetOptions("math-add");
    EXPECT_EQ(math.model.ignoredTarget(), 0);
    EXPECT_EQ(publishedResults(math).at(0).accuracy, 0.856);
    EXPECT_EQ(publishedResults(presetOptions("cifar100", "vidat")).at(0).accuracy, 0.705);
}

TEST(Presets, SizesOfTheModelFollowTheData) {
    auto options = presetOptions("sort-argsort", "dat");
    EXPECT_EQ(options.model.number("input_size"), 12);
    EXPECT_EQ(options.model.number("in_block_size"), 15);
    EXPECT_EQ(options.model.number("output_size"), 16);
    EXPECT_EQ(options.model.number("out_dim"), 15);
    options.data.longest = 10;
    fitToData(options);
    EXPECT_EQ(options.model.number("out_dim"), 10);
    setOption(options, "data.kind", "math");
    try {
        options.check();
        FAIL();
    } catch (const OptionError& error) {
        EXPECT_EQ(error.field(), "data.task");
    }
    setOption(options, "data.kind", "pairs");
    setOption(options, "data.task", "order");
    EXPECT_THROW(options.check(), OptionError);  // objects for a model of sequences
}

TEST(Presets, OfLanguageAreThePublishedOnes) {
    const std::tuple<const char*, std::int64_t, std::int64_t> expected[] = {
        {"lm-343m", 345074688, 353601536},
        {"lm-734m", 735453696, 756894720},
        {"lm-1.27b", 1276827648, 1311182848}};
    for (const auto& [name, dat, transformer] : expected) {
        EXPECT_EQ(parameterCount(presetOptions(name, "dat").model), dat) << name;
        EXPECT_EQ(parameterCount(presetOptions(name, "transformer").model), transformer) << name;
        const auto o = presetOptions(name, "dat");
        EXPECT_EQ(stepBatches(o) * o.train.batch_size * o.data.context, 524288) << name;
        EXPECT_EQ(o.train.warmup_steps, 715);
        EXPECT_EQ(o.train.weight_decay_on, "matrices");
        EXPECT_GT(tokensPerStep(o) * static_cast<double>(totalSteps(o)), 9.99e9) << name;
    }
}

TEST(Estimates, RefuseWhatCannotFitAndSayWhatWould) {
    auto o = presetOptions("lm-343m");
    const auto needed = trainingBytes(o);
    EXPECT_EQ(memoryProblem(o, needed), "");
    EXPECT_EQ(memoryProblem(o, 0), "");
    const auto advice = memoryProblem(o, needed * 6 / 10);
    EXPECT_NE(advice.find("train.batch_size="), std::string::npos) << advice;
    EXPECT_NE(advice.find("GiB"), std::string::npos) << advice;
    EXPECT_NE(memoryProblem(o, 1 << 20).find("smaller model"), std::string::npos);
    o.train.activation_checkpointing = true;
    EXPECT_LT(trainingBytes(o), needed);
}

TEST(Estimates, KnowHowMuchAllOfTheDataIs) {
    auto pairs = presetOptions("pairwise-order");  // 64 objects: half of 64 * 63 ordered pairs
    pairs.data.train_size = 0, pairs.train.batch_size = 63;
    EXPECT_EQ(stepsPerEpoch(pairs), 32);
    pairs.data.train_size = 126;
    EXPECT_EQ(stepsPerEpoch(pairs), 2);
    auto images = presetOptions("cifar10");
    images.data.train_size = 0, images.data.validation_size = 5000;
    EXPECT_EQ(stepsPerEpoch(images),
              (45000 + images.train.batch_size - 1) / images.train.batch_size);
}

TEST(Presets, AllCanBeBuiltAndEstimated) {
    EXPECT_EQ(presets().size(), 37u);
    for (const auto& preset : presets())
        for (const auto& variant : preset.variants) {
            const auto options = presetOptions(preset.name, variant);
            EXPECT_EQ(built(options.model), parameterCount(options.model))
                << preset.name << " " << variant;
            EXPECT_GT(totalSteps(options), 0);
            EXPECT_EQ(runOptionsFromJson(runOptionsToJson(options)), options);
        }
    EXPECT_THROW(presetOptions("quik"), OptionError);
    EXPECT_THROW(presetOptions("quick", "dot"), OptionError);
    try {
        presetOptions("quik");
    } catch (const OptionError& error) {
        EXPECT_NE(std::string(error.what()).find("did you mean 'quick'"), std::string::npos);
    }
}

TEST(Presets, SayEveryVariantInOneSentence) {
    for (const auto& preset : presets()) {
        ASSERT_EQ(preset.variantHelp.size(), preset.variants.size()) << preset.name;
        for (const auto& variant : preset.variants) {
            const auto help = preset.helpOf(variant);
            EXPECT_GT(help.size(), 20u) << preset.name << " " << variant;
            EXPECT_LT(help.size(), 140u) << preset.name << " " << variant;
            EXPECT_EQ(help.back(), '.') << preset.name << " " << variant;
        }
        EXPECT_EQ(preset.helpOf("none such"), "");
    }
}

TEST(Fields, SayWhatAnAutomaticZeroStandsFor) {
    const auto words = [](const RunOptions& o, const std::string& key) {
        for (const auto& state : o.states(o))
            if (state.key == key) return state.automatic;
        return std::string("no such field");
    };
    RunOptions o = presetOptions("relational-games-same", "dat-relational");
    EXPECT_EQ(words(o, "model.n_relations"), "2");
    EXPECT_EQ(words(o, "model.rel_proj_dim"), "64");
    EXPECT_EQ(words(o, "model.ra_key_dim"), "64");
    EXPECT_EQ(words(o, "model.max_length"), "10");
    EXPECT_EQ(words(o, "train.evaluate_every"), "epoch");
    EXPECT_EQ(words(o, "model.d_model"), "");
    o.model.set("n_heads_ra", 4);
    EXPECT_EQ(words(o, "model.n_relations"), "4") << "follows the other options";
    o.model.set("patch_size", std::vector<std::int64_t>{0, 12});
    o.model.set("n_heads_sa", 0), o.model.set("n_heads_ra", 0);
    EXPECT_EQ(words(o, "model.max_length"), "") << "invalid options are no reason to fail";
    // Whatever a preset leaves at zero has words, or 0 is a value like any other.
    for (const auto& preset : presets())
        for (const auto& variant : preset.variants) {
            const auto options = presetOptions(preset.name, variant);
            for (const auto& state : options.states(options))
                if (state.applies &&
                    ((options.model.info().dual) || state.key != "model.n_relations") &&
                    state.spec.help.find("0 means one per head") != std::string::npos) {
                    EXPECT_NE(state.automatic, "") << preset.name << " " << state.key;
                }
        }
}

TEST(Estimates, CountEveryOption) {
    for (const char* symbols :
         {"positional_symbols", "position_relative", "symbolic_attention", "rel_sym_attn"})
        for (const char* type : {"relational_attention", "rca", "disrca"})
            for (const int extra : {0, 1, 2, 3}) {
                ModelOptions m;
                m.set("d_model", 32), m.set("dff", extra == 1 ? 0 : 40), m.set("n_heads_sa", 2),
                    m.set("n_heads_ra", 2), m.set("n_symbols", 7);
                m.set("symbol_retrieval", symbols), m.set("ra_type", type);
                m.set("bias", extra == 2), m.set("norm_type", extra == 3 ? "rmsnorm" : "layernorm");
                m.set("symmetric_rels", extra != 1);
                m.set("sa_n_kv_heads", extra == 2 ? 1 : 0),
                    m.set("ra_n_kv_heads", extra == 2 ? 1 : 0);
                m.set("ra_add_bias_kv", extra == 3), m.set("sa_add_bias_kv", extra == 3),
                    m.set("ra_add_bias_out", extra == 3);
                m.set("share_attn_params",
                      extra == 3 && std::get<std::string>(m.value("ra_type")) != "rca");
                m.set("n_relations", extra == 1 ? 4 : 0);
                EXPECT_EQ(built(m), parameterCount(m)) << symbols << " " << type << " " << extra;
                EXPECT_EQ(modelFromPublishedConfig(modelToPublishedConfig(m)).number("n_symbols"),
                          symbols == std::string("symbolic_attention") ||
                                  symbols == std::string("rel_sym_attn")
                              ? 7
                              : 64);
            }
    ModelOptions cifar;  // CIFAR-10 of the paper: ViDAT symmetric / asymmetric, ViT
    cifar.set("image_shape", std::vector<std::int64_t>{3, 32, 32}),
        cifar.set("patch_size", std::vector<std::int64_t>{4, 4}), cifar.set("num_classes", 10),
        cifar.set("d_model", 384), cifar.set("dff", 384);
    cifar.set("n_layers", 8), cifar.set("n_heads_sa", 6), cifar.set("n_heads_ra", 6),
        cifar.set("sa_n_kv_heads", 3), cifar.set("ra_n_kv_heads", 3);
    cifar.set("activation", "gelu"), cifar.set("bias", true),
        cifar.set("symbol_retrieval", "position_relative");
    EXPECT_EQ(parameterCount(cifar), 6025066);
    cifar.set("symmetric_rels", false);
    EXPECT_EQ(parameterCount(cifar), 6614890);
    cifar.setArchitecture("VisionTransformer"), cifar.set("n_heads_sa", 12),
        cifar.set("sa_n_kv_heads", 0);
    EXPECT_EQ(parameterCount(cifar), 7148266);
}

TEST(Options, AreRefusedInWordsBeforeAnythingIsBuilt) {
    RunOptions o = presetOptions("quick");
    o.model.set("rel_proj_dim", 0);  // as wide as the heads, which the relations share
    const auto refused = [&](const char* key, const char* text, const char* words) {
        RunOptions copy = o;
        try {
            setOption(copy, key, text);
            copy.check();
            ADD_FAILURE() << key << "=" << text << " was accepted";
        } catch (const OptionError& error) {
            EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
        }
    };
    refused("model.d_modle", "64", "did you mean 'model.d_model'");
    refused("model.d_model", "65", "not a multiple of the 2 heads; the next multiple is 66");
    refused("model.n_layers", "0", "below 1");
    refused("model.n_layers", "1000000000", "above 1000");
    refused("model.n_relations", "7", "does not divide");
    refused("model.ra_n_kv_heads", "3", "does not divide");
    refused("model.dropout_rate", "1.5", "above");
    refused("model.dropout_rate", "nan", "not a number");
    refused("model.symmetric_rels", "maybe", "not true or false");
    refused("model.symbol_retrieval", "positional", "did you mean 'positional_symbols'");
    refused("model.patch_size", "5,12", "does not divide");
    refused("train.batch_size", "0", "below 1");
    refused("train.learning_rate", "fast", "not a number");
    refused("train.early_stopping.metric", "acuracy", "did you mean 'accuracy'");
    refused("data.task", "betwen", "between");
    setOption(o, "train.early_stopping",
              R"({"metric": "accuracy", "patience": 3, "restore_best": true})");
    EXPECT_EQ(o.train.early_stopping.patience, 3);
    EXPECT_TRUE(o.train.early_stopping.restore_best);
    setOption(o, "train.seeds", "0, 1,2");
    EXPECT_EQ(o.train.seeds, (std::vector<std::int64_t>{0, 1, 2}));
    EXPECT_THROW(runOptionsFromJson(R"({"model": {"d_model": "wide"}})"), OptionError);
    EXPECT_THROW(runOptionsFromJson(R"({"model": {"d_model": 1e999}})"), Error);
    EXPECT_THROW(modelFromPublishedConfig("{}"), Error);
    EXPECT_THROW(modelFromPublishedConfig(
                     R"({"class": "VisionTransformer", "arguments": {"image_shape": [3, 4, 4]}})"),
                 OptionError);
}

TEST(Settings, FilesAreKeptByTheirAbsolutePaths) {
    const auto home = std::filesystem::temp_directory_path() / "relascope-settings";
    std::filesystem::create_directories(home);
    std::ofstream(home / "own.txt") << "words";
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(home);
    const auto there = (std::filesystem::current_path() / "own.txt").string();
    EXPECT_EQ(fileSetting("data.path", "./own.txt"), there);
    EXPECT_EQ(fileSetting("data.path", "none.txt"), "none.txt");
    EXPECT_EQ(fileSetting("data.tokenizer", "gpt2"), "gpt2");
    EXPECT_EQ(fileSetting("data.task", "own.txt"), "own.txt") << "not a file";
    EXPECT_EQ(runOptions({.preset = "text", .data = "own.txt"}).data.path, there);
    EXPECT_EQ(runOptions({.preset = "text", .set = {"data.path=own.txt"}}).data.path, there);
    std::filesystem::current_path(before);
    std::filesystem::remove_all(home);
}

TEST(Published, NumbersStandBesideTheRun) {
    const auto results = publishedResults(presetOptions("relational-games-between", "dat"));
    ASSERT_EQ(results.size(), 3u);
    for (const auto& r : results) {
        if (r.split != "hexos") continue;
        EXPECT_NEAR(r.accuracy, 0.908, 0.001);
    }
    EXPECT_TRUE(publishedResults(presetOptions("quick")).empty());
}

}  // namespace
}  // namespace relascope
