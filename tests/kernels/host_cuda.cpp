// SPDX-License-Identifier: GPL-3.0-or-later
// The CPU's stand-in for CUDA: fibers, their scheduler and its findings.
#include "model/kernels/host_cuda.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <span>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define RELASCOPE_ASAN 1
#else
#define RELASCOPE_ASAN 0
#endif

dim3 gridDim, blockDim, blockIdx, threadIdx;

namespace relascope::core::kernels {
namespace {

constexpr std::size_t kStackBytes = 256 * 1024;  // touched pages alone take memory
constexpr std::size_t kGuardBytes = 256;
constexpr std::size_t kDefaultShared = 48 * 1024;
constexpr unsigned char kNanByte = 0xff, kGuardByte = 0xa5;

enum class State { Ready, AtBarrier, AtWarpOperation, Done };

// Where a stack stopped. By the compiler's own jumps: the sanitizers intercept those of the C
// library, each time with a system call.
struct Place {
    void* words[5] = {};
};
[[noreturn, gnu::noinline, gnu::no_sanitize_address]] void jumpTo(Place& to) {
    __builtin_longjmp(to.words, 1);
}
/// Returns when another stack switches to `from`.
[[gnu::noinline, gnu::no_sanitize_address]] void switchStacks(Place& from, Place& to) {
    if (__builtin_setjmp(from.words) == 0) jumpTo(to);
}
[[gnu::noinline, gnu::no_sanitize_address]] void startStack(Place& from, const ucontext_t& entry) {
    if (__builtin_setjmp(from.words) == 0) setcontext(&entry);
}

struct Stack {
    Stack()
        : p(mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                 0)) {
        if (p == MAP_FAILED) throw std::bad_alloc();
#if RELASCOPE_ASAN
        __asan_unpoison_memory_region(p, kStackBytes);  // of a stack that was there before
#endif
    }
    ~Stack() {
        munmap(p, kStackBytes);
    }
    Stack(const Stack&) = delete;
    Stack& operator=(const Stack&) = delete;
    void* p;
};

struct Copy {
    unsigned char* to;
    const void* from;
    int bytes;
    int group;
};

struct Fiber {
    Stack stack;
    ucontext_t entry{};
    Place place;
    bool started = false;
    State state = State::Ready;
    void* fakeStack = nullptr;
    dim3 index;
    Where where;
    unsigned mask = 0;
    HostLane lane;
    std::vector<Copy> copies;  // under way
    int group = 0;             // of the next copy
};

class Scheduler {
public:
    void launch(dim3 grid, dim3 threads, std::size_t bytes, const std::function<void()>& thread);
    void barrier(const Where& where);
    void warpOperation(unsigned mask, HostLane own, const std::function<void(const HostLane*)>& run,
                       const Where& where);
    Fiber& running() { return *m_fibers[m_running]; }
    void* shared() { return m_shared; }
    std::size_t sharedBytes() const { return m_sharedBytes; }

private:
    static void enter();
    void runBlock();
    void runReady();
    bool runOnce(std::span<const unsigned> threads);
    void releaseBarrier(std::size_t left);
    void resume(Fiber& fiber);
    void suspend();
    void sort(std::vector<unsigned>& order);
    std::size_t warpBegin() const { return m_running / warpSize * warpSize; }

