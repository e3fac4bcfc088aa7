// SPDX-License-Identifier: GPL-3.0-or-later
#include "support/host_gpu.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <optional>

#include "train/find_cuda.h"

namespace relascope::testing_support {
namespace {

using c10::DeviceType;
using torch::jit::Stack;

constexpr DeviceType kType = DeviceType::CUDA;

std::atomic<std::int64_t> s_operations = 0, s_reads = 0, s_uploads = 0;

constexpr std::int64_t kSeed = 20;
std::atomic<std::int64_t> s_offset = 0;  // offset of the random numbers, as in a generator of CUDA

bool onGpu(const at::Tensor& t) {
    return t.defined() && t.device().type() == kType;
}

enum class Memory { Held, Borrowed };

/// A tensor of a device with the memory of another tensor.
at::Tensor sameMemory(const at::Tensor& t, const c10::Device& device,
                      Memory memory = Memory::Held) {
    std::optional<c10::Storage> held;
    if (memory == Memory::Held) held = t.storage();
    c10::Storage storage(c10::Storage::use_byte_size_t(), t.storage().nbytes(),
                         c10::InefficientStdFunctionContext::makeDataPtr(
                             t.storage().mutable_data(), [held](void*) {}, device),
                         c10::GetAllocator(c10::kCPU), /*resizable=*/true);
    auto same = at::detail::make_tensor<c10::TensorImpl>(
        std::move(storage), t.options().device(device).computeDispatchKey(), t.dtype());
    same.unsafeGetTensorImpl()->set_sizes_and_strides(t.sizes(), t.strides(), t.storage_offset());
    same._set_conj(t.is_conj());
    same._set_neg(t.is_neg());
    return same;
}

}  // namespace

struct HostGpuGraph::Recording {
    std::vector<std::function<void()>> steps;
    /// The content of memory before it was written, as a recording computes nothing.
    std::map<void*, std::string> before;
    std::map<const void*, at::Tensor> own;  ///< memory that the recording made
    /// Memory that the graph uses but does not own.
    std::vector<c10::weak_intrusive_ptr<c10::StorageImpl>> foreign;

    std::int64_t seed = kSeed, offset = 0, numbers = 0;  ///< of the random numbers of the graph

    bool owns(const at::Tensor& t) const { return own.contains(t.storage().data()); }
    at::Tensor hostView(const at::Tensor& t) {
        if (owns(t) || t.storage().nbytes() == 0) return sameMemory(t, at::kCPU);
        foreign.push_back(t.storage().getWeakStorageImpl());
        return sameMemory(t, at::kCPU, Memory::Borrowed);
    }
    void keepContents(const at::Tensor& t) {
        if (!onGpu(t) || t.numel() == 0 || owns(t)) return;
        void* place = t.storage().mutable_data();
        before.try_emplace(place, static_cast<const char*>(place), t.storage().nbytes());
    }
};

namespace {

std::atomic<HostGpuGraph::Recording*> s_recording = nullptr;

at::Tensor hostView(const at::Tensor& t) {
    if (!onGpu(t)) return t;
    auto* recording = s_recording.load();
    return recording ? recording->hostView(t) : sameMemory(t, at::kCPU);
}

/// The arguments of an operation: as given, and as tensors of the CPU.
struct Arguments {
    std::vector<std::pair<at::Tensor, at::Tensor>> pairs;

