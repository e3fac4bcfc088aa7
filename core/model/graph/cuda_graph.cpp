// SPDX-License-Identifier: GPL-3.0-or-later
// librelascope_cuda_graphs.so: CUDA graphs and philox states by LibTorch's CUDA library.
#include <ATen/Context.h>
#include <ATen/core/CachingHostAllocator.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/core/InferenceMode.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/version.h>

#include <cstring>

#include "model/graph/device_graph.h"

namespace relascope::core {
namespace {

at::Generator generatorOf(c10::DeviceIndex device) {
    return at::globalContext().defaultGenerator(torch::Device(torch::kCUDA, device));
}

class CudaGraph : public DeviceGraph {
public:
    explicit CudaGraph(c10::DeviceIndex device)
        : m_device(device), m_stream(c10::cuda::getStreamFromPool(false, device)) {}
    ~CudaGraph() override {
        // The kernels of a replay may still read what the graph holds.
        if (m_recorded) try {
                c10::cuda::getCurrentCUDAStream(m_device).synchronize();
            } catch (const std::exception&) {  // the device has failed
            }
    }

    void rehearse(const std::function<void()>& work) override { apart(work); }

    void replay() override { m_graph.replay(); }

protected:
    void recordWork(const std::function<void()>& work) override {
        apart([&] {
            m_stream.synchronize();
            // A graph has memory of its own and can take none of what the steps before have left
            // in the allocator, which releases nothing while work is recorded.
            c10::cuda::CUDACachingAllocator::emptyCache();
            const auto generator = generatorOf(m_device);
            const auto seed = generator.current_seed(), offset = generator.get_offset();
            const auto pool = at::cuda::graph_pool_handle();
            std::exception_ptr failure;
            try {
                beginRecording(pool);
                work();
            } catch (...) {
                failure = std::current_exception();
            }
            try {
                m_graph.capture_end();  // also of what was recorded in part and is of no use
            } catch (...) {
                if (!failure) failure = std::current_exception();
                endRecording(pool, seed, offset);
            }
            if (failure) std::rethrow_exception(failure);
        });
        m_recorded = true;
    }

private:
    /// Runs `work` on the stream of the recording, as CUDA records no default stream. That stream
    /// waits for the work queued on the current stream, which then waits for it.
    void apart(const std::function<void()>& work) {
        const auto current = c10::cuda::getCurrentCUDAStream(m_device);
        const auto follow = [this](const c10::cuda::CUDAStream& first,
                                   const c10::cuda::CUDAStream& second) {
            c10::Event event(c10::DeviceType::CUDA);
            event.record(first.unwrap());
            event.block(second.unwrap());
        };
        follow(current, m_stream);
        {
            const c10::cuda::CUDAStreamGuard guard(m_stream);
            work();
        }
        follow(m_stream, current);
    }

    void beginRecording(const c10::MempoolId_t& pool) {
        // The generator's tensors last longer than this graph, which inference may record.
        const c10::InferenceMode lasting(false);
        // Other threads prepare batches and may allocate memory meanwhile.
        m_graph.capture_begin(pool, cudaStreamCaptureModeThreadLocal);
    }

    /// Where CUDA has ended a recording by itself, capture_end() throws before it has told
    /// LibTorch's allocators and generator, which would continue to record.
    void endRecording(const c10::MempoolId_t& pool, std::uint64_t seed, std::uint64_t offset) {
        const auto attempt = [](const auto& call) {
            try {
                call();
                return true;
            } catch (const std::exception&) {  // capture_end() had come as far
                return false;
            }
        };
        namespace allocator = c10::cuda::CUDACachingAllocator;
        if (attempt([&] { allocator::endAllocateToPool(m_device, pool); }))
            attempt([&] { allocator::releasePool(m_device, pool); });
        auto* pinned = at::getHostAllocator(at::kCUDA);
        if (attempt([&] { pinned->end_allocate_to_pool(pool); }))
            attempt([&] { pinned->release_pool(pool); });
        attempt([&] {
            auto fresh = at::cuda::detail::createCUDAGenerator(m_device);
            fresh.set_current_seed(seed);
            fresh.set_offset(offset);
            auto generator = generatorOf(m_device);
            const std::lock_guard lock(generator.mutex());
            generator.graphsafe_set_state(fresh);
        });
    }

    c10::DeviceIndex m_device;
    c10::cuda::CUDAStream m_stream;
    at::cuda::CUDAGraph m_graph;
    bool m_recorded = false;
};

DeviceGraph* makeGraph(int device) {
    return new CudaGraph(static_cast<c10::DeviceIndex>(device));
}

kernels::Philox drawPhilox(int device, std::uint64_t numbers) {
    auto generator = generatorOf(static_cast<c10::DeviceIndex>(device));
    const std::lock_guard lock(generator.mutex());
    const auto state =
        at::check_generator<at::CUDAGeneratorImpl>(generator)->philox_cuda_state(numbers);
    kernels::Philox drawn;
    drawn.captured = state.captured_;
    if (state.captured_) {
        drawn.seed = state.seed_.ptr;
        drawn.offset = state.offset_.ptr;
        drawn.within = state.offset_intragraph_;
    } else {
        drawn.seedValue = state.seed_.val;
        drawn.offsetValue = state.offset_.val;
    }
    return drawn;
}

constexpr GraphTable kTable{sizeof(GraphTable), makeGraph, drawPhilox};

}  // namespace
}  // namespace relascope::core

extern "C" __attribute__((visibility("default"))) const relascope::core::GraphTable*
relascope_cuda_graphs(int version, const char* torch) {
    const bool fits =
        version == relascope::core::kGraphLibraryVersion && std::strcmp(torch, TORCH_VERSION) == 0;
    return fits ? &relascope::core::kTable : nullptr;
}
