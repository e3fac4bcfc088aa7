// SPDX-License-Identifier: GPL-3.0-or-later
// What happens when the program crashes. Within the handler only what POSIX calls safe there:
// system calls on memory that was set aside before. The last word is always the default action of
// the signal, so that the exit status and a core dump are those of a program without this handler.
#include <cxxabi.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <memory>

#include "app/crash/crash.h"
#include "app/crash/report_parts.h"

namespace relascope::crash {
namespace {

// GCC and Clang say it in different ways.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

constexpr std::size_t kStack = 65536;           ///< of the handler
constexpr unsigned kReportTimeoutSeconds = 10;  ///< seconds for a report
constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/// Everything the handler needs, set aside by install().
struct Prepared {
    char home[1024] = {}, folder[1024] = {}, program[128] = {}, versions[1024] = {};
    long offset = 0;  ///< of the local time, seconds
    std::time_t started = 0;
};
Prepared prepared;
char exceptionText[600];  ///< set before abort()
std::terminate_handler usualTerminate = nullptr;
std::atomic<pid_t> crashing = 0;  ///< the thread that writes the report
std::atomic<int> crashSignal = 0;
std::atomic<int> unwinding = -1;  ///< the report's file while its stack is read, which may fail

void keep(char* to, std::size_t size, const std::string& text) {
    const std::size_t length = std::min(size - 1, text.size());
    std::memcpy(to, text.data(), length);
    to[length] = '\0';
}

pid_t thisThread() {
    return static_cast<pid_t>(::syscall(SYS_gettid));
}

struct SignalName {
    int signal;
    const char *name, *means;
};
constexpr SignalName kNames[] = {
    {SIGSEGV, "SIGSEGV", "invalid memory access"}, {SIGBUS, "SIGBUS", "memory that is not there"},
    {SIGFPE, "SIGFPE", "arithmetic error"},        {SIGILL, "SIGILL", "invalid instruction"},
    {SIGABRT, "SIGABRT", "the program gave up"},
};
const SignalName& nameOfSignal(int signal) {
    for (const auto& one : kNames)
        if (one.signal == signal) return one;
    return kNames[0];
}

void unblock(int signal) {
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, signal);
    ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
}

void useDefaultAction(int signal) {
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    ::sigaction(signal, &usual, nullptr);
}

/// The default action of a signal, now.
[[noreturn]] void endWith(int signal) {
    useDefaultAction(signal);
    unblock(signal);
    ::raise(signal);
    ::_exit(128 + signal);
}

/// A local time from a time in seconds, without the C library, whose functions take locks.
struct Clock {
    std::uint64_t year, month, day, hour, minute, second;
};
Clock clockAt(std::int64_t local) {
    const std::int64_t days = local / 86400, rest = local % 86400;
    // Days since 1 March of year 0, in eras of 400 years (146,097 days).
    const std::int64_t z = days + 719468, era = z / 146097, ofEra = z - era * 146097;
    const std::int64_t yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36524 - ofEra / 146096) / 365;
    const std::int64_t ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
    const std::int64_t shifted = (5 * ofYear + 2) / 153;
    const std::int64_t day = ofYear - (153 * shifted + 2) / 5 + 1;
    const std::int64_t month = shifted < 10 ? shifted + 3 : shifted - 9;
    const auto u = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
    return {u(yearOfEra + era * 400 + (month <= 2)),
            u(month),
            u(day),
            u(rest / 3600),
            u(rest / 60 % 60),
            u(rest % 60)};
}

