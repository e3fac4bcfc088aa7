// SPDX-License-Identifier: GPL-3.0-or-later
// Questions and answers from the text files of the Mathematics Dataset (formats.md 6): a question
// on one line, its answer on the next.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "datasets/generators/math/problem.h"

namespace relascope::datasets {

/// Lines of a file in memory, side by side without their ends, found by offset.
struct QuestionLines {
    std::string text;
    std::vector<std::uint64_t> starts;  ///< start of each line, and the end

    std::int64_t problems() const { return static_cast<std::int64_t>(starts.size() - 1) / 2; }
    mathematics::Problem problem(std::int64_t number) const;
};
using QuestionLinesPtr = std::shared_ptr<const QuestionLines>;

/// Reads a file, or its first `most` problems (0: all); with line ends of any system. Throws
/// FileError naming the file and the line if a question is longer than 160 characters, an answer
/// longer than 30, or either is empty or has a character that is not one of the 85 symbols; if the
/// last question has no answer; if the file is empty or does not fit into memory; Cancelled.
QuestionLinesPtr readQuestions(const std::string& path, std::int64_t most = 0,
                               const core::ProgressCallback& progress = {},
                               std::stop_token stop = {});

/// Problems `first` .. first + size - 1, alternating between the files (the three difficulties).
class QuestionFiles : public mathematics::QuestionData {
public:
    QuestionFiles(const std::string& module, const std::string& split, const std::string& origin,
                  std::vector<QuestionLinesPtr> files, std::int64_t first, std::int64_t size);
    mathematics::Problem problem(std::int64_t index) const override;

    static std::int64_t available(const std::vector<QuestionLinesPtr>& files);

private:
    std::vector<QuestionLinesPtr> m_files;
    std::int64_t m_first;
};

}  // namespace relascope::datasets
