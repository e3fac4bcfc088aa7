// SPDX-License-Identifier: GPL-3.0-or-later
// Where two models answer the same examples differently.
#pragma once

#include <torch/types.h>
#include <cstdint>
#include <vector>

#include "analysis/answer_names.h"
#include "analysis/duel/duel.h"
#include "analysis/duel/examples.h"
#include "evaluate/example_scores.h"

namespace relascope::core {

class DuelAnswers {
public:
    /// `ignore`: ModelOptions::ignoredTarget() of both models. `show`: how many differences of each
    /// kind are given.
    DuelAnswers(const DuelExamples& examples, std::int64_t ignore, AnswerNames names,
                std::int64_t show);
    /// Adds the scores that A and B give for a part of the examples.
    void add(const DuelExamples::Slice& part, const torch::Tensor& a, const torch::Tensor& b);
    /// Fills in the results of the parts that were added so far.
    void fill(Duel& duel) const;

private:
    struct Target {
        std::int64_t example, position;
        double divergence;
        bool rightA, rightB;
        std::int64_t wanted, a, b;  // -1: not an answer by itself
        double probabilityA, probabilityB;
    };
    void addTargets(const DuelExamples::Slice& part, const torch::Tensor& a,
                    const torch::Tensor& b);
    void addNumbers(const DuelExamples::Slice& part, const torch::Tensor& a,
                    const torch::Tensor& b);
    void addSegments(const DuelExamples::Slice& part, const torch::Tensor& a,
                     const torch::Tensor& b);
    void enterLargest(double difference);
    Duel::Difference differenceOf(const Target& target) const;

    const DuelExamples& m_examples;
    std::int64_t m_ignore, m_show;
    AnswerNames m_names;
    ExampleScores m_a, m_b;
    std::vector<Target> m_targets;
    std::vector<double> m_nats[2];  // loss of each text by A and by B, where tokens differ
    double m_largest;
    bool m_numbers = false, m_comparable = true;
};

}  // namespace relascope::core
