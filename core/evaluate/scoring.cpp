// SPDX-License-Identifier: GPL-3.0-or-later
#include <torch/csrc/autograd/custom_function.h>
#include <algorithm>
#include <limits>

#include "evaluate/scoring.h"
#include "model/score_loss.h"
#include "ranks/rank_group.h"

namespace relascope::core {
namespace {

// Below (4 MB), the two copies that are saved do not matter.
constexpr std::int64_t kLarge = std::int64_t{1} << 20;

// LibTorch's loss holds three tensors of the size of the scores beside them when the backward pass
// begins, with all activations still there: their logarithmic softmax and two gradients. This one
// holds a number for each row and one gradient.
struct LargeCrossEntropy : torch::autograd::Function<LargeCrossEntropy> {
    // The weighted sum of the cross entropy of scores [rows, classes] and targets [rows], with a
    // weight for each row [rows].
    static torch::Tensor forward(torch::autograd::AutogradContext* context,
                                 const torch::Tensor& scores, const torch::Tensor& targets,
                                 const torch::Tensor& weights) {
        const auto normalizer = scoreNormalizers(scores);
        context->save_for_backward({scores, targets, weights, normalizer});
        const auto right = scores.gather(1, targets.unsqueeze(1)).squeeze(1).to(torch::kFloat);
        return weights.dot(normalizer - right);
    }

    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   torch::autograd::variable_list gradients) {
        const auto saved = context->get_saved_variables();
        const auto gradient = scoreGradient(saved[0], saved[1], saved[2] * gradients[0], saved[3]);
        return {gradient, torch::Tensor(), torch::Tensor()};
    }
};

}  // namespace

torch::Tensor crossEntropy(const torch::Tensor& scores, const torch::Tensor& targets,
                           std::int64_t ignore) {
    const auto rows = scores.flatten(0, -2);
    const auto wanted = targets.flatten();
    if (!hasScoreLoss(rows) || rows.numel() < kLarge)
        return torch::cross_entropy_loss(
            rows.scalar_type() == torch::kBFloat16 ? rows.to(torch::kFloat) : rows, wanted, {},
            at::Reduction::Mean, ignore);
    const auto counted = wanted.ne(ignore);
    const auto each = counted.to(torch::kFloat);
    return LargeCrossEntropy::apply(rows, wanted.where(counted, torch::zeros_like(wanted)),
                                    each / each.sum());
}

namespace {

constexpr double kRecovered = 1e-3;  // experiments.md section 8
// The most numbers that may wait on a device: 16 MiB.
constexpr std::int64_t kMostWaiting = std::int64_t{1} << 22;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Two classes, predicted by the sign of one score.
bool isYesNo(const torch::Tensor& scores, const Batch& batch) {
    return batch.kind == TargetKind::Class && scores.size(-1) == 1;
}

// The predicted classes, tokens or bits.
torch::Tensor guesses(const torch::Tensor& scores, const Batch& batch) {
    const bool signs = batch.kind == TargetKind::MultiLabel || isYesNo(scores, batch);
    return signs ? scores.detach().gt(0).to(torch::kLong) : scores.detach().argmax(-1);
}

}  // namespace

torch::Tensor widenedScores(const torch::Tensor& scores) {
    const bool keeps =
        scores.is_cpu() && scores.scalar_type() == torch::kBFloat16 && scores.numel() >= kLarge;
    return keeps ? scores : scores.to(torch::kFloat);
}

torch::Tensor lossOf(const torch::Tensor& scores, const Batch& batch, std::int64_t ignore) {
    const auto device = scores.device();
    if (batch.mixed.defined())
        return torch::cross_entropy_loss(scores.to(torch::kFloat), batch.mixed.to(device));
    const auto targets = batch.targets.to(device, true);
    switch (batch.kind) {
        case TargetKind::Regression:
            return torch::mse_loss(scores.to(torch::kFloat), targets);
        case TargetKind::MultiLabel:
            return torch::binary_cross_entropy_with_logits(scores.to(torch::kFloat), targets);
        case TargetKind::Class:
            if (isYesNo(scores, batch))
                return torch::binary_cross_entropy_with_logits(scores.squeeze(-1),
                                                               targets.to(scores.scalar_type()));
            [[fallthrough]];
        case TargetKind::Tokens:
            break;
    }
    return crossEntropy(scores, targets, ignore);
}

