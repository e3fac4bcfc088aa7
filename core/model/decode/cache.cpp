// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/decode/cache.h"

namespace relascope::core {
namespace {
thread_local DecodingCache* current = nullptr;
}

torch::Tensor DecodingCache::append(const void* module, int slot, const torch::Tensor& x) {
    auto& kept = m_kept[{module, slot}];
    const std::int64_t count = x.size(-2);
    if (!kept.defined()) {
        auto shape = x.sizes().vec();
        shape[shape.size() - 2] = m_capacity;
        kept = torch::empty(shape, x.options());
    }
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
CacheScope::CacheScope(DecodingCache& cache) : m_previous(current) {
    current = &cache;
}
CacheScope::~CacheScope() {
    current = m_previous;
}

}  // namespace relascope::core
