// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/attention/block_attention.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/native/CPUBlas.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>

#include "model/attention/dropout.h"
#include "model/attention/tile_kernels.h"
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
// Below, tiles are as fast.
constexpr std::int64_t kFewestKeys = 128;

std::int64_t paddedKeys(std::int64_t keys) {
    constexpr std::int64_t kKeyStep = 32;
    return (keys + kKeyStep - 1) / kKeyStep * kKeyStep;
}

// Rows of T in memory: element (batch, head, token, i) is at
// p[batch * b + head * h + token * t + i].
template <class T>
struct BlockRows {
    T* p = nullptr;
    std::int64_t batch = 0, head = 0, token = 0;
    T* at(std::int64_t b, std::int64_t h, std::int64_t t) const {
        return p + b * batch + h * head + t * token;
    }
};
// The kernels only read what is given as const.
template <class T>
BlockRows<T> blockRows(const torch::Tensor& x) {
    return {const_cast<T*>(x.const_data_ptr<T>()), x.stride(0), x.stride(1), x.stride(2)};
}

struct BlockSizes {
    std::int64_t batch = 0, heads = 0, keyHeads = 0, n = 0, m = 0, keyDim = 0, valueDim = 0;
    float scale = 1.0f;
    bool causal = false;
    const std::int64_t* firstKey = nullptr;
    Mask mask;

    std::int64_t columns() const { return paddedKeys(m); }
};
template <class T>
struct BlockCall : BlockSizes {
    explicit BlockCall(const BlockSizes& sizes) : BlockSizes(sizes) {}
    BlockRows<T> q, k, v, out;
    // Gradients of the backward pass; dk and dv are float32 [b, keyHeads, m, width].
    BlockRows<T> dOut, dq;
    float *dk = nullptr, *dv = nullptr;
};

// The second matrix of a product: of float32 as it is; of bfloat16 pairs of rows, element (row,
// column) of [rows, columns] at [row / 2][column][row % 2].

// Packs x [count, width]; rows up to `rows` are 0.
void packRows(const float* x, std::int64_t token, std::int64_t count, std::int64_t width,
              std::int64_t rows, float* to) {
    for (std::int64_t r = 0; r < count; ++r) std::copy_n(x + r * token, width, to + r * width);
    std::fill(to + count * width, to + rows * width, 0.0f);
}
void packRows(const Half* x, std::int64_t token, std::int64_t count, std::int64_t width,
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
// x^T [width, columns] of x [count, width]; columns from `count` on are 0. Sixteen rows at once, as
// more would push one another out of the first cache.
template <class T>
void transposeRows(const T* x, std::int64_t token, std::int64_t count, std::int64_t width,
                   std::int64_t columns, T* to) {
    constexpr std::int64_t kAtOnce = 16;
    for (std::int64_t first = 0; first < count; first += kAtOnce)
        for (std::int64_t w = 0; w < width; ++w)
            for (std::int64_t c = first; c < std::min(count, first + kAtOnce); ++c)
                to[w * columns + c] = x[c * token + w];
    for (std::int64_t w = 0; w < width; ++w)
        std::fill(to + w * columns + count, to + (w + 1) * columns, T(0.0f));
}
// Packs x^T; columns up to `columns` are 0.
void packTransposedRows(const float* x, std::int64_t token, std::int64_t count, std::int64_t width,
                        std::int64_t columns, float* to) {
    transposeRows(x, token, count, width, columns, to);
}
void packTransposedRows(const Half* x, std::int64_t token, std::int64_t count, std::int64_t width,
                        std::int64_t columns, Half* to) {
    for (std::int64_t w = 0; w < width; w += 2, to += 2 * columns) {
        for (std::int64_t c = 0; c < count; ++c)
            std::memcpy(to + 2 * c, x + c * token + w, 2 * sizeof(Half));
        std::fill(to + 2 * count, to + 2 * columns, Half(0.0f));
    }
}

// Rows of a block, and the keys that they see.
struct RowBlock {
    std::int64_t first, count, seen, columns;
    RowBlock(const BlockSizes& a, std::int64_t start)
        : first(start),
          count(std::min(kBlockRows, a.n - start)),
          seen(a.causal ? std::min(a.m, start + count) : a.m),
          columns(paddedKeys(seen)) {}
};

// What the kernels of rows work on: rows of `row` numbers.
struct WeightRows {
    float *alpha, *given;  // weights; dA, then dscore
    Numbers read;          // what products read: weights after dropout, then dscore
    std::int64_t row, count, columns, seen, first;
    std::int64_t cell;  // index into the mask: the first row's first key
    std::int64_t keys;  // cells of a row of the mask
    const std::int64_t* firstKey;
    float scale;
    bool causal;
    Mask mask;
};

// Scores become weights, and `read` the weights after dropout.
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
        for (std::int64_t j = 0; j < w.columns; j += kLanes) {
            Lanes e;
            load(x + j, e);
            e *= by;
            store(x + j, e);
            drop(w.mask, w.cell + i * w.keys + j, e);
            store(w.read, i * w.row + j, e);
        }
    }
}

