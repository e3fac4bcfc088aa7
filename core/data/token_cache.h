// SPDX-License-Identifier: GPL-3.0-or-later
// Token ids of texts, kept between runs under $XDG_CACHE_HOME/relascope. A missing, damaged or
// unwritable cache costs time but is never an error.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>

#include "data/token_file.h"

namespace relascope::core {

/// Small facts by name (hexadecimal), such as the content behind a signature.
std::optional<nlohmann::json> readCachedFact(const std::string& key);
void writeCachedFact(const std::string& key, const nlohmann::json& fact);

/// Token ids with further facts.
struct CachedTokens {
    TokenPart tokens;
    std::string facts;  ///< JSON
};

/// The entry of that key, after a check of its checksum; nothing if it is missing, damaged or of
/// another version. `tick` is called regularly with the fraction done and may throw.
std::optional<CachedTokens> openCachedTokens(const std::string& key,
                                             const std::function<void(double)>& tick);

/// Writes ids in order.
class TokenWriter {
public:
    using Output = std::function<void(const void*, std::size_t)>;
    TokenWriter(int width, Output output);
    void put(std::span<const std::int32_t> ids);
    /// Writes the buffered ids, the facts and the end mark.
    void finish(const std::string& facts);

private:
    void flush();
    void write(const void* data, std::size_t bytes);

    int m_width;
    Output m_output;
    std::vector<std::uint8_t> m_held;
    std::uint64_t m_count = 0;
    std::uint32_t m_crc = 0;
};

/// Calls `fill` to write the tokens into the entry of that key; it returns the facts. If the cache
/// cannot store them, `fill` is called again for an unnamed file in $TMPDIR, then for memory.
CachedTokens makeCachedTokens(const std::string& key, int width,
                              const std::function<std::string(TokenWriter&)>& fill);

}  // namespace relascope::core
