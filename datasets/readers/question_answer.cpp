// SPDX-License-Identifier: GPL-3.0-or-later
#include "datasets/readers/question_answer.h"

#include <algorithm>

#include "datasets/generators/math/problem.h"
#include "files/byte_source.h"
#include "files/memory.h"

namespace relascope::datasets {
namespace {

constexpr std::size_t kPiece = 1u << 20;

std::string shown(char c) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7f) return std::string("'") + c + "'";
    static constexpr char digits[] = "0123456789ABCDEF";
    return std::string("byte ") + digits[byte >> 4] + digits[byte & 15];
}

// The problem of a line; empty if there is none.
std::string problemOf(std::string_view line, bool question) {
    const std::string what = question ? "the question" : "the answer";
    const std::size_t most = question ? mathematics::kMostQuestion : mathematics::kMostAnswer;
    if (line.empty()) return what + " is empty";
    if (line.size() > most)
        return what + " has " + std::to_string(line.size()) + " characters; at most " +
               std::to_string(most) + " are allowed";
    // The start and end symbols must not occur within a question.
    for (const char c : line)
        if (mathematics::tokenOf(c) < 0 || c == ';' || c == '@')
            return what + " holds " + shown(c) + ", which is not in the vocabulary";
    return "";
}

class LineReader {
public:
    LineReader(const std::string& path, std::int64_t most)
        : m_path(path), m_most(most > 0 ? 2 * static_cast<std::uint64_t>(most) : ~0ull) {
        m_lines->starts.push_back(0);
    }
    bool full() const { return m_lines->starts.size() > m_most; }

    void take(std::span<const std::uint8_t> bytes) {
        for (auto at = bytes.begin(); at != bytes.end() && !full();) {
            const auto end = std::find(at, bytes.end(), '\n');
            m_lines->text.append(at, end);
            at = end;
            // A line that is already too long is not read to its end.
            const bool whole = at != bytes.end();
            if (whole || m_lines->text.size() - m_lines->starts.back() > kPiece) endLine();
            if (whole) ++at;
        }
    }
    QuestionLinesPtr finish() {
        if (!full() && m_lines->text.size() > m_lines->starts.back()) endLine();
        if (m_lines->starts.size() % 2 == 0)
            throw FileError(m_path,
                            "line " + std::to_string(m_lines->starts.size() - 1) +
                                ": the last question has no answer; the file may be truncated");
        return m_lines;
    }

private:
    void endLine() {
        auto& text = m_lines->text;
        auto& starts = m_lines->starts;
        if (text.size() > starts.back() && text.back() == '\r') text.pop_back();
        const auto wrong =
            problemOf(std::string_view(text).substr(starts.back()), starts.size() % 2 == 1);
        if (!wrong.empty())
            throw FileError(m_path, "line " + std::to_string(starts.size()) + ": " + wrong);
        starts.push_back(text.size());
    }

    std::string m_path;
    std::uint64_t m_most;
    std::shared_ptr<QuestionLines> m_lines = std::make_shared<QuestionLines>();
};

}  // namespace

mathematics::Problem QuestionLines::problem(std::int64_t number) const {
    const auto line = [this](std::size_t at) {
        return text.substr(starts[at], starts[at + 1] - starts[at]);
    };
    const auto at = 2 * static_cast<std::size_t>(number);
    return {line(at), line(at + 1)};
}

QuestionLinesPtr readQuestions(const std::string& path, std::int64_t most,
                               const core::ProgressCallback& progress, std::stop_token stop) {
    const auto source = core::openFileBytes(path);
    const std::uint64_t size = source->size(), available = core::availableMemory();
    if (size == 0)
        throw FileError(path, "is empty; questions and answers on alternating lines are needed");
    // The offsets of a file need less memory than its text.
    if (most == 0 && available > 0 && size > available / 2)
        throw FileError(path, "has " + std::to_string(size >> 20) + " MB, more than the " +
                                  std::to_string(available >> 20) +
                                  " MB of free memory; set data.train_size");
    LineReader reader(path, most);
    std::vector<std::uint8_t> piece;
    for (std::uint64_t at = 0; at < size && !reader.full(); at += piece.size()) {
        piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, size - at)));
        source->read(at, piece, stop);
        reader.take(piece);
        if (progress && !progress(static_cast<double>(at) / static_cast<double>(size)))
            throw Cancelled();
    }
    return reader.finish();
}

QuestionFiles::QuestionFiles(const std::string& module, const std::string& split,
                             const std::string& origin, std::vector<QuestionLinesPtr> files,
                             std::int64_t first, std::int64_t size)
    : QuestionData(module, split, origin, size), m_files(std::move(files)), m_first(first) {}

std::int64_t QuestionFiles::available(const std::vector<QuestionLinesPtr>& files) {
    std::int64_t least = files[0]->problems();
    for (const auto& file : files) least = std::min(least, file->problems());
    return least * static_cast<std::int64_t>(files.size());
}

mathematics::Problem QuestionFiles::problem(std::int64_t index) const {
    requireIndex(index);
    const auto number = m_first + index, count = static_cast<std::int64_t>(m_files.size());
    return m_files[static_cast<std::size_t>(number % count)]->problem(number / count);
}

}  // namespace relascope::datasets
