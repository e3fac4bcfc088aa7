// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/host.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <utility>

#include "files/program_folder.h"
#include "model/served/served_options.h"
#include "options/builtin_resources.h"
#include "types/text_format.h"
#include "types/text_piece.h"
#include "wire/child_process.h"
#include "wire/types.h"

namespace relascope::wire {
namespace {

namespace fs = std::filesystem;

/// The most bytes that start-up files of a shell may print before the first frame.
constexpr std::size_t kMostBefore = 64 << 10;
constexpr int kNotFound = 127;  // exit status of a shell whose command was not found
/// The longest path of a control socket, less the characters that ssh appends while it makes one.
constexpr std::size_t kLongestControl = 107 - 17;

std::mutex hostsMutex;
std::vector<Host> knownHosts;

bool isNameOfFolder(const std::string& name) {
    return !name.empty() && name != "." && name != ".." && name.size() <= 100 &&
           name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
}

bool isSsh(const std::vector<std::string>& words) {
    return !words.empty() && fs::path(words[0]).filename() == "ssh";
}

// The program that asks the user for ssh's passwords; empty where it has no screen.
std::string askingProgram() {
    const auto is = [](const char* name) {
        const char* value = std::getenv(name);
        return value && *value;
    };
    if (!is("DISPLAY") && !is("WAYLAND_DISPLAY")) return {};
    std::error_code error;
    const auto program = core::programFolder() / "relascope";
    return fs::exists(program, error) ? program.string() : std::string();
}

// Options that let channels share one connection and notice a dead one. A command has no terminal:
// where nobody can be asked, it is to end with its sentence.
std::vector<std::string> sshOptions(bool asks) {
    std::vector<std::string> options = {"-T",
                                        "-o",
                                        "ServerAliveInterval=5",
                                        "-o",
                                        "ServerAliveCountMax=3",
                                        "-o",
                                        "ConnectTimeout=15"};
    const std::string control = runtimeFolder() + "/ssh-";
    if (control.size() + 40 <= kLongestControl)  // %C are 40 digits
        for (const auto& option :
             {std::string("ControlMaster=auto"), "ControlPath=" + control + "%C"})
            options.insert(options.end(), {"-o", option});
    if (!asks || askingProgram().empty()) options.insert(options.end(), {"-o", "BatchMode=yes"});
    return options;
}

// Waits for the mark of the first frame and drops what comes before. False: the other side is gone.
bool awaitFrame(const Descriptor& socket, const std::function<bool()>& wanted) {
    constexpr std::string_view mark = "RSF1";
    std::array<char, 4096> bytes;
    for (std::size_t dropped = 0; dropped <= kMostBefore;) {
        if (wanted && !wanted()) throw Cancelled();
        pollfd waiting{socket.get(), POLLIN, 0};
        if (::poll(&waiting, 1, 50) <= 0) continue;
        const auto got = ::recv(socket.get(), bytes.data(), bytes.size(), MSG_PEEK);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (got <= 0) return false;
        const std::string_view seen(bytes.data(), static_cast<std::size_t>(got));
        const auto at = seen.find(mark);
        if (at == 0) return true;
        // A part of the mark may be the last that has come.
        std::size_t drop = at;
        if (at == std::string_view::npos) {
            drop = seen.size();
            for (std::size_t part = std::min(mark.size() - 1, seen.size()); part > 0; --part)
                if (mark.starts_with(seen.substr(seen.size() - part))) {
                    drop = seen.size() - part;
                    break;
                }
        }
        if (drop == 0)  // its rest is on the way
            ::usleep(1000);
        else if (::recv(socket.get(), bytes.data(), drop, 0) <= 0)
            return false;
        dropped += drop;
    }
    throw FrameError("what was received is not a frame of Relascope");
}

// The one frame that comes next, and no byte behind it.
Frame nextFrame(const Descriptor& socket, const std::function<bool()>& wanted) {
    FrameReader reader;
    Bytes bytes(kFrameHeader);
    std::size_t have = 0, want = kFrameHeader;
    for (;;) {
        if (wanted && !wanted()) throw Cancelled();
        const auto got = ::recv(socket.get(), bytes.data() + have, want - have, 0);
        if (got == 0) throw Error("the connection has ended");
        if (got < 0) {
            if (errno != EAGAIN && errno != EINTR) throw Error(std::strerror(errno));
            pollfd waiting{socket.get(), POLLIN, 0};
            ::poll(&waiting, 1, 50);
            continue;
        }
        have += static_cast<std::size_t>(got);
        if (have < want) continue;
        if (want == kFrameHeader) {
            std::uint64_t size = 0;
            for (int i = 3; i >= 0; --i) size = size << 8 | bytes[4 + static_cast<std::size_t>(i)];
            if (size > kMostBefore) throw FrameError("a first frame is larger than one may be");
            want += size;
            bytes.resize(want);
            if (size > 0) continue;
        }
        reader.append(bytes);
        if (auto frame = reader.next()) return std::move(*frame);
        throw FrameError("a first frame has a blob");
    }
}

std::string takeFrom(Json& json, int depth) {
    std::string host;
    const auto take = [&](const std::string& found) {
        if (found.empty()) return;
        if (!host.empty() && host != found)
            throw Error("This names files of two machines, " + host + " and " + found + ".");
        host = found;
    };
    if (auto* text = json.get_ptr<Json::string_t*>()) {
        if (const auto far = farPathOf(*text)) {
            *text = far->path;
            return far->host;
        }
    } else if (json.is_structured() && depth < kMostDepth) {
        for (auto& value : json) take(takeFrom(value, depth + 1));
    }
    return host;
}

}  // namespace

std::vector<std::string> wordsOf(const std::string& line, const char* field) {
    std::vector<std::string> words;
    bool inside = false;
    char quote = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        const bool blank = c == ' ' || c == '\t' || c == '\n';
        if (!quote && blank) {
            inside = false;
            continue;
        }
        if (!std::exchange(inside, true)) words.emplace_back();
        if (quote ? c == quote : c == '\'' || c == '"')
            quote = quote ? 0 : c;
        else if (c == '\\' && quote != '\'' && i + 1 < line.size())
            words.back() += line[++i];
        else
            words.back() += c;
    }
    if (quote) throw OptionError(field, std::string("a ") + quote + " is not closed");
    return words;
}

