// SPDX-License-Identifier: GPL-3.0-or-later
// Models of images of public families (golden/vision-families): what they compute, what their
// configurations say, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/attribute/attribution.h"
#include "analysis/lens/lens.h"
#include "analysis/open_model.h"
#include "analysis/verify/verify.h"
#include "checkpoint/checkpoint.h"
#include "datasets/pictures.h"
#include "datasets/readers/picture_file.h"
#include "files/atomic_file.h"
#include "files/byte_source.h"
#include "files/safetensors.h"
#include "interventions/edit_words.h"
#include "interventions/named_edits.h"
#include "model/model.h"
#include "model/public/family.h"
#include "model/public/public_options.h"
#include "model/shapes.h"
#include "options/published_config.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

using Json = nlohmann::ordered_json;

const std::string kCases = std::string(RELASCOPE_FIXTURES) + "/golden/vision-families/";

/// A case that a test may change.
class Copy {
public:
    explicit Copy(const std::string& name) : m_home("vision-family") {
        std::filesystem::copy(kCases + name, m_home.path());
    }
    const std::string& path() const { return m_home.path(); }
    void change(const char* file, const std::function<void(Json&)>& change) const {
        const auto path = m_home.path() + "/" + file;
        auto json = Json::parse(core::readTextFile(path));
        change(json);
        core::writeTextFile(path, json.dump());
    }
    /// What refuses it; empty: it opens.
    std::string problem() const {
        try {
            const auto info = core::readCheckpointInfo(path());
            return info.problems.empty() ? std::string() : info.problems.front().message;
        } catch (const Error& error) {
            return error.what();
        }
    }

private:
    testing_support::TemporaryFolder m_home;
};

TEST(VisionFamilies, ComputeWhatTheirPackagesDo) {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(kCases)) {
        if (!entry.is_directory()) continue;
        SCOPED_TRACE(entry.path().filename().string());
        const auto report = core::verifyFolder(entry.path().string(), "cpu", "", readImageFile);
        for (const auto& line : report.lines)
            EXPECT_TRUE(line.ok) << line.name << " " << line.absolute << " " << line.note;
        ++count;
    }
    EXPECT_EQ(count, 15);
}

TEST(VisionFamilies, NamesOfTimmSayWhatTensorsDoNot) {
    const auto all = Json::parse(core::readTextFile(kCases + "timm_architectures.json"));
    for (const auto& [name, row] : all.at("opens").items()) {
        SCOPED_TRACE(name);
        const std::int64_t d = row.at("dim"), hidden = row.at("hidden"), patch = row.at("patch"),
                           side = row.at("image").at(0).get<std::int64_t>() / patch;
        const bool gated = row.at("form") == "glu";
        const std::int64_t before = (row.at("class_token").get<bool>() ? 1 : 0) +
                                    (row.at("distilled").get<bool>() ? 1 : 0) +
                                    row.at("registers").get<std::int64_t>();
        std::map<std::string, std::vector<std::int64_t>> shapes = {
            {"patch_embed.proj.weight", {d, 3, patch, patch}},
            {"patch_embed.proj.bias", {d}},
            {"blocks.0.attn.proj.bias", {d}},
            {"blocks.0.mlp.fc1.bias", {gated ? 2 * hidden : hidden}},
            {"blocks.0.mlp.fc2.weight", {d, gated ? hidden / 2 : hidden}}};
        const auto add = [&](const char* tensor, const char* key, std::vector<std::int64_t> shape) {
            if (row.at(key).get<bool>()) shapes[tensor] = std::move(shape);
        };
        for (std::int64_t i = 0; i < row.at("depth").get<std::int64_t>(); ++i)
            shapes["blocks." + std::to_string(i) + ".norm1.weight"] = {d};
        add("cls_token", "class_token", {1, 1, d});
        add("dist_token", "distilled", {1, 1, d});
        add("blocks.0.attn.qkv.bias", "qkv_bias", {3 * d});
        add("blocks.0.ls1.gamma", "layer_scale", {d});
        add("norm_pre.weight", "norm_before", {d});
        add("norm.weight", "norm", {d});
        add("fc_norm.weight", "norm_after_pool", {d});
        if (row.at("registers") != 0) shapes["reg_token"] = {1, row.at("registers"), d};
        if (row.at("pool") == "map") shapes["attn_pool.mlp.fc1.weight"] = {hidden, d};
        const bool alone = row.at("positions_of_patches_alone");
        shapes["pos_embed"] = {1, side * side + (alone ? 0 : before), d};
        const auto model = core::modelFromPublishedConfig(
            Json{{"architecture", name}}.dump(), [&](const std::string& tensor) {
                const auto found = shapes.find(tensor);
                return found == shapes.end() ? std::vector<std::int64_t>() : found->second;
            });
        const auto& o = model.get<core::PublicImageOptions>();
        EXPECT_EQ(o.d_model, d);
        EXPECT_EQ(o.n_layers, row.at("depth"));
        EXPECT_EQ(o.n_heads_sa, row.at("heads"));
        EXPECT_EQ(o.norm_eps, row.at("eps"));
        EXPECT_EQ(o.before(), before);
        EXPECT_EQ(o.registers, row.at("registers"));
        EXPECT_EQ(o.layer_scale, row.at("layer_scale"));
        EXPECT_EQ(o.sa_add_bias_q, row.at("qkv_bias"));
        EXPECT_EQ(o.embed_norm, row.at("norm_before"));
        EXPECT_EQ(o.norm_all, row.at("norm"));
        EXPECT_EQ(o.norm_pooled, row.at("norm_after_pool"));
        EXPECT_EQ(o.pool_all, row.at("pool_all"));
        EXPECT_EQ(o.pool == "cls" ? "token" : o.pool == "mean" ? "avg" : "map", row.at("pool"));
        EXPECT_EQ(o.image_shape, (std::vector<std::int64_t>{3, side * patch, side * patch}));
        if (before > 0) {
            EXPECT_EQ(o.positions, alone ? "patches" : "all");
        }
        const std::map<std::string, std::string> names = {{"exact_gelu", "gelu"},
                                                          {"gelu", "gelu_tanh"},
                                                          {"quick_gelu", "quick_gelu"},
                                                          {"swiglu", "silu"}};
        EXPECT_EQ(names.at(o.activation), row.at("act"));
    }
    for (const auto& [name, why] : all.at("refused").items())
        EXPECT_THROW(core::modelFromPublishedConfig(Json{{"architecture", name}}.dump()),
                     OptionError)
            << name << " " << why;
}

