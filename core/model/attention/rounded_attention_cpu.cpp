// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/attention/rounded_attention.h"

#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/native/CPUBlas.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <new>

#include "model/attention/dropout.h"
#include "model/attention/tile_levels.h"
#include "model/blocks/bfloat16.h"
#include "model/blocks/bfloat16_lanes.h"
#include "model/blocks/number_lanes.h"

namespace relascope::core {
namespace {

using Half = at::BFloat16;

// Rows of a block: its scores, weights and their gradients stay in the second cache up to about a
// thousand keys.
constexpr std::int64_t kBlockRows = 64;
// Below, the tiles of float32 are as fast.
constexpr std::int64_t kFewestKeys = 128;

std::int64_t paddedKeys(std::int64_t keys) {
    constexpr std::int64_t kKeyStep = 32;
    return (keys + kKeyStep - 1) / kKeyStep * kKeyStep;
}

// Rows of bfloat16 in memory: element (batch, head, token, i) is at
// p[batch * b + head * h + token * t + i].
struct HalfRows {
    Half* p = nullptr;
    std::int64_t batch = 0, head = 0, token = 0;
    Half* at(std::int64_t b, std::int64_t h, std::int64_t t) const {
        return p + b * batch + h * head + t * token;
    }
};
HalfRows halfRows(const torch::Tensor& x) {
    return {const_cast<Half*>(x.const_data_ptr<Half>()), x.stride(0), x.stride(1), x.stride(2)};
}

struct RoundedCallArgs {
    std::int64_t batch = 0, heads = 0, keyHeads = 0, n = 0, m = 0, keyDim = 0, valueDim = 0;
    float scale = 1.0f;
    bool causal = false;
    const std::int64_t* firstKey = nullptr;
    Mask mask;
    HalfRows q, k, v, out;
    // Of the backward pass; dk and dv are float32 [b, keyHeads, m, width].
    HalfRows dOut, dq;
    float *dk = nullptr, *dv = nullptr;

