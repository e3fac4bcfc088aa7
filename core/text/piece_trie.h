// SPDX-License-Identifier: GPL-3.0-or-later
// Which pieces of a vocabulary a text begins with.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace relascope::core {

/// A tree of bytes. Immutable, some 13 bytes for each distinct beginning of a piece.
class PieceTrie {
public:
    PieceTrie() : PieceTrie(std::vector<std::pair<std::string_view, std::int32_t>>()) {}
    /// Pieces with their ids; of equal pieces the last counts, and empty ones are never found.
    explicit PieceTrie(std::vector<std::pair<std::string_view, std::int32_t>> pieces);

    /// Calls found(bytes, id) for each piece that `text` begins with, the shortest first.
    template <class Found>
    void prefixes(std::string_view text, const Found& found) const {
        std::size_t node = 0;
        for (std::size_t at = 0; at < text.size(); ++at) {
            const Node& from = m_nodes[node];
            if (from.children == 0) return;
            const auto* label = static_cast<const char*>(
                std::memchr(m_labels.data() + from.first, text[at], from.children));
            if (!label) return;
            node = static_cast<std::size_t>(label - m_labels.data());
            if (m_nodes[node].id >= 0) found(at + 1, m_nodes[node].id);
        }
    }
    /// The id of a whole piece.
    std::optional<std::int32_t> find(std::string_view piece) const {
        std::optional<std::int32_t> id;
        prefixes(piece, [&](std::size_t bytes, std::int32_t known) {
            if (bytes == piece.size()) id = known;
        });
        return id;
    }

private:
    struct Node {
        std::uint32_t first = 0;     ///< the children lie one behind the other
        std::uint16_t children = 0;  ///< at most 256
        std::int32_t id = -1;
    };
    std::vector<Node> m_nodes;
    std::vector<char> m_labels;  ///< the byte that leads to each node
};

}  // namespace relascope::core
