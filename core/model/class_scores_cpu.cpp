// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/class_scores.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "model/attention/tile_levels.h"

#define RELASCOPE_INLINE inline __attribute__((always_inline))

namespace relascope::core {
namespace {

// Eight lanes: one AVX-512 register, two of AVX2, four of SSE.
typedef double DoubleLanes __attribute__((vector_size(64)));
typedef std::int64_t DoubleBits __attribute__((vector_size(64)));
typedef float FewFloats __attribute__((vector_size(32)));
constexpr std::int64_t kDoubleLanes = 8;
// Below, a second thread costs more than it saves.
constexpr std::int64_t kClassesOfThread = 1 << 15;

RELASCOPE_INLINE void loadLanes(const float* from, DoubleLanes& to) {
    FewFloats values;
    std::memcpy(&values, from, sizeof values);
    to = __builtin_convertvector(values, DoubleLanes);
}
RELASCOPE_INLINE void loadLanes(const double* from, DoubleLanes& to) {
    std::memcpy(&to, from, sizeof to);
}

// x = exp(x) for x <= 0, to a few units in the last place; below -708 it is as good as 0.
RELASCOPE_INLINE void exponential(DoubleLanes& x) {
    constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52: the sum has no room for a fraction
    const DoubleLanes least = DoubleLanes{} - 708.0;
    x = x < least ? least : x;
    const DoubleLanes shifted = x * 1.4426950408889634074 + kRound, n = shifted - kRound;
    // |f| <= ln(2) / 2; the first part of ln(2) has zeros at its end.
    const DoubleLanes f = (x - n * 6.93145751953125e-1) - n * 1.42860682030941723212e-6;
    DoubleLanes e = DoubleLanes{} + 1.0 / 6227020800.0;  // the series up to f^13
    e = e * f + 1.0 / 479001600.0;
    e = e * f + 1.0 / 39916800.0;
    e = e * f + 1.0 / 3628800.0;
    e = e * f + 1.0 / 362880.0;
    e = e * f + 1.0 / 40320.0;
    e = e * f + 1.0 / 5040.0;
    e = e * f + 1.0 / 720.0;
    e = e * f + 1.0 / 120.0;
    e = e * f + 1.0 / 24.0;
    e = e * f + 1.0 / 6.0;
    e = e * f + 0.5;
    e = e * f + 1.0;
    e = e * f + 1.0;
    // The integer is in the low bits of `shifted`: moved to the exponent's place it is 2^n.
    DoubleBits power;
    std::memcpy(&power, &shifted, sizeof power);
    power = (power << 52) + 0x3FF0000000000000;
    DoubleLanes scale;
    std::memcpy(&scale, &power, sizeof scale);
    x = e * scale;
}

RELASCOPE_INLINE double sumOfLanes(const DoubleLanes& lanes) {
    double sum = 0.0;
    for (std::int64_t k = 0; k < kDoubleLanes; ++k) sum += lanes[k];
    return sum;
}

// The last group may have fewer than all lanes: the others hold `rest`.
template <class Number>
RELASCOPE_INLINE void loadSome(const Number* from, std::int64_t count, double rest,
                               DoubleLanes& to) {
    if (count >= kDoubleLanes) return loadLanes(from, to);
    for (std::int64_t k = 0; k < kDoubleLanes; ++k)
        to[k] = k < count ? static_cast<double>(from[k]) : rest;
}

template <class Number>
RELASCOPE_INLINE void sumRow(const Number* row, std::int64_t classes, double& normalizer,
                             std::int64_t& best) {
    // The largest of sixteen columns first, then the first class that equals the largest of all.
    Number most[16];
    std::fill(most, most + 16, row[0]);
    std::int64_t at = 0;
    for (; at + 16 <= classes; at += 16)
        for (int k = 0; k < 16; ++k) most[k] = row[at + k] > most[k] ? row[at + k] : most[k];
    for (; at < classes; ++at) most[0] = row[at] > most[0] ? row[at] : most[0];
    const Number largest = *std::max_element(most, most + 16);
    best = std::find(row, row + classes, largest) - row;
    if (best == classes) best = 0;  // not a number
    const auto top = static_cast<double>(largest);
    DoubleLanes sum = {};
    for (at = 0; at < classes; at += kDoubleLanes) {
        DoubleLanes x;
        loadSome(row + at, classes - at, -INFINITY, x);
        x -= top;
        exponential(x);
        sum += x;
    }
    normalizer = top + std::log(sumOfLanes(sum));
}

template <class Number>
RELASCOPE_INLINE void compareRow(const Number* a, const Number* b, std::int64_t classes,
                                 double normalizerA, double normalizerB, double& divergence,
                                 double& largest) {
    DoubleLanes sum = {}, most = {};
    for (std::int64_t at = 0; at < classes; at += kDoubleLanes) {
        DoubleLanes p, other;
        loadSome(a + at, classes - at, -INFINITY, p);
        loadSome(b + at, classes - at, -INFINITY, other);
        DoubleLanes apart = p - other;
        if (classes - at < kDoubleLanes)
            for (std::int64_t k = classes - at; k < kDoubleLanes; ++k) apart[k] = 0.0;
        p -= normalizerA;
        exponential(p);
        sum += p * apart;
        const DoubleLanes size = apart < 0.0 ? -apart : apart;
        most = size <= most ? most : size;  // NaN stays NaN
    }
    // Rounding may leave less than 0 where both agree.
    const double apart = sumOfLanes(sum) - (normalizerA - normalizerB);
    divergence = apart < 0.0 ? 0.0 : apart;
    largest = most[0];
    for (std::int64_t k = 1; k < kDoubleLanes; ++k)
        largest = most[k] <= largest ? largest : most[k];
}

RELASCOPE_VECTORS void sumRows(const float* rows, std::int64_t stride, std::int64_t classes,
                               std::int64_t begin, std::int64_t end, double* normalizer,
                               std::int64_t* best) {
    for (auto r = begin; r < end; ++r) sumRow(rows + r * stride, classes, normalizer[r], best[r]);
}
RELASCOPE_VECTORS void sumRows(const double* rows, std::int64_t stride, std::int64_t classes,
                               std::int64_t begin, std::int64_t end, double* normalizer,
                               std::int64_t* best) {
    for (auto r = begin; r < end; ++r) sumRow(rows + r * stride, classes, normalizer[r], best[r]);
}
RELASCOPE_VECTORS void compareRows(const float* a, std::int64_t strideA, const float* b,
                                   std::int64_t strideB, std::int64_t classes, std::int64_t begin,
                                   std::int64_t end, const double* normalizerA,
                                   const double* normalizerB, double* divergence, double* largest) {
    for (auto r = begin; r < end; ++r)
        compareRow(a + r * strideA, b + r * strideB, classes, normalizerA[r], normalizerB[r],
                   divergence[r], largest[r]);
}
RELASCOPE_VECTORS void compareRows(const double* a, std::int64_t strideA, const double* b,
                                   std::int64_t strideB, std::int64_t classes, std::int64_t begin,
                                   std::int64_t end, const double* normalizerA,
                                   const double* normalizerB, double* divergence, double* largest) {
    for (auto r = begin; r < end; ++r)
        compareRow(a + r * strideA, b + r * strideB, classes, normalizerA[r], normalizerB[r],
                   divergence[r], largest[r]);
}

// [rows, classes] on the CPU, each row without gaps.
torch::Tensor rowsOfClasses(const torch::Tensor& scores, torch::ScalarType type) {
    auto rows = scores.detach().to(torch::kCPU, type);
    rows = rows.reshape({-1, rows.size(-1)});
    return rows.stride(1) == 1 ? rows : rows.contiguous();
}

torch::ScalarType typeOf(const torch::Tensor& scores) {
    return scores.scalar_type() == torch::kDouble ? torch::kDouble : torch::kFloat;
}

std::int64_t grainOf(std::int64_t classes) {
    return std::max<std::int64_t>(1, kClassesOfThread / std::max<std::int64_t>(1, classes));
}

template <class Number>
ClassSums sumsOf(const torch::Tensor& rows) {
    const auto count = rows.size(0), classes = rows.size(1), stride = rows.stride(0);
    ClassSums sums{torch::empty({count}, torch::kDouble), torch::empty({count}, torch::kLong)};
    const auto* from = rows.const_data_ptr<Number>();
    auto* normalizer = sums.normalizer.mutable_data_ptr<double>();
    auto* best = sums.best.mutable_data_ptr<std::int64_t>();
    at::parallel_for(0, count, grainOf(classes), [&](std::int64_t begin, std::int64_t end) {
        sumRows(from, stride, classes, begin, end, normalizer, best);
    });
    return sums;
}

template <class Number>
void compare(const torch::Tensor& a, const torch::Tensor& b, ClassComparison& result) {
    const auto count = a.size(0), classes = a.size(1);
    const auto *first = a.const_data_ptr<Number>(), *second = b.const_data_ptr<Number>();
    const auto *normalizerA = result.first.normalizer.const_data_ptr<double>(),
               *normalizerB = result.second.normalizer.const_data_ptr<double>();
    auto *divergence = result.divergence.mutable_data_ptr<double>(),
         *largest = result.largest.mutable_data_ptr<double>();
    at::parallel_for(0, count, grainOf(classes), [&](std::int64_t begin, std::int64_t end) {
        compareRows(first, a.stride(0), second, b.stride(0), classes, begin, end, normalizerA,
                    normalizerB, divergence, largest);
    });
}

ClassSums sumsOfRows(const torch::Tensor& rows) {
    return rows.scalar_type() == torch::kDouble ? sumsOf<double>(rows) : sumsOf<float>(rows);
}

}  // namespace

torch::Tensor ClassSums::logProbability(const torch::Tensor& scores,
                                        const torch::Tensor& classes) const {
    const auto wanted = scores.detach().to(torch::kCPU).gather(-1, classes.unsqueeze(-1));
    return wanted.squeeze(-1).to(torch::kDouble) - normalizer;
}

ClassSums classSums(const torch::Tensor& scores) {
    auto sums = sumsOfRows(rowsOfClasses(scores, typeOf(scores)));
    const auto shape = scores.sizes().slice(0, static_cast<std::size_t>(scores.dim() - 1));
    return {sums.normalizer.reshape(shape), sums.best.reshape(shape)};
}

ClassComparison compareClasses(const torch::Tensor& first, const torch::Tensor& second) {
    const auto type = torch::promoteTypes(typeOf(first), typeOf(second));
    const auto a = rowsOfClasses(first, type), b = rowsOfClasses(second, type);
    ClassComparison result{sumsOfRows(a), sumsOfRows(b), torch::empty({a.size(0)}, torch::kDouble),
                           torch::empty({a.size(0)}, torch::kDouble)};
    type == torch::kDouble ? compare<double>(a, b, result) : compare<float>(a, b, result);
    const auto shape = first.sizes().slice(0, static_cast<std::size_t>(first.dim() - 1));
    for (auto* each : {&result.first.normalizer, &result.first.best, &result.second.normalizer,
                       &result.second.best, &result.divergence, &result.largest})
        *each = each->reshape(shape);
    return result;
}

}  // namespace relascope::core
