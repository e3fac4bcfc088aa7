// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire/host_install.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>
#include <utility>

#include "files/program_folder.h"
#include "options/builtin_resources.h"
#include "wire/child_process.h"

namespace relascope::wire {
namespace {

namespace fs = std::filesystem;
using Watch = std::function<bool(double)>;

constexpr std::uint64_t kBlock = 512;       // size of a block of tar
constexpr const char* kWhole = "complete";  // the last file of the stream

Error notCopied(const std::string& reason) {
    return Error("The files to copy cannot be gathered: " + reason);
}

Error notInstalled(const Host& host, const std::string& reason) {
    return Error("Relascope cannot be installed on " + host.name + ": " +
                 (reason.empty() ? "the connection has ended" : reason));
}

Descriptor memoryFile() {
    Descriptor file(::memfd_create("relascope", MFD_CLOEXEC));
    if (!file) throw notCopied(std::strerror(errno));
    return file;
}

bool succeeded(int status) {
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// A child that does not outlive this object.
class Child {
public:
    Child(std::vector<std::string> words, const std::vector<std::pair<int, int>>& files,
          std::vector<std::string> environment = {})
        : m_process(std::move(words), files, std::move(environment)) {}
    ~Child() { end(); }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    /// How it has ended; asks `progress` meanwhile.
    int wait(double fraction, const Watch& progress) const {
        for (;;) {
            if (progress && !progress(fraction)) throw Cancelled();
            if (const auto status = m_process.status(std::chrono::milliseconds(50))) return *status;
        }
    }
    void end() {
        if (m_process.status()) return;
        ::kill(-m_process.id(), SIGTERM);  // with what it has started: it leads a session
        if (!m_process.status(std::chrono::seconds(2))) ::kill(-m_process.id(), SIGKILL);
    }

private:
    ChildProcess m_process;
};

/// The tree to send, of links to its files; gone with this object.
class Gathered {
public:
    Gathered(const fs::path& prefix, const std::vector<std::string>& libraries) {
        std::string name = (fs::temp_directory_path() / "relascope-install-XXXXXX").string();
        if (!::mkdtemp(name.data())) throw notCopied(name + ": " + std::strerror(errno));
        m_path = name;
        link(prefix / "bin/relascope-cli", "bin/relascope-cli");
        fs::create_directories(m_path / "lib/relascope");
        std::error_code none;
        for (const auto& entry : fs::directory_iterator(prefix / "lib/relascope", none))
            link(entry.path(), "lib/relascope" / entry.path().filename());
        for (const std::string& library : libraries) {
            const auto to = "lib/relascope" / fs::path(library).filename();
            if (!fs::exists(m_path / to)) link(library, to);
        }
        if (fs::exists(prefix / "share/relascope"))
            link(prefix / "share/relascope", "share/relascope");
        Descriptor(::open((m_path / kWhole).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    }
    ~Gathered() {
        std::error_code ignored;
        fs::remove_all(m_path, ignored);
    }
    Gathered(const Gathered&) = delete;
    Gathered& operator=(const Gathered&) = delete;

    const fs::path& path() const { return m_path; }
    std::vector<std::string> names() const {
        std::vector<std::string> all = {"bin", "lib"};
        if (fs::exists(m_path / "share")) all.emplace_back("share");
        all.emplace_back(kWhole);  // last
        return all;
    }
    /// About what tar makes of it.
    std::uint64_t bytes() const {
        std::uint64_t sum = 2 * kBlock;
        const auto options = fs::directory_options::follow_directory_symlink;
        for (const auto& entry : fs::recursive_directory_iterator(m_path, options)) {
            sum += kBlock;
            if (entry.is_regular_file()) sum += (entry.file_size() + kBlock - 1) / kBlock * kBlock;
        }
        return sum;
    }

private:
    void link(const fs::path& file, const fs::path& name) const {
        fs::create_directories((m_path / name).parent_path());
        fs::create_symlink(file, m_path / name);
    }
    fs::path m_path;
};

std::vector<std::string> librariesOf(const fs::path& program, const Watch& progress) {
    const auto written = memoryFile(), problems = memoryFile();
    const Child ldd({"ldd", program.string()}, {{written.get(), 1}, {problems.get(), 2}});
    ldd.wait(0.0, progress);  // a script has none, and ldd says so by its exit status
    std::string text(static_cast<std::size_t>(::lseek(written.get(), 0, SEEK_END)), '\0');
    text.resize(static_cast<std::size_t>(
        std::max<ssize_t>(0, ::pread(written.get(), text.data(), text.size(), 0))));
    return librariesToCopy(text, (program.parent_path().parent_path() / "lib/relascope").string());
}

// Passes on the output of tar. False: the other side takes no more.
bool pass(const Descriptor& from, const Descriptor& to, std::uint64_t total,
          const Watch& progress) {
    std::vector<char> bytes(256 << 10);
    std::size_t have = 0, sent = 0;
    std::uint64_t passed = 0;
    for (;;) {
        if (progress && !progress(std::min(0.99, double(passed) / double(total))))
            throw Cancelled();
        const bool reads = sent == have;
        pollfd waiting{reads ? from.get() : to.get(), static_cast<short>(reads ? POLLIN : POLLOUT),
                       0};
        if (::poll(&waiting, 1, 50) <= 0) continue;
        const auto done =
            reads ? ::read(from.get(), bytes.data(), bytes.size())
                  : ::send(to.get(), bytes.data() + sent, have - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (done < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (reads && done <= 0) return true;
        if (done < 0) return false;
        if (reads) {
            have = static_cast<std::size_t>(done);
            sent = 0;
        } else {
            sent += static_cast<std::size_t>(done);
            passed += static_cast<std::uint64_t>(done);
        }
    }
}

// The last file of the stream tells a whole one from one that was cut between two files.
std::string commandThere() {
    const std::string version = core::builtin::version();
    return "set -e; d=~/.local/share/relascope; v=" + version +
           "; rm -rf \"$d/$v.part\"; mkdir -p \"$d/$v.part\""
           "; gzip -d | tar -x -C \"$d/$v.part\"; [ -e \"$d/$v.part/" +
           kWhole +
           "\" ] || { echo the copy is not whole >&2; exit 1; }"
           "; \"$d/$v.part/bin/relascope-cli\" --version --json"
           "; rm -rf \"$d/$v\"; mv \"$d/$v.part\" \"$d/$v\"";
}

fs::path versionsFolder() {
    const char* home = std::getenv("HOME");
    return fs::path(home && *home ? home : "/nowhere") / ".local/share/relascope";
}

/// The files of the programs that run, as far as this user may know.
std::vector<fs::path> runningPrograms() {
    std::vector<fs::path> all;
    std::error_code error, other;
    for (fs::directory_iterator it("/proc", error), end; !error && it != end; it.increment(error))
        if (auto program = fs::read_symlink(it->path() / "exe", other); !other)
            all.push_back(std::move(program));
    return all;
}

}  // namespace

std::vector<std::string> otherVersions() {
    std::vector<std::string> names;
    const auto running = runningPrograms();
    std::error_code error;
    for (fs::directory_iterator it(versionsFolder(), error), end; !error && it != end;
         it.increment(error)) {
        const auto folder = it->path();
        std::error_code other;
        const bool cut = folder.extension() == ".part";
        if (it->is_symlink(other) || folder.filename() == core::builtin::version() ||
            !(cut || fs::exists(folder / "bin/relascope-cli", other)))
            continue;
        const auto runs = [&, real = fs::canonical(folder, other)](const fs::path& program) {
            return program.string().starts_with(real.string() + "/");
        };
        if (std::none_of(running.begin(), running.end(), runs))
            names.push_back(folder.filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

void removeVersions(const std::vector<std::string>& names) {
    for (const auto& name : otherVersions()) {
        if (std::find(names.begin(), names.end(), name) == names.end()) continue;
        std::error_code error;
        fs::remove_all(versionsFolder() / name, error);
        if (error)
            throw FileError((versionsFolder() / name).string(),
                            "cannot be removed: " + error.message());
    }
}

std::vector<std::string> librariesToCopy(const std::string& ldd, const std::string& own) {
    // Libraries of the C library fit one kernel and one another, not another C library's.
    static const std::vector<std::string> ofC = {
        "libc.so",  "libm.so",    "libmvec.so",   "libpthread.so", "libdl.so",
        "librt.so", "libutil.so", "libresolv.so", "libanl.so",     "ld-linux"};
    std::vector<std::string> found;
    std::istringstream lines(ldd);
    for (std::string line; std::getline(lines, line);) {
        const auto arrow = line.find(" => /");
        const auto end = line.rfind(" (");
        if (arrow == std::string::npos || end == std::string::npos || end < arrow + 4) continue;
        const std::string file = line.substr(arrow + 4, end - arrow - 4);
        const fs::path path(file);
        const std::string name = path.filename().string();
        const bool skipped = std::any_of(ofC.begin(), ofC.end(), [&](const std::string& prefix) {
            return name.starts_with(prefix);
        });
        std::error_code error;
        if (!skipped && !fs::equivalent(path.parent_path(), own, error)) found.push_back(file);
    }
    return found;
}

void installTree(const Host& host, const std::string& prefix, const Watch& progress) {
    try {
        const auto program = fs::path(prefix) / "bin/relascope-cli";
        const Gathered tree(prefix, librariesOf(program, progress));
        int pipe[2], stream[2], packed[2];
        if (::pipe2(pipe, O_CLOEXEC) != 0) throw notCopied(std::strerror(errno));
        Descriptor fromTar(pipe[0]), tarWrites(pipe[1]);
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stream) != 0)
            throw notCopied(std::strerror(errno));
        Descriptor toGzip(stream[0]), gzipReads(stream[1]);
        if (::pipe2(packed, O_CLOEXEC) != 0) throw notCopied(std::strerror(errno));
        Descriptor thereReads(packed[0]), gzipWrites(packed[1]);
        const auto tarSays = memoryFile(), thereSays = memoryFile();

        std::vector<std::string> words = {"tar", "-c", "-h", "-f", "-", "-C", tree.path().string()};
        for (const auto& name : tree.names()) words.push_back(name);
        // The last one ends first when this is left: were tar ended first, a part would look whole.
        const Child tar(words, {{tarWrites.get(), 1}, {tarSays.get(), 2}});
        const Child gzip({"gzip", "-1"},
                         {{gzipReads.get(), 0}, {gzipWrites.get(), 1}, {tarSays.get(), 2}});
        const Child there(reachCommand(host, {"sh", "-c", commandThere()}),
                          {{thereReads.get(), 0}, {thereSays.get(), 1}, {thereSays.get(), 2}},
                          reachEnvironment(host));
        tarWrites = Descriptor();
        gzipReads = Descriptor();
        thereReads = Descriptor();
        gzipWrites = Descriptor();
        if (pass(fromTar, toGzip, tree.bytes(), progress) && !succeeded(tar.wait(0.99, progress)))
            throw notCopied(lastLineOf(tarSays));
        toGzip = Descriptor();
        if (!succeeded(there.wait(0.99, progress))) throw notInstalled(host, lastLineOf(thereSays));
        if (progress) progress(1.0);
    } catch (const fs::filesystem_error& error) {
        throw notCopied(error.what());
    }
}

void installThere(const Host& host, const Watch& progress) {
    const auto prefix = core::programFolder().parent_path();
    std::error_code error;
    if (!fs::exists(prefix / "lib/relascope/libtorch_cpu.so", error))
        throw Error(
            "This program runs from a build folder, which cannot be copied; install it here first, "
            "with cmake --install or as a package.");
    installTree(host, prefix.string(), progress);
}

}  // namespace relascope::wire
