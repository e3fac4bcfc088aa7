// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/duel/duel_answers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <utility>

#include "analysis/duel/numbers.h"
#include "analysis/eval/edit_effect.h"
#include "evaluate/scoring.h"
#include "model/class_scores.h"

namespace relascope::core {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

template <class Number>
std::vector<Number> listOf(const torch::Tensor& tensor) {
    const torch::Tensor flat =
        tensor.to(torch::kCPU, torch::CppTypeToScalarType<Number>::value).flatten().contiguous();
    const auto* data = flat.template const_data_ptr<Number>();
    return {data, data + flat.numel()};
}

}  // namespace

DuelAnswers::DuelAnswers(const DuelExamples& examples, std::int64_t ignore, AnswerNames names,
                         std::int64_t show)
    : m_examples(examples),
      m_ignore(ignore),
      m_show(show),
      m_names(std::move(names)),
      m_largest(kNoNumber) {}

void DuelAnswers::add(const DuelExamples::Slice& part, const torch::Tensor& a,
                      const torch::Tensor& b) {
    if (m_examples.segments()) return addSegments(part, a, b);
    m_numbers = part.batches[0].kind == TargetKind::Regression;
    // Vocabularies may be padded to different sizes; classes of a set and one yes over no are not
    // the same answers.
    const auto classes = std::min(a.size(-1), b.size(-1));
    m_comparable = a.dim() == b.dim() && (a.size(-1) == b.size(-1) || m_examples.isText());
    if (!m_comparable) return;
    requireLabels(part.batches[0], classes, m_ignore);
    const auto ours = a.detach().to(torch::kCPU).narrow(-1, 0, classes),
               theirs = b.detach().to(torch::kCPU).narrow(-1, 0, classes);
    m_a.add(ours, part.batches[0], m_ignore), m_b.add(theirs, part.batches[1], m_ignore);
    m_a.addContent(part.batches[0]);
    m_numbers ? addNumbers(part, ours, theirs) : addTargets(part, ours, theirs);
}

void DuelAnswers::enterLargest(double difference) {
    m_largest = std::isnan(m_largest) ? difference : std::max(m_largest, difference);
}

void DuelAnswers::addNumbers(const DuelExamples::Slice& part, const torch::Tensor& a,
                             const torch::Tensor& b) {
    const auto count = part.batches[0].size();
    const auto difference = (a - b).to(torch::kDouble);
    enterLargest(difference.abs().max().item<double>());
    const auto apart = listOf<double>(difference.square().reshape({count, -1}).mean(1));
    for (std::size_t e = 0; e < apart.size(); ++e)
        m_targets.push_back(
            {part.indices[e], -1, apart[e], false, false, -1, -1, -1, kNoNumber, kNoNumber});
}

void DuelAnswers::addTargets(const DuelExamples::Slice& part, const torch::Tensor& a,
                             const torch::Tensor& b) {
    const auto& batch = part.batches[0];
    const auto wantedAll = batch.targets.reshape({batch.size(), -1}).round().to(torch::kLong);
    const bool signs = batch.kind == TargetKind::MultiLabel || a.size(-1) == 1;
    const auto width = wantedAll.size(1), count = wantedAll.numel();
    const auto targets = wantedAll.flatten();
    torch::Tensor apart, probabilities[2], chosen[2];
    if (signs) {
        const auto ours = a.flatten().to(torch::kDouble), theirs = b.flatten().to(torch::kDouble);
        apart = divergenceOfSigns(ours, theirs);
        for (std::size_t side = 0; side < 2; ++side) {
            const auto& scores = side == 0 ? ours : theirs;
            probabilities[side] = torch::where(targets.eq(1), scores, -scores).sigmoid();
            chosen[side] = scores.gt(0).to(torch::kLong);
        }
        enterLargest((ours - theirs).abs().max().item<double>());
    } else {
        const torch::Tensor rows[] = {a.reshape({count, a.size(-1)}),
                                      b.reshape({count, b.size(-1)})};
        const auto compared = compareClasses(rows[0], rows[1]);
        apart = compared.divergence;
        for (std::size_t side = 0; side < 2; ++side) {
            const auto& sums = side == 0 ? compared.first : compared.second;
            probabilities[side] = sums.logProbability(rows[side], targets.clamp_min(0)).exp();
            chosen[side] = sums.best;
        }
        enterLargest(compared.largest.max().item<double>());
    }
    const auto divergences = listOf<double>(apart), p = listOf<double>(probabilities[0]),
               q = listOf<double>(probabilities[1]);
    const auto answersA = listOf<std::int64_t>(chosen[0]),
               answersB = listOf<std::int64_t>(chosen[1]), asked = listOf<std::int64_t>(targets);
    for (std::size_t k = 0; k < asked.size(); ++k) {
        if (batch.kind == TargetKind::Tokens && m_ignore >= 0 && asked[k] == m_ignore) continue;
        const auto at = static_cast<std::int64_t>(k);
        m_targets.push_back({part.indices[static_cast<std::size_t>(at / width)],
                             width == 1 ? -1 : at % width, divergences[k], answersA[k] == asked[k],
                             answersB[k] == asked[k], asked[k], answersA[k], answersB[k], p[k],
                             q[k]});
    }
}

