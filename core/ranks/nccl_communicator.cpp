// SPDX-License-Identifier: GPL-3.0-or-later
#include "ranks/communicator.h"

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>

#include <array>
#include <cstring>
#include <thread>

namespace relascope::core {
namespace {

// NCCL's C interface (nccl.h of version 2), which is stable within a major version.
struct NcclId {
    std::array<char, 128> internal;
};
using NcclComm = void*;
using NcclStream = void*;  // cudaStream_t
constexpr int kNcclSuccess = 0, kNcclInProgress = 7, kNcclSum = 0;

struct NcclFunctions {
    int (*getVersion)(int*) = nullptr;
    int (*getUniqueId)(NcclId*) = nullptr;
    int (*commInitRank)(NcclComm*, int, NcclId, int) = nullptr;
    int (*commDestroy)(NcclComm) = nullptr;
    int (*commAbort)(NcclComm) = nullptr;
    int (*commGetAsyncError)(NcclComm, int*) = nullptr;
    const char* (*getErrorString)(int) = nullptr;
    int (*allReduce)(const void*, void*, std::size_t, int, int, NcclComm, NcclStream) = nullptr;
    int (*broadcast)(const void*, void*, std::size_t, int, int, NcclComm, NcclStream) = nullptr;
    int (*allGather)(const void*, void*, std::size_t, int, NcclComm, NcclStream) = nullptr;
    /// cudaStream_t c10::cuda::CUDAStream::stream() const; the class holds a c10::Stream alone.
    NcclStream (*rawStream)(const c10::Stream*) = nullptr;
    std::string problem;
    int version = 0;
};

template <class Function>
void find(void* library, const char* name, Function& function, std::string& problem) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (!function && problem.empty()) problem.append("it has no ").append(name);
}

NcclFunctions openNccl() {
    NcclFunctions f;
    // RTLD_DEFAULT after LibTorch's CUDA library, which needs it, else by its name.
    void* library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        const char* why = dlerror();
        f.problem = why ? why : "libnccl.so.2 cannot be opened";
        return f;
    }
    find(library, "ncclGetVersion", f.getVersion, f.problem);
    find(library, "ncclGetUniqueId", f.getUniqueId, f.problem);
    find(library, "ncclCommInitRank", f.commInitRank, f.problem);
    find(library, "ncclCommDestroy", f.commDestroy, f.problem);
    find(library, "ncclCommAbort", f.commAbort, f.problem);
    find(library, "ncclCommGetAsyncError", f.commGetAsyncError, f.problem);
    find(library, "ncclGetErrorString", f.getErrorString, f.problem);
    find(library, "ncclAllReduce", f.allReduce, f.problem);
    find(library, "ncclBroadcast", f.broadcast, f.problem);
    find(library, "ncclAllGather", f.allGather, f.problem);
    if (f.problem.empty() && f.getVersion(&f.version) != kNcclSuccess)
        f.problem = "it does not say its version";
    if (f.problem.empty() && f.version / 10000 != 2)
        f.problem = "version " + std::to_string(f.version) + " is not 2";
    if (void* cuda = dlopen("libc10_cuda.so", RTLD_NOW | RTLD_NOLOAD)) {
        find(cuda, "_ZNK3c104cuda10CUDAStream6streamEv", f.rawStream, f.problem);
        dlclose(cuda);
    } else if (f.problem.empty()) {
        f.problem = "LibTorch's CUDA library is not loaded";
    }
    return f;
}

const NcclFunctions& nccl() {
    static const NcclFunctions functions = openNccl();
    return functions;
}

void require(int result, const char* what) {
    if (result == kNcclSuccess || result == kNcclInProgress) return;
    throw RankLost(std::string(what) + ": " + nccl().getErrorString(result));
}

int typeOf(const torch::Tensor& tensor) {
    switch (tensor.scalar_type()) {  // ncclDataType_t
        case torch::kInt8:
            return 0;
        case torch::kUInt8:
        case torch::kBool:
            return 1;
        case torch::kInt:
            return 2;
        case torch::kLong:
            return 4;
        case torch::kHalf:
            return 6;
        case torch::kFloat:
            return 7;
        case torch::kDouble:
            return 8;
        case torch::kBFloat16:
            return 9;
        default:
            throw Error("ranks cannot exchange numbers of the type " +
                        std::string(torch::toString(tensor.scalar_type())));
    }
}