// dscore = scale (kept dA - alpha sum_j kept_j dA_j), into `read`.
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
        for (std::int64_t j = 0; j < w.columns; j += kLanes) {
            Lanes x, y;
            load(given + j, x);
            load(alpha + j, y);
            x = (x - y * delta) * w.scale;
            store(w.read, i * w.row + j, x);
        }
    }
}

// Pairs of the rows of `read`, an odd number with a row of zeros.
RELASCOPE_VECTORS void pairBlock(const WeightRows& w, std::uint16_t* pairs) {
    for (std::int64_t i = 0; i < w.count; i += 2) {
        const std::uint16_t *one = w.read.halves + i * w.row, *two = one + w.row;
        std::uint16_t* to = pairs + i * w.columns;
        const bool whole = i + 1 < w.count;
        for (std::int64_t j = 0; j < w.columns; ++j) {
            const std::uint32_t pair = one[j] | (whole ? std::uint32_t{two[j]} << 16 : 0U);
            std::memcpy(to + 2 * j, &pair, sizeof pair);
        }
    }
}

// The working memory of one key head.
template <class T>
struct BlockWork {
    float *alpha, *given, *tile, *dKeysT, *dValuesT;
    T *keysT, *values, *read, *pairs, *keys, *valuesT, *turned;
    std::int64_t size = 0;  // in numbers of 32 bits

    BlockWork(const BlockSizes& a, bool backward, float* memory) {
        const std::int64_t m = a.columns(), plane = kBlockRows * m,
                           wide = std::max(a.keyDim, a.valueDim);
        constexpr bool half = sizeof(T) == 2;
        const auto floats = [&](std::int64_t count) {
            float* piece = memory ? memory + size : nullptr;
            size += (count + 15) / 16 * 16;
            return piece;
        };
        const auto numbers = [&](std::int64_t count) {
            return reinterpret_cast<T*>(floats(half ? (count + 1) / 2 : count));
        };
        keysT = numbers(a.keyDim * m);
        values = numbers(m * a.valueDim);
        alpha = floats(plane);
        // Weights of float32 are read where they are, unless some are dropped.
        read = half || a.mask.threshold > 0 ? numbers(plane) : reinterpret_cast<T*>(alpha);
        tile = floats(kBlockRows * wide);
        if (!backward) return;
        given = floats(plane);
        pairs = half ? numbers(plane) : read;
        keys = numbers(m * a.keyDim);
        valuesT = numbers(a.valueDim * m);
        turned = numbers(wide * kBlockRows);
        dKeysT = floats(a.keyDim * m);
        dValuesT = floats(a.valueDim * m);
    }
};

template <class T>
WeightRows weightsOf(const BlockCall<T>& a, const BlockWork<T>& w, const RowBlock& block,
                     std::int64_t b, std::int64_t head) {
    WeightRows rows{};
    rows.alpha = w.alpha, rows.given = w.given;
    if constexpr (std::is_same_v<T, float>)
        rows.read.floats = w.read;
    else
        rows.read.halves = reinterpret_cast<std::uint16_t*>(w.read);
    rows.row = a.columns(), rows.count = block.count, rows.columns = block.columns;
    rows.seen = block.seen, rows.first = block.first;
    rows.cell = ((b * a.heads + head) * a.n + block.first) * a.m, rows.keys = a.m;
    rows.firstKey = a.firstKey ? a.firstKey + b * a.n + block.first : nullptr;
    rows.scale = a.scale, rows.causal = a.causal, rows.mask = a.mask;
    return rows;
}

