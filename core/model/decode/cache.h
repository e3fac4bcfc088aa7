// SPDX-License-Identifier: GPL-3.0-or-later
// What a model remembers of the tokens it has read, so that the next one costs one row.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace relascope::core {

/// Keys, values and projected symbols of every module of heads, one row a token (performance.md
/// 3.1). While a CacheScope is open on this thread, the modules take x for the tokens after
/// `past()`, keep their projections here and attend to all of them; what a decoder looks at beyond
/// its own tokens is projected once.
class DecodingCache {
public:
    /// Room for `capacity` tokens.
    explicit DecodingCache(std::int64_t capacity) : m_capacity(capacity) {}

    std::int64_t capacity() const { return m_capacity; }
    /// How many tokens have been read: the position of the first new one.
    std::int64_t past() const { return m_past; }
    /// The model has read `count` tokens more.
    void advance(std::int64_t count) { m_past += count; }
    /// Forgets all tokens; keeps the memory.
    void clear() { m_past = 0; }

    /// Puts x [..., m, w] (rows along dimension -2) of a module's `slot` behind those kept and
    /// gives them all: [..., past() + m, w].
    torch::Tensor append(const void* module, int slot, const torch::Tensor& x);
    /// What a module of heads attends to: `project`ed rows of the new tokens behind those kept
    /// (`own`), or of another sequence, which stays.
    torch::Tensor appendOrStatic(const void* module, int slot, bool own,
                                 const std::function<torch::Tensor()>& project) {
        return own ? append(module, slot, project()) : makeStatic(module, slot, project);
    }
    /// The whole buffer of a module's slot, [..., capacity(), w], or an undefined tensor.
    torch::Tensor buffer(const void* module, int slot) const;
    /// What does not depend on the tokens, made once.
    torch::Tensor makeStatic(const void* module, int slot,
                             const std::function<torch::Tensor()>& make);

private:
    std::int64_t m_capacity, m_past = 0;
    std::map<std::pair<const void*, int>, torch::Tensor> m_kept;
};

/// The cache in force on this thread, or nullptr.
DecodingCache* activeCache();

/// Makes `cache` active on this thread for the scope's life.
class CacheScope {
public:
    explicit CacheScope(DecodingCache& cache);
    ~CacheScope();
    CacheScope(const CacheScope&) = delete;
    CacheScope& operator=(const CacheScope&) = delete;

private:
    DecodingCache* m_previous;
};

}  // namespace relascope::core