    std::int64_t columns() const { return paddedKeys(m); }
};

// Matrices b of the products are given to the kernels as pairs of rows: element (row, column) of
// [rows, columns] is at [row / 2][column][row % 2].

// Pairs of the rows of x [count, width]; rows up to `rows` are 0.
void packPairs(const Half* x, std::int64_t token, std::int64_t count, std::int64_t width,
               std::int64_t rows, Half* to) {
    const Half none(0.0f);
    for (std::int64_t r = 0; r < rows; r += 2, to += 2 * width) {
        const Half *one = x + r * token, *two = one + token;
        for (std::int64_t c = 0; c < width; ++c) {
            to[2 * c] = r < count ? one[c] : none;
            to[2 * c + 1] = r + 1 < count ? two[c] : none;
        }
    }
}
// Pairs of the rows of x^T, of x [count, width]; columns up to `columns` are 0.
void packTransposedPairs(const Half* x, std::int64_t token, std::int64_t count, std::int64_t width,
                         std::int64_t columns, Half* to) {
    for (std::int64_t w = 0; w < width; w += 2, to += 2 * columns) {
        for (std::int64_t c = 0; c < count; ++c)
            std::memcpy(to + 2 * c, x + c * token + w, 2 * sizeof(Half));
        std::fill(to + 2 * count, to + 2 * columns, Half(0.0f));
    }
}
// x^T [width, columns] of x [count, width]; columns from `count` on are 0.
void transposeHalves(const Half* x, std::int64_t token, std::int64_t count, std::int64_t width,
                     std::int64_t columns, Half* to) {
    for (std::int64_t w = 0; w < width; ++w) {
        for (std::int64_t c = 0; c < count; ++c) to[w * columns + c] = x[c * token + w];
        std::fill(to + w * columns + count, to + (w + 1) * columns, Half(0.0f));
    }
}

// Rows of a block, and the keys that they see.
struct RowBlock {
    std::int64_t first, count, seen, columns;
    RowBlock(const RoundedCallArgs& a, std::int64_t start)
        : first(start),
          count(std::min(kBlockRows, a.n - start)),
          seen(a.causal ? std::min(a.m, start + count) : a.m),
          columns(paddedKeys(seen)) {}
};

// What the kernels of rows work on: float32 rows of `row` numbers.
struct WeightRows {
    float *alpha, *given;  // weights; dA, then dscore
    std::uint16_t *narrow, *pairs;
    std::int64_t row, count, columns, seen, first;
    std::int64_t cell;  // of the mask, of the first row's first key
    std::int64_t keys;  // cells of a row of the mask
    const std::int64_t* firstKey;
    float scale;
    bool causal;
    Mask mask;
};

// Scores become weights, and `narrow` the weights after dropout.
RELASCOPE_VECTORS void softmaxBlock(const WeightRows& w) {
    constexpr float kClosed = -std::numeric_limits<float>::infinity();
    for (std::int64_t i = 0; i < w.count; ++i) {
        float* x = w.alpha + i * w.row;
        const std::int64_t end = w.causal ? std::min(w.seen, w.first + i + 1) : w.seen,
                           begin = w.firstKey ? w.firstKey[i] : 0;
        for (std::int64_t j = 0; j < begin; ++j) x[j] = kClosed;
        for (std::int64_t j = end; j < w.columns; ++j) x[j] = kClosed;
        Lanes most = Lanes{} + kClosed, sum = {};
        for (std::int64_t j = 0; j < w.columns; j += kLanes) {
            Lanes next;
            load(x + j, next);
            most = next > most ? next : most;
        }
        float top = most[0];
        for (int lane = 1; lane < kLanes; ++lane) top = std::max(top, most[lane]);
        for (std::int64_t j = 0; j < w.columns; j += kLanes) {
            Lanes e;
            load(x + j, e);
            e = (e - top) * w.scale;
            exponentials(e);
            sum += e;
            store(x + j, e);
        }
        const float by = 1.0f / total(sum);
        Numbers narrow;
        narrow.halves = w.narrow + i * w.row;
        for (std::int64_t j = 0; j < w.columns; j += kLanes) {
            Lanes e;
            load(x + j, e);
            e *= by;
            store(x + j, e);
            drop(w.mask, w.cell + i * w.keys + j, e);
            store(narrow, j, e);
        }
    }
}

// dscore = scale (kept dA - alpha sum_j kept_j dA_j), in place of dA and narrow.
RELASCOPE_VECTORS void scoreBlock(const WeightRows& w) {
    for (std::int64_t i = 0; i < w.count; ++i) {
        const float* alpha = w.alpha + i * w.row;
        float* given = w.given + i * w.row;
        Lanes sum = {};
        for (std::int64_t j = 0; j < w.columns; j += kLanes) {
            Lanes x, y;
            load(alpha + j, x);
            load(given + j, y);
            drop(w.mask, w.cell + i * w.keys + j, x);
            x *= y;
            sum += x;
            store(given + j, x);
        }
        const float delta = total(sum);
        Numbers narrow;
        narrow.halves = w.narrow + i * w.row;
        for (std::int64_t j = 0; j < w.columns; j += kLanes) {
            Lanes x, y;
            load(given + j, x);
            load(alpha + j, y);
            x = (x - y * delta) * w.scale;
            store(narrow, j, x);
        }
    }
}

// `pairs` of the rows of `narrow`, an odd number with a row of zeros.
RELASCOPE_VECTORS void pairBlock(const WeightRows& w) {
    for (std::int64_t i = 0; i < w.count; i += 2) {
        const std::uint16_t *one = w.narrow + i * w.row, *two = one + w.row;
        std::uint16_t* to = w.pairs + i * w.columns;
        const bool whole = i + 1 < w.count;
        for (std::int64_t j = 0; j < w.columns; ++j) {
            const std::uint32_t pair = one[j] | (whole ? std::uint32_t{two[j]} << 16 : 0U);
            std::memcpy(to + 2 * j, &pair, sizeof pair);
        }
    }
}

RELASCOPE_VECTORS void addTransposed(const float* x, std::int64_t row, std::int64_t count,
                                     std::int64_t width, float* to) {
    for (std::int64_t c = 0; c < count; ++c)
        for (std::int64_t w = 0; w < width; ++w) to[c * width + w] = x[w * row + c];
}

// c (+)= a b of bfloat16, summed in float32: a [rows, inner], b as pairs [inner / 2][columns][2].
void blockProduct(const Half* a, std::int64_t aRow, std::int64_t rows, const Half* b,
                  std::int64_t bColumns, float* c, std::int64_t cRow, std::int64_t columns,
                  std::int64_t inner, bool adds) {
    at::native::cpublas::brgemm(rows, columns, inner, aRow, bColumns, cRow, adds, a, b, c);
}

// The working memory of one key head, in numbers of 32 bits.
struct RoundedWork {
    float *alpha, *given, *tile, *dKeysT, *dValuesT;
    Half *keysT, *values, *narrow, *pairs, *keys, *valuesT, *turned;
    std::int64_t size = 0;

