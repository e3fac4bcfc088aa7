// SPDX-License-Identifier: GPL-3.0-or-later
// The stack of a crash. glibc's unwinder and the tables of the dynamic linker, which need neither
// memory nor files; names that the files do not export are left to addr2line.
#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <link.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "app/crash/report_parts.h"

namespace relascope::crash {
namespace {

constexpr int kDeepest = 160;  ///< frames that are read; those of the handler are among them
constexpr int kShown = 100;
constexpr int kModules = 32;

char program[4096];  ///< the file of this program: dladdr() knows it by what it was called with

struct Module {
    const char* base = nullptr;
    const char* path = nullptr;
};

#if defined(__x86_64__) || defined(__aarch64__)
constexpr bool kPlaceKnown = true;
#else
constexpr bool kPlaceKnown = false;
#endif

/// Where the crash happened; 0 if the processor is not known.
std::uintptr_t placeOf(const void* context) {
#if defined(__x86_64__)
    return static_cast<std::uintptr_t>(
        static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
    return static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.pc);
#else
    (void)context;
    return 0;
#endif
}

/// Who called an address where there is no code: a call leaves its return address on the stack or
/// in a register. 0 if the processor is not known.
std::uintptr_t callerOf(const void* context) {
#if defined(__x86_64__)
    const auto stack = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP];
    return *reinterpret_cast<const std::uintptr_t*>(stack);  // NOLINT: a register holds a number
#elif defined(__aarch64__)
    return static_cast<std::uintptr_t>(
        static_cast<const ucontext_t*>(context)->uc_mcontext.regs[30]);
#else
    (void)context;
    return 0;
#endif
}

const char* baseName(const char* path) {
    const char* slash = std::strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool isProgram(const Dl_info& info) {
    const auto header = reinterpret_cast<const char*>(info.dli_fbase);
    Dl_info own{};
    return ::dladdr(reinterpret_cast<const void*>(&prepareStack), &own) != 0 &&
           own.dli_fbase == header;
}

void writeBuildId(SafeWriter& out, const char* base) {
    const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(base);
    if (std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
    const auto* segments = reinterpret_cast<const ElfW(Phdr)*>(base + header->e_phoff);
    for (int i = 0; i < header->e_phnum; ++i) {
        if (segments[i].p_type != PT_NOTE) continue;
        const char* at = base + segments[i].p_vaddr;
        const char* end = at + segments[i].p_memsz;
        while (at + sizeof(ElfW(Nhdr)) < end) {
            const auto* entry = reinterpret_cast<const ElfW(Nhdr)*>(at);
            const char* name = at + sizeof *entry;
            const char* value = name + (entry->n_namesz + 3) / 4 * 4;
            if (entry->n_type == NT_GNU_BUILD_ID && entry->n_namesz == 4 &&
                std::memcmp(name, "GNU", 4) == 0) {
                out.text("  build id ");
                for (unsigned k = 0; k < entry->n_descsz && k < 32; ++k) {
                    const auto byte = static_cast<unsigned char>(value[k]);
                    const char figures[] = {"0123456789abcdef"[byte / 16],
                                            "0123456789abcdef"[byte % 16]};
                    out.text({figures, 2});
                }
                return;
            }
            at = value + (entry->n_descsz + 3) / 4 * 4;
        }
    }
}

/// The files that frames are in, each once.
class Modules {
public:
    void writeFrame(SafeWriter& out, int number, std::uintptr_t place, std::uintptr_t lookUp) {
        out.text(number < 10 ? " " : "").number(static_cast<std::uint64_t>(number)).text("  ");
        Dl_info info{};
        const auto* code = reinterpret_cast<const void*>(lookUp);  // NOLINT: as above
        if (::dladdr(code, &info) == 0 || !info.dli_fname) {
            out.hex(place).text("  no code is there\n");
            return;
        }
        const char* path = isProgram(info) && program[0] ? program : info.dli_fname;
        out.text(baseName(path))
            .text("+")
            .hex(lookUp - reinterpret_cast<std::uintptr_t>(info.dli_fbase));
        if (info.dli_sname)
            out.text("  ")
                .text(info.dli_sname)
                .text("+")
                .hex(lookUp - reinterpret_cast<std::uintptr_t>(info.dli_saddr));
        out.text("\n");
        remember(static_cast<const char*>(info.dli_fbase), path);
    }
    void write(SafeWriter& out) const {
        for (int i = 0; i < m_count; ++i) {
            out.path(m_all[i].path);
            out.flush();  // before memory of the file is read, should that fail
            writeBuildId(out, m_all[i].base);
            out.text("\n");
        }
    }

private:
    void remember(const char* base, const char* path) {
        for (int i = 0; i < m_count; ++i)
            if (m_all[i].base == base) return;
        if (m_count < kModules) m_all[m_count++] = {base, path};
    }
    Module m_all[kModules];
    int m_count = 0;
};

}  // namespace

void prepareStack() {
    const ssize_t length = ::readlink("/proc/self/exe", program, sizeof program - 1);
    program[std::max<ssize_t>(0, length)] = '\0';
    void* frames[4];
    ::backtrace(frames, 4);  // loads libgcc_s
    Dl_info info{};
    ::dladdr(reinterpret_cast<const void*>(&prepareStack), &info);
}

void writeStack(SafeWriter& out, const void* context) {
    static void* frames[kDeepest];  // one crash writes; the stack of the handler is small
    Modules modules;
    int number = 0;
    const std::uintptr_t place = placeOf(context);
    if (kPlaceKnown) {
        modules.writeFrame(out, number++, place, place);
        out.flush();  // a stack that was overwritten may end the unwinder
    }
    const int count = ::backtrace(frames, kDeepest);
    // The first frames are those of the handler.
    int first = 0;
    while (kPlaceKnown && first < count && reinterpret_cast<std::uintptr_t>(frames[first]) != place)
        ++first;
    if (kPlaceKnown && first == count) {
        // The unwinder knows nothing of the place: there is no code, or code made at run time.
        if (const std::uintptr_t caller = callerOf(context)) {
            out.text("    called from, if it is code without a frame:\n");
            modules.writeFrame(out, number++, caller, caller - 1);
        }
    }
    for (int i = first + (kPlaceKnown ? 1 : 0); i < count && number < kShown; ++i) {
        // A return address is behind the call.
        const auto at = reinterpret_cast<std::uintptr_t>(frames[i]);
        modules.writeFrame(out, number++, at, at - 1);
    }
    if (count - first > kShown) out.text("    and more\n");
    out.text("\nfiles\n");
    modules.write(out);
}

}  // namespace relascope::crash