class NcclCommunicator : public Communicator {
public:
    NcclCommunicator(Communicator& host, const std::string& device, std::chrono::seconds timeout,
                     LossWatch watch)
        : Communicator(host.rank(), host.size()),
          m_device(device),
          m_guard(m_device.type()),
          m_stream(m_guard.getStreamFromGlobalPool(m_device, /*isHighPriority=*/true)),
          m_timeout(timeout),
          m_watch(std::move(watch)) {
        auto bytes = torch::zeros({static_cast<std::int64_t>(sizeof(NcclId))}, torch::kUInt8);
        if (rank() == 0) {
            NcclId id{};
            require(nccl().getUniqueId(&id), "NCCL");
            std::memcpy(bytes.mutable_data_ptr(), id.internal.data(), sizeof id);
        }
        host.broadcast(bytes, 0);
        NcclId id{};
        std::memcpy(id.internal.data(), bytes.const_data_ptr(), sizeof id);
        const c10::DeviceGuard guard(m_device);
        require(nccl().commInitRank(&m_comm, size(), id, rank()), "NCCL");
    }
    ~NcclCommunicator() override {
        if (m_comm) m_failed ? nccl().commAbort(m_comm) : nccl().commDestroy(m_comm);
    }

    std::unique_ptr<Pending> allReduce(torch::Tensor flat) override {
        return start(flat, "all-reduce", [&](NcclStream stream) {
            return nccl().allReduce(flat.const_data_ptr(), flat.mutable_data_ptr(), count(flat),
                                    typeOf(flat), kNcclSum, m_comm, stream);
        });
    }
    void broadcast(torch::Tensor flat, int root) override {
        start(flat, "broadcast", [&](NcclStream stream) {
            return nccl().broadcast(flat.const_data_ptr(), flat.mutable_data_ptr(), count(flat),
                                    typeOf(flat), root, m_comm, stream);
        })->wait();
    }
    void allGather(torch::Tensor all, torch::Tensor own) override {
        start(all, "all-gather", [&](NcclStream stream) {
            return nccl().allGather(own.const_data_ptr(), all.mutable_data_ptr(), count(own),
                                    typeOf(own), m_comm, stream);
        })->wait();
    }

private:
    class StartedWork : public Pending {
    public:
        StartedWork(NcclCommunicator& ranks, torch::Tensor tensor)
            : m_ranks(ranks), m_tensor(std::move(tensor)), m_done(ranks.m_device.type()) {
            m_done.record(m_ranks.m_stream);
        }
        void wait() override {
            m_ranks.waitFor(m_done);
            m_done.block(m_ranks.m_guard.getStream(m_ranks.m_device));
        }

    private:
        NcclCommunicator& m_ranks;
        torch::Tensor m_tensor;
        c10::Event m_done;
    };

    static std::size_t count(const torch::Tensor& tensor) {
        return static_cast<std::size_t>(tensor.numel());
    }

    template <class Call>
    std::unique_ptr<Pending> start(const torch::Tensor& tensor, const char* what, Call call) {
        const c10::DeviceGuard guard(m_device);
        c10::Event ready(m_device.type());  // marks the work queued on the current stream so far
        ready.record(m_guard.getStream(m_device));
        ready.block(m_stream);
        require(call(nccl().rawStream(&m_stream)), what);
        return std::make_unique<StartedWork>(*this, tensor);
    }

    // A GPU waits for ever for a rank that is gone, so the host looks after it.
    void waitFor(const c10::Event& done) {
        const auto begin = std::chrono::steady_clock::now();
        auto looked = begin;
        while (!done.query()) {
            const auto now = std::chrono::steady_clock::now();
            if (now - looked > std::chrono::milliseconds(200)) {
                looked = now;
                std::string problem;
                int error = kNcclSuccess;
                nccl().commGetAsyncError(m_comm, &error);
                if (error != kNcclSuccess && error != kNcclInProgress)
                    problem = nccl().getErrorString(error);
                if (problem.empty() && m_watch) problem = m_watch();
                if (problem.empty() && now - begin > m_timeout)
                    problem = "no answer within " + std::to_string(m_timeout.count()) + " s";
                if (!problem.empty()) abort(problem);
            }
            if (now - begin > std::chrono::milliseconds(2))
                std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
    }

    [[noreturn]] void abort(const std::string& problem) {
        m_failed = true;
        nccl().commAbort(std::exchange(m_comm, nullptr));
        throw RankLost(problem);
    }

    torch::Device m_device;
    c10::impl::VirtualGuardImpl m_guard;
    c10::Stream m_stream;
    std::chrono::seconds m_timeout;
    LossWatch m_watch;
    NcclComm m_comm = nullptr;
    bool m_failed = false;
};

}  // namespace

std::unique_ptr<Communicator> makeNcclCommunicator(Communicator& host, const std::string& device,
                                                   std::chrono::seconds timeout, LossWatch watch) {
    if (!nccl().problem.empty())
        throw OptionError("--devices", "several GPUs need NCCL, which cannot be used: " +
                                           nccl().problem + "; train on one GPU");
    return std::make_unique<NcclCommunicator>(host, device, timeout, std::move(watch));
}

}  // namespace relascope::core
