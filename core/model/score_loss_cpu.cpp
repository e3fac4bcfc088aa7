// SPDX-License-Identifier: GPL-3.0-or-later
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/attention/tile_levels.h"
#include "model/blocks/bfloat16_lanes.h"
#include "model/blocks/number_lanes.h"
#include "model/score_loss.h"

namespace relascope::core {
namespace {

constexpr std::int64_t kScoresOfThread = 1 << 14;

// The numbers of a row from `at` on, fewer than sixteen at its end: then -infinity.
RELASCOPE_INLINE void loadScores(const Numbers& from, std::int64_t at, std::int64_t end,
                                 Lanes& lanes) {
    if (at + kLanes <= end) return load(from, at, lanes);
    for (int lane = 0; lane < kLanes; ++lane)
        lanes[lane] = at + lane >= end ? -std::numeric_limits<float>::infinity()
                      : from.floats    ? from.floats[at + lane]
                                       : widenedBits(from.halves[at + lane]);
}
RELASCOPE_INLINE void storeScores(const Numbers& to, std::int64_t at, std::int64_t end,
                                  const Lanes& lanes) {
    if (at + kLanes <= end) return store(to, at, lanes);
    for (int lane = 0; lane < kLanes && at + lane < end; ++lane) {
        if (to.floats)
            to.floats[at + lane] = lanes[lane];
        else
            to.halves[at + lane] = narrowedBits(lanes[lane]);
    }
}

struct ScoreRows {
    Numbers scores, gradient;
    std::int64_t classes;
    float* normalizers;
    const float* weights;
    const std::int64_t* targets;
};

RELASCOPE_VECTORS void normalizerRows(const ScoreRows& a, std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
        const std::int64_t first = row * a.classes, last = first + a.classes;
        Lanes most = Lanes{} - std::numeric_limits<float>::infinity(), sum = {};
        for (std::int64_t at = first; at < last; at += kLanes) {
            Lanes x;
            loadScores(a.scores, at, last, x);
            most = x > most ? x : most;
        }
        float top = most[0];
        for (int lane = 1; lane < kLanes; ++lane) top = std::max(top, most[lane]);
        for (std::int64_t at = first; at < last; at += kLanes) {
            Lanes x;
            loadScores(a.scores, at, last, x);
            x -= top;
            exponentials(x);
            sum += x;
        }
        a.normalizers[row] = top + std::log(total(sum));
    }
}

RELASCOPE_VECTORS void gradientRows(const ScoreRows& a, std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
        const std::int64_t first = row * a.classes, last = first + a.classes;
        const float normalizer = a.normalizers[row], weight = a.weights[row];
        const std::int64_t target = first + a.targets[row];
        const float right =
            a.scores.floats ? a.scores.floats[target] : widenedBits(a.scores.halves[target]);
        for (std::int64_t at = first; at < last; at += kLanes) {
            Lanes x;
            loadScores(a.scores, at, last, x);
            x -= normalizer;
            exponentials(x);
            storeScores(a.gradient, at, last, x * weight);
        }
        const float g = (std::exp(right - normalizer) - 1.0f) * weight;
        if (a.gradient.floats)
            a.gradient.floats[target] = g;
        else
            a.gradient.halves[target] = narrowedBits(g);
    }
}

Numbers scoreNumbers(const torch::Tensor& x) {
    Numbers numbers;
    if (x.scalar_type() == torch::kFloat)
        numbers.floats = const_cast<float*>(x.const_data_ptr<float>());
    else
        numbers.halves = reinterpret_cast<std::uint16_t*>(
            const_cast<at::BFloat16*>(x.const_data_ptr<at::BFloat16>()));
    return numbers;
}

template <class Rows>
void overScoreRows(const ScoreRows& a, std::int64_t rows, const Rows& work) {
    at::parallel_for(0, rows, std::max<std::int64_t>(1, kScoresOfThread / a.classes),
                     [&](std::int64_t begin, std::int64_t end) { work(a, begin, end); });
}

}  // namespace

bool hasScoreLoss(const torch::Tensor& scores) {
    return scores.is_cpu() && scores.dim() == 2 && scores.numel() > 0 && scores.is_contiguous() &&
           (scores.scalar_type() == torch::kFloat || scores.scalar_type() == torch::kBFloat16);
}

torch::Tensor scoreNormalizers(const torch::Tensor& scores) {
    auto normalizers = torch::empty({scores.size(0)}, scores.options().dtype(torch::kFloat));
    const ScoreRows a{scoreNumbers(scores),
                      {},
                      scores.size(1),
                      normalizers.mutable_data_ptr<float>(),
                      nullptr,
                      nullptr};
    overScoreRows(a, scores.size(0), normalizerRows);
    return normalizers;
}

torch::Tensor scoreGradient(const torch::Tensor& scores, const torch::Tensor& targets,
                            const torch::Tensor& weights, const torch::Tensor& normalizers) {
    auto gradient = torch::empty_like(scores);
    const auto rows = targets.contiguous(), each = weights.contiguous();
    const ScoreRows a{scoreNumbers(scores),
                      scoreNumbers(gradient),
                      scores.size(1),
                      const_cast<float*>(normalizers.const_data_ptr<float>()),
                      each.const_data_ptr<float>(),
                      rows.const_data_ptr<std::int64_t>()};
    overScoreRows(a, scores.size(0), gradientRows);
    return gradient;
}

}  // namespace relascope::core
