// SPDX-License-Identifier: GPL-3.0-or-later
// Answers decoded with a cache against the plain form that reads everything anew.
#include <gtest/gtest.h>

#include "model/decode/cache.h"

#include <torch/utils.h>

#include "model/decode/seq2seq_decode.h"
#include "model/model.h"
#include "model/seq2seq/seq2seq.h"
#include "support/model_fields.h"
#include "support/rooms.h"
#include "support/zoo.h"
#include "types/error.h"

namespace relascope {
namespace {

// Models that answer with tokens, those of the zoo and what decides how a decoder keeps its past.
std::vector<std::pair<std::string, ModelOptions>> answeringModels() {
    std::vector<std::pair<std::string, ModelOptions>> all;
    ModelOptions dual;
    for (const auto& [name, options] : smallModels()) {
        if (options.input() != InputKind::Pairs ||
            std::get<std::string>(options.value("output_type")) != "token")
            continue;
        all.emplace_back(name, options);
        if ((options.architecture() == "Seq2SeqDualAttnTransformer") &&
            text(options, "symbol_retrieval") != "rel_sym_attn")
            dual = options;
    }
    for (const char* symbols :
         {"symbolic_attention", "positional_symbols", "position_relative", "rel_sym_attn"})
        for (const char* type : {"relational_attention", "rca", "disrca"})
            for (const char* activation : {"identity", "tanh", "softmax"}) {
                auto o = dual;
                o.set("symbol_retrieval", symbols), o.set("max_rel_pos", 2),
                    o.set("rel_n_heads", 2);
                o.set("decoder.ra_type", type), o.set("decoder.n_relations", 0),
                    o.set("decoder.rel_proj_dim", 0);
                o.set("decoder.rel_activation", activation),
                    o.set("decoder.rca_activation", activation);
                all.emplace_back(std::string(symbols) + " " + type + " " + activation, o);
            }
    auto grouped = dual;
    grouped.set("cross_n_kv_heads", 1), grouped.set("norm_first", true),
        grouped.set("decoder.norm_first", true);
    all.emplace_back("grouped, norm first", grouped);
    return all;
}

ModelPtr evaluated(const ModelOptions& options, int seed) {
    torch::manual_seed(seed);
    auto model = makeModel(options);
    model->to(torch::kDouble);
    model->eval();
    return model;
}

TEST(DecodeTarget, WithACacheGivesTheLogitsOfTheWhole) {
    int cached = 0;
    for (auto [name, o] : answeringModels()) {
        o.set("out_block_size", 7);
        if (!canCacheAnswers(o)) continue;
        ++cached;
        auto model = evaluated(o, 5);
        auto& sequences = dynamic_cast<SequenceModelImpl&>(*model);
        const torch::NoGradGuard noGrad;
        const auto batch = smallBatch(o, 3, torch::kDouble);
        const auto target = torch::randint(o.number("output_size"), {3, 7}, torch::kLong);
        const auto whole = model->forward({batch.x, target});  // [3, 7, out]
        const auto contexts = sequences.encodeSource(batch.x);
        DecodingCache cache(7);
        const CacheScope scope(cache);
        std::int64_t read = 0;
        for (const std::int64_t count : {1, 1, 3, 1, 1}) {
            const auto logits =
                sequences.decodeTarget(target.slice(1, read, read + count), contexts);
            const auto expected = whole.slice(1, read, read + count);
            EXPECT_LT((logits - expected).abs().max().item<double>(), 1e-9) << name << " " << read;
            read += count;
        }
        EXPECT_EQ(cache.past(), 7);
        EXPECT_THROW(sequences.decodeTarget(target.slice(1, 0, 1), contexts), OptionError);
    }
    EXPECT_GT(cached, 40);
}

TEST(DecodeGreedy, IsThatOfThePlainForm) {
    for (auto [name, o] : answeringModels()) {
        o.set("out_block_size", 6);
        auto model = evaluated(o, 6);
        const torch::NoGradGuard noGrad;
        const auto source = smallBatch(o, 4, torch::kDouble).x;
        auto seen = torch::full({4, 1}, 2, torch::kLong);
        for (int i = 0; i < 6; ++i)
            seen = torch::cat({seen, model->forward({source, seen}).select(1, -1).argmax(-1, true)},
                              1);
        const auto answers = decodeGreedy(*model, o, source, 2, 6);
        EXPECT_TRUE(answers.equal(seen.slice(1, 1))) << name;
        // With an end: what comes after an answer's first one is the end itself.
        const auto end = answers[0][1].item<std::int64_t>();
        const auto ended = decodeGreedy(*model, o, source, 2, 6, end);
        for (int row = 0; row < 4; ++row) {
            bool over = false;
            for (int i = 0; i < 6; ++i) {
                const auto expected = over ? end : answers[row][i].item<std::int64_t>();
                EXPECT_EQ(ended[row][i].item<std::int64_t>(), expected) << name;
                over = over || expected == end;
            }
        }
    }
}

TEST(DecodeGreedy, LeavesTheModelsModeAndCanBeStopped) {
    const auto o = answeringModels().front().second;
    auto model = evaluated(o, 7);
    model->train();
    const auto source = smallBatch(o, 2, torch::kDouble).x;
    decodeGreedy(*model, o, source, 0, 2);
    EXPECT_TRUE(model->is_training());
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(decodeGreedy(*model, o, source, 0, 2, -1, stop.get_token()), Cancelled);
    EXPECT_TRUE(model->is_training());
    for (const auto& [name, options] : smallModels()) {
        if (options.input() == InputKind::Pairs) continue;
        auto other = makeModel(options);
        EXPECT_THROW(decodeGreedy(*other, options, smallBatch(options, 1).x, 0, 2), OptionError);
        break;
    }
}

}  // namespace
}  // namespace relascope