    at::Tensor toHost(const at::Tensor& t) {
        if (!t.defined()) return t;
        pairs.emplace_back(t, hostView(t));
        return pairs.back().second;
    }
    c10::IValue toHost(const c10::IValue& value) {
        if (value.isTensor()) return toHost(value.toTensor());
        if (value.isTensorList()) {
            c10::List<at::Tensor> list;
            for (const at::Tensor& t : value.toTensorVector()) list.push_back(toHost(t));
            return list;
        }
        if (value.isList() && value.toList().elementType()->kind() == c10::TypeKind::OptionalType) {
            auto list = value.toList().copy();
            for (std::size_t i = 0; i < list.size(); ++i) list.set(i, toHost(list.get(i)));
            return list;
        }
        if (value.isDevice()) return at::Device(at::kCPU);
        return value;
    }
    /// Whether a tensor of the CPU that is more than a number meets one of the device.
    bool mixed() const {
        const auto any = [&](auto matches) {
            return std::any_of(pairs.begin(), pairs.end(),
                               [&](const auto& pair) { return matches(pair.first); });
        };
        return any(onGpu) && any([](const at::Tensor& t) { return !onGpu(t) && t.dim() > 0; });
    }
    /// An output whose size the operation has set.
    static at::Tensor resized(const at::Tensor& given, const at::Tensor& host) {
        if (given.sizes() == host.sizes() || !onGpu(given)) return given;
        if (auto* recording = s_recording.load())
            recording->own.emplace(host.storage().data(), host);
        auto* to = given.unsafeGetTensorImpl();
        to->set_storage_keep_dtype(sameMemory(host, hostGpu()).storage());
        to->set_sizes_and_strides(host.sizes(), host.strides(), host.storage_offset());
        return given;
    }
    at::Tensor toGpu(const at::Tensor& t) const {
        if (!t.defined()) return t;
        for (const auto& [given, host] : pairs)
            if (host.unsafeGetTensorImpl() == t.unsafeGetTensorImpl()) return resized(given, host);
        for (const auto& [given, host] : pairs) {
            if (!onGpu(given) || !shares(t, host)) continue;
            // A view, in inference mode of a tensor that may not be of it.
            auto view = at::detail::make_tensor<c10::TensorImpl>(
                c10::TensorImpl::VIEW, c10::Storage(given.storage()), given.key_set(), t.dtype());
            view.unsafeGetTensorImpl()->set_sizes_and_strides(t.sizes(), t.strides(),
                                                              t.storage_offset());
            view._set_conj(t.is_conj());
            view._set_neg(t.is_neg());
            return view;
        }
        return sameMemory(t, hostGpu());
    }
    bool madeAnew(const at::Tensor& t) const {
        return t.defined() && t.numel() > 0 &&
               std::none_of(pairs.begin(), pairs.end(),
                            [&](const auto& pair) { return shares(t, pair.second); });
    }
    static bool shares(const at::Tensor& a, const at::Tensor& b) {
        return a.storage().data() && a.storage().data() == b.storage().data();
    }
};

void runOnHost(const c10::OperatorHandle& op, c10::DispatchKeySet, Stack* stack) {
    ++s_operations;
    const auto& schema = op.schema();
    const auto count = schema.arguments().size();
    const Stack given(stack->end() - static_cast<std::ptrdiff_t>(count), stack->end());
    stack->resize(stack->size() - count);
    Arguments arguments;
    Stack host;
    for (const auto& value : given) host.push_back(arguments.toHost(value));
    TORCH_CHECK(!arguments.mixed(), "expected all tensors to be on the same device in ",
                schema.name());
    auto* recording = s_recording.load();
    for (std::size_t i = 0; recording && i < count; ++i) {
        const auto* alias = schema.arguments()[i].alias_info();
        if (!alias || !alias->isWrite()) continue;
        if (given[i].isTensor()) recording->keepContents(given[i].toTensor());
        if (given[i].isTensorList())
            for (const at::Tensor& t : given[i].toTensorVector()) recording->keepContents(t);
    }
    Stack results = host;
    {
        const at::AutoDispatchBelowADInplaceOrView below;
        op.callBoxed(results);
    }
    // The tensors that the operation made: the index of the result, the index within a list of
    // tensors, and where it is kept.
    std::vector<std::tuple<std::size_t, std::size_t, at::Tensor>> made;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const auto moved = [&](const at::Tensor& t, std::size_t place) {
            if (arguments.madeAnew(t)) made.emplace_back(i, place, t);
            return arguments.toGpu(t);
        };
        if (results[i].isTensor()) {
            stack->emplace_back(moved(results[i].toTensor(), 0));
        } else if (results[i].isTensorList()) {
            c10::List<at::Tensor> list;
            for (const at::Tensor& t : results[i].toTensorVector())
                list.push_back(moved(t, list.size()));
            stack->emplace_back(std::move(list));
        } else {
            stack->push_back(results[i]);
        }
    }
    if (!recording) return;
    for (const auto& [result, place, t] : made) recording->own.emplace(t.storage().data(), t);
    recording->steps.push_back([op, host, made] {
        Stack again = host;
        op.callBoxed(again);
        for (const auto& [result, place, kept] : made) {
            const auto& value = again[result];
            kept.copy_(value.isTensor() ? value.toTensor() : value.toTensorVector()[place]);
        }
    });
}

at::Tensor& copyInto(at::Tensor& target, const at::Tensor& source, bool) {
    const bool toHost = !onGpu(target), fromHost = !onGpu(source);
    s_reads += toHost, s_uploads += fromHost, ++s_operations;
    auto* recording = s_recording.load();
    TORCH_CHECK(!recording || (!toHost && !fromHost), "operation not permitted when stream is ",
                "capturing: a copy ", toHost ? "to" : "from", " the host");
    if (recording) {
        recording->keepContents(target);
        recording->steps.push_back(
            [to = hostView(target), from = hostView(source)] { to.copy_(from); });
    }
    hostView(target).copy_(hostView(source));
    return target;
}

at::Scalar readNumber(const at::Tensor& self) {
    ++s_reads;
    TORCH_CHECK(!s_recording, "operation not permitted when stream is capturing: a number is read");
    return hostView(self).item();
}

core::kernels::Philox drawNumbers(int, std::uint64_t numbers) {
    core::kernels::Philox state;
    const auto count = static_cast<std::int64_t>(numbers);
    if (auto* recording = s_recording.load()) {
        state.captured = true;
        state.seed = &recording->seed, state.offset = &recording->offset;
        state.within = static_cast<std::uint64_t>(recording->numbers);
        recording->numbers += count;
    } else {
        state.seedValue = kSeed;
        state.offsetValue = static_cast<std::uint64_t>(s_offset.fetch_add(count));
    }
    return state;
}

std::int64_t chooseAttention(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                             const std::optional<at::Tensor>&, double, bool, std::optional<double>,
                             bool) {
    return 0;  // by matrix products: the other ways have kernels for CUDA only
}

struct Guard : c10::impl::DeviceGuardImplInterface {
    DeviceType type() const override { return kType; }
    c10::Device exchangeDevice(c10::Device) const override { return getDevice(); }
    c10::Device getDevice() const override { return {kType, 0}; }
    void setDevice(c10::Device) const override {}
    void uncheckedSetDevice(c10::Device) const noexcept override {}
    c10::Stream getStream(c10::Device device) const override {
        return c10::Stream(c10::Stream::DEFAULT, device);
    }
    c10::Stream getNewStream(c10::Device device, int) const override { return getStream(device); }
    c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override {
        return getStream(device);
    }
    c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
    void* getStreamNativeHandle(const c10::Stream) const override { return nullptr; }
    c10::DeviceIndex deviceCount() const noexcept override { return 1; }
    // Work is done as soon as it is requested.
    void record(void**, const c10::Stream&, c10::DeviceIndex, c10::EventFlag) const override {}
    void block(void*, const c10::Stream&) const override {}
    bool queryEvent(void*) const override { return true; }
    bool queryStream(const c10::Stream&) const override { return true; }
    void synchronizeStream(const c10::Stream&) const override {}
    void synchronizeEvent(void*) const override {}
    void synchronizeDevice(c10::DeviceIndex) const override {}
    void destroyEvent(void*, c10::DeviceIndex) const noexcept override {}
};

struct Hooks : at::CUDAHooksInterface {
    void init() const override {}
    bool hasCUDA() const override { return true; }
    bool isBuilt() const override { return true; }
    bool isAvailable() const override { return true; }
    bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
    const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override {
        return at::detail::getDefaultCPUGenerator();
    }
    c10::DeviceIndex getCurrentDevice() const override { return 0; }
    c10::Allocator* getPinnedMemoryAllocator() const override {
        return c10::GetAllocator(c10::kCPU);
    }
    bool isPinnedPtr(const void*) const override { return false; }
    at::Device getDeviceFromPtr(void*) const override { return {kType, 0}; }
};

// Before main, as LibTorch's own library does: the threads of the backward pass are made for the
// devices that are known when it first runs.
const bool s_registered = [] {
    if (core::openTorchCuda().empty()) return false;
    at::CUDAHooksRegistry()->Register(
        "CUDAHooks", [](at::CUDAHooksArgs) -> std::unique_ptr<at::CUDAHooksInterface> {
            return std::make_unique<Hooks>();
        });
    static Guard guard;
    c10::impl::device_guard_impl_registry[static_cast<std::size_t>(kType)] = &guard;
    static torch::Library all(torch::Library::IMPL, "_", c10::DispatchKey::CUDA, __FILE__,
                              __LINE__);
    all.fallback(torch::CppFunction::makeFromBoxedFunction<&runOnHost>());
    static torch::Library aten(torch::Library::IMPL, "aten", c10::DispatchKey::CUDA, __FILE__,
                               __LINE__);
    aten.impl("copy_", &copyInto);
    aten.impl("_local_scalar_dense", &readNumber);
    aten.impl("_fused_sdp_choice", &chooseAttention);
    return true;
}();

}  // namespace

