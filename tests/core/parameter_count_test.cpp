// SPDX-License-Identifier: GPL-3.0-or-later
// The table of parameter counts of the papers' models, computed with the published package.
#include <gtest/gtest.h>

#include "model/model.h"
#include "model/shapes.h"
#include "support/model_fields.h"
#include "support/rooms.h"

namespace relascope {
namespace {

void expectCount(const ModelOptions& options, std::int64_t total, std::int64_t trainable) {
    EXPECT_EQ(countParameters(options).total, total);
    EXPECT_EQ(countParameters(options).trainable, trainable);
}

ModelOptions mathematics(bool dual, std::int64_t layers, bool both = false, std::int64_t d = 128,
                         std::int64_t dff = 256) {
    ModelOptions m;
    m.setArchitecture(dual ? "Seq2SeqDualAttnTransformer" : "Seq2SeqTransformer");
    m.set("d_model", d);
    m.set("n_layers_enc", layers), m.set("n_layers_dec", layers);
    m.set("n_heads_sa", dual ? 4 : 8), put(m, "n_heads_ra", 4);
    m.set("decoder.n_heads_sa", both ? 4 : 8), put(m, "decoder.n_heads_ra", both ? 4 : 0);
    put(m, "n_heads_cross", 8);
    for (const std::string prefix : {"", "decoder."}) {
        m.set(prefix + "dff", dff), m.set(prefix + "activation", "relu");
        m.set(prefix + "norm_first", false), m.set(prefix + "bias", true);
        put(m, prefix + "symmetric_rels", false);
    }
    m.set("decoder.causal", true);
    put(m, "symbol_retrieval", "position_relative"), put(m, "max_rel_pos", 161);
    m.set("in_block_size", 161), m.set("out_block_size", 31);
    m.set("input_size", 85), m.set("output_size", 85), m.set("out_dim", 85);
    return m;
}

TEST(ParameterCount, OfMathematics) {
    expectCount(mathematics(false, 2), 692949, 692949);
    expectCount(mathematics(false, 3), 1023061, 1023061);
    expectCount(mathematics(false, 4), 1353173, 1353173);
    expectCount(mathematics(false, 2, false, 144, 288), 871717, 871717);
    expectCount(mathematics(false, 3, false, 144, 288), 1289173, 1289173);
    expectCount(mathematics(false, 4, false, 144, 288), 1706629, 1706629);
    expectCount(mathematics(true, 2), 750421, 750421);
    expectCount(mathematics(true, 3), 1088597, 1088597);
    expectCount(mathematics(true, 4), 1426773, 1426773);
    expectCount(mathematics(true, 2, true), 767317, 767317);
    expectCount(mathematics(true, 3, true), 1113941, 1113941);
    expectCount(mathematics(true, 4, true), 1460565, 1460565);
}

ModelOptions language(std::int64_t d, std::int64_t heads, std::int64_t relations, std::int64_t kv,
                      std::int64_t symbols, std::int64_t symbolHeads, std::int64_t vocabulary) {
    ModelOptions m;
    m.setArchitecture(relations > 0 ? "DualAttnTransformerLM" : "TransformerLM");
    m.set("vocab_size", vocabulary), m.set("d_model", d), m.set("n_layers", 24),
        m.set("max_block_size", 1024);
    m.set("n_heads_sa", relations > 0 ? heads / 2 : heads),
        put(m, "n_heads_ra", relations > 0 ? heads / 2 : 0);
    m.set("dff", 4 * d), m.set("activation", "gelu"), m.set("bias", false),
        put(m, "symmetric_rels", false);
    put(m, "n_relations", relations), m.set("sa_n_kv_heads", kv), put(m, "ra_n_kv_heads", kv);
    put(m, "symbol_retrieval", "symbolic_attention"), put(m, "n_symbols", symbols),
        put(m, "symbol_heads", symbolHeads);
    put(m, "trainable_symbols", false);
    m.set("pos_enc_type", "RoPE");
    return m;
}

TEST(ParameterCount, OfLanguageWithoutAllocatingIt) {
    expectCount(language(1024, 16, 64, 4, 1024, 8, 50304), 345074688, 344026112);
    expectCount(language(1536, 24, 64, 6, 1024, 8, 50304), 735453696, 733880832);
    expectCount(language(2048, 32, 128, 8, 2048, 16, 50304), 1276827648, 1272633344);
    EXPECT_EQ(countParameters(language(1024, 16, 64, 4, 1024, 8, 50257)).total, 345026560);
    EXPECT_EQ(countParameters(language(1536, 24, 64, 6, 1024, 8, 50257)).total, 735381504);
    EXPECT_EQ(countParameters(language(2048, 32, 128, 8, 2048, 16, 50257)).total, 1276731392);
    expectCount(language(1024, 16, 0, 0, 1, 1, 50304), 353601536, 353601536);
    expectCount(language(1536, 24, 0, 0, 1, 1, 50304), 756894720, 756894720);
    expectCount(language(2048, 32, 0, 0, 1, 1, 50304), 1311182848, 1311182848);
}

TEST(ParameterCount, OfImages) {
    ModelOptions m;
    m.setArchitecture("VisionTransformer");
    m.set("image_shape", std::vector<std::int64_t>{3, 32, 32}),
        m.set("patch_size", std::vector<std::int64_t>{4, 4}), m.set("num_classes", 10);
    m.set("d_model", 384), m.set("dff", 384), m.set("n_layers", 8), m.set("n_heads_sa", 12),
        put(m, "n_heads_ra", 0);
    m.set("activation", "gelu"), m.set("bias", true);
    expectCount(m, 7148266, 7148266);
    m.set("num_classes", 100);
    expectCount(m, 7182916, 7182916);
    m.setArchitecture("VisionDualAttnTransformer");
    m.set("n_heads_sa", 6), put(m, "n_heads_ra", 6), m.set("sa_n_kv_heads", 3),
        put(m, "ra_n_kv_heads", 3);
    put(m, "symbol_retrieval", "position_relative"), put(m, "max_rel_pos", 65);
    expectCount(m, 6059716, 6059716);
    put(m, "symmetric_rels", false);
    expectCount(m, 6649540, 6649540);
    m.set("num_classes", 10);
    expectCount(m, 6614890, 6614890);
    put(m, "symmetric_rels", true);
    expectCount(m, 6025066, 6025066);
}

}  // namespace
}  // namespace relascope
