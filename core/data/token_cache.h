// SPDX-License-Identifier: GPL-3.0-or-later
// Token ids of texts, kept between runs under $XDG_CACHE_HOME/relascope. What is not there, not
// whole or not writable costs time, never an error.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>

#include "data/token_file.h"

namespace relascope::core {

/// $XDG_CACHE_HOME/relascope, else ~/.cache/relascope; empty where neither is.
std::string cacheFolder();

/// Small facts by name (hexadecimal), such as the content behind a signature.
std::optional<nlohmann::json> readCachedFact(const std::string& key);
void writeCachedFact(const std::string& key, const nlohmann::json& fact);

/// Token ids with what else is known of them.
struct CachedTokens {
    TokenPart tokens;
    std::string facts;  ///< JSON
};

/// The entry of that key, its checksum held against its bytes; nothing when it is absent, damaged
/// or of another version. `tick` is called now and then with the fraction done, and may throw.
std::optional<CachedTokens> openCachedTokens(const std::string& key,
                                             const std::function<void(double)>& tick);

/// Takes ids from front to back.
class TokenWriter {
public:
    using Output = std::function<void(const void*, std::size_t)>;
    TokenWriter(int width, Output output);
    void put(std::span<const std::int32_t> ids);
    /// Writes what is held, the facts and the end mark.
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

/// Has `fill` write the tokens (it returns the facts) into the entry of that key; where the cache
/// cannot take them, `fill` is called again for a nameless file in $TMPDIR, then for memory.
CachedTokens makeCachedTokens(const std::string& key, int width,
                              const std::function<std::string(TokenWriter&)>& fill);

}  // namespace relascope::core
