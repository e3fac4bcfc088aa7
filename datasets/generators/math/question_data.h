// SPDX-License-Identifier: GPL-3.0-or-later
// Mathematics questions as pairs of character sequences (DAT 4.2; formats.md 6).
#pragma once

#include <string>

#include "data/dataset.h"
#include "datasets/generators/math/problem.h"

namespace relascope::datasets::mathematics {

/// The source is the question and ';', filled up with 0 to 161; the answer likewise to 31. A
/// decoder starts with '@'. The 85 tokens are those of symbols.h.
class QuestionData : public core::SequenceDataset {
public:
    virtual Problem problem(std::int64_t index) const = 0;

    const DatasetInfo& info() const override { return m_info; }
    Shape shape() const override;
    void read(std::int64_t index, std::span<float> vectors, std::span<std::int64_t> tokens,
              std::span<std::int64_t> answer) const override;
    /// The source as models read it, with padding, which models also attend to. The target is what
    /// the decoder reads: the start, then the answer. Words are characters.
    ProbeSample sample(std::int64_t index) const override;

protected:
    QuestionData(const std::string& module, const std::string& part, const std::string& origin,
                 std::int64_t size);
    /// Throws std::out_of_range.
    void requireIndex(std::int64_t index) const;

    DatasetInfo m_info;
    std::string m_part;
};

/// The split of a question. It depends on a hash of the question, so that no question is in two
/// splits, for any seeds. 6 of 8 are for training, one for validation, one for interpolation.
enum class Side { Train, Validation, Interpolate };
Side sideOf(const std::string& question);

/// Questions that are generated when they are read. Those of training and validation have the three
/// difficulties in turn, those of interpolation its own.
class GeneratedQuestions : public QuestionData {
public:
    GeneratedQuestions(std::string module, Side side, std::uint64_t seed, std::int64_t size);
    Problem problem(std::int64_t index) const override;

private:
    std::string m_module;
    Side m_side;
    std::uint64_t m_seed;
};

}  // namespace relascope::datasets::mathematics