void checkHost(const Host& host) {
    if (!isNameOfFolder(host.name))
        throw OptionError("name", host.name.empty() ? "a machine needs a name"
                                                    : "'" + host.name + "' cannot be a name");
    if (wordsOf(host.reach, "reach").empty())
        throw OptionError("reach", "a command is needed, such as: ssh " + host.name);
    wordsOf(host.launch, "launch");
    if (!host.runs.empty() && host.runs.front() != '/')
        throw OptionError("runs", "'" + host.runs + "' must be an absolute path there");
}

void setHosts(std::vector<Host> hosts) {
    std::lock_guard lock(hostsMutex);
    knownHosts = std::move(hosts);
}

std::optional<Host> findHost(const std::string& name) {
    std::lock_guard lock(hostsMutex);
    for (const auto& host : knownHosts)
        if (host.name == name) return host;
    return std::nullopt;
}

std::string mirrorFolder() {
    const char* cache = std::getenv("XDG_CACHE_HOME");
    const char* home = std::getenv("HOME");
    return (cache && *cache == '/' ? std::string(cache)
                                   : std::string(home && *home ? home : "/tmp") + "/.cache") +
           "/relascope/hosts";
}

std::string mirrorPath(const std::string& host, const std::string& path) {
    const fs::path given(path), clean = given.lexically_normal();
    const bool up =
        std::any_of(given.begin(), given.end(), [](const auto& p) { return p == ".."; });
    if (!isNameOfFolder(host) || !clean.is_absolute() || up || path.find('\0') != std::string::npos)
        throw FileError(path, "is not an absolute path on " + host);
    std::string text = mirrorFolder() + "/" + host + clean.string();
    while (text.back() == '/') text.pop_back();
    return text;
}

std::optional<FarPath> farPathOf(const std::string& path) {
    if (core::isServedName(path)) {
        const auto at = path.find('@');
        if (at == std::string::npos) return std::nullopt;
        FarPath far{path.substr(at + 1), path.substr(0, at)};
        return isNameOfFolder(far.host) ? std::optional(far) : std::nullopt;
    }
    const std::string root = mirrorFolder() + "/";
    if (!path.starts_with(root)) return std::nullopt;
    const auto end = path.find('/', root.size());
    FarPath far{path.substr(root.size(), end - root.size()),
                end == std::string::npos ? "/" : path.substr(end)};
    return isNameOfFolder(far.host) ? std::optional(far) : std::nullopt;
}

