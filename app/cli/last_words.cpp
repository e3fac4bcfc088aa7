// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/last_words.h"

#include <cxxabi.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string>

namespace relascope::cli {
namespace {

const char* program = "";
char ending[96];  ///< end of the line, prepared before any crash

struct SignalName {
    int signal;
    const char* means;
};
constexpr SignalName kNames[] = {{SIGSEGV, "invalid memory access (SIGSEGV)"},
                                 {SIGBUS, "a page of memory or of a file is gone (SIGBUS)"},
                                 {SIGFPE, "arithmetic error (SIGFPE)"},
                                 {SIGILL, "invalid instruction (SIGILL)"},
                                 {SIGABRT, "the program gave up (SIGABRT)"}};

// Called in signal handlers, so it uses write() only.
void print(const char* what) {
    for (const char* part : {program, ": crashed: ", what, static_cast<const char*>(ending)})
        if (::write(STDERR_FILENO, part, std::strlen(part)) < 0) return;
}

// The default action is restored (SA_RESETHAND) and follows when this handler returns: the core
// dump shows the instruction that failed.
extern "C" void onCrash(int signal) {
    for (const auto& name : kNames)
        if (name.signal == signal) print(name.means);
    ::raise(signal);
}

[[noreturn]] void onTerminate() {
    std::string what = "std::terminate() without an exception";
    if (const std::type_info* type = abi::__cxa_current_exception_type()) {
        const std::unique_ptr<char, void (*)(void*)> name(
            abi::__cxa_demangle(type->name(), nullptr, nullptr, nullptr), std::free);
        what = name ? name.get() : type->name();
        try {
            throw;
        } catch (const std::exception& error) {
            what += std::string(": ") + error.what();
        } catch (...) {
        }
    }
    print(what.substr(0, what.find('\n')).c_str());  // LibTorch appends its own stack
    std::signal(SIGABRT, SIG_DFL);
    std::abort();
}

}  // namespace

void installLastWords(const char* name) {
    program = name;
    std::snprintf(ending, sizeof ending,
                  "; if the system keeps core dumps, 'coredumpctl info %d' says where\n",
                  static_cast<int>(::getpid()));
    std::set_terminate(onTerminate);
    for (const auto& [signal, means] : kNames) {
        struct sigaction before {};
        if (::sigaction(signal, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) continue;
        struct sigaction action {};
        action.sa_handler = onCrash;
        sigemptyset(&action.sa_mask);
        action.sa_flags = static_cast<int>(SA_RESETHAND);
        ::sigaction(signal, &action, nullptr);
    }
}

}  // namespace relascope::cli
