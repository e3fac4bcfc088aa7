// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "evaluate/example_scores.h"
#include "evaluate/scoring.h"
#include "model/class_scores.h"
#include "types/metric.h"

namespace relascope::core {

void ExampleScores::add(const torch::Tensor& given, const Batch& batch, std::int64_t ignore) {
    const auto b = batch.size();
    const auto wantedValues = batch.targets.reshape({b, -1});
    torch::Tensor losses, chosen;  // [b, targets]
    const auto flat = [b](const torch::Tensor& t) { return t.reshape({b, -1}); };
    const bool signs = batch.kind == TargetKind::MultiLabel || given.size(-1) == 1;
    torch::Tensor scores;
    if (batch.kind == TargetKind::Regression || signs)
        scores = given.detach().to(torch::kCPU, torch::kDouble);
    if (batch.kind == TargetKind::Regression) {
        losses = (flat(scores) - wantedValues.to(torch::kDouble)).square();
        const auto errors =
            (flat(scores) - wantedValues.to(torch::kDouble)).abs().mean(1).contiguous();
        const auto mean = losses.mean(1).contiguous();
        for (std::int64_t e = 0; e < b; ++e) {
            loss.push_back(mean[e].item<double>());
            accuracy.push_back(errors[e].item<double>());
            targets.push_back(static_cast<double>(wantedValues.size(1)));
        }
        return;
    }
    const auto wanted = wantedValues.round().to(torch::kLong);
    if (signs) {
        losses = torch::binary_cross_entropy_with_logits(flat(scores), wanted.to(torch::kDouble),
                                                         {}, {}, at::Reduction::None);
        chosen = flat(scores).gt(0).to(torch::kLong);
    } else {
        const auto classes = given.detach().reshape({b, -1, given.size(-1)});
        const auto sums = classSums(classes);
        losses = -sums.logProbability(classes, wanted.clamp_min(0));
        chosen = sums.best;
    }
    auto counted = torch::ones_like(wanted, torch::kBool);
    if (batch.kind == TargetKind::Tokens && ignore >= 0) counted = wanted.ne(ignore);
    const auto hits = chosen.eq(wanted).logical_and(counted);
    const auto count = counted.sum(1).to(torch::kDouble);
    // An example without any target that counts has no value: 0 / 0.
    const auto mean = (losses.masked_fill(counted.logical_not(), 0.0).sum(1) / count).contiguous(),
               share = (hits.sum(1).to(torch::kDouble) / count).contiguous();
    loss.insert(loss.end(), mean.const_data_ptr<double>(), mean.const_data_ptr<double>() + b);
    accuracy.insert(accuracy.end(), share.const_data_ptr<double>(),
                    share.const_data_ptr<double>() + b);
    const auto weights = count.contiguous();
    targets.insert(targets.end(), weights.const_data_ptr<double>(),
                   weights.const_data_ptr<double>() + b);
    const auto given64 = chosen.masked_select(counted).contiguous(),
               hit = hits.masked_select(counted).contiguous();
    const auto* answer = given64.const_data_ptr<std::int64_t>();
    const auto* is = hit.const_data_ptr<bool>();
    answers.insert(answers.end(), answer, answer + given64.numel());
    right.insert(right.end(), is, is + hit.numel());
}

void ExampleScores::append(const ExampleScores& more) {
    loss.insert(loss.end(), more.loss.begin(), more.loss.end());
    accuracy.insert(accuracy.end(), more.accuracy.begin(), more.accuracy.end());
    targets.insert(targets.end(), more.targets.begin(), more.targets.end());
    answers.insert(answers.end(), more.answers.begin(), more.answers.end());
    right.insert(right.end(), more.right.begin(), more.right.end());
}

PairedChange pairedChange(const std::string& metric, std::span<const double> base,
                          std::span<const double> edited, std::span<const double> weights) {
    constexpr int draws = 2000;
    constexpr double kTail = 0.025;
    PairedChange result{metric};
    struct Example {
        double change, weight;
    };
    std::vector<Example> examples;
    double before = 0.0, after = 0.0, sum = 0.0, weight = 0.0;
    for (std::size_t i = 0; i < std::min({base.size(), edited.size(), weights.size()}); ++i) {
        if (!(weights[i] > 0) || std::isnan(base[i]) || std::isnan(edited[i])) continue;
        examples.push_back({edited[i] - base[i], weights[i]});
        before += base[i] * weights[i], after += edited[i] * weights[i];
        sum += examples.back().change * weights[i], weight += weights[i];
    }
    if (examples.empty()) {
        const double none = std::numeric_limits<double>::quiet_NaN();
        result.base = result.edited = result.change = result.low = result.high = none;
        return result;
    }
    const auto n = examples.size();
    result.base = before / weight, result.edited = after / weight;
    result.change = sum / weight;
    if (std::all_of(examples.begin(), examples.end(),
                    [&](const Example& e) { return e.change == examples[0].change; })) {
        result.low = result.high = result.change;
        if (!metricInfo(metric).isFraction()) return result;
        // Resampling equal differences says nothing about those that were not met: the exact bound
        // of none in n (Clopper and Pearson 1934) does.
        const double unmet = 1.0 - std::pow(kTail, 1.0 / static_cast<double>(n));
        if (result.change <= 0.0) result.high = std::min(result.change + unmet, 1.0);
        if (result.change >= 0.0) result.low = std::max(result.change - unmet, -1.0);
        return result;
    }
    std::mt19937 random(1);
    std::vector<double> means(draws);
    for (auto& mean : means) {
        double total = 0.0, count = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            const auto& drawn = examples[(static_cast<std::uint64_t>(random()) * n) >> 32];
            total += drawn.change * drawn.weight, count += drawn.weight;
        }
        mean = total / count;
    }
    std::sort(means.begin(), means.end());
    result.low = means[draws / 40 - 1];  // 2.5 %
    result.high = means[draws - draws / 40];
    return result;
}

}  // namespace relascope::core