// A matrix in memory, and the distance of its rows; as the second of a product of bfloat16 that of
// its columns' pairs.
template <class T>
struct BlockMatrix {
    const T* p;
    std::int64_t row;
};

// c (+)= a b, summed in float32: a [rows, inner], b [inner, columns] as it was packed.
template <class T>
void multiplyBlocks(BlockMatrix<T> a, std::int64_t rows, BlockMatrix<T> b, float* c,
                    std::int64_t cRow, std::int64_t columns, std::int64_t inner, bool adds) {
    at::native::cpublas::brgemm(rows, columns, inner, a.row, b.row, cRow, adds, a.p, b.p, c,
                                sizeof(T) == 2);
}

// The weights of a block, and what products read of them.
template <class T>
void weighBlock(const BlockCall<T>& a, const BlockWork<T>& w, const RowBlock& block,
                const WeightRows& rows, std::int64_t b, std::int64_t head) {
    multiplyBlocks<T>({a.q.at(b, head, block.first), a.q.token}, block.count,
                      {w.keysT, a.columns()}, w.alpha, a.columns(), block.columns, a.keyDim, false);
    softmaxBlock(rows);
}

// sum += x^T [width, rows] `read`: of x the rows of the block.
template <class T>
void addTransposedProduct(const BlockCall<T>& a, const BlockWork<T>& w, const RowBlock& block,
                          const WeightRows& rows, const T* x, std::int64_t token,
                          std::int64_t width, float* sum) {
    transposeRows(x, token, block.count, width, kBlockRows, w.turned);
    std::int64_t inner = block.count, row = a.columns();
    if constexpr (sizeof(T) == 2) {
        pairBlock(rows, reinterpret_cast<std::uint16_t*>(w.pairs));
        inner = (inner + 1) / 2 * 2, row = block.columns;
    }
    multiplyBlocks<T>({w.turned, kBlockRows}, width, {w.pairs, row}, sum, a.columns(),
                      block.columns, inner, true);
}

void storeRow(const float* from, std::int64_t width, float* to) {
    std::copy_n(from, width, to);
}
void storeRow(const float* from, std::int64_t width, Half* to) {
    narrowNumbers(from, to, width);
}
template <class T>
void storeBlock(const float* tile, std::int64_t count, std::int64_t width, const BlockRows<T>& to,
                std::int64_t b, std::int64_t head, std::int64_t first) {
    for (std::int64_t i = 0; i < count; ++i)
        storeRow(tile + i * width, width, to.at(b, head, first + i));
}

template <class T>
void blockForward(const BlockCall<T>& a, std::int64_t b, std::int64_t g, float* memory) {
    const BlockWork<T> w(a, false, memory);
    const std::int64_t group = a.heads / a.keyHeads, columns = a.columns();
    packTransposedRows(a.k.at(b, g, 0), a.k.token, a.m, a.keyDim, columns, w.keysT);
    packRows(a.v.at(b, g, 0), a.v.token, a.m, a.valueDim, columns, w.values);
    for (std::int64_t head = g * group; head < (g + 1) * group; ++head)
        for (std::int64_t first = 0; first < a.n; first += kBlockRows) {
            const RowBlock block(a, first);
            weighBlock(a, w, block, weightsOf(a, w, block, b, head), b, head);
            multiplyBlocks<T>({w.read, columns}, block.count, {w.values, a.valueDim}, w.tile,
                              a.valueDim, a.valueDim, block.columns, false);
            storeBlock(w.tile, block.count, a.valueDim, a.out, b, head, first);
        }
}

