// SPDX-License-Identifier: GPL-3.0-or-later
// The kernels of tile_kernels.h for RELASCOPE_LANES floats a vector: included by one source file
// for each vector width, compiled for the processors that have it.
#pragma once

#include "model/attention/tile_kernels.h"
#include "model/attention/tile_vectors.h"

namespace relascope::core {
namespace {

// Rows of a tile: the scores of all heads of a tile stay in the second cache.
constexpr std::int64_t kMostRows = 30, kFewestRows = 6, kTileFloats = 160 * 1024;
// Relations computed at once, so that the weights of a row are read once for all of them.
constexpr std::int64_t kRelations = 4;

// Hands out pieces of the working memory; without memory it only counts.
struct Scratch {
    float* p;
    std::int64_t used = 0;
    float* take(std::int64_t floats) {
        float* piece = p ? p + used : nullptr;
        used += padded(floats);
        return piece;
    }
};

RELASCOPE_INLINE void clear(float* x, std::int64_t count) {
    __builtin_memset(x, 0, static_cast<std::size_t>(count) * sizeof(float));
}

// Rows first .. first + count of one head.
RELASCOPE_INLINE float* rowsOf(const TileRows& x, std::int64_t b, std::int64_t head,
                               std::int64_t first) {
    return x.p + b * x.batch + head * x.head + first * x.token;
}

// to [count, padded(width)] = rows of that width, then zeros.
inline void pack(const float* from, std::int64_t token, std::int64_t count, std::int64_t width,
                 float* to) {
    const std::int64_t wide = padded(width);
    for (std::int64_t i = 0; i < count; ++i) {
        __builtin_memcpy(to + i * wide, from + i * token,
                         static_cast<std::size_t>(width) * sizeof(float));
        for (std::int64_t c = width; c < wide; ++c) to[i * wide + c] = 0.0f;
    }
}
// to [width, columns] = the transposed rows, then zeros.
inline void packTransposed(const float* from, std::int64_t token, std::int64_t count,
                           std::int64_t width, float* to, std::int64_t columns) {
    for (std::int64_t c = 0; c < width; ++c) {
        for (std::int64_t i = 0; i < count; ++i) to[c * columns + i] = from[i * token + c];
        for (std::int64_t i = count; i < columns; ++i) to[c * columns + i] = 0.0f;
    }
}
// The reverse of pack; `adds`: adds to the values that are there.
inline void unpack(const float* from, std::int64_t count, std::int64_t width, float* to,
                   std::int64_t token, bool adds) {
    const std::int64_t wide = padded(width);
    for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t c = 0; c < width; ++c)
            to[i * token + c] = from[i * wide + c] + (adds ? to[i * token + c] : 0.0f);
}

// The working memory of one batch element.
struct Work {
    std::int64_t rows;                                    // rows of a tile
    std::int64_t columns, keyWide, valueWide, relWide;    // padded widths
    std::int64_t symbolRows;                              // rows of s: keys, or offsets
    float *keysT, *symbols, *relKeysT, *wr;               // transposed keys, packed symbols, W_r^T
    float *alpha, *relation, *tile, *shifted;             // [heads, rows, columns], a few relations
    float *keys, *symbolsT, *relKeys, *dropped, *given;   // backward: also A, dA,
    float *slope, *activated, *packed, *dOut, *dRelated;  // e, act(r), packed rows, dO, dR
    float *dKeys, *dSymbols, *dRelKeys;                   // sums over the tiles
    std::int64_t size;

    Work(const TileArgs& a, bool backward, float* memory) {
        Scratch scratch{memory};
        columns = spaced(a.m);
        keyWide = padded(a.keyDim), valueWide = padded(a.valueDim), relWide = padded(a.relDim);
        symbolRows = a.relative ? a.n + a.m - 1 : a.m;
        const std::int64_t group = smaller(a.relations, kRelations),
                           planes = backward ? (a.dropsBelow > 0 ? 3 : 2) * a.heads + 2 * group
                                             : a.heads + group;
        rows = kTileFloats / (columns * planes);
        rows = larger(kFewestRows, smaller(kMostRows, rows));
        const std::int64_t tiles = (a.n + rows - 1) / rows;
        // Equal tiles of whole groups of rows, as they are multiplied.
        rows = ((a.n + tiles - 1) / tiles + kFewestRows - 1) / kFewestRows * kFewestRows;
        // A row of offsets begins up to rows - 1 columns before the first key.
        const std::int64_t spread = spaced(a.m + rows + kPad), plane = rows * columns;
        keysT = scratch.take(a.keyHeads * a.keyDim * columns);
        symbols = scratch.take(a.keyHeads * (symbolRows + spread) * valueWide);
        relKeysT = scratch.take(a.relations * a.relDim * columns);
        wr = scratch.take(a.heads * a.relations * valueWide);
        alpha = scratch.take(a.heads * plane);
        relation = scratch.take(group * plane);
        tile = scratch.take(rows * larger(valueWide, larger(keyWide, relWide)));
        shifted = scratch.take(rows * spread);
        if (!backward) {
            size = scratch.used;
            return;
        }
        keys = scratch.take(a.keyHeads * a.m * keyWide);
        symbolsT = scratch.take(a.keyHeads * a.valueDim * spaced(symbolRows + spread));
        relKeys = scratch.take(a.relations * a.m * relWide);
        dropped = scratch.take(a.heads * plane);
        given = scratch.take(a.heads * plane);
        slope = scratch.take(group * plane);
        activated = scratch.take(group * plane);
        packed = scratch.take(rows * larger(keyWide, relWide));
        dOut = scratch.take(rows * valueWide);
        dRelated = scratch.take(a.heads * rows * (a.relations + 1));
        dKeys = scratch.take(a.keyHeads * a.m * keyWide);
        dSymbols = scratch.take(a.keyHeads * (symbolRows + spread) * valueWide);
        dRelKeys = scratch.take(a.relations * a.m * relWide);
        size = scratch.used;
    }