TEST(VisionFamilies, LogitsAreTheSumsOfTheirParts) {
    for (const char* name : {"dinov2_classifier", "timm_deit3", "beit", "timm_vit"}) {
        SCOPED_TRACE(name);
        core::OpenedModel model(kCases + name, "", "cpu");
        const auto sample = model.referenceInput(0);
        AttributionOptions what;
        what.answer = 1, what.minus = 3;
        model.withInput(sample, {}, [&](core::ModelImpl& m, const core::ModelInput& input) {
            const auto found = core::attributeLogit(m, model.options(), input, what);
            EXPECT_NEAR(found.sum(), found.logit, 1e-4 * (1.0 + std::abs(found.logit)));
        });
    }
}

// A classifier behind a learned query: the query's own feed-forward is one part.
TEST(VisionFamilies, SumsOfPartsPassALearnedQuery) {
    auto options = *core::readCheckpointInfo(kCases + "timm_siglip").model;
    auto& o = options.get<core::PublicImageOptions>();
    o.num_classes = 5, o.preprocessor.clear();
    core::OpenedModel model(options, 3, "cpu");
    AttributionOptions what;
    what.answer = 1, what.minus = 3;
    model.withInput(model.randomInput(1), {},
                    [&](core::ModelImpl& m, const core::ModelInput& input) {
                        const auto found = core::attributeLogit(m, model.options(), input, what);
                        EXPECT_NEAR(found.sum(), found.logit, 1e-4);
                        EXPECT_GT(found.parts.size(), 10u);
                    });
}

TEST(VisionFamilies, TheMapOfALearnedQueryHasAPlaceOfItsOwn) {
    core::OpenedModel model(kCases + "siglip", "", "cpu");
    const auto found = model.probe(model.referenceInput(0), {});
    ASSERT_EQ(found.layers.size(), 3u);
    EXPECT_EQ(found.layers.back().name, "learned query");
    EXPECT_EQ(found.grid.firstTokens(), 0);
    int maps = 0;
    for (const auto& map : found.maps)
        if (map.layer == 2) {
            EXPECT_EQ(map.rows, 1);
            EXPECT_EQ(map.columns, 9);
            ++maps;
        }
    EXPECT_EQ(maps, 4);
    EXPECT_TRUE(found.probabilities.empty()) << "features are no chances";
}