template <class T>
void blockBackward(const BlockCall<T>& a, std::int64_t b, std::int64_t g, float* memory) {
    const BlockWork<T> w(a, true, memory);
    const std::int64_t group = a.heads / a.keyHeads, columns = a.columns();
    packTransposedRows(a.k.at(b, g, 0), a.k.token, a.m, a.keyDim, columns, w.keysT);
    packTransposedRows(a.v.at(b, g, 0), a.v.token, a.m, a.valueDim, columns, w.valuesT);
    packRows(a.k.at(b, g, 0), a.k.token, a.m, a.keyDim, columns, w.keys);
    std::fill(w.dKeysT, w.dKeysT + a.keyDim * columns, 0.0f);
    std::fill(w.dValuesT, w.dValuesT + a.valueDim * columns, 0.0f);
    for (std::int64_t head = g * group; head < (g + 1) * group; ++head)
        for (std::int64_t first = 0; first < a.n; first += kBlockRows) {
            const RowBlock block(a, first);
            const auto rows = weightsOf(a, w, block, b, head);
            const T *dOut = a.dOut.at(b, head, first), *q = a.q.at(b, head, first);
            weighBlock(a, w, block, rows, b, head);
            // dV^T += dO^T A
            addTransposedProduct(a, w, block, rows, dOut, a.dOut.token, a.valueDim, w.dValuesT);
            // dA = dO V^T, then dscore
            multiplyBlocks<T>({dOut, a.dOut.token}, block.count, {w.valuesT, columns}, w.given,
                              columns, block.columns, a.valueDim, false);
            scoreBlock(rows);
            // dK^T += Q^T dscore
            addTransposedProduct(a, w, block, rows, q, a.q.token, a.keyDim, w.dKeysT);
            // dQ = dscore K
            multiplyBlocks<T>({w.read, columns}, block.count, {w.keys, a.keyDim}, w.tile, a.keyDim,
                              a.keyDim, block.columns, false);
            storeBlock(w.tile, block.count, a.keyDim, a.dq, b, head, first);
        }
    const std::int64_t place = (b * a.keyHeads + g) * a.m;
    transposeRows(w.dKeysT, columns, a.keyDim, a.m, a.keyDim, a.dk + place * a.keyDim);
    transposeRows(w.dValuesT, columns, a.valueDim, a.m, a.valueDim, a.dv + place * a.valueDim);
}

template <class T>
void runBlocks(const BlockCall<T>& a, bool backward) {
    const std::int64_t floats = BlockWork<T>(a, backward, nullptr).size;
    at::parallel_for(0, a.batch * a.keyHeads, 1, [&](std::int64_t begin, std::int64_t end) {
        const std::unique_ptr<float, decltype(&std::free)> memory(
            static_cast<float*>(
                std::aligned_alloc(64, static_cast<std::size_t>(floats) * sizeof(float))),
            &std::free);
        if (!memory) throw std::bad_alloc();
        for (std::int64_t part = begin; part < end; ++part)
            (backward ? blockBackward<T> : blockForward<T>)(a, part / a.keyHeads, part % a.keyHeads,
                                                            memory.get());
        at::native::cpublas::brgemm_release(sizeof(T) == 2);
    });
}

// [b, heads, n, width] laid out as [b, n, heads, width], as a linear layer's gradient is.
torch::Tensor emptyRowsLike(const torch::Tensor& x) {
    return torch::empty({x.size(0), x.size(2), x.size(1), x.size(3)}, x.options()).transpose(1, 2);
}
torch::Tensor headsOfJoined(const torch::Tensor& joined, const BlockSizes& a) {
    return joined.view({a.batch, a.n, a.heads, a.valueDim}).transpose(1, 2);
}

template <class T>
torch::Tensor forwardInBlocks(const BlockSizes& sizes, const torch::Tensor& q,
                              const torch::Tensor& k, const torch::Tensor& v) {
    BlockCall<T> a(sizes);
    const auto out = torch::empty({a.batch, a.n, a.heads * a.valueDim}, q.options());
    a.q = blockRows<T>(q), a.k = blockRows<T>(k), a.v = blockRows<T>(v);
    a.out = blockRows<T>(headsOfJoined(out, a));
    runBlocks(a, false);
    return out;
}