    std::int64_t spread(const TileArgs& a) const { return spaced(a.m + rows + kPad); }
    std::int64_t symbolPlane(const TileArgs& a) const {
        return (symbolRows + spread(a)) * valueWide;
    }
    std::int64_t symbolColumns(const TileArgs& a) const { return spaced(symbolRows + spread(a)); }
};

// A tile: rows first .. first + count, which see the keys before `seen` (all, unless causal) in
// `columns` columns.
struct Tile {
    std::int64_t first, count, seen, columns;
    Tile(const TileArgs& a, const Work& w, std::int64_t start)
        : first(start),
          count(smaller(w.rows, a.n - start)),
          seen(a.causal ? smaller(a.m, start + count) : a.m),
          columns(padded(seen)) {}
};

// Scores become weights; the columns of keys that a row does not see become 0.
inline void softmaxRows(const TileArgs& a, std::int64_t b, const Tile& t, float* x,
                        std::int64_t row) {
    for (std::int64_t i = 0; i < t.count; ++i, x += row) {
        const std::int64_t end = a.causal ? smaller(t.seen, t.first + i + 1) : t.seen,
                           begin = a.firstKey ? a.firstKey[b * a.n + t.first + i] : 0;
        for (std::int64_t j = 0; j < begin; ++j) x[j] = -__builtin_inff();
        for (std::int64_t j = end; j < t.columns; ++j) x[j] = -__builtin_inff();
        Lanes most = load(x);
        for (std::int64_t j = kLanes; j < t.columns; j += kLanes) {
            const Lanes next = load(x + j);
            most = next > most ? next : most;
        }
        const Lanes top = all(largest(most));
        Lanes total = {};
        for (std::int64_t j = 0; j < t.columns; j += kLanes) {
            const Lanes e = exponential(load(x + j) - top);
            total += e;
            store(x + j, e);
        }
        const Lanes by = all(1.0f / sum(total));
        for (std::int64_t j = 0; j < t.columns; j += kLanes) store(x + j, by * load(x + j));
    }
}

// to = x with dropout; a cell has its mask in the whole [b, heads, n, m].
inline void dropRows(const TileArgs& a, const Tile& t, std::int64_t b, std::int64_t head,
                     const float* x, float* to, std::int64_t row) {
    const auto high = static_cast<std::uint32_t>(a.seed >> 32);
    const Lanes by = all(a.keepScale);
    for (std::int64_t i = 0; i < t.count; ++i) {
        const std::int64_t cell = ((b * a.heads + head) * a.n + t.first + i) * a.m;
        const auto first = static_cast<std::uint32_t>(a.seed) + static_cast<std::uint32_t>(cell);
        for (std::int64_t j = 0; j < t.columns; j += kLanes) {
            const Words random =
                mixedCounter(mixedCounter(lanesFrom(first + static_cast<std::uint32_t>(j))) ^ high);
            store(to + i * row + j, random >= a.dropsBelow ? load(x + i * row + j) * by : Lanes{});
        }
    }
}

RELASCOPE_INLINE Lanes activated(TileActivation kind, Lanes u) {
    switch (kind) {
        case TileActivation::Relu:
            return u > 0.0f ? u : Lanes{};
        case TileActivation::Sigmoid:
            return logistic(u);
        case TileActivation::Tanh:
            return 2.0f * logistic(2.0f * u) - 1.0f;
        case TileActivation::Gelu:
            return u * logistic(u * (1.5957691216f + 0.0713548163f * u * u));
        case TileActivation::Silu:
            return u * logistic(u);
        default:
            return u;
    }
}
// The derivative of `activated`.
RELASCOPE_INLINE Lanes slopeOf(TileActivation kind, Lanes u) {
    switch (kind) {
        case TileActivation::Relu:
            return u > 0.0f ? all(1.0f) : Lanes{};
        case TileActivation::Sigmoid: {
            const Lanes y = logistic(u);
            return y * (1.0f - y);
        }
        case TileActivation::Tanh: {
            const Lanes y = 2.0f * logistic(2.0f * u) - 1.0f;
            return 1.0f - y * y;
        }
        case TileActivation::Gelu: {
            const Lanes y = logistic(u * (1.5957691216f + 0.0713548163f * u * u));
            return y + u * y * (1.0f - y) * (1.5957691216f + 0.2140644488f * u * u);
        }
        case TileActivation::Silu: {
            const Lanes y = logistic(u);
            return y + u * y * (1.0f - y);
        }
        default:
            return all(1.0f);
    }
}
inline void activateRows(TileActivation kind, const float* u, float* r, std::int64_t count) {
    for (std::int64_t i = 0; i < count; i += kLanes) store(r + i, activated(kind, load(u + i)));
}
inline void multiplySlope(TileActivation kind, const float* u, float* e, std::int64_t count) {
    for (std::int64_t i = 0; i < count; i += kLanes)
        store(e + i, load(e + i) * slopeOf(kind, load(u + i)));
}

// Rows by key become rows by offset: cell j of row i moves to column j + (count - 1 - i), so that
// in every row column c has the same library row, offsetsFrom(a, t) + c. `wide` columns.
inline void shift(const Tile& t, const float* x, std::int64_t row, float* to, std::int64_t wide) {
    clear(to, t.count * wide);
    for (std::int64_t i = 0; i < t.count; ++i)
        __builtin_memcpy(to + i * wide + t.count - 1 - i, x + i * row,
                         static_cast<std::size_t>(t.seen) * sizeof(float));
}
inline void unshift(const Tile& t, const float* x, std::int64_t wide, float* to, std::int64_t row) {
    for (std::int64_t i = 0; i < t.count; ++i) {
        __builtin_memcpy(to + i * row, x + i * wide + t.count - 1 - i,
                         static_cast<std::size_t>(t.seen) * sizeof(float));
        for (std::int64_t j = t.seen; j < t.columns; ++j) to[i * row + j] = 0.0f;
    }
}
RELASCOPE_INLINE std::int64_t offsetsFrom(const TileArgs& a, const Tile& t) {
    return a.n - t.first - t.count;
}

void packInputs(const TileArgs& a, std::int64_t b, const Work& w) {
    for (std::int64_t g = 0; g < a.keyHeads; ++g) {
        packTransposed(rowsOf(a.k, b, g, 0), a.k.token, a.m, a.keyDim,
                       w.keysT + g * a.keyDim * w.columns, w.columns);
        float* symbols = w.symbols + g * w.symbolPlane(a);
        pack(rowsOf(a.s, b, g, 0), a.s.token, w.symbolRows, a.valueDim, symbols);
        clear(symbols + w.symbolRows * w.valueWide, w.spread(a) * w.valueWide);
    }
    for (std::int64_t l = 0; l < a.relations; ++l)
        packTransposed(rowsOf(a.kRel, b, l, 0), a.kRel.token, a.m, a.relDim,
                       w.relKeysT + l * a.relDim * w.columns, w.columns);
    for (std::int64_t h = 0; h < a.heads; ++h)
        if (a.relations > 0)
            for (std::int64_t l = 0; l < a.relations; ++l) {
                float* to = w.wr + (h * a.relations + l) * w.valueWide;
                for (std::int64_t c = 0; c < w.valueWide; ++c)
                    to[c] = c < a.valueDim ? a.wr[(h * a.valueDim + c) * a.relations + l] : 0.0f;
            }
}

// The attention weights of one head's tile.
void weigh(const TileArgs& a, std::int64_t b, const Work& w, const Tile& t, std::int64_t head,
           float* alpha) {
    const std::int64_t g = head / (a.heads / a.keyHeads);
    multiply({rowsOf(a.q, b, head, t.first), a.q.token, 1}, t.count,
             w.keysT + g * a.keyDim * w.columns, w.columns, alpha, w.columns, t.columns, a.keyDim,
             a.scale, false);
    softmaxRows(a, b, t, alpha, w.columns);
}

// <q_rel_i, k_rel_j> of one relation, scaled and before its activation.
void relate(const TileArgs& a, std::int64_t b, const Work& w, const Tile& t, std::int64_t l,
            float* u) {
    multiply({rowsOf(a.qRel, b, l, t.first), a.qRel.token, 1}, t.count,
             w.relKeysT + l * a.relDim * w.columns, w.columns, u, w.columns, t.columns, a.relDim,
             a.relScale, false);
}

}  // namespace
}  // namespace relascope::core