/// Opens a new report; its path is in `path`. -1 if that fails.
int openReport(const Clock& now, char* path, std::size_t size) {
    if (!prepared.folder[0]) return -1;
    // One after another: none of them may be there yet.
    char part[sizeof prepared.folder];
    std::memcpy(part, prepared.folder, sizeof part);
    for (char* at = part + 1; *at; ++at) {
        if (*at != '/') continue;
        *at = '\0';
        ::mkdir(part, 0700);
        *at = '/';
    }
    ::mkdir(part, 0700);
    const int folder = ::open(part, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return -1;
    removeOldReports(folder, kMostReports);
    char* at = path;
    const auto add = [&](std::string_view text) {
        for (const char c : text)
            if (at + 1 < path + size) *at++ = c;
        *at = '\0';
    };
    const auto figures = [&](std::uint64_t value, int digits) {
        char text[20];
        for (int i = digits; i-- > 0; value /= 10) text[i] = static_cast<char>('0' + value % 10);
        add({text, static_cast<std::size_t>(digits)});
    };
    add(part);
    add("/");
    const char* name = at;
    add("crash-");
    figures(now.year, 4), figures(now.month, 2), figures(now.day, 2);
    add("-");
    figures(now.hour, 2), figures(now.minute, 2), figures(now.second, 2);
    add("-");
    const auto process = static_cast<std::uint64_t>(::getpid());
    int digits = 1;
    for (std::uint64_t rest = process; rest >= 10; rest /= 10) ++digits;
    figures(process, digits);
    add(".txt");
    const int file = ::openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    ::close(folder);
    return file;
}

void writeTime(SafeWriter& out, const Clock& at) {
    out.number(at.year, 4).text("-").number(at.month, 2).text("-").number(at.day, 2).text(" ");
    out.number(at.hour, 2).text(":").number(at.minute, 2).text(":").number(at.second, 2);
    const long minutes = std::labs(prepared.offset) / 60;
    out.text(prepared.offset < 0 ? " -" : " +");
    out.number(static_cast<std::uint64_t>(minutes / 60), 2);
    out.number(static_cast<std::uint64_t>(minutes % 60), 2);
}

// Weights lie in their files (core/files/mapped_file.h), and a page that a file has lost is SIGBUS.
void writeLostFile(SafeWriter& out, int signal, const siginfo_t* info) {
    if (signal == SIGBUS && info->si_code > 0)
        writeFileAt(out, reinterpret_cast<std::uintptr_t>(info->si_addr), "; ",
                    " was truncated while it was in use");
}

void writeWhat(SafeWriter& out, int signal, const siginfo_t* info) {
    const auto& name = nameOfSignal(signal);
    if (signal == SIGABRT && exceptionText[0]) {
        out.text(exceptionText);
        return;
    }
    out.text(name.name).text(" (").text(name.means);
    if (info->si_code <= 0)
        out.text(signal == SIGABRT && info->si_pid == ::getpid() ? "" : ", sent by a process");
    else
        out.text(", at ").hex(reinterpret_cast<std::uintptr_t>(info->si_addr));
    out.text(")");
    writeLostFile(out, signal, info);
}

void writeLog(SafeWriter& out) {
    out.text("\nlog, without paths and quoted texts\n");
    writeNotes(out);
}

void writeReport(int signal, const siginfo_t* info, const void* context) {
    timespec time{};
    ::clock_gettime(CLOCK_REALTIME, &time);
    const Clock now = clockAt(time.tv_sec + prepared.offset);
    char path[sizeof prepared.folder + 64];
    const int file = openReport(now, path, sizeof path);
    if (file < 0) return;
    {
        // Said first: should the rest fail, too, the file is there.
        SafeWriter terminal(STDERR_FILENO, {});
        const std::string_view all = prepared.program;
        terminal.text(all.substr(0, all.find(' '))).text(": crashed; the report is ");
        terminal.text(path);
        writeLostFile(terminal, signal, info);
        terminal.text("\n");
    }
    SafeWriter out(file, prepared.home);
    out.text(kTitle).text("\nprogram: ").text(prepared.program).text("\ntime: ");
    writeTime(out, now);
    out.text("\nwhat: ");
    writeWhat(out, signal, info);
    char thread[17] = {};
    ::prctl(PR_GET_NAME, thread);
    out.text("\nthread: ").text(thisThread() == ::getpid() ? "first, " : "").text(thread);
    out.text("\nprocess: ").number(static_cast<std::uint64_t>(::getpid())).text(", started ");
    out.number(static_cast<std::uint64_t>(
        std::max<std::int64_t>(0, static_cast<std::int64_t>(time.tv_sec) - prepared.started)));
    out.text(" s before\n\nversions\n").text(prepared.versions).text("\nstack\n");
    out.flush();
    unwinding = file;
    writeStack(out, context);
    unwinding = -1;
    writeLog(out);
    out.flush();
    ::close(file);
}

extern "C" void onTimeout(int) {
    endWith(crashSignal);
}

extern "C" void onCrash(int signal, siginfo_t* info, void* context) {
    const pid_t self = thisThread();
    pid_t nobody = 0;
    if (!crashing.compare_exchange_strong(nobody, self)) {
        // A crash within the handler: what is written stays, and the log may still follow.
        if (nobody == self) {
            if (const int file = unwinding.exchange(-1); file >= 0) {
                SafeWriter out(file, prepared.home);
                out.text("    the stack cannot be read further\n");
                writeLog(out);
                out.flush();
            }
            endWith(crashSignal);
        }
        for (;;) ::pause();  // another thread's crash ends the process
    }
    crashSignal = signal;
    struct sigaction timeout {};
    timeout.sa_handler = onTimeout;
    ::sigaction(SIGALRM, &timeout, nullptr);
    unblock(SIGALRM);
    ::alarm(kReportTimeoutSeconds);
    writeReport(signal, info, context);
    ::alarm(0);
    if (info->si_code <= 0 || signal == SIGABRT) endWith(signal);
    // The instruction is tried again and fails again, so that a core dump shows it.
    useDefaultAction(signal);
}

/// "an exception that nothing caught, std::runtime_error: no such file".
void describeException() {
    std::string text = "std::terminate without an exception";
    if (const std::type_info* type = abi::__cxa_current_exception_type()) {
        const std::unique_ptr<char, void (*)(void*)> name(
            abi::__cxa_demangle(type->name(), nullptr, nullptr, nullptr), std::free);
        text =
            std::string("an exception that nothing caught, ") + (name ? name.get() : type->name());
        try {
            throw;
        } catch (const std::exception& error) {
            // LibTorch appends its own stack in further lines.
            const std::string_view what = error.what();
            text += ": " + withoutData(what.substr(0, what.find('\n')));
        } catch (...) {
        }
    }
    keep(exceptionText, sizeof exceptionText, text);
}

[[noreturn]] void onTerminate() {
    static std::atomic<bool> once = false;
    if (!once.exchange(true)) describeException();
    if (usualTerminate) usualTerminate();
    std::abort();
}

/// The stack of the handler of one thread.
class HandlerStack {
public:
    HandlerStack() {
        stack_t there{};
        if (::sigaltstack(nullptr, &there) != 0 || !(there.ss_flags & SS_DISABLE)) return;
        m_memory =
            ::mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (m_memory == MAP_FAILED) return;
        stack_t own{};
        own.ss_sp = m_memory;
        own.ss_size = kStack;
        ::sigaltstack(&own, nullptr);
    }
    ~HandlerStack() {
        if (m_memory == MAP_FAILED) return;
        stack_t none{};
        none.ss_flags = SS_DISABLE;
        ::sigaltstack(&none, nullptr);
        ::munmap(m_memory, kStack);
    }
    HandlerStack(const HandlerStack&) = delete;
    HandlerStack& operator=(const HandlerStack&) = delete;

private:
    void* m_memory = MAP_FAILED;
};

}  // namespace

void guardThread() {
    thread_local const HandlerStack stack;
    (void)stack;
}

void install(const Program& program) {
    if (kSanitized) return;  // its own report says more
    const char* home = std::getenv("HOME");
    keep(prepared.home, sizeof prepared.home, home ? home : "");
    if (const std::string place = folder(); place.size() < sizeof prepared.folder)
        keep(prepared.folder, sizeof prepared.folder, place);
    keep(prepared.program, sizeof prepared.program, program.name);
    keep(prepared.versions, sizeof prepared.versions, program.versions);
    prepared.started = std::time(nullptr);
    std::tm local{};
    if (localtime_r(&prepared.started, &local)) prepared.offset = local.tm_gmtoff;
    prepareStack();
    guardThread();
    usualTerminate = std::set_terminate(onTerminate);
    for (const int signal : kSignals) {
        struct sigaction before {};
        if (::sigaction(signal, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) continue;
        struct sigaction action {};
        action.sa_sigaction = onCrash;
        sigemptyset(&action.sa_mask);
        // Not deferred: a crash within the handler is to be seen by it.
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
        ::sigaction(signal, &action, nullptr);
    }
}

}  // namespace relascope::crash