// The gradients of q, k and v.
template <class T>
std::array<torch::Tensor, 3> backwardInBlocks(const BlockSizes& sizes, const torch::Tensor& q,
                                              const torch::Tensor& k, const torch::Tensor& v,
                                              const torch::Tensor& dOut) {
    BlockCall<T> a(sizes);
    const auto dq = emptyRowsLike(q);
    auto dk = torch::empty({sizes.batch, sizes.keyHeads, sizes.m, sizes.keyDim}, torch::kFloat),
         dv = torch::empty({sizes.batch, sizes.keyHeads, sizes.m, sizes.valueDim}, torch::kFloat);
    a.q = blockRows<T>(q), a.k = blockRows<T>(k), a.v = blockRows<T>(v), a.dq = blockRows<T>(dq);
    a.dOut = blockRows<T>(headsOfJoined(dOut, a));
    a.dk = dk.mutable_data_ptr<float>(), a.dv = dv.mutable_data_ptr<float>();
    runBlocks(a, true);
    return {dq, dk, dv};
}

struct BlockAttentionPlan : torch::CustomClassHolder {
    BlockSizes sizes;
    torch::Tensor firstKey;  // keeps what `sizes` points to
    torch::ScalarType type = torch::kFloat;
};

struct BlockHeads : torch::autograd::Function<BlockHeads> {
    static torch::Tensor forward(torch::autograd::AutogradContext* context,
                                 const c10::intrusive_ptr<BlockAttentionPlan>& plan,
                                 const torch::Tensor& givenQ, const torch::Tensor& givenK,
                                 const torch::Tensor& givenV) {
        const c10::impl::ExcludeDispatchKeyGuard asTheyAre(c10::autocast_dispatch_keyset);
        // Rows that a kernel reads have their numbers side by side.
        const auto readable = [&plan](const torch::Tensor& x) {
            const auto y = x.to(plan->type);
            return y.stride(3) == 1 ? y : y.contiguous();
        };
        const auto q = readable(givenQ), k = readable(givenK), v = readable(givenV);
        auto& a = plan->sizes;
        a.batch = q.size(0), a.heads = q.size(1), a.n = q.size(2), a.keyDim = q.size(3);
        a.keyHeads = k.size(1), a.m = k.size(2), a.valueDim = v.size(3);
        context->save_for_backward({q, k, v});
        context->saved_data["plan"] = at::IValue::make_capsule(plan);
        return (plan->type == torch::kFloat ? forwardInBlocks<float> : forwardInBlocks<Half>)(a, q,
                                                                                              k, v);
    }

    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   torch::autograd::variable_list gradients) {
        const auto plan = c10::static_intrusive_pointer_cast<BlockAttentionPlan>(
            context->saved_data["plan"].toCapsule());
        const auto saved = context->get_saved_variables();
        const auto dOut = gradients[0].to(plan->type).contiguous();
        const auto [dq, dk, dv] =
            (plan->type == torch::kFloat
                 ? backwardInBlocks<float>
                 : backwardInBlocks<Half>)(plan->sizes, saved[0], saved[1], saved[2], dOut);
        return {torch::Tensor(), dq, dk, dv};
    }
};

}  // namespace

bool servesBlockAttention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                          bool causal) {
    if (!q.is_cpu() || q.numel() == 0 || k.size(2) < kFewestKeys || q.size(3) % 2 != 0 ||
        v.size(3) % 2 != 0 || (causal && q.size(2) != k.size(2)))
        return false;
    if (roundsProducts())
        return multipliesNatively() && at::native::cpublas::could_pack(torch::kBFloat16);
    const auto isFloat = [](const torch::Tensor& x) { return x.scalar_type() == torch::kFloat; };
    return isFloat(q) && isFloat(k) && isFloat(v) && bestVectorLevel() == VectorLevel::Avx512 &&
           at::globalContext().userEnabledMkldnn();
}

torch::Tensor blockAttention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                             const KernelOptions& options, const Documents& documents) {
    const auto plan = c10::make_intrusive<BlockAttentionPlan>();
    auto& a = plan->sizes;
    a.scale = static_cast<float>(options.scale), a.causal = options.causal;
    if (roundsProducts()) plan->type = torch::kBFloat16;
    if (documents) {
        plan->firstKey = documents.first.contiguous();
        a.firstKey = plan->firstKey.const_data_ptr<std::int64_t>();
    }
    if (options.dropout > 0) a.mask = maskOf(options.dropout, drawDropoutSeed());
    return BlockHeads::apply(plan, q, k, v);
}

}  // namespace relascope::core
