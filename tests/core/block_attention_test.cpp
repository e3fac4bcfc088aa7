// SPDX-License-Identifier: GPL-3.0-or-later
// Sensory attention in blocks of rows in float32, against the explicit form in double precision:
// outputs, gradients, masks of dropout, documents, shared key heads, and numbers of rows that fill
// no block. In bfloat16: bfloat16_test.cpp.
#include "model/attention/block_attention.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include "model/attention/tiled_attention.h"
#include "support/form_results.h"

namespace relascope::core {
namespace {

struct BlockCase {
    std::int64_t n = 151;
    bool causal = true;
    std::int64_t keyHeads = 0;
    double dropout = 0.0;
    bool documents = false;
};

TEST(BlockAttention, AgreesWithTheExplicitForm) {
    for (const auto& c :
         {BlockCase{}, BlockCase{300, false}, BlockCase{128, true, 2}, BlockCase{129, true, 0, 0.2},
          BlockCase{200, false, 1, 0.2}, BlockCase{151, true, 0, 0.0, true}}) {
        torch::manual_seed(10);
        HeadOptions o;
        o.d_model = 48, o.head_dim = 12, o.n_heads = 4, o.rope = true;
        o.causal = c.causal, o.n_kv_heads = c.keyHeads, o.dropout = c.dropout;
        o.output_dropout = 0.0;
        Attention attention(o);
        const Tensors inputs = {torch::randn({2, c.n, o.d_model})};
        DocumentOptions documents;
        documents.document_start = 1;
        auto tokens = torch::zeros({2, c.n}, torch::kLong);
        tokens[0][40] = 1, tokens[0][90] = 1, tokens[1][0] = 1;
        const auto forward = [&](const Tensors& in) {
            const DocumentScope scope(c.documents ? documentsOf(tokens, documents) : Documents());
            return attention(in[0], in[0], in[0]);
        };
        const auto exact = explicitResultsOf(*attention, inputs, forward);
        attention->form = AttentionForm::Tiled;
        const auto found = resultsOf(*attention, inputs, forward),
                   again = resultsOf(*attention, inputs, forward);
        const std::string what = "n " + std::to_string(c.n) + (c.causal ? " causal" : "") + " kv " +
                                 std::to_string(c.keyHeads) + " dropout " +
                                 std::to_string(c.dropout);
        expectNear(exact, found, 1e-5, what);
        for (std::size_t i = 0; i < found.size(); ++i)
            EXPECT_TRUE(torch::equal(found[i], again[i])) << what << ", tensor " << i;
    }
}

TEST(BlockAttention, IsForManyKeysOfEvenWidths) {
    const auto rows = [](std::int64_t n, std::int64_t width) {
        return torch::randn({1, 2, n, width});
    };
    const auto q = rows(200, 8);
    EXPECT_EQ(servesBlockAttention(q, q, q, true), bestVectorLevel() == VectorLevel::Avx512);
    EXPECT_FALSE(servesBlockAttention(q, rows(100, 8), rows(100, 8), false)) << "few keys";
    EXPECT_FALSE(servesBlockAttention(rows(200, 7), rows(200, 7), q, true)) << "odd width";
    EXPECT_FALSE(servesBlockAttention(q, rows(300, 8), rows(300, 8), true)) << "not square";
    const auto wide = q.to(torch::kDouble);
    EXPECT_FALSE(servesBlockAttention(wide, wide, wide, true));
}

}  // namespace
}  // namespace relascope::core
