// SPDX-License-Identifier: GPL-3.0-or-later
// The kernels of fused_norm_cpu.cpp over rows of floats; for that file only.
#pragma once

#include <cmath>
#include <cstdint>

#include "model/attention/tile_levels.h"
#include "model/blocks/number_lanes.h"

namespace relascope::core {
namespace {

// Elements below which a second thread, or a call of our own, costs more than it saves.
constexpr std::int64_t kGrain = 1 << 14;
// Parts of the rows with sums of their own for the gradients of the weights: a fixed number, so
// that the result does not depend on the number of threads.
constexpr std::int64_t kParts = 16;

// Rows of d elements; mean and scale hold one number a row. Outputs that are null are left out.
struct Forward {
    const float *x, *weight, *bias;
    Numbers branch;
    float *sum, *mean, *scale;
    Numbers y;
    std::int64_t d;
    float eps;
    Mask mask;
};
struct Backward {
    const float *sum, *mean, *scale, *weight, *dsum;
    Numbers dy;
    float* dx;
    Numbers dbranch;
    std::int64_t d;
    bool centred;
    Mask mask;
};

RELASCOPE_VECTORS void addCells(const float* x, const Numbers& branch, float* sum, const Mask& mask,
                                std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; i += kLanes) {
        Lanes in, more;
        load(x + i, in);
        load(branch, i, more);
        drop(mask, i, more);
        store(sum + i, in + more);
    }
}

RELASCOPE_VECTORS void forwardRows(const Forward& a, std::int64_t begin, std::int64_t end) {
    const std::int64_t d = a.d;
    const float share = 1.0f / static_cast<float>(d);
    for (std::int64_t row = begin; row < end; ++row) {
        const float* in = a.x + row * d;
        Lanes first = {}, second = {};
        if (a.branch) {
            float* sum = a.sum + row * d;
            for (std::int64_t i = 0; i < d; i += kLanes) {
                Lanes x, more;
                load(in + i, x);
                load(a.branch, row * d + i, more);
                drop(a.mask, row * d + i, more);
                x += more;
                first += x;
                store(sum + i, x);
            }
            in = sum;
        } else if (a.bias) {
            for (std::int64_t i = 0; i < d; i += kLanes) {
                Lanes x;
                load(in + i, x);
                first += x;
            }
        }
        // The row is in the first cache now, so that the second sum can take the true mean.
        const float mean = a.bias ? total(first) * share : 0.0f;
        for (std::int64_t i = 0; i < d; i += kLanes) {
            Lanes x;
            load(in + i, x);
            x -= mean;
            second += x * x;
        }
        const float scale = 1.0f / std::sqrt(total(second) * share + a.eps);
        a.mean[row] = mean, a.scale[row] = scale;
        for (std::int64_t i = 0; i < d; i += kLanes) {
            Lanes x, weight, bias = {};
            load(in + i, x);
            load(a.weight + i, weight);
            if (a.bias) load(a.bias + i, bias);
            store(a.y, row * d + i, (x - mean) * scale * weight + bias);
        }
    }
}

// Adds the gradients of the weights to dweight and dbias.
RELASCOPE_VECTORS void backwardRows(const Backward& a, std::int64_t begin, std::int64_t end,
                                    float* dweight, float* dbias) {
    const std::int64_t d = a.d;
    const float share = 1.0f / static_cast<float>(d);
    for (std::int64_t row = begin; row < end; ++row) {
        const float* in = a.sum + row * d;
        const float mean = a.mean[row], scale = a.scale[row];
        Lanes first = {}, second = {};
        for (std::int64_t i = 0; i < d; i += kLanes) {
            Lanes x, g, weight, toWeight, toBias;
            load(in + i, x);
            load(a.dy, row * d + i, g);
            load(a.weight + i, weight);
            load(dweight + i, toWeight);
            load(dbias + i, toBias);
            x = (x - mean) * scale;
            store(dweight + i, toWeight + g * x);
            store(dbias + i, toBias + g);
            g *= weight;
            first += g;
            second += g * x;
        }
        const float plain = a.centred ? total(first) * share : 0.0f, along = total(second) * share;
        for (std::int64_t i = 0; i < d; i += kLanes) {
            Lanes x, g, weight, more = {};
            load(in + i, x);
            load(a.dy, row * d + i, g);
            load(a.weight + i, weight);
            if (a.dsum) load(a.dsum + row * d + i, more);
            x = (x - mean) * scale;
            g = (g * weight - plain - x * along) * scale + more;
            store(a.dx + row * d + i, g);
            if (!a.dbranch) continue;
            drop(a.mask, row * d + i, g);
            store(a.dbranch, row * d + i, g);
        }
    }
}

}  // namespace
}  // namespace relascope::core