bool hostGpuServes() {
    return s_registered;
}

torch::Device hostGpu() {
    return {kType, 0};
}

HostGpuCounts hostGpuCounts() {
    return {s_operations, s_reads, s_uploads};
}

HostGpuGraph::HostGpuGraph() = default;
HostGpuGraph::~HostGpuGraph() = default;

void HostGpuGraph::recordWork(const std::function<void()>& work) {
    m_recording = std::make_unique<Recording>();
    auto generator = at::detail::getDefaultCPUGenerator();
    const auto state = generator.get_state();
    s_recording = m_recording.get();
    const auto end = [&] {
        s_recording = nullptr;
        generator.set_state(state);
        for (const auto& [place, was] : m_recording->before)
            std::copy(was.begin(), was.end(), static_cast<char*>(place));
        m_recording->before.clear();
    };
    try {
        work();
    } catch (...) {
        end();
        throw;
    }
    end();
    // For callers that take results without a replay.
    for (auto& [place, t] : m_recording->own)
        if (t.is_floating_point()) t.fill_(std::numeric_limits<double>::quiet_NaN());
}

void HostGpuGraph::replay() {
    TORCH_CHECK(std::none_of(m_recording->foreign.begin(), m_recording->foreign.end(),
                             [](const auto& memory) { return memory.expired(); }),
                "the graph reads memory that was released after it was recorded");
    const at::AutoDispatchBelowADInplaceOrView below;
    m_recording->offset = s_offset.fetch_add(m_recording->numbers);
    for (const auto& step : m_recording->steps) step();
}

int launchOnHostGpu(const std::function<int()>& launch) {
    ++s_operations;
    if (auto* recording = s_recording.load()) recording->steps.emplace_back(launch);
    return launch();
}

const core::GraphTable& hostGpuGraphs() {
    static constexpr core::GraphTable table{
        sizeof(core::GraphTable), [](int) -> core::DeviceGraph* { return new HostGpuGraph; },
        drawNumbers};
    return table;
}

const core::GraphTable& hostGpuNumbers() {
    static constexpr core::GraphTable table{
        sizeof(core::GraphTable), [](int) -> core::DeviceGraph* { return nullptr; }, drawNumbers};
    return table;
}

void restartHostGpuNumbers() {
    s_offset = 0;
}

}  // namespace relascope::testing_support
