// SPDX-License-Identifier: GPL-3.0-or-later
// Bounds how long the OpenMP threads of this program busy-wait for one another.
//
// libgomp's threads spin for 15 ms at the start and the end of every parallel region. Next to
// another busy program a thread that has work waits for the core on which a thread spins, so that
// training is many times slower. GOMP_SPINCOUNT=1000 (50 microseconds) costs nothing on a quiet
// machine and bounds the loss on a busy one. libgomp reads the variable in its constructor, before
// main and before any constructor of this program, so it has to be in the environment when the
// program starts: this function, which the dynamic linker calls before all constructors, restarts
// the program with it (20 to 30 ms). It does nothing where the user has set the variable or
// OMP_WAIT_POLICY, and RELASCOPE_NO_REEXEC in the environment switches it off (for debuggers).
// Compiled into every program that uses LibTorch; a library's copy would not be called.
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstddef>
#include <initializer_list>

namespace {

constexpr std::size_t kMostVariables = 4096;

// The C library's own state (environ, stdio) is not set up yet: plain loops and system calls only.
bool isVariable(const char* entry, const char* name) {
    while (*name && *entry == *name) ++entry, ++name;
    return !*name && *entry == '=';
}

void boundOpenMpSpinning(int, char** argv, char** environment) {
    static char spinCount[] = "GOMP_SPINCOUNT=1000";
    static const char* changed[kMostVariables + 2];
    static char path[PATH_MAX];
    std::size_t count = 0;
    for (; environment[count]; ++count) {
        if (count == kMostVariables) return;
        for (const char* name : {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY", "RELASCOPE_NO_REEXEC"})
            if (isVariable(environment[count], name)) return;
        changed[count] = environment[count];
    }
    if (getauxval(AT_SECURE)) return;
    changed[count] = spinCount;
    // By its path, so that process lists show the program's name and not "exe".
    const long length = syscall(SYS_readlink, "/proc/self/exe", path, sizeof path - 1);
    if (length <= 0) return;
    path[length] = '\0';
    syscall(SYS_execve, path, argv, changed);
    syscall(SYS_execve, "/proc/self/exe", argv, changed);  // where the file has been replaced
}

}  // namespace

__attribute__((section(".preinit_array"),
               used)) static void (*const boundSpinning)(int, char**, char**) = boundOpenMpSpinning;