void requireLabels(const Batch& batch, std::int64_t outputs, std::int64_t ignore) {
    if (batch.kind != TargetKind::Class && batch.kind != TargetKind::Tokens) return;
    const std::int64_t classes = outputs == 1 ? 2 : outputs;
    const auto* labels = batch.targets.const_data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < batch.targets.numel(); ++i)
        if ((labels[i] < 0 || labels[i] >= classes) &&
            (labels[i] != ignore || (ignore < 0 && !batch.hidden)))
            throw OptionError("data", labels[i] < 0 ? std::string("has examples whose class is not "
                                                                  "one of the model's")
                                                    : "label " + std::to_string(labels[i]) +
                                                          " is outside the model's " +
                                                          std::to_string(classes) + " classes");
}

std::int64_t answersIn(const Batch& batch, std::int64_t ignore) {
    const bool some = batch.kind == TargetKind::Tokens && (ignore >= 0 || batch.hidden);
    if (!some) return batch.targets.numel();
    return batch.targets.ne(ignore).sum().item<std::int64_t>();
}

torch::Tensor rightAnswers(const torch::Tensor& scores, const Batch& batch, std::int64_t ignore) {
    const auto number = scores.options().dtype(torch::kDouble);
    if (batch.kind == TargetKind::Regression) return torch::full({}, kNaN, number);
    const auto wanted = batch.kind == TargetKind::MultiLabel
                            ? batch.targets.round().to(torch::kLong)
                            : batch.targets;
    auto right = guesses(scores, batch).view_as(wanted).eq(wanted);
    if (batch.kind == TargetKind::Tokens && (ignore >= 0 || batch.hidden))
        right = right.logical_and(wanted.ne(ignore));
    return right.sum().to(torch::kDouble);
}

MetricAccumulator::MetricAccumulator(std::int64_t outputs, std::int64_t ignore)
    : m_ignore(ignore),
      m_classRight(static_cast<std::size_t>(outputs == 1 ? 2 : outputs), 0),
      m_classSeen(m_classRight) {}

void MetricAccumulator::addLoss(const torch::Tensor& mean, const Batch& batch) {
    m_means.push_back(mean.detach());
    m_meanCounts.push_back(answersIn(batch, m_ignore));
    if (mean.is_cpu()) settle();
}

void MetricAccumulator::add(const torch::Tensor& scores, const Batch& batch) {
    m_examples += batch.size();
    m_numbers = batch.kind == TargetKind::Regression;
    const auto wanted = batch.kind == TargetKind::MultiLabel
                            ? batch.targets.round().to(torch::kLong)
                            : batch.targets;
    const auto given = m_numbers ? scores.detach() : guesses(scores, batch).to(torch::kInt);
    m_waiting.push_back({given, wanted.contiguous(), batch.kind});
    m_waitingNumbers += given.numel();
    if (scores.is_cpu() || m_waitingNumbers >= kMostWaiting) settle();
}

void MetricAccumulator::settle() {
    if (!m_means.empty()) enterLosses(torch::stack(m_means));
    m_means.clear(), m_meanCounts.clear();
    if (m_waiting.empty()) return;
    std::vector<torch::Tensor> parts;
    for (const auto& answers : m_waiting) parts.push_back(answers.given.flatten());
    // One copy, whatever the number of batches.
    const auto all = (parts.size() == 1 ? parts[0] : torch::cat(parts)).cpu();
    std::int64_t begin = 0;
    for (const auto& answers : m_waiting) {
        const auto end = begin + answers.given.numel();
        enter(all.slice(0, begin, end).view(answers.given.sizes()), answers);
        begin = end;
    }
    m_waiting.clear(), m_waitingNumbers = 0;
}