std::string takeFarPaths(Json& request) {
    return takeFrom(request, 0);
}

std::vector<std::string> reachCommand(const Host& host, const std::vector<std::string>& words) {
    auto all = wordsOf(host.reach, "reach");
    const bool ssh = isSsh(all);
    if (ssh) {
        const auto options = sshOptions(host.asks);
        all.insert(all.begin() + 1, options.begin(), options.end());
    }
    // ssh joins the words with spaces and lets a shell divide them again.
    for (const auto& word : words) all.push_back(ssh ? shellWord(word) : word);
    return all;
}

std::vector<std::string> reachEnvironment(const Host& host) {
    const auto program = askingProgram();
    if (program.empty() || !isSsh(wordsOf(host.reach, "reach"))) return {};
    return {"SSH_ASKPASS=" + program, "SSH_ASKPASS_REQUIRE=force", "RELASCOPE_ASKPASS=1"};
}

std::string lastLineOf(const Descriptor& file) {
    const auto size = ::lseek(file.get(), 0, SEEK_END);
    std::string text(static_cast<std::size_t>(std::clamp<off_t>(size, 0, 4096)), '\0');
    const auto got = ::pread(file.get(), text.data(), text.size(),
                             std::max<off_t>(0, size - static_cast<off_t>(text.size())));
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    return validUtf8(text.substr(text.rfind('\n') + 1));
}

std::vector<std::string> farCommand(const Host& host, const std::vector<std::string>& arguments,
                                    const std::string& before) {
    const auto launch = wordsOf(before, "launch");
    std::string text = "p=~/.local/share/relascope/" + std::string(core::builtin::version()) +
                       "/bin/relascope-cli; [ -x \"$p\" ] || p=relascope-cli; exec \"$@\" \"$p\"";
    if (launch.empty()) text.replace(text.find("\"$@\" "), 5, "");
    for (const auto& argument : arguments) text += ' ' + shellWord(argument);
    std::vector<std::string> shell = {"sh", "-c", text, "relascope"};
    shell.insert(shell.end(), launch.begin(), launch.end());
    return reachCommand(host, shell);
}

SessionProcess startFar(const Host& host, const std::vector<std::string>& arguments,
                        const std::string& before, const std::function<bool()>& wanted) {
    SessionProcess started;
    started.errors = Descriptor(::memfd_create("relascope", MFD_CLOEXEC));
    {
        int ends[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
            throw Error(std::string("no connection can be made: ") + std::strerror(errno));
        started.connection = Descriptor(ends[0]);
        const Descriptor theirs(ends[1]);
        ::fcntl(ends[0], F_SETFL, ::fcntl(ends[0], F_GETFL) | O_NONBLOCK);
        started.process.emplace(
            farCommand(host, arguments, before),
            std::vector<std::pair<int, int>>{
                {theirs.get(), 0}, {theirs.get(), 1}, {started.errors.get(), 2}},
            reachEnvironment(host));
    }
    if (!awaitFrame(started.connection, wanted)) throw Error(whyUnreachable(host, started));
    return started;
}

std::string whyUnreachable(const Host& host, const SessionProcess& process) {
    const auto status =
        process.process ? process.process->status(std::chrono::seconds(2)) : std::nullopt;
    const std::string line = lastLineOf(process.errors);
    if (status && WIFEXITED(*status) && WEXITSTATUS(*status) == kNotFound &&
        line.find("relascope-cli") != std::string::npos)
        return "Relascope is not installed on " + host.name + ".";
    return host.name + " cannot be reached: " + (line.empty() ? "the connection has ended" : line);
}

Descriptor farDoor(const FarPath& run, const std::function<bool()>& wanted) {
    const auto host = findHost(run.host);
    if (!host) throw Error(run.host + " is not among the machines any more.");
    auto started = startFar(*host, {"attach", run.path}, {}, wanted);
    const Frame first = nextFrame(started.connection, wanted);
    if (valueOf<std::string>(first.message, "m") != "attached")
        throw Error(valueOf<std::string>(first.message, "text"));
    return std::move(started.connection);
}

}  // namespace relascope::wire
