// SPDX-License-Identifier: GPL-3.0-or-later
// A machine with little memory for tensors: allocations beyond a limit fail as on a GPU.
#pragma once

#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "train/devices.h"

namespace relascope::testing_support {

/// During its lifetime tensors on the CPU count against a limit, and what is left of it is reported
/// as the free memory of the CPU. Tensors may outlive it.
class SmallMemory : public c10::Allocator {
public:
    SmallMemory()
        : m_before(c10::GetCPUAllocator()),
          m_devices({{.name = "cpu", .title = "CPU"}}, [this](const std::string&) {
              const std::uint64_t free = limit - std::min(limit.load(), s_live.load());
              return known ? core::DeviceMemory{free, limit.load()} : core::DeviceMemory{};
          }) {
        c10::SetCPUAllocator(this);
    }
    ~SmallMemory() override { c10::SetCPUAllocator(m_before); }

    c10::DataPtr allocate(std::size_t bytes) override {
        if (s_live + bytes > limit)
            TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory. Tried to allocate ",
                             bytes >> 10, ".00 KiB. GPU 0 has too little.");
        c10::DataPtr data = m_before->allocate(bytes);
        void* address = data.get();
        if (!address) return data;
        s_live += bytes;
        peak = std::max(peak.load(), s_live.load());
        const std::lock_guard lock(s_mutex);
        s_held[address] = {std::move(data), bytes};
        return {address, address, &SmallMemory::release, c10::Device(c10::DeviceType::CPU)};
    }
    c10::DeleterFnPtr raw_deleter() const override { return &SmallMemory::release; }
    void copy_data(void* to, const void* from, std::size_t count) const override {
        m_before->copy_data(to, from, count);
    }
    std::uint64_t live() const { return s_live; }

    std::atomic<std::uint64_t> limit = std::uint64_t{1} << 40;
    std::atomic<std::uint64_t> peak = 0;
    bool known = true;  ///< whether the free memory is reported

private:
    struct Held {
        c10::DataPtr data;
        std::size_t bytes = 0;
    };
    static void release(void* address) {
        Held held;  // freed after the lock
        const std::lock_guard lock(s_mutex);
        const auto found = s_held.find(address);
        if (found == s_held.end()) {  // allocated before the scope
            if (address) c10::GetDefaultCPUAllocator()->raw_deallocate(address);
            return;
        }
        held = std::move(found->second);
        s_held.erase(found);
        s_live -= held.bytes;
    }

    inline static std::mutex s_mutex;
    inline static std::unordered_map<void*, Held> s_held;
    inline static std::atomic<std::uint64_t> s_live = 0;
    c10::Allocator* m_before;
    core::FakeDevicesScope m_devices;
};

}  // namespace relascope::testing_support
