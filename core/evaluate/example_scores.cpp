// SPDX-License-Identifier: GPL-3.0-or-later
#include "evaluate/example_scores.h"

#include "evaluate/scoring.h"
#include "model/class_scores.h"

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
    if (batch.kind == TargetKind::Tokens && (ignore >= 0 || batch.hidden))
        counted = wanted.ne(ignore);
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
    content.insert(content.end(), more.content.begin(), more.content.end());
}

void ExampleScores::addContent(const Batch& batch) {
    const auto here = contentOf(batch);
    content.insert(content.end(), here.begin(), here.end());
}

}  // namespace relascope::core