void DuelAnswers::addSegments(const DuelExamples::Slice& part, const torch::Tensor& a,
                              const torch::Tensor& b) {
    std::vector<double> nats[2];
    std::vector<bool> right[2];
    for (std::size_t side = 0; side < 2; ++side) {
        const auto scores = (side == 0 ? a : b)[0];
        const auto wanted = part.batches[side].targets[0];
        const auto sums = classSums(scores);
        nats[side] = listOf<double>(-sums.logProbability(scores, wanted));
        for (const auto hit : listOf<std::int64_t>(sums.best.eq(wanted)))
            right[side].push_back(hit != 0);
    }
    double sums[2] = {0.0, 0.0};
    for (const auto& segment : part.segments) {
        double of[2] = {0.0, 0.0};
        bool all[2] = {true, true};
        for (std::size_t side = 0; side < 2; ++side)
            for (std::int64_t k = 0; k < segment.count[side]; ++k) {
                const auto at = static_cast<std::size_t>(segment.first[side] + k);
                of[side] += nats[side].at(at), all[side] = all[side] && right[side].at(at);
            }
        for (std::size_t side = 0; side < 2; ++side) sums[side] += of[side];
        m_targets.push_back({part.indices[0], segment.first[0], std::abs(of[0] - of[1]), all[0],
                             all[1], -1, -1, -1, std::exp(-of[0]), std::exp(-of[1])});
    }
    for (std::size_t side = 0; side < 2; ++side) m_nats[side].push_back(sums[side]);
}

Duel::Difference DuelAnswers::differenceOf(const Target& target) const {
    Duel::Difference d;
    d.example = target.example, d.position = target.position, d.divergence = target.divergence;
    d.rightA = target.rightA, d.rightB = target.rightB;
    d.probabilityA = target.probabilityA, d.probabilityB = target.probabilityB;
    if (target.wanted >= 0) d.wanted = m_names.of(target.wanted);
    if (target.a >= 0) d.a = m_names.of(target.a), d.b = m_names.of(target.b);
    return d;
}

void DuelAnswers::fill(Duel& duel) const {
    if (!m_comparable || m_targets.empty()) return;
    duel.divergence = m_examples.segments() ? "difference of A and B for the same characters, nats"
                      : m_numbers           ? "mean square of A - B"
                                            : "KL(A || B), nats";
    duel.largestDifference = m_largest;
    duel.changes.clear();
    if (m_examples.segments())
        duel.changes.push_back(
            pairedChange("loss", m_nats[0], m_nats[1], std::vector<double>(m_nats[0].size(), 1.0)));
    else
        duel.changes = effectOf(m_a, m_b, m_numbers).changes;
    duel.bothRight = duel.onlyA = duel.onlyB = duel.bothWrong = duel.different = 0;
    duel.answers = static_cast<std::int64_t>(m_targets.size());
    double sum = 0.0;
    std::vector<const Target*> kinds[3];  // only A, only B, the rest
    for (const auto& target : m_targets) {
        sum += target.divergence;
        duel.different += target.a != target.b;
        if (!m_numbers) {
            duel.bothRight += target.rightA && target.rightB;
            duel.onlyA += target.rightA && !target.rightB;
            duel.onlyB += !target.rightA && target.rightB;
            duel.bothWrong += !target.rightA && !target.rightB;
        }
        kinds[target.rightA == target.rightB ? 2 : target.rightA ? 0 : 1].push_back(&target);
    }
    duel.meanDivergence = sum / static_cast<double>(m_targets.size());
    // Answers of one example are not independent, nor are copies of one.
    const auto answers = m_a.loss.size();
    const bool apart = m_targets.size() == answers &&
                       std::unordered_set(m_a.content.begin(), m_a.content.end()).size() == answers;
    duel.mcnemar = apart && duel.onlyA + duel.onlyB < static_cast<std::int64_t>(kFewChanged)
                       ? mcnemarExact(duel.onlyA, duel.onlyB)
                       : std::numeric_limits<double>::quiet_NaN();
    duel.differences.clear();
    for (auto& kind : kinds) {
        const auto shown = std::min(kind.size(), static_cast<std::size_t>(m_show));
        std::partial_sort(kind.begin(), kind.begin() + static_cast<std::ptrdiff_t>(shown),
                          kind.end(), [](const Target* a, const Target* b) {
                              return std::tie(b->divergence, a->example, a->position) <
                                     std::tie(a->divergence, b->example, b->position);
                          });
        for (std::size_t k = 0; k < shown; ++k)
            if (kind[k]->divergence > 0) duel.differences.push_back(differenceOf(*kind[k]));
    }
}

}  // namespace relascope::core