    std::vector<std::unique_ptr<Fiber>> m_fibers;  // kept from launch to launch
    std::vector<unsigned> m_atOperation;           // of each warp the lanes that wait at one
    std::size_t m_count = 0, m_running = 0;
    const std::function<void()>* m_thread = nullptr;
    unsigned char* m_shared = nullptr;
    std::size_t m_sharedBytes = 0;
    std::exception_ptr m_error;
    std::uint32_t m_random = 1;
    Place m_place;
    void* m_fakeStack = nullptr;
    const void* m_mainStack = nullptr;
    std::size_t m_mainStackBytes = 0;
};

Scheduler& scheduler() {
    static Scheduler one;
    return one;
}

std::string at(const Where& where) {
    return std::string(" at ") + where.file_name() + ":" + std::to_string(where.line());
}

// A fiber runs the thread of one block after another and never returns.
void Scheduler::enter() {
    auto& self = scheduler();
#if RELASCOPE_ASAN
    __sanitizer_finish_switch_fiber(nullptr, &self.m_mainStack, &self.m_mainStackBytes);
#endif
    for (;;) {
        try {
            (*self.m_thread)();
        } catch (...) {
            self.m_error = std::current_exception();
        }
        self.m_fibers[self.m_running]->state = State::Done;
        self.suspend();
    }
}

void Scheduler::resume(Fiber& fiber) {
    threadIdx = fiber.index;
#if RELASCOPE_ASAN
    __sanitizer_start_switch_fiber(&m_fakeStack, fiber.stack.p, kStackBytes);
#endif
    if (fiber.started) {
        switchStacks(m_place, fiber.place);
    } else {
        fiber.started = true;
        getcontext(&fiber.entry);
        fiber.entry.uc_stack.ss_sp = fiber.stack.p;
        fiber.entry.uc_stack.ss_size = kStackBytes;
        makecontext(&fiber.entry, &Scheduler::enter, 0);
        startStack(m_place, fiber.entry);
    }
#if RELASCOPE_ASAN
    __sanitizer_finish_switch_fiber(m_fakeStack, nullptr, nullptr);
#endif
}

void Scheduler::suspend() {
    auto& fiber = *m_fibers[m_running];
#if RELASCOPE_ASAN
    __sanitizer_start_switch_fiber(&fiber.fakeStack, m_mainStack, m_mainStackBytes);
#endif
    switchStacks(fiber.place, m_place);
#if RELASCOPE_ASAN
    __sanitizer_finish_switch_fiber(m_fibers[m_running]->fakeStack, &m_mainStack,
                                    &m_mainStackBytes);
#endif
}

void Scheduler::sort(std::vector<unsigned>& order) {
    std::iota(order.begin(), order.end(), 0u);
    if (hostDevice().order == HostOrder::Backward) std::reverse(order.begin(), order.end());
    if (hostDevice().order != HostOrder::Shuffled) return;
    for (std::size_t i = order.size(); i > 1; --i) {
        m_random = m_random * 1664525u + 1013904223u;
        std::swap(order[i - 1], order[(m_random >> 8) % i]);
    }
}

void Scheduler::launch(dim3 grid, dim3 threads, std::size_t bytes,
                       const std::function<void()>& thread) {
    gridDim = grid, blockDim = threads;
    m_count = std::size_t{threads.x} * threads.y * threads.z;
    while (m_fibers.size() < m_count) m_fibers.push_back(std::make_unique<Fiber>());
    for (unsigned i = 0; i < m_count; ++i)
        m_fibers[i]->index = {i % threads.x, i / threads.x % threads.y, i / threads.x / threads.y};
    m_thread = &thread;
    m_error = nullptr;
    m_random = 1;  // a test alone sees what it sees among others
    // Of exactly the size asked for, so that AddressSanitizer sees what lies beyond.
    const std::size_t guard = RELASCOPE_ASAN ? 0 : kGuardBytes;
    constexpr std::align_val_t alignment{128};
    const auto free = [](unsigned char* p) { ::operator delete(p, alignment); };
    const std::unique_ptr<unsigned char, decltype(free)> memory(
        static_cast<unsigned char*>(::operator new(bytes + guard, alignment)), free);
    m_shared = memory.get(), m_sharedBytes = bytes;
    std::vector<unsigned> blocks(std::size_t{grid.x} * grid.y * grid.z);
    sort(blocks);
    try {
        for (const unsigned block : blocks) {
            blockIdx = {block % grid.x, block / grid.x % grid.y, block / grid.x / grid.y};
            std::fill_n(m_shared, bytes, kNanByte);
            std::fill_n(m_shared + bytes, guard, kGuardByte);
            runBlock();
            if (std::count(m_shared + bytes, m_shared + bytes + guard, kGuardByte) !=
                static_cast<std::ptrdiff_t>(guard))
                throw HostMisuse("writing beyond the shared memory of " + std::to_string(bytes) +
                                 " bytes");
        }
    } catch (...) {
        m_fibers.clear();  // some still wait in the middle of a kernel
        throw;
    }
}

void Scheduler::runBlock() {
    m_atOperation.assign((m_count + warpSize - 1) / warpSize, 0);
    for (std::size_t i = 0; i < m_count; ++i) {
        m_fibers[i]->state = State::Ready;
        m_fibers[i]->copies.clear();
        m_fibers[i]->group = 0;
    }
    for (;;) {
        runReady();
        std::size_t left = 0, waiting = 0;
        const Fiber* stuck = nullptr;
        for (std::size_t i = 0; i < m_count; ++i) {
            const auto& fiber = *m_fibers[i];
            left += fiber.state != State::Done;
            waiting += fiber.state == State::AtBarrier;
            if (fiber.state == State::AtWarpOperation) stuck = &fiber;
        }
        if (left == 0) return;
        if (stuck)
            throw HostMisuse("a warp operation that only some of its lanes reach" +
                             at(stuck->where));
        releaseBarrier(waiting);
    }
}

// Runs threads until all of them wait or are done. Shuffled, all of them advance together;
// otherwise a warp runs as far as it gets before the next one starts, so that it finds nothing of
// what the others write before a barrier.
void Scheduler::runReady() {
    std::vector<unsigned> order(m_count);
    const bool together = hostDevice().order == HostOrder::Shuffled;
    const std::size_t width = together ? m_count : warpSize;
    for (bool any = true; any;) {
        any = false;
        sort(order);
        for (std::size_t begin = 0; begin < m_count; begin += width) {
            while (runOnce(std::span(order).subspan(begin, std::min(width, m_count - begin)))) {
                any = true;
                if (together) break;
            }
        }
    }
}

/// Whether any of them was ready.
bool Scheduler::runOnce(std::span<const unsigned> threads) {
    bool any = false;
    for (const unsigned i : threads) {
        if (m_fibers[i]->state != State::Ready) continue;
        any = true;
        m_running = i;
        resume(*m_fibers[i]);
        if (m_error) std::rethrow_exception(m_error);
    }
    return any;
}

void Scheduler::releaseBarrier(std::size_t left) {
    const Fiber* one = nullptr;
    for (std::size_t i = 0; i < m_count; ++i) {
        auto& fiber = *m_fibers[i];
        if (fiber.state != State::AtBarrier) continue;
        if (one && one->where.line() != fiber.where.line())
            throw HostMisuse("threads wait at different barriers," + at(one->where) + " and" +
                             at(fiber.where));
        one = &fiber;
        fiber.state = State::Ready;
    }
    if (left != m_count)
        throw HostMisuse("a barrier that only some threads reach" + at(one->where));
}

void Scheduler::barrier(const Where& where) {
    auto& fiber = *m_fibers[m_running];
    fiber.state = State::AtBarrier;
    fiber.where = where;
    suspend();
}

void Scheduler::warpOperation(unsigned mask, HostLane own,
                              const std::function<void(const HostLane*)>& run, const Where& where) {
    const std::size_t begin = warpBegin(), end = std::min(begin + warpSize, m_count);
    auto& fiber = *m_fibers[m_running];
    if (!(mask >> (m_running - begin) & 1u))
        hostMisuse("a lane calls a warp operation of others", where);
    fiber.mask = mask, fiber.lane = own, fiber.where = where;
    fiber.state = State::AtWarpOperation;
    auto& waiting = m_atOperation[begin / warpSize];
    waiting |= 1u << (m_running - begin);
    // Lanes beyond the block's end never arrive.
    if ((waiting & mask) != mask) return suspend();
    HostLane lanes[warpSize];
    for (std::size_t i = begin; i < end; ++i) {
        if (!(mask >> (i - begin) & 1u)) continue;
        const auto& other = *m_fibers[i];
        if (other.mask != mask || other.where.line() != where.line())
            hostMisuse("lanes meet at different warp operations," + at(other.where) + " and",
                       where);
        lanes[i - begin] = other.lane;
    }
    run(lanes);
    waiting &= ~mask;
    for (std::size_t i = begin; i < end; ++i)
        if (mask >> (i - begin) & 1u) m_fibers[i]->state = State::Ready;
}

cudaError_t lastError = cudaSuccess;
std::map<const void*, std::size_t> sharedBytes;

}  // namespace

