// SPDX-License-Identifier: GPL-3.0-or-later
// Reading token by token against the whole forward pass, and the choice of tokens.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "model/blocks/parameters.h"

#include <torch/utils.h>

#include "model/decode/generate.h"
#include "model/model.h"
#include "support/model_fields.h"
#include "support/rooms.h"
#include "support/zoo.h"

namespace relascope {
namespace {

std::vector<std::pair<std::string, ModelOptions>> languageModels() {
    std::vector<std::pair<std::string, ModelOptions>> all;
    for (const auto& [name, options] : smallModels())
        if ((options.input() == InputKind::Tokens)) all.emplace_back(name, options);
    const auto base = [&](const char* architecture) {
        for (const auto& [name, options] : all)
            if ((options.architecture() == architecture)) return options;
        return ModelOptions{};
    };
    // What decides how keys, values and symbols are kept.
    for (const char* symbols : {"symbolic_attention", "positional_symbols", "position_relative"})
        for (const char* type : {"relational_attention", "rca", "disrca"})
            for (const char* activation : {"identity", "tanh", "softmax"})
                for (const char* position : {"RoPE", "pos_emb"}) {
                    auto o = base("DualAttnTransformerLM");
                    o.set("symbol_retrieval", symbols), o.set("ra_type", type);
                    o.set("rel_activation", activation), o.set("rca_activation", "softmax");
                    o.set("n_relations", 0), o.set("pos_enc_type", position);
                    o.set("sa_n_kv_heads", 1), o.set("ra_n_kv_heads", 1);
                    o.set("max_rel_pos", position == std::string("RoPE") ? 3 : 0);
                    all.emplace_back(
                        std::string(symbols) + " " + type + " " + activation + " " + position, o);
                }
    return all;
}

TEST(LanguageReader, EqualsTheForwardPassForEveryOptionAndBeyondTheContext) {
    for (const auto& [name, options] : languageModels()) {
        auto o = options;
        o.set("max_block_size", 9);
        torch::manual_seed(1);
        auto model = makeModel(o);
        model->to(torch::kDouble);
        model->eval();
        const torch::NoGradGuard noGrad;
        const auto text = torch::randint(o.number("vocab_size"), {1, 14}, torch::kLong);
        const auto* ids = text.const_data_ptr<std::int64_t>();
        LanguageReader reader(*model, o);
        std::int64_t read = 0;
        for (const std::int64_t count : {3, 1, 1, 2, 1, 1, 1, 2, 1, 1}) {  // 9 after the seventh
            const auto logits =
                reader.read({ids + read, static_cast<std::size_t>(count)}).to(torch::kDouble);
            read += count;
            const auto window = text.slice(1, std::max<std::int64_t>(0, read - 9), read);
            const auto whole = model->forward(window)[0][-1];
            EXPECT_LT((whole - logits).abs().max().item<double>(),
                      1e-6 * std::max(1.0, whole.abs().max().item<double>()))
                << name << " after " << read;
        }
        EXPECT_EQ(reader.tokens().size(), 14u);
    }
}

TEST(LanguageReader, GreedyTextIsThatOfThePlainForm) {
    for (const auto& [name, options] : languageModels()) {
        torch::manual_seed(2);
        auto model = makeModel(options);
        model->eval();
        const auto prompt = torch::randint(options.number("vocab_size"), {1, 4}, torch::kLong);
        const auto plain = generateGreedy(*model, options, prompt, 20);
        GenerateOptions greedy;
        greedy.temperature = 0.0;
        TokenSampler sampler(greedy);
        LanguageReader reader(*model, options);
        std::vector<std::int64_t> next(prompt.const_data_ptr<std::int64_t>(),
                                       prompt.const_data_ptr<std::int64_t>() + 4);
        for (int i = 0; i < 20; ++i) {
            const auto id = sampler.sample(reader.read(next)).chosen.id;
            ASSERT_EQ(id, plain[0][4 + i].item<std::int64_t>()) << name << " token " << i;
            next = {id};
        }
    }
}

TEST(LanguageReader, RefusesWhatIsNoToken) {
    const auto o = languageModels().front().second;
    auto model = makeModel(o);
    model->eval();
    LanguageReader reader(*model, o);
    EXPECT_THROW(reader.read({}), OptionError);
    for (const std::int64_t id : {std::int64_t{-1}, o.number("vocab_size")})
        EXPECT_THROW(reader.read({&id, 1}), OptionError);
    const std::int64_t good = 0;
    EXPECT_EQ(reader.read({&good, 1}).size(0), usableVocabulary(o));
}

torch::Tensor logitsOf(const std::vector<float>& probabilities) {
    return torch::tensor(probabilities).log();
}

std::map<std::int64_t, double> fractionsOf(const GenerateOptions& options,
                                           const torch::Tensor& logits, int draws) {
    TokenSampler sampler(options);
    std::map<std::int64_t, double> fraction;
    for (int i = 0; i < draws; ++i) fraction[sampler.sample(logits).chosen.id] += 1.0 / draws;
    return fraction;
}

TEST(TokenSampler, DrawsByProbabilityAndTemperature) {
    const std::vector<float> p = {0.1F, 0.5F, 0.15F, 0.25F};
    GenerateOptions o;
    o.temperature = 1.0;
    const auto fractions = fractionsOf(o, logitsOf(p), 40000);
    for (std::int64_t id = 0; id < 4; ++id)
        EXPECT_NEAR(fractions.at(id), p[static_cast<std::size_t>(id)], 0.012) << id;
    o.temperature = 0.5;  // probabilities squared, and scaled to one
    double total = 0.0;
    for (const double each : p) total += each * each;
    const auto sharper = fractionsOf(o, logitsOf(p), 40000);
    for (std::int64_t id = 0; id < 4; ++id) {
        const double each = p[static_cast<std::size_t>(id)];
        EXPECT_NEAR(sharper.at(id), each * each / total, 0.012) << id;
    }
    o.temperature = 0.0;
    EXPECT_EQ(fractionsOf(o, logitsOf(p), 50).size(), 1u);
    EXPECT_EQ(fractionsOf(o, logitsOf(p), 50).begin()->first, 1);
}

TEST(TokenSampler, CutsToTheLikeliest) {
    const std::vector<float> p = {0.1F, 0.5F, 0.15F, 0.25F};
    GenerateOptions o;
    o.temperature = 1.0, o.top_k = 2;
    auto fractions = fractionsOf(o, logitsOf(p), 30000);
    EXPECT_EQ(fractions.size(), 2u);
    EXPECT_NEAR(fractions[1], 0.5 / 0.75, 0.012);
    EXPECT_NEAR(fractions[3], 0.25 / 0.75, 0.012);
    o.top_k = 0, o.top_p = 0.8;  // 0.5 + 0.25 < 0.8: the third belongs to them
    fractions = fractionsOf(o, logitsOf(p), 30000);
    EXPECT_EQ(fractions.size(), 3u);
    EXPECT_EQ(fractions.count(0), 0u);
    EXPECT_NEAR(fractions[2], 0.15 / 0.9, 0.012);
    o.top_p = 0.4;
    EXPECT_EQ(fractionsOf(o, logitsOf(p), 50).size(), 1u);
    o.top_k = 1, o.top_p = 1.0;
    EXPECT_EQ(fractionsOf(o, logitsOf(p), 50).size(), 1u);
}

TEST(TokenSampler, GivesTheModelsProbabilitiesAndAlternativesAndIsSeeded) {
    const std::vector<float> p = {0.1F, 0.5F, 0.15F, 0.25F};
    GenerateOptions o;
    o.temperature = 3.0, o.alternatives = 3, o.seed = 5;
    TokenSampler sampler(o);
    const auto token = sampler.sample(logitsOf(p));
    EXPECT_NEAR(token.chosen.probability, p[static_cast<std::size_t>(token.chosen.id)], 1e-6);
    ASSERT_EQ(token.alternatives.size(), 3u);
    EXPECT_EQ(token.alternatives[0].id, 1);
    EXPECT_EQ(token.alternatives[1].id, 3);
    EXPECT_NEAR(token.alternatives[2].probability, 0.15, 1e-6);
    const auto text = [&](std::int64_t seed) {
        o.seed = seed;
        TokenSampler s(o);
        std::vector<std::int64_t> ids;
        for (int i = 0; i < 40; ++i) ids.push_back(s.sample(logitsOf(p)).chosen.id);
        return ids;
    };
    EXPECT_EQ(text(5), text(5));
    EXPECT_NE(text(5), text(6));
    // What is reported beside a token does not change which one comes.
    const auto many = torch::randn({50});
    const auto drawn = [&](std::int64_t alternatives) {
        GenerateOptions other;
        other.temperature = 1.0, other.alternatives = alternatives;
        TokenSampler s(other);
        std::vector<std::int64_t> ids;
        for (int i = 0; i < 60; ++i) ids.push_back(s.sample(many).chosen.id);
        return ids;
    };
    EXPECT_EQ(drawn(0), drawn(8));
    EXPECT_THROW(sampler.sample(torch::full({4}, NAN)), Error);
    EXPECT_THROW(sampler.sample(torch::tensor({1.0F, NAN, 2.0F, 0.0F})), Error);
    o.top_p = 0.0;
    EXPECT_THROW(TokenSampler{o}, OptionError);
}

TEST(NarrowWeights, StayTiedAndChangeLittle) {
    for (const auto& [name, options] : languageModels()) {
        auto o = options;
        o.set("max_block_size", 9);
        torch::manual_seed(2);
        auto model = makeModel(o);
        model->eval();
        const torch::NoGradGuard noGrad;
        const auto text = torch::randint(o.number("vocab_size"), {1, 8}, torch::kLong);
        const auto exact = model->forward(text);
        const auto tied = [&] {
            std::map<std::string, std::string> names;
            for (const auto& entry : stateOf(*model))
                if (!entry.aliasOf.empty()) names[entry.name] = entry.aliasOf;
            return names;
        };
        const auto before = tied();
        castToBFloat16(*model);
        const auto parameters = model->named_parameters();
        EXPECT_EQ(parameters["layers.final_out.weight"].scalar_type(), torch::kBFloat16);
        EXPECT_EQ(tied(), before) << name;
        const double largest = exact.abs().max().item<double>();
        EXPECT_LT((model->forward(text) - exact).abs().max().item<double>(), 0.03 * largest)
            << name;
        // One row goes through our own product; it is that of the whole.
        LanguageReader reader(*model, o);
        torch::Tensor last;
        for (std::int64_t i = 0; i < 8; ++i) {
            const auto id = text[0][i].item<std::int64_t>();
            last = reader.read({&id, 1});
        }
        const auto whole = model->forward(text)[0][-1].slice(0, 0, last.size(0));
        EXPECT_LT((whole - last).abs().max().item<double>(), 1e-4 * std::max(1.0, largest)) << name;
    }
}

}  // namespace
}  // namespace relascope
