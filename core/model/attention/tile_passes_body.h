// SPDX-License-Identifier: GPL-3.0-or-later
// The forward and the backward pass of tile_kernels.h; included like tile_kernels_body.h.
#pragma once

#include "model/attention/tile_kernels_body.h"

namespace relascope::core {
namespace {

// rows<H, L>(h, l) for heads and relations in groups of four, two and one, the heads outermost.
template <class Rows>
RELASCOPE_INLINE void forGroups(std::int64_t heads, std::int64_t relations, const Rows& rows) {
    const auto relationsOf = [&]<int H>(std::int64_t h) {
        std::int64_t l = 0;
        if (relations == 4) rows.template operator()<H, 4>(h, l), l = 4;
        if (l + 2 <= relations) rows.template operator()<H, 2>(h, l), l += 2;
        if (l < relations) rows.template operator()<H, 1>(h, l);
    };
    std::int64_t h = 0;
    for (; h + 4 <= heads; h += 4) relationsOf.template operator()<4>(h);
    for (; h + 2 <= heads; h += 2) relationsOf.template operator()<2>(h);
    if (h < heads) relationsOf.template operator()<1>(h);
}

// out = A s + W_r R of one head's tile.
void mixTile(const TileArgs& a, std::int64_t b, const Work& w, const Tile& t, std::int64_t head,
             const float* weights) {
    const std::int64_t g = head / (a.heads / a.keyHeads);
    const float* symbols = w.symbols + g * w.symbolPlane(a);
    if (a.relative) {
        const std::int64_t wide = w.spread(a);
        shift(t, weights, w.columns, w.shifted, wide);
        multiply({w.shifted, wide, 1}, t.count, symbols + offsetsFrom(a, t) * w.valueWide,
                 w.valueWide, w.tile, w.valueWide, w.valueWide, t.seen + t.count - 1, 1.0f, false);
    } else {
        multiply({weights, w.columns, 1}, t.count, symbols, w.valueWide, w.tile, w.valueWide,
                 w.valueWide, t.seen, 1.0f, false);
    }
    const float* mixed = a.mixed + ((b * a.heads + head) * a.n + t.first) * a.relations;
    for (std::int64_t i = 0; i < t.count; ++i)
        for (std::int64_t l = 0; l < a.relations; ++l)
            addScaled(w.tile + i * w.valueWide, w.wr + (head * a.relations + l) * w.valueWide,
                      mixed[i * a.relations + l], w.valueWide);
    unpack(w.tile, t.count, a.valueDim, rowsOf(a.out, b, head, t.first), a.out.token, false);
}

// R of one row for H heads and L relations: each number is read once.
template <int H, int L>
RELASCOPE_INLINE void mixRow(const float* weights, const float* r, std::int64_t plane,
                             std::int64_t columns, float* to, std::int64_t head) {
    Lanes total[H][L] = {};
    for (std::int64_t j = 0; j < columns; j += kLanes) {
        Lanes x[L];
        for (int l = 0; l < L; ++l) x[l] = load(r + l * plane + j);
        for (int h = 0; h < H; ++h) {
            const Lanes y = load(weights + h * plane + j);
            for (int l = 0; l < L; ++l) total[h][l] += y * x[l];
        }
    }
    for (int h = 0; h < H; ++h)
        for (int l = 0; l < L; ++l) to[h * head + l] = sum(total[h][l]);
}

// R of `count` relations from l on, for all heads of a tile.
void mixRelations(const TileArgs& a, std::int64_t b, const Work& w, const Tile& t, std::int64_t l,
                  std::int64_t count) {
    const std::int64_t plane = w.rows * w.columns, head = a.n * a.relations;
    for (std::int64_t k = 0; k < count; ++k) {
        float* r = w.relation + k * plane;
        relate(a, b, w, t, l + k, r);
        if (a.activation != TileActivation::Identity)
            activateRows(a.activation, r, r, t.count * w.columns);
    }
    const auto rows = [&]<int H, int L>(std::int64_t h, std::int64_t k) {
        for (std::int64_t i = 0; i < t.count; ++i)
            mixRow<H, L>(w.alpha + h * plane + i * w.columns,
                         w.relation + k * plane + i * w.columns, plane, t.columns,
                         a.mixed + (b * a.heads + h) * head + (t.first + i) * a.relations + l + k,
                         head);
    };
    forGroups(a.heads, count, rows);
}

void forwardPass(const TileArgs& a, std::int64_t b, float* memory) {
    const Work w(a, false, memory);
    packInputs(a, b, w);
    const std::int64_t plane = w.rows * w.columns;
    for (std::int64_t first = 0; first < a.n; first += w.rows) {
        const Tile t(a, w, first);
        for (std::int64_t h = 0; h < a.heads; ++h) {
            float* weights = w.alpha + h * plane;
            weigh(a, b, w, t, h, weights);
            if (a.dropsBelow > 0) dropRows(a, t, b, h, weights, weights, w.columns);
        }
        for (std::int64_t l = 0; l < a.relations; l += kRelations)
            mixRelations(a, b, w, t, l, smaller(kRelations, a.relations - l));
        for (std::int64_t h = 0; h < a.heads; ++h) mixTile(a, b, w, t, h, w.alpha + h * plane);
    }
}

void packForBackward(const TileArgs& a, std::int64_t b, const Work& w) {
    packInputs(a, b, w);
    for (std::int64_t g = 0; g < a.keyHeads; ++g) {
        pack(rowsOf(a.k, b, g, 0), a.k.token, a.m, a.keyDim, w.keys + g * a.m * w.keyWide);
        packTransposed(rowsOf(a.s, b, g, 0), a.s.token, w.symbolRows, a.valueDim,
                       w.symbolsT + g * a.valueDim * w.symbolColumns(a), w.symbolColumns(a));
    }
    for (std::int64_t l = 0; l < a.relations; ++l)
        pack(rowsOf(a.kRel, b, l, 0), a.kRel.token, a.m, a.relDim, w.relKeys + l * a.m * w.relWide);
    clear(w.dKeys, a.keyHeads * a.m * w.keyWide);
    clear(w.dSymbols, a.keyHeads * w.symbolPlane(a));
    clear(w.dRelKeys, a.relations * a.m * w.relWide);
}

// alpha, A and dA of the symbols for one head's tile, dR, and the gradients of the symbols and W_r.
void backwardWeights(const TileArgs& a, std::int64_t b, const Work& w, const Tile& t,
                     std::int64_t head) {
    const std::int64_t g = head / (a.heads / a.keyHeads), plane = w.rows * w.columns;
    float *alpha = w.alpha + head * plane, *given = w.given + head * plane;
    float* dOut = w.dOut;
    weigh(a, b, w, t, head, alpha);
    const float* weights = alpha;
    if (a.dropsBelow > 0) {
        dropRows(a, t, b, head, alpha, w.dropped + head * plane, w.columns);
        weights = w.dropped + head * plane;
    }
    pack(rowsOf(a.dOut, b, head, t.first), a.dOut.token, t.count, a.valueDim, dOut);
    const float* symbolsT = w.symbolsT + g * a.valueDim * w.symbolColumns(a);
    float* dSymbols = w.dSymbols + g * w.symbolPlane(a);
    if (a.relative) {
        const std::int64_t from = offsetsFrom(a, t), offsets = t.seen + t.count - 1,
                           wide = w.spread(a);
        shift(t, weights, w.columns, w.shifted, wide);
        multiply({w.shifted, 1, wide}, offsets, dOut, w.valueWide, dSymbols + from * w.valueWide,
                 w.valueWide, w.valueWide, t.count, 1.0f, true);
        multiply({dOut, w.valueWide, 1}, t.count, symbolsT + from, w.symbolColumns(a), w.shifted,
                 wide, padded(offsets), a.valueDim, 1.0f, false);
        unshift(t, w.shifted, wide, given, w.columns);
    } else {
        multiply({weights, 1, w.columns}, t.seen, dOut, w.valueWide, dSymbols, w.valueWide,
                 w.valueWide, t.count, 1.0f, true);
        multiply({dOut, w.valueWide, 1}, t.count, symbolsT, w.symbolColumns(a), given, w.columns,
                 t.columns, a.valueDim, 1.0f, false);
    }
    const float* mixed = a.mixed + ((b * a.heads + head) * a.n + t.first) * a.relations;
    for (std::int64_t l = 0; l < a.relations; ++l) {
        const float* wr = w.wr + (head * a.relations + l) * w.valueWide;
        float* dwr = a.dwr + (b * a.heads + head) * a.valueDim * a.relations + l;
        for (std::int64_t i = 0; i < t.count; ++i) {
            const float* row = dOut + i * w.valueWide;
            w.dRelated[(head * w.rows + i) * a.relations + l] = dot(row, wr, w.valueWide);
            for (std::int64_t c = 0; c < a.valueDim; ++c)
                dwr[c * a.relations] += mixed[i * a.relations + l] * row[c];
        }
    }
}

// For one row of H heads and L relations: dA += dR r, and e = sum of dR A over the heads.
template <int H, int L>
RELASCOPE_INLINE void spreadRow(const float* weights, const float* r, float* given, float* slope,
                                std::int64_t plane, std::int64_t columns, const float* dRelated,
                                std::int64_t head, bool first) {
    Lanes by[H][L];
    for (int h = 0; h < H; ++h)
        for (int l = 0; l < L; ++l) by[h][l] = all(dRelated[h * head + l]);
    for (std::int64_t j = 0; j < columns; j += kLanes) {
        Lanes x[L], e[L];
        for (int l = 0; l < L; ++l) x[l] = load(r + l * plane + j);
        for (int l = 0; l < L; ++l) e[l] = first ? Lanes{} : load(slope + l * plane + j);
        for (int h = 0; h < H; ++h) {
            const Lanes y = load(weights + h * plane + j);
            Lanes sum = load(given + h * plane + j);
            for (int l = 0; l < L; ++l) {
                sum += by[h][l] * x[l];
                e[l] += by[h][l] * y;
            }
            store(given + h * plane + j, sum);
        }
        for (int l = 0; l < L; ++l) store(slope + l * plane + j, e[l]);
    }
}

// The gradients of q_rel and k_rel of one relation, from e.
void backwardRelation(const TileArgs& a, std::int64_t b, const Work& w, const Tile& t,
                      std::int64_t l, const float* slope) {
    multiply({slope, w.columns, 1}, t.count, w.relKeys + l * a.m * w.relWide, w.relWide, w.tile,
             w.relWide, w.relWide, t.seen, a.relScale, false);
    unpack(w.tile, t.count, a.relDim, rowsOf(a.dqRel, b, l, t.first), a.dqRel.token, false);
    pack(rowsOf(a.qRel, b, l, t.first), a.qRel.token, t.count, a.relDim, w.packed);
    multiply({slope, 1, w.columns}, t.seen, w.packed, w.relWide, w.dRelKeys + l * a.m * w.relWide,
             w.relWide, w.relWide, t.count, a.relScale, true);
}

// `count` relations of a tile from l on: their part of dA, and the gradients of q_rel and k_rel.
void backwardRelations(const TileArgs& a, std::int64_t b, const Work& w, const Tile& t,
                       std::int64_t l, std::int64_t count) {
    const std::int64_t plane = w.rows * w.columns, head = w.rows * a.relations;
    const bool identity = a.activation == TileActivation::Identity;
    const float *r = identity ? w.relation : w.activated,
                *weights = a.dropsBelow > 0 ? w.dropped : w.alpha;
    for (std::int64_t k = 0; k < count; ++k) {
        relate(a, b, w, t, l + k, w.relation + k * plane);
        if (!identity)
            activateRows(a.activation, w.relation + k * plane, w.activated + k * plane,
                         t.count * w.columns);
    }
    const auto rows = [&]<int H, int L>(std::int64_t h, std::int64_t k) {
        for (std::int64_t i = 0; i < t.count; ++i) {
            const std::int64_t row = i * w.columns;
            spreadRow<H, L>(weights + h * plane + row, r + k * plane + row,
                            w.given + h * plane + row, w.slope + k * plane + row, plane, t.columns,
                            w.dRelated + h * head + i * a.relations + l + k, head, h == 0);
        }
    };
    forGroups(a.heads, count, rows);
    for (std::int64_t k = 0; k < count; ++k) {
        float* slope = w.slope + k * plane;
        if (!identity)
            multiplySlope(a.activation, w.relation + k * plane, slope, t.count * w.columns);
        backwardRelation(a, b, w, t, l + k, slope);
    }
}

// dscore = alpha (keep dA - delta), and the gradients of q and k.
void backwardScores(const TileArgs& a, std::int64_t b, const Work& w, const Tile& t,
                    std::int64_t head) {
    const std::int64_t g = head / (a.heads / a.keyHeads), plane = w.rows * w.columns;
    const float *alpha = w.alpha + head * plane,
                *weights = a.dropsBelow > 0 ? w.dropped + head * plane : alpha;
    float* dScore = w.given + head * plane;
    for (std::int64_t i = 0; i < t.count; ++i) {
        float* row = dScore + i * w.columns;
        const float *kept = weights + i * w.columns, *whole = alpha + i * w.columns;
        const Lanes delta = all(dot(kept, row, t.columns));
        for (std::int64_t j = 0; j < t.columns; j += kLanes)
            store(row + j, load(kept + j) * load(row + j) - load(whole + j) * delta);
    }
    multiply({dScore, w.columns, 1}, t.count, w.keys + g * a.m * w.keyWide, w.keyWide, w.tile,
             w.keyWide, w.keyWide, t.seen, a.scale, false);
    unpack(w.tile, t.count, a.keyDim, rowsOf(a.dq, b, head, t.first), a.dq.token, false);
    pack(rowsOf(a.q, b, head, t.first), a.q.token, t.count, a.keyDim, w.packed);
    multiply({dScore, 1, w.columns}, t.seen, w.packed, w.keyWide, w.dKeys + g * a.m * w.keyWide,
             w.keyWide, w.keyWide, t.count, a.scale, true);
}

void backwardPass(const TileArgs& a, std::int64_t b, float* memory) {
    const Work w(a, true, memory);
    packForBackward(a, b, w);
    for (std::int64_t first = 0; first < a.n; first += w.rows) {
        const Tile t(a, w, first);
        for (std::int64_t h = 0; h < a.heads; ++h) backwardWeights(a, b, w, t, h);
        for (std::int64_t l = 0; l < a.relations; l += kRelations)
            backwardRelations(a, b, w, t, l, smaller(kRelations, a.relations - l));
        for (std::int64_t h = 0; h < a.heads; ++h) backwardScores(a, b, w, t, h);
    }
    for (std::int64_t g = 0; g < a.keyHeads; ++g) {
        unpack(w.dKeys + g * a.m * w.keyWide, a.m, a.keyDim, rowsOf(a.dk, b, g, 0), a.dk.token,
               false);
        unpack(w.dSymbols + g * w.symbolPlane(a), w.symbolRows, a.valueDim, rowsOf(a.ds, b, g, 0),
               a.ds.token, false);
    }
    const TileRows& dkRel = a.symmetric ? a.dqRel : a.dkRel;
    for (std::int64_t l = 0; l < a.relations; ++l)
        unpack(w.dRelKeys + l * a.m * w.relWide, a.m, a.relDim, rowsOf(dkRel, b, l, 0), dkRel.token,
               a.symmetric);
}

std::int64_t scratchSize(const TileArgs& a, bool backward) {
    return Work(a, backward, nullptr).size;
}

constexpr TileKernels kKernels = {scratchSize, forwardPass, backwardPass};

}  // namespace
}  // namespace relascope::core
