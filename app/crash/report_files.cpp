// SPDX-License-Identifier: GPL-3.0-or-later
// The folder of the reports: which there are, and that they do not become too many.
#include <cxxabi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "app/crash/crash.h"
#include "app/crash/report_parts.h"

namespace relascope::crash {
namespace {

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