HostDevice& hostDevice() {
    static HostDevice device;
    return device;
}

void hostMisuse(const std::string& what, const Where& where) {
    throw HostMisuse(what + at(where));
}

void hostLaunch(const void* kernel, dim3 grid, dim3 threads, std::size_t bytes,
                const std::function<void()>& thread) {
    const std::size_t allowed = std::max(kDefaultShared, sharedBytes[kernel]);
    if (bytes > allowed) {
        lastError = cudaErrorInvalidValue;
        return;
    }
    const std::size_t count = std::size_t{threads.x} * threads.y * threads.z;
    if (count == 0 || count > 1024 || grid.x == 0 || grid.y == 0 || grid.z == 0 ||
        grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535) {
        lastError = cudaErrorInvalidConfiguration;
        return;
    }
    scheduler().launch(grid, threads, bytes, thread);
}

cudaError_t hostSetSharedBytes(const void* kernel, int bytes) {
    if (bytes < 0 || static_cast<std::size_t>(bytes) > hostDevice().sharedLimit)
        return lastError = cudaErrorInvalidValue;
    sharedBytes[kernel] = static_cast<std::size_t>(bytes);
    return cudaSuccess;
}

void* hostSharedMemory() {
    return scheduler().shared();
}

std::size_t hostSharedBytes() {
    return scheduler().sharedBytes();
}

