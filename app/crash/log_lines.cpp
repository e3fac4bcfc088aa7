// SPDX-License-Identifier: GPL-3.0-or-later
// The last lines of the log, where a signal handler can read them.
#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cstring>
#include <ctime>
#include <mutex>

#include "app/crash/crash.h"
#include "app/crash/report_parts.h"

namespace relascope::crash {
namespace {

constexpr std::size_t kLines = 40, kLongest = 200;

struct Line {
    std::atomic<std::size_t> length = 0;  ///< set last: the handler reads without the lock
    char text[kLongest] = {};
};
std::array<Line, kLines> lines;
std::atomic<std::size_t> written = 0;
std::mutex writing;

template <class Use>
void eachLine(Use use) {
    const std::size_t end = written.load(), begin = end > kLines ? end - kLines : 0;
    for (std::size_t i = begin; i < end; ++i) {
        const Line& line = lines[i % kLines];
        use(std::string_view(line.text, std::min(line.length.load(), kLongest)));
    }
}

bool opens(std::string_view text, std::size_t at) {
    return at == 0 || std::strchr(" ([{=:,", text[at - 1]) != nullptr;
}
bool closes(std::string_view text, std::size_t at) {
    return at + 1 == text.size() || std::strchr(" )]},.:;?!", text[at + 1]) != nullptr;
}

/// Without what stands between quotation marks; an apostrophe within a word is none.
std::string withoutQuoted(std::string_view text) {
    std::string kept;
    for (std::size_t i = 0; i < text.size(); ++i) {
        kept += text[i];
        const char mark = text[i];
        if ((mark != '\'' && mark != '"') || !opens(text, i)) continue;
        std::size_t end = i + 1;
        while (end < text.size() && !(text[end] == mark && closes(text, end))) ++end;
        // A text that is cut off has no second mark.
        kept += "...";
        kept += mark;
        i = end;
    }
    return kept;
}

/// Whether a word is a path: "runs/a", "/tmp", but not "examples/s" or "3/7".
bool isPath(std::string_view word) {
    const std::size_t slash = word.rfind('/');
    if (slash == std::string::npos || word.size() < 2) return false;
    const std::string_view rest = word.substr(slash + 1);
    const bool unit = rest == "s" || (!rest.empty() && rest.find_first_not_of("0123456789.,") ==
                                                           std::string_view::npos);
    return !(unit && slash > 0 && word.rfind('/', slash - 1) == std::string_view::npos);
}

/// ".pt" of "model.pt could not be read"; empty if there is none.
std::string_view endingOf(std::string_view name) {
    for (std::size_t dot = name.find('.'); dot != std::string_view::npos;
         dot = name.find('.', dot + 1)) {
        std::size_t end = dot + 1;
        while (end < name.size() && std::isalnum(static_cast<unsigned char>(name[end]))) ++end;
        if (end > dot + 1 && end - dot <= 12 && (end == name.size() || name[end] == ' '))
            return name.substr(dot, end - dot);
    }
    return {};
}

/// Without everything from the first path to the end of the last: names of files may hold spaces,
/// so a path ends where the sentence does, or at ": ", "; " and ", ".
std::string withoutPaths(const std::string& text) {
    std::size_t begin = std::string::npos, last = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        if (isPath(std::string_view(text).substr(at, end - at))) {
            if (begin == std::string::npos) begin = at;
            last = text.rfind('/', end - 1);
        }
        at = end + 1;
    }
    if (begin == std::string::npos) return text;
    if (text[begin] == '(' || text[begin] == '[') ++begin;
    std::size_t end = last + 1;
    while (end < text.size() && !std::strchr(")]", text[end]) &&
           !(std::strchr(":;,", text[end]) && (end + 1 == text.size() || text[end + 1] == ' ')))
        ++end;
    const std::string_view name = std::string_view(text).substr(last, end - last);
    return text.substr(0, begin) + "<path>" + std::string(endingOf(name)) + text.substr(end);
}

}  // namespace

std::string withoutData(std::string_view line) {
    std::string plain(line.substr(0, 4 * kLongest));
    for (char& c : plain)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    return withoutPaths(withoutQuoted(plain));
}

void note(std::string_view line) {
    if (line.empty()) return;
    const std::string plain = withoutData(line);
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    char text[kLongest];
    const std::size_t head = std::strftime(text, sizeof text, "%H:%M:%S  ", &local);
    const std::size_t rest = std::min(plain.size(), kLongest - head);
    std::copy_n(plain.data(), rest, text + head);

    const std::lock_guard lock(writing);
    Line& slot = lines[written.load() % kLines];
    slot.length = 0;
    std::memcpy(slot.text, text, head + rest);
    slot.length = head + rest;
    ++written;
}

std::vector<std::string> notes() {
    const std::lock_guard lock(writing);
    std::vector<std::string> all;
    eachLine([&](std::string_view line) { all.emplace_back(line); });
    return all;
}

void writeNotes(SafeWriter& out) {
    eachLine([&](std::string_view line) { out.text(line).text("\n"); });
}

}  // namespace relascope::crash