TEST(VisionFamilies, PartsAreTakenOutByWords) {
    const auto changes = [](const char* name, const char* words) {
        core::OpenedModel model(kCases + name, "", "cpu");
        const auto sample = model.referenceInput(0);
        const auto points = model.points(sample);
        const auto edits = core::editsNamed({words}, points, core::EditUse::Inspect);
        EXPECT_EQ(core::wordsOf(edits), words);
        const auto output = [&](const core::Interventions& with) {
            torch::Tensor out;
            model.withInput(sample, with, [&](core::ModelImpl& m, const core::ModelInput& input) {
                out = m.forward(input).clone();
            });
            return out;
        };
        core::Interventions with;
        with.edits = edits;
        return (output(with) - output({})).abs().max().item<double>();
    };
    for (const char* words : {"layer 1 sensory head 2 zero", "layer 2 feed-forward zero",
                              "layer 1 sensory head 1 edge 2 1 mask"})
        for (const char* name : {"dinov2_registers", "siglip"})
            EXPECT_GT(changes(name, words), 1e-4) << name << " " << words;
    EXPECT_GT(changes("siglip", "query sensory head 2 zero"), 1e-4);
    EXPECT_GT(changes("siglip", "query feed-forward zero"), 1e-4);
}

TEST(VisionFamilies, RegistersAreNamed) {
    core::OpenedModel model(kCases + "dinov2_registers", "", "cpu");
    const auto grid = model.probe(model.referenceInput(0), {}).grid;
    EXPECT_EQ(grid.firstTokens(), 5);
    EXPECT_EQ(grid.registers, 4);
    EXPECT_FALSE(grid.isDistillation(1));
    EXPECT_EQ(grid.registerOf(0), 0);
    EXPECT_EQ(grid.registerOf(1), 1);
    EXPECT_EQ(grid.registerOf(4), 4);
    EXPECT_EQ(grid.registerOf(5), 0);
}

TEST(VisionFamilies, FeaturesAreNoAnswers) {
    core::OpenedModel model(kCases + "dinov2", "", "cpu");
    model.withInput(
        model.referenceInput(0), {}, [&](core::ModelImpl& m, const core::ModelInput& input) {
            EXPECT_THROW(core::logitLens(m, model.options(), input, {}), OptionError);
            EXPECT_THROW(core::attributeLogit(m, model.options(), input, {}), OptionError);
        });
}

// Features of texts from a file: the chances of SigLIP are of each text alone.
TEST(VisionFamilies, ChancesOfTextsNeedNotAddUp) {
    const testing_support::TemporaryFolder home("text-features");
    std::filesystem::create_directories(home.path());
    std::vector<float> features(3 * 32);
    for (std::size_t i = 0; i < features.size(); ++i)
        features[i] = std::sin(static_cast<float>(i * i));
    std::vector<std::uint8_t> bytes(4 * features.size());
    std::memcpy(bytes.data(), features.data(), bytes.size());
    core::writeSafetensors(home / "texts.safetensors", {{"features", "F32", {3, 32}, bytes}},
                           {{"names", R"(["a","b","c"])"}});
    core::OpenedModel narrow(kCases + "clip", "", "cpu");
    EXPECT_THROW(narrow.setHead({headChoice(home / "texts.safetensors")}), OptionError);
    {
        core::OpenedModel model(kCases + "siglip", "", "cpu");
        model.setHead({headChoice(home / "texts.safetensors"), {}, {"c", "a"}});
        EXPECT_EQ(core::headText(model.head()), "the texts of 3 classes");
        const auto found = model.probe(model.referenceInput(0), {});
        EXPECT_EQ(found.classNames, (std::vector<std::string>{"c", "a", "b"}));
        EXPECT_FALSE(found.features);
        float sum = 0.0F;
        for (const auto chance : found.probabilities) sum += chance;
        EXPECT_GT(std::abs(sum - 1.0F), 1e-3F);
        model.withInput(
            model.referenceInput(0), {}, [&](core::ModelImpl& m, const core::ModelInput& input) {
                const auto lens = core::logitLens(m, model.options(), input, {});
                EXPECT_NEAR(
                    lens.answers.at(0).probability,
                    *std::max_element(found.probabilities.begin(), found.probabilities.end()),
                    1e-6);
                AttributionOptions what;
                what.answer = 1;
                const auto parts = core::attributeLogit(m, model.options(), input, what);
                EXPECT_NEAR(parts.sum(), parts.logit, 1e-4 * (1.0 + std::abs(parts.logit)));
            });
        model.setHead({headChoice("none")});
        EXPECT_TRUE(model.probe(model.referenceInput(0), {}).features);
    }
}

