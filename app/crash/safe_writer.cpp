// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/crash/safe_writer.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace relascope::crash {

SafeWriter& SafeWriter::text(std::string_view text) {
    while (!text.empty()) {
        const std::size_t part = std::min(text.size(), sizeof m_buffer - m_used);
        std::memcpy(m_buffer + m_used, text.data(), part);
        m_used += part;
        text.remove_prefix(part);
        if (m_used == sizeof m_buffer) flush();
    }
    return *this;
}

SafeWriter& SafeWriter::path(std::string_view path) {
    const bool inHome = m_home.size() > 1 && path.substr(0, m_home.size()) == m_home &&
                        (path.size() == m_home.size() || path[m_home.size()] == '/');
    return inHome ? text("~").text(path.substr(m_home.size())) : text(path);
}

SafeWriter& SafeWriter::number(std::uint64_t value, int digits) {
    char figures[24];
    char* at = figures + sizeof figures;
    for (int i = 0; i < 20 && (value > 0 || i < digits); ++i, value /= 10)
        *--at = static_cast<char>('0' + value % 10);
    return text({at, static_cast<std::size_t>(figures + sizeof figures - at)});
}

SafeWriter& SafeWriter::hex(std::uint64_t value) {
    char figures[16];
    char* at = figures + sizeof figures;
    do {
        *--at = "0123456789abcdef"[value % 16];
        value /= 16;
    } while (value > 0);
    return text("0x").text({at, static_cast<std::size_t>(figures + sizeof figures - at)});
}

void SafeWriter::flush() {
    const char* from = m_buffer;
    while (m_used > 0 && !m_failed) {
        const ssize_t written = ::write(m_file, from, m_used);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) m_failed = true;
        if (m_failed) break;
        from += written;
        m_used -= static_cast<std::size_t>(written);
    }
    m_used = 0;
}

}  // namespace relascope::crash
