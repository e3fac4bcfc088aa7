// SPDX-License-Identifier: GPL-3.0-or-later
// Options of scores: every form of attention that takes them gives the same numbers, and a cache
// those of the whole pass.
#include <gtest/gtest.h>
#include <torch/utils.h>

#include <cmath>

#include "model/attention/attention.h"
#include "model/decode/cache.h"
#include "support/rooms.h"

namespace relascope {
namespace {

using core::AttentionForm;

core::HeadOptions scored() {
    core::HeadOptions o;
    o.d_model = 24, o.n_heads = 6, o.head_dim = 8, o.n_kv_heads = 3, o.out_width = 24;
    o.causal = true;
    return o;
}

std::vector<std::pair<const char*, core::HeadOptions>> scoreOptions() {
    std::vector<std::pair<const char*, core::HeadOptions>> all;
    const auto add = [&](const char* name, auto&& change) {
        all.emplace_back(name, scored());
        change(all.back().second);
    };
    add("scale", [](auto& o) { o.score_scale = 0.5; });
    add("cap", [](auto& o) { o.score_cap = 0.7; });
    add("window", [](auto& o) { o.window = 9; });
    add("window on both sides", [](auto& o) { o.window = 9, o.causal = false; });
    add("distances", [](auto& o) { o.distance = "behind"; });
    add("distances inside", [](auto& o) { o.distance = "inside"; });
    add("distances and a window", [](auto& o) { o.distance = "behind", o.window = 40; });
    add("clip", [](auto& o) { o.clip_qkv = 0.4; });
    for (const char* kind : {"head", "heads", "all"})
        add(kind, [kind](auto& o) { o.qk_norm = kind, o.rope = true; });
    add("layernorm of heads", [](auto& o) {
        o.qk_norm = "heads", o.qk_norm_type = "layernorm_no_bias", o.norm_plus_one = true;
    });
    return all;
}

TEST(ScoreOptions, GiveTheSameInEveryForm) {
    const torch::NoGradGuard noGrad;
    for (const auto& [name, options] : scoreOptions()) {
        SCOPED_TRACE(name);
        torch::manual_seed(5);
        core::Attention attention(options);
        attention->eval();
        for (auto& weight : attention->parameters()) weight.add_(torch::randn_like(weight), 0.3);
        const auto x = torch::randn({2, 150, 24});
        attention->form = AttentionForm::Explicit;
        const auto whole = attention(x, x, x);
        for (const auto form : {AttentionForm::Chunked, AttentionForm::Fused,
                                AttentionForm::Automatic, AttentionForm::Tiled}) {
            attention->form = form;
            EXPECT_LT((attention(x, x, x) - whole).abs().max().item<float>(), 2e-5F)
                << core::attentionFormName(form);
        }
        if (!options.causal) continue;
        attention->form = AttentionForm::Automatic;
        core::DecodingCache cache(150);
        std::vector<torch::Tensor> rows;
        for (const auto& [from, to] : {std::pair{0, 100}, {100, 101}, {101, 150}}) {
            const core::CacheScope scope(cache);
            const auto y = x.slice(1, from, to).contiguous();
            rows.push_back(attention(y, y, y));
            cache.advance(to - from);
        }
        EXPECT_LT((torch::cat(rows, 1) - whole).abs().max().item<float>(), 2e-5F) << "cache";
    }
}

// The slopes of Press et al. (2022): of 8 heads 1/2 to 1/256, of 12 those and four between.
TEST(ScoreOptions, HaveTheSlopesOfDistances) {
    const auto eight = core::distanceSlopes(8);
    for (int k = 0; k < 8; ++k)
        EXPECT_FLOAT_EQ(eight[k].item<float>(), static_cast<float>(std::exp2(-(k + 1))));
    const auto twelve = core::distanceSlopes(12);
    EXPECT_TRUE(twelve.slice(0, 0, 8).equal(eight));
    for (int k = 0; k < 4; ++k)
        EXPECT_FLOAT_EQ(twelve[8 + k].item<float>(),
                        static_cast<float>(std::exp2(-0.5 * (2 * k + 1))));
}

}  // namespace
}  // namespace relascope