void hostCopyAsync(void* shared, const void* global, int bytes, const Where& where) {
    auto* const to = static_cast<unsigned char*>(shared);
    const auto offset = to - static_cast<const unsigned char*>(hostSharedMemory());
    if (offset % 16 != 0 || reinterpret_cast<std::uintptr_t>(global) % 16 != 0)
        hostMisuse("a copy from or to what is not on 16 bytes", where);
    if (offset < 0 || offset + 16 > static_cast<std::ptrdiff_t>(hostSharedBytes()))
        hostMisuse("a copy to outside the shared memory", where);
    auto& fiber = scheduler().running();
    fiber.copies.push_back({to, global, bytes, fiber.group});
}

void hostCommitCopies() {
    ++scheduler().running().group;
}

void hostWaitForCopies(int groups) {
    auto& fiber = scheduler().running();
    std::erase_if(fiber.copies, [&](const Copy& copy) {
        if (copy.group >= fiber.group - groups) return false;
        std::memset(copy.to, 0, 16);
        std::memcpy(copy.to, copy.from, static_cast<std::size_t>(copy.bytes));
        return true;
    });
}

void hostBarrier(const Where& where) {
    scheduler().barrier(where);
}

void hostWarpOperation(unsigned mask, HostLane own, const std::function<void(const HostLane*)>& run,
                       const Where& where) {
    scheduler().warpOperation(mask, own, run, where);
}

}  // namespace relascope::core::kernels

cudaError_t cudaGetLastError() {
    const cudaError_t error = relascope::core::kernels::lastError;
    relascope::core::kernels::lastError = cudaSuccess;
    return error;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
    const auto& device = relascope::core::kernels::hostDevice();
    switch (attribute) {
        case cudaDevAttrComputeCapabilityMajor:
            *value = device.computeCapability / 10;
            return cudaSuccess;
        case cudaDevAttrComputeCapabilityMinor:
            *value = device.computeCapability % 10;
            return cudaSuccess;
        case cudaDevAttrMaxSharedMemoryPerBlockOptin:
            *value = static_cast<int>(device.sharedLimit);
            return cudaSuccess;
    }
    return cudaErrorInvalidValue;
}
