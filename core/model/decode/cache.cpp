// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/decode/cache.h"

#include <c10/core/InferenceMode.h>

#include "model/graph/device_graph.h"
#include "types/error.h"

namespace relascope::core {
namespace {
thread_local DecodingCache* current = nullptr;
}

void DecodingCache::advance(std::int64_t count) {
    m_past += count;
    if (m_pastOnDevice.defined()) m_pastOnDevice.add_(count);
}

void DecodingCache::clear() {
    m_past = 0;
    if (m_pastOnDevice.defined()) m_pastOnDevice.zero_();
}

void DecodingCache::grow(std::int64_t capacity) {
    for (const auto& key : m_rooms) {
        auto& kept = m_kept.at(key);
        auto shape = kept.sizes().vec();
        shape[shape.size() - 2] = capacity;
        auto larger = torch::empty(shape, kept.options());
        larger.narrow(-2, 0, m_past).copy_(kept.narrow(-2, 0, m_past));
        kept = larger;
    }
    m_capacity = capacity;
}

const torch::Tensor& DecodingCache::pastOn(const torch::Device& device) {
    if (!m_pastOnDevice.defined() || m_pastOnDevice.device() != device) {
        const c10::InferenceMode lasting(false);  // advance() may be called outside of it
        m_pastOnDevice =
            torch::full({1}, m_past, torch::TensorOptions().dtype(torch::kLong).device(device));
    }
    return m_pastOnDevice;
}

torch::Tensor DecodingCache::tokenRows(const torch::Tensor& table, std::int64_t count) {
    if (count == 1 && (table.is_cuda() || m_pastOnDevice.defined()))
        return table.index_select(0, pastOn(table.device()));
    return table.slice(0, m_past, m_past + count);
}

torch::Tensor DecodingCache::room(const void* module, int slot, const torch::Tensor& x) {
    auto& kept = m_kept[{module, slot}];
    if (!kept.defined()) {
        auto shape = x.sizes().vec();
        shape[shape.size() - 2] = m_capacity;
        kept = torch::empty(shape, x.options());
        m_rooms.insert({module, slot});
    }
    return kept;
}

torch::Tensor DecodingCache::append(const void* module, int slot, const torch::Tensor& x) {
    if (isRecordingGraph()) throw Error("a graph cannot append to a cache where the host says");
    const auto kept = room(module, slot, x);
    const std::int64_t count = x.size(-2);
    kept.narrow(-2, m_past, count).copy_(x);
    return kept.narrow(-2, 0, m_past + count);
}

torch::Tensor DecodingCache::buffer(const void* module, int slot) const {
    const auto found = m_kept.find({module, slot});
    return found == m_kept.end() ? torch::Tensor() : found->second;
}

torch::Tensor DecodingCache::makeStatic(const void* module, int slot,
                                        const std::function<torch::Tensor()>& make) {
    auto& kept = m_kept[{module, slot}];
    if (!kept.defined()) kept = make();
    return kept;
}

DecodingCache* activeCache() {
    return current;
}

std::int64_t tokensBefore() {
    return current ? current->past() : 0;
}
CacheScope::CacheScope(DecodingCache& cache) : m_previous(current) {
    current = &cache;
}
CacheScope::~CacheScope() {
    current = m_previous;
}

}  // namespace relascope::core
