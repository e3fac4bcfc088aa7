// SPDX-License-Identifier: GPL-3.0-or-later
// Questions and answers from the text files of the Mathematics Dataset (formats.md 6): a question a
// line, its answer on the next.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "datasets/generators/math/question_data.h"

namespace relascope::datasets {

/// Lines of a file in memory, side by side without their ends, found by offset.
struct QuestionLines {
    std::string text;
    std::vector<std::uint64_t> starts;  ///< of each line, and the end

    std::int64_t problems() const { return static_cast<std::int64_t>(starts.size() - 1) / 2; }
    mathematics::Problem problem(std::int64_t number) const;
};
using QuestionLinesPtr = std::shared_ptr<const QuestionLines>;

/// Reads a file, or its first `most` problems (0: all); ends of lines may be those of any system.
/// Throws FileError that names the file and the line where a question is longer than 160
/// characters, an answer than 30, or either is empty or has a character that is none of the 85
/// symbols; where the last question has no answer; where the file is empty or does not fit into
/// memory; Cancelled.
QuestionLinesPtr readQuestions(const std::string& path, std::int64_t most = 0,
                               const core::ProgressCallback& progress = {},
                               std::stop_token stop = {});

/// Problems `first` .. first + size - 1 of several files in turn (the three difficulties), as long
/// as each has one.
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
