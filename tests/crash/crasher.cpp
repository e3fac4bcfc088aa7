// SPDX-License-Identifier: GPL-3.0-or-later
// A program that crashes in the way that its argument names, as crash_test.cpp asks for.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "app/crash/crash.h"

using namespace relascope;

namespace {

volatile int zero = 0, one = 1;
volatile int* volatile nowhere = reinterpret_cast<volatile int*>(8);

[[gnu::noinline]] int endless(int depth) {
    volatile char room[4096];
    std::memset(const_cast<char*>(room), depth, sizeof room);
    if (zero) return 0;  // never
    return endless(depth + 1) + room[depth % 4096];
}

[[gnu::noinline]] void writeToNowhere() {
    *nowhere = one;
}

void callNothing() {
    void (*volatile nothing)() = nullptr;
    nothing();
}

void onTheirOwn(int threads, const std::function<void()>& work) {
    std::vector<std::jthread> all;
    for (int i = 0; i < threads; ++i)
        all.emplace_back([&work] {
            crash::guardThread();
            work();
        });
}

/// Leaves nothing that an unwinder could read.
[[gnu::noinline]] void loseStack() {
#if defined(__x86_64__)
    asm volatile("mov $4096, %%rsp\n\tpush %%rax" ::: "memory");
#elif defined(__aarch64__)
    asm volatile("mov x9, #4096\n\tmov sp, x9\n\tmov x29, x9\n\tstr x9, [sp]" ::: "memory");
#endif
    std::raise(SIGSEGV);
}

// Reads a page of a mapped file that the file no longer has.
void readTruncatedFile() {
    const std::string name = std::string(std::getenv("HOME")) + "/weights.safetensors";
    const int file = ::open(name.c_str(), O_RDWR | O_CREAT, 0600);
    if (file < 0 || ::ftruncate(file, 1 << 16) != 0) return;
    const auto* bytes =
        static_cast<volatile char*>(::mmap(nullptr, 1 << 16, PROT_READ, MAP_PRIVATE, file, 0));
    if (::ftruncate(file, 0) != 0) return;
    one = bytes[1 << 15];
}

struct Odd {};

}  // namespace

int main(int argc, char** argv) {
    const std::string how = argc > 1 ? argv[1] : "";
    const std::map<std::string, std::function<void()>> ways = {
        {"segv", writeToNowhere},
        {"call", callNothing},
        {"fpe", [] { one = one / zero; }},
        {"ill", [] { __builtin_trap(); }},
        {"bus", [] { std::raise(SIGBUS); }},
        {"truncated", readTruncatedFile},
        {"abort", [] { std::abort(); }},
        {"throw", [] { throw std::runtime_error("/home/jo/My model.pt: no 'secret'\nfurther"); }},
        {"throw-other", [] { throw Odd(); }},
        {"terminate", [] { std::terminate(); }},
        {"overflow", [] { one = endless(one); }},
        {"overflow-thread", [] { onTheirOwn(1, [] { one = endless(one); }); }},
        {"lost", loseStack},
        {"many", [] { onTheirOwn(8, writeToNowhere); }},
    };
    if (how == "handled") std::signal(SIGSEGV, [](int) { std::_Exit(7); });
    // A core dump would take longer than the test.
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    crash::install({"relascope-cli test", "relascope 1.2.3\ncommit abc\n"});
    for (int i = 0; i < 100; ++i) crash::note("line " + std::to_string(i));
    crash::note("Wrote /home/jo/My model.pt of \"a prompt\"");
    if (how == "handled") writeToNowhere();
    if (const auto way = ways.find(how); way != ways.end()) way->second();
    return 0;
}