TEST(VisionFamilies, RefuseWhatIsNotComputed) {
    struct Case {
        const char *name, *key;
        Json value;
        std::vector<std::string> parts;
    };
    const std::vector<Case> all = {
        {"dinov2", "architectures", {"Dinov2Backbone"}, {"Dinov2Backbone", "Dinov2Model"}},
        {"beit", "architectures", {"BeitForSemanticSegmentation"}, {"Segmentation"}},
        {"vit_mae", "hidden_act", "relu", {"hidden_act", "relu"}},
        {"dinov3", "hidden_act", "silu", {"hidden_act", "gelu"}},
        {"dinov3", "num_attention_heads", 16, {"4 dimensions"}},
        {"beit", "image_size", {24, 32}, {"image_size", "square"}},
        {"dinov2", "mlp_ratio", 0, {"mlp_ratio", "0"}},
        {"timm_vit", "architecture", "vit_base_patch16_225", {"vit_base_patch16_224"}},
        {"timm_vit", "architecture", "test_vit4", {"RMS"}},
        {"timm_vit", "architecture", 7, {"architecture", "7"}},
    };
    for (const auto& one : all) {
        SCOPED_TRACE(std::string(one.name) + " " + one.key);
        const Copy copy(one.name);
        copy.change("config.json", [&](Json& c) { c[one.key] = one.value; });
        const auto problem = copy.problem();
        for (const auto& part : one.parts)
            EXPECT_NE(problem.find(part), std::string::npos) << problem;
        EXPECT_THROW(core::OpenedModel(copy.path(), "", "cpu"), Error);
    }
    {
        const Copy copy("timm_vit");
        copy.change("config.json", [](Json& c) { c["model_args"]["weight_init"] = "jax"; });
        EXPECT_NE(copy.problem().find("weight_init"), std::string::npos) << copy.problem();
    }
    {
        const Copy copy("siglip");
        copy.change("config.json", [](Json& c) { c["text_config"]["hidden_act"] = "relu"; });
        EXPECT_NE(copy.problem().find("text_config.hidden_act"), std::string::npos)
            << copy.problem();
    }
    {
        const Copy copy("dinov2");
        copy.change("preprocessor_config.json", [](Json& c) {
            c["crop_size"] = {{"height", 20}, {"width", 24}};
        });
        EXPECT_NE(copy.problem().find("multiple of the patch"), std::string::npos)
            << copy.problem();
    }
}

// A picture's size is what the preprocessor makes, whatever positions were learned for.
TEST(VisionFamilies, PicturesHaveTheSizeOfThePreprocessor) {
    const Copy copy("dinov2");
    copy.change("preprocessor_config.json", [](Json& c) {
        c["crop_size"] = {{"height", 16}, {"width", 24}};
    });
    const auto model = *core::readCheckpointInfo(copy.path()).model;
    const auto& o = model.get<core::PublicImageOptions>();
    EXPECT_EQ(o.image_shape, (std::vector<std::int64_t>{3, 24, 16}));
    EXPECT_EQ(o.position_grid, (std::vector<std::int64_t>{5, 5}));
    EXPECT_EQ(model.tokens(), 7);
}

TEST(VisionFamilies, ShapesAreThoseOfTheBuiltModel) {
    for (const auto& entry : std::filesystem::directory_iterator(kCases)) {
        if (!entry.is_directory()) continue;
        SCOPED_TRACE(entry.path().filename().string());
        const auto options = *core::readCheckpointInfo(entry.path().string()).model;
        const auto model = core::makeModel(options);
        const auto state = core::stateOf(*model);
        const auto shapes = core::modelShapes(options);
        ASSERT_EQ(state.size(), shapes.size());
        for (std::size_t i = 0; i < state.size(); ++i) {
            EXPECT_EQ(state[i].name, shapes[i].name);
            EXPECT_EQ(state[i].tensor.sizes().vec(), shapes[i].shape) << state[i].name;
        }
    }
}

}  // namespace
}  // namespace relascope