    RoundedWork(const RoundedCallArgs& a, bool backward, float* memory) {
        const std::int64_t m = a.columns(), plane = kBlockRows * m,
                           wide = std::max(a.keyDim, a.valueDim);
        const auto floats = [&](std::int64_t count) {
            float* piece = memory ? memory + size : nullptr;
            size += (count + 15) / 16 * 16;
            return piece;
        };
        const auto halves = [&](std::int64_t count) {
            return reinterpret_cast<Half*>(floats((count + 1) / 2));
        };
        keysT = halves(a.keyDim * m);
        values = halves(m * a.valueDim);
        alpha = floats(plane);
        narrow = halves(plane);
        tile = floats(kBlockRows * wide);
        if (!backward) return;
        given = floats(plane);
        pairs = halves(plane);
        keys = halves(m * a.keyDim);
        valuesT = halves(a.valueDim * m);
        turned = halves(wide * kBlockRows);
        dKeysT = floats(a.keyDim * m);
        dValuesT = floats(a.valueDim * m);
    }
};

WeightRows weightsOf(const RoundedCallArgs& a, const RoundedWork& w, const RowBlock& block,
                     std::int64_t b, std::int64_t head) {
    WeightRows rows{};
    rows.alpha = w.alpha, rows.given = w.given;
    rows.narrow = reinterpret_cast<std::uint16_t*>(w.narrow);
    rows.pairs = reinterpret_cast<std::uint16_t*>(w.pairs);
    rows.row = a.columns(), rows.count = block.count, rows.columns = block.columns;
    rows.seen = block.seen, rows.first = block.first;
    rows.cell = ((b * a.heads + head) * a.n + block.first) * a.m, rows.keys = a.m;
    rows.firstKey = a.firstKey ? a.firstKey + b * a.n + block.first : nullptr;
    rows.scale = a.scale, rows.causal = a.causal, rows.mask = a.mask;
    return rows;
}

// The weights of a block, and `narrow` of them.
void weighBlock(const RoundedCallArgs& a, const RoundedWork& w, const RowBlock& block,
                const WeightRows& rows, std::int64_t b, std::int64_t head) {
    blockProduct(a.q.at(b, head, block.first), a.q.token, block.count, w.keysT, a.columns(),
                 w.alpha, a.columns(), block.columns, a.keyDim, false);
    softmaxBlock(rows);
}

void storeBlock(const float* tile, std::int64_t count, std::int64_t width, const HalfRows& to,
                std::int64_t b, std::int64_t head, std::int64_t first) {
    for (std::int64_t i = 0; i < count; ++i)
        narrowNumbers(tile + i * width, to.at(b, head, first + i), width);
}

void roundedForward(const RoundedCallArgs& a, std::int64_t b, std::int64_t g, float* memory) {
    const RoundedWork w(a, false, memory);
    const std::int64_t group = a.heads / a.keyHeads, columns = a.columns();
    packTransposedPairs(a.k.at(b, g, 0), a.k.token, a.m, a.keyDim, columns, w.keysT);
    packPairs(a.v.at(b, g, 0), a.v.token, a.m, a.valueDim, columns, w.values);
    for (std::int64_t head = g * group; head < (g + 1) * group; ++head)
        for (std::int64_t first = 0; first < a.n; first += kBlockRows) {
            const RowBlock block(a, first);
            weighBlock(a, w, block, weightsOf(a, w, block, b, head), b, head);
            blockProduct(w.narrow, columns, block.count, w.values, a.valueDim, w.tile, a.valueDim,
                         a.valueDim, block.columns, false);
            storeBlock(w.tile, block.count, a.valueDim, a.out, b, head, first);
        }
}

void roundedBackward(const RoundedCallArgs& a, std::int64_t b, std::int64_t g, float* memory) {
    const RoundedWork w(a, true, memory);
    const std::int64_t group = a.heads / a.keyHeads, columns = a.columns();
    packTransposedPairs(a.k.at(b, g, 0), a.k.token, a.m, a.keyDim, columns, w.keysT);
    packTransposedPairs(a.v.at(b, g, 0), a.v.token, a.m, a.valueDim, columns, w.valuesT);
    packPairs(a.k.at(b, g, 0), a.k.token, a.m, a.keyDim, columns, w.keys);
    std::fill(w.dKeysT, w.dKeysT + a.keyDim * columns, 0.0f);
    std::fill(w.dValuesT, w.dValuesT + a.valueDim * columns, 0.0f);
    for (std::int64_t head = g * group; head < (g + 1) * group; ++head)
        for (std::int64_t first = 0; first < a.n; first += kBlockRows) {
            const RowBlock block(a, first);
            const auto rows = weightsOf(a, w, block, b, head);
            const std::int64_t inner = (block.count + 1) / 2 * 2;
            weighBlock(a, w, block, rows, b, head);
            // dV^T += dO^T A
            pairBlock(rows);
            transposeHalves(a.dOut.at(b, head, first), a.dOut.token, block.count, a.valueDim,
                            kBlockRows, w.turned);
            blockProduct(w.turned, kBlockRows, a.valueDim, w.pairs, block.columns, w.dValuesT,
                         columns, block.columns, inner, true);
            // dA = dO V^T, then dscore
            blockProduct(a.dOut.at(b, head, first), a.dOut.token, block.count, w.valuesT, columns,
                         w.given, columns, block.columns, a.valueDim, false);
            scoreBlock(rows);
            // dK^T += Q^T dscore
            pairBlock(rows);
            transposeHalves(a.q.at(b, head, first), a.q.token, block.count, a.keyDim, kBlockRows,
                            w.turned);
            blockProduct(w.turned, kBlockRows, a.keyDim, w.pairs, block.columns, w.dKeysT, columns,
                         block.columns, inner, true);
            // dQ = dscore K
            blockProduct(w.narrow, columns, block.count, w.keys, a.keyDim, w.tile, a.keyDim,
                         a.keyDim, block.columns, false);
            storeBlock(w.tile, block.count, a.keyDim, a.dq, b, head, first);
        }
    const std::int64_t place = (b * a.keyHeads + g) * a.m;
    addTransposed(w.dKeysT, columns, a.m, a.keyDim, a.dk + place * a.keyDim);
    addTransposed(w.dValuesT, columns, a.m, a.valueDim, a.dv + place * a.valueDim);
}

void runRounded(const RoundedCallArgs& a, bool backward) {
    const std::int64_t floats = RoundedWork(a, backward, nullptr).size;
    at::parallel_for(0, a.batch * a.keyHeads, 1, [&](std::int64_t begin, std::int64_t end) {
        const std::unique_ptr<float, decltype(&std::free)> memory(
            static_cast<float*>(
                std::aligned_alloc(64, static_cast<std::size_t>(floats) * sizeof(float))),
            &std::free);
        if (!memory) throw std::bad_alloc();
        for (std::int64_t part = begin; part < end; ++part)
            (backward ? roundedBackward : roundedForward)(a, part / a.keyHeads, part % a.keyHeads,
                                                          memory.get());
        at::native::cpublas::brgemm_release();
    });
}

struct RoundedPlan : torch::CustomClassHolder {
    RoundedCallArgs args;
    torch::Tensor firstKey;  // that args point to
};

torch::Tensor halvesSideBySide(const torch::Tensor& x) {
    const auto narrow = x.to(torch::kBFloat16);
    return narrow.stride(3) == 1 ? narrow : narrow.contiguous();
}
// [b, heads, n, width] laid out as [b, n, heads, width], as a linear layer's gradient is.
torch::Tensor emptyHalves(const torch::Tensor& x) {
    return torch::empty({x.size(0), x.size(2), x.size(1), x.size(3)},
                        x.options().dtype(torch::kBFloat16))
        .transpose(1, 2);
}

struct RoundedHeads : torch::autograd::Function<RoundedHeads> {
    static torch::Tensor forward(torch::autograd::AutogradContext* context,
                                 const c10::intrusive_ptr<RoundedPlan>& plan,
                                 const torch::Tensor& givenQ, const torch::Tensor& givenK,
                                 const torch::Tensor& givenV) {
        const c10::impl::ExcludeDispatchKeyGuard asTheyAre(c10::autocast_dispatch_keyset);
        auto& a = plan->args;
        const auto q = halvesSideBySide(givenQ), k = halvesSideBySide(givenK),
                   v = halvesSideBySide(givenV);
        a.batch = q.size(0), a.heads = q.size(1), a.n = q.size(2), a.keyDim = q.size(3);
        a.keyHeads = k.size(1), a.m = k.size(2), a.valueDim = v.size(3);
        const auto out = torch::empty({a.batch, a.n, a.heads * a.valueDim}, q.options());
        a.q = halfRows(q), a.k = halfRows(k), a.v = halfRows(v);
        a.out = halfRows(out.view({a.batch, a.n, a.heads, a.valueDim}).transpose(1, 2));
        runRounded(a, false);
        context->save_for_backward({q, k, v});
        context->saved_data["plan"] = at::IValue::make_capsule(plan);
        return out;
    }

    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   torch::autograd::variable_list gradients) {
        const auto plan = c10::static_intrusive_pointer_cast<RoundedPlan>(
            context->saved_data["plan"].toCapsule());
        auto a = plan->args;
        const auto saved = context->get_saved_variables();
        const auto &q = saved[0], &k = saved[1], &v = saved[2];
        const auto dOut = gradients[0].to(torch::kBFloat16).contiguous();
        const auto dq = emptyHalves(q);
        auto dk = torch::empty({a.batch, a.keyHeads, a.m, a.keyDim}, torch::kFloat),
             dv = torch::empty({a.batch, a.keyHeads, a.m, a.valueDim}, torch::kFloat);
        a.q = halfRows(q), a.k = halfRows(k), a.v = halfRows(v), a.dq = halfRows(dq);
        a.dOut = halfRows(dOut.view({a.batch, a.n, a.heads, a.valueDim}).transpose(1, 2));
        a.dk = dk.mutable_data_ptr<float>(), a.dv = dv.mutable_data_ptr<float>();
        runRounded(a, true);
        return {torch::Tensor(), dq, dk, dv};
    }
};

}  // namespace

bool servesRoundedAttention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                            bool causal) {
    return roundsProducts() && multipliesNatively() &&
           at::native::cpublas::could_pack(torch::kBFloat16) && q.is_cpu() && q.numel() > 0 &&
           k.size(2) >= kFewestKeys && q.size(3) % 2 == 0 && v.size(3) % 2 == 0 &&
           (!causal || q.size(2) == k.size(2));
}

torch::Tensor roundedAttention(const torch::Tensor& q, const torch::Tensor& k,
                               const torch::Tensor& v, const KernelOptions& options,
                               const Documents& documents) {
    const auto plan = c10::make_intrusive<RoundedPlan>();
    auto& a = plan->args;
    a.scale = static_cast<float>(options.scale), a.causal = options.causal;
    if (documents) {
        plan->firstKey = documents.first.contiguous();
        a.firstKey = plan->firstKey.const_data_ptr<std::int64_t>();
    }
    if (options.dropout > 0) a.mask = maskOf(options.dropout, drawDropoutSeed());
    return RoundedHeads::apply(plan, q, k, v);
}

}  // namespace relascope::core
