// SPDX-License-Identifier: GPL-3.0-or-later
// The cache of keys and values for decoding, so that a further token costs one row.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace relascope::core {

/// Keys, values and projected symbols of every attention module, one row for each token
/// (performance.md 3.1). While a CacheScope is open on this thread, x holds the tokens after
/// `past()`; the modules store their projections here and attend to all of them. The context of
/// cross-attention is projected once.
class DecodingCache {
public:
    /// A cache with room for `capacity` tokens.
    explicit DecodingCache(std::int64_t capacity) : m_capacity(capacity) {}

    std::int64_t capacity() const { return m_capacity; }
    /// The number of tokens read so far, which is the position of the first new one.
    std::int64_t past() const { return m_past; }
    /// Advances past() by `count` tokens.
    void advance(std::int64_t count);
    /// Counts a token on the host alone: a graph that contains advance(1) was repeated.
    void countOne() { ++m_past; }
    /// Sets the host's count back to its value before a graph was recorded.
    void setCount(std::int64_t past) { m_past = past; }
    /// Removes all tokens but keeps the memory.
    void clear();
    /// Makes room for `capacity` tokens; tokens read so far are kept.
    void grow(std::int64_t capacity);
    /// past() as an int64 tensor [1] in a device's memory, always the same one: for kernels that
    /// read it there. Steps of one token then need nothing of the host's, so that they can be
    /// captured as a CUDA graph (advance() adds to it).
    const torch::Tensor& pastOn(const torch::Device& device);
    /// Rows past() .. past() + count - 1 of a table [capacity() or more, w].
    torch::Tensor tokenRows(const torch::Tensor& table, std::int64_t count);

    /// Appends x [..., m, w] (rows along dimension -2) to a `slot` of a module and returns all of
    /// its rows: [..., past() + m, w]. Throws Error while a graph is recorded, which could not
    /// repeat it elsewhere.
    torch::Tensor append(const void* module, int slot, const torch::Tensor& x);
    /// The rows that a module attends to: for self-attention (`own`) the `project`ed rows of new
    /// tokens are appended to the cached ones, for cross-attention they are computed once.
    torch::Tensor appendOrStatic(const void* module, int slot, bool own,
                                 const std::function<torch::Tensor()>& project) {
        return own ? append(module, slot, project()) : makeStatic(module, slot, project);
    }
    /// The whole buffer of a slot for rows like x [..., m, w], which is made where there is none:
    /// [..., capacity(), w]. For kernels that append.
    torch::Tensor room(const void* module, int slot, const torch::Tensor& x);
    /// The whole buffer of a module's slot, [..., capacity(), w], or an undefined tensor.
    torch::Tensor buffer(const void* module, int slot) const;
    /// A value that does not depend on the tokens, computed once.
    torch::Tensor makeStatic(const void* module, int slot,
                             const std::function<torch::Tensor()>& make);

private:
    std::int64_t m_capacity, m_past = 0;
    torch::Tensor m_pastOnDevice;
    std::map<std::pair<const void*, int>, torch::Tensor> m_kept;
    std::set<std::pair<const void*, int>> m_rooms;  // keys of m_kept that hold rows of tokens
};

/// The current cache of this thread, or nullptr.
DecodingCache* activeCache();
/// The position of the first token of this pass: past() of the current cache, else 0.
std::int64_t tokensBefore();

/// Makes `cache` current on this thread in its scope.
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