void MetricAccumulator::enterLosses(const torch::Tensor& means) {
    const auto numbers = means.to(torch::kCPU).to(torch::kDouble);
    const auto* mean = numbers.const_data_ptr<double>();
    for (std::size_t i = 0; i < m_meanCounts.size(); ++i) {
        m_loss += mean[i] * static_cast<double>(m_meanCounts[i]);
        m_counted += m_meanCounts[i];
    }
}

void MetricAccumulator::enter(const torch::Tensor& given, const Answers& answers) {
    const auto& wanted = answers.wanted;
    if (answers.kind == TargetKind::Regression) {
        const auto error = (given.to(torch::kDouble) - wanted.to(torch::kDouble)).abs();
        m_error += error.sum().item<double>();
        m_answers += error.numel();
        const auto worst = error.flatten(1).amax(1);
        m_largest = std::max(m_largest, worst.max().item<double>());
        m_recovered += worst.lt(kRecovered).sum().item<std::int64_t>();
        return;
    }
    const auto* a = given.const_data_ptr<std::int32_t>();
    const auto* b = wanted.const_data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < wanted.numel(); ++i) {
        // -1 is the target of words that are not hidden, and of nothing else.
        if (answers.kind == TargetKind::Tokens && b[i] == m_ignore) continue;
        ++m_answers;
        m_right += a[i] == b[i];
        if (answers.kind == TargetKind::MultiLabel) continue;
        ++m_classSeen[static_cast<std::size_t>(b[i])];
        m_classRight[static_cast<std::size_t>(b[i])] += a[i] == b[i];
    }
}

void MetricAccumulator::addRanks(RankGroup& ranks) {
    settle();
    std::vector<double> own = {m_loss, m_error, m_largest, m_numbers ? 1.0 : 0.0};
    const auto reals = own.size();
    std::vector<std::int64_t*> counts = {&m_examples, &m_answers, &m_right, &m_counted,
                                         &m_recovered};
    for (auto* classes : {&m_classRight, &m_classSeen})
        for (auto& count : *classes) counts.push_back(&count);
    for (auto* count : counts) own.push_back(static_cast<double>(std::exchange(*count, 0)));
    m_loss = m_error = 0.0;
    for (const auto& row : ranks.gather(own)) {
        m_loss += row[0], m_error += row[1];
        m_largest = std::max(m_largest, row[2]);
        m_numbers = m_numbers || row[3] != 0.0;
        for (std::size_t i = 0; i < counts.size(); ++i)
            *counts[i] += static_cast<std::int64_t>(row[reals + i]);
    }
}

double MetricAccumulator::loss() {
    settle();
    return m_loss / static_cast<double>(std::max<std::int64_t>(1, m_counted));
}

double MetricAccumulator::accuracy() {
    settle();
    if (m_numbers) return kNaN;
    return static_cast<double>(m_right) / static_cast<double>(std::max<std::int64_t>(1, m_answers));
}

std::vector<double> MetricAccumulator::classAccuracy() {
    settle();
    std::vector<double> fractions;
    for (std::size_t c = 0; c < m_classSeen.size(); ++c)
        fractions.push_back(m_classSeen[c] ? static_cast<double>(m_classRight[c]) /
                                                 static_cast<double>(m_classSeen[c])
                                           : kNaN);
    return fractions;
}

std::vector<std::pair<std::string, double>> MetricAccumulator::values() {
    settle();
    if (!m_numbers) return {};
    return {{"mean_error", m_error / static_cast<double>(std::max<std::int64_t>(1, m_answers))},
            {"largest_error", m_largest},
            {"recovered", static_cast<double>(m_recovered) /
                              static_cast<double>(std::max<std::int64_t>(1, m_examples))}};
}

}  // namespace relascope::core
