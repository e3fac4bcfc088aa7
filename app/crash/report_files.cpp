// SPDX-License-Identifier: GPL-3.0-or-later
#include <cxxabi.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>

#include "app/crash/crash.h"
#include "app/crash/report_parts.h"

namespace relascope::crash {

SafeWriter& SafeWriter::text(std::string_view text) {
    while (!text.empty()) {
        const std::size_t part = std::min(text.size(), sizeof m_buffer - m_used);
        std::memcpy(m_buffer + m_used, text.data(), part);
        m_used += part;
        text.remove_prefix(part);
        if (m_used == sizeof m_buffer) flush();
    }
    return *this;
}

SafeWriter& SafeWriter::path(std::string_view path) {
    const bool inHome = m_home.size() > 1 && path.substr(0, m_home.size()) == m_home &&
                        (path.size() == m_home.size() || path[m_home.size()] == '/');
    return inHome ? text("~").text(path.substr(m_home.size())) : text(path);
}

SafeWriter& SafeWriter::number(std::uint64_t value, int digits) {
    char figures[24];
    char* at = figures + sizeof figures;
    for (int i = 0; i < 20 && (value > 0 || i < digits); ++i, value /= 10)
        *--at = static_cast<char>('0' + value % 10);
    return text({at, static_cast<std::size_t>(figures + sizeof figures - at)});
}

SafeWriter& SafeWriter::hex(std::uint64_t value) {
    char figures[16];
    char* at = figures + sizeof figures;
    do {
        *--at = "0123456789abcdef"[value % 16];
        value /= 16;
    } while (value > 0);
    return text("0x").text({at, static_cast<std::size_t>(figures + sizeof figures - at)});
}

void SafeWriter::flush() {
    const char* from = m_buffer;
    while (m_used > 0 && !m_failed) {
        const ssize_t written = ::write(m_file, from, m_used);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) m_failed = true;
        if (m_failed) break;
        from += written;
        m_used -= static_cast<std::size_t>(written);
    }
    m_used = 0;
}

namespace {

// The last lines of the log, where a signal handler can read them.

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

namespace {

// The folder of the reports: which there are, and that they do not become too many.

constexpr std::string_view kBegins = "crash-", kEnds = ".txt";
constexpr std::size_t kLongestName = 64;

bool isReportName(std::string_view name) {
    return name.size() > kBegins.size() + kEnds.size() && name.size() < kLongestName &&
           name.substr(0, kBegins.size()) == kBegins &&
           name.substr(name.size() - kEnds.size()) == kEnds;
}

/// Counts the reports of an open folder and copies the name of the oldest. With the system call
/// itself: readdir() takes memory.
int countReports(int folder, char* oldest) {
    struct Entry {  // linux_dirent64
        std::uint64_t inode;
        std::int64_t next;
        unsigned short length;
        unsigned char type;
        char name[1];
    };
    alignas(Entry) static char buffer[16384];
    int count = 0;
    oldest[0] = '\0';
    ::lseek(folder, 0, SEEK_SET);
    for (;;) {
        const long bytes = ::syscall(SYS_getdents64, folder, buffer, sizeof buffer);
        if (bytes <= 0) return count;
        for (long at = 0; at < bytes;) {
            const auto* entry = reinterpret_cast<const Entry*>(buffer + at);
            at += entry->length;
            const char* name = buffer + (at - entry->length) + offsetof(Entry, name);
            if (!isReportName(name)) continue;
            ++count;
            // Their names begin with the time.
            if (oldest[0] == '\0' || std::strcmp(name, oldest) < 0)
                std::memcpy(oldest, name, std::strlen(name) + 1);
        }
    }
}

}  // namespace

void writeFileAt(SafeWriter& out, std::uintptr_t address, std::string_view before,
                 std::string_view after) {
    const int maps = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (maps < 0) return;
    // Lines of "from-to rights offset device inode   path".
    char buffer[512], line[512];
    std::size_t used = 0;
    const auto look = [&](std::string_view text) {
        std::uintptr_t ends[2] = {};
        std::size_t at = 0;
        for (auto& end : ends)
            for (; at < text.size(); ++at) {
                const char c = text[at];
                const int digit = c >= '0' && c <= '9'   ? c - '0'
                                  : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                                         : -1;
                if (digit < 0) {
                    ++at;
                    break;
                }
                end = end * 16 + static_cast<std::uintptr_t>(digit);
            }
        if (address < ends[0] || address >= ends[1]) return;
        const auto path = text.find('/');
        if (path == std::string_view::npos) return;
        out.text(before).text(text.substr(text.rfind('/') + 1)).text(after);
    };
    for (ssize_t got; (got = ::read(maps, buffer, sizeof buffer)) > 0;)
        for (ssize_t i = 0; i < got; ++i) {
            if (buffer[i] == '\n') {
                look({line, used});
                used = 0;
            } else if (used < sizeof line) {
                line[used++] = buffer[i];
            }
        }
    ::close(maps);
}

void removeOldReports(int folder, int most) {
    char oldest[kLongestName];
    // A bound, for a folder where nothing can be deleted.
    for (int tries = 0; tries < 1000 && countReports(folder, oldest) >= most; ++tries)
        if (::unlinkat(folder, oldest, 0) != 0) return;
}

std::string folder() {
    const char* state = std::getenv("XDG_STATE_HOME");
    if (state && state[0] == '/') return std::string(state) + "/relascope";
    const char* home = std::getenv("HOME");
    return home && home[0] == '/' ? std::string(home) + "/.local/state/relascope" : std::string();
}

std::vector<Report> reports(const std::string& folder) {
    std::vector<std::string> paths;
    std::error_code error;
    for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
         it.increment(error))
        if (isReportName(it->path().filename().string())) paths.push_back(it->path().string());
    std::sort(paths.begin(), paths.end());
    std::vector<Report> found;
    for (const auto& path : paths) {
        std::ifstream file(path);
        std::string line;
        if (!std::getline(file, line) || line != kTitle) continue;
        Report report;
        report.path = path;
        const std::pair<std::string_view, std::string*> fields[] = {
            {"program: ", &report.program}, {"time: ", &report.time}, {"what: ", &report.what}};
        while (std::getline(file, line) && !line.empty())
            for (const auto& [key, value] : fields)
                if (line.compare(0, key.size(), key) == 0) *value = line.substr(key.size());
        found.push_back(std::move(report));
    }
    return found;
}

std::string nameOf(const Report& report) {
    return std::filesystem::path(report.path).filename().string();
}

std::string readableReport(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}}, readable;
    text.resize(std::min<std::size_t>(text.size(), 1 << 20));
    for (std::size_t at = 0; at < text.size();) {
        const bool starts = text.compare(at, 2, "_Z") == 0 && (at == 0 || text[at - 1] == ' ');
        std::size_t end = at;
        while (
            starts && end < text.size() &&
            (std::isalnum(static_cast<unsigned char>(text[end])) || std::strchr("_.$", text[end])))
            ++end;
        if (end == at) {
            readable += text[at++];
            continue;
        }
        const std::string name = text.substr(at, end - at);
        const std::unique_ptr<char, void (*)(void*)> plain(
            abi::__cxa_demangle(name.c_str(), nullptr, nullptr, nullptr), std::free);
        readable += plain ? plain.get() : name;
        at = end;
    }
    return readable;
}

}  // namespace relascope::crash
