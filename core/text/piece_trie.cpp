// SPDX-License-Identifier: GPL-3.0-or-later
#include "text/piece_trie.h"

#include <algorithm>

namespace relascope::core {

PieceTrie::PieceTrie(std::vector<std::pair<std::string_view, std::int32_t>> pieces) {
    std::stable_sort(pieces.begin(), pieces.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    // The nodes level by level, each with the run of pieces that pass through it.
    struct Run {
        std::size_t begin, end;
    };
    std::vector<Run> level = {{0, pieces.size()}};
    m_nodes.resize(1);
    m_labels.resize(1);
    std::size_t node = 0;
    for (std::size_t depth = 0; !level.empty(); ++depth) {
        std::vector<Run> next;
        for (auto [begin, end] : level) {
            for (; begin < end && pieces[begin].first.size() == depth; ++begin)
                if (depth > 0) m_nodes[node].id = pieces[begin].second;
            m_nodes[node].first = static_cast<std::uint32_t>(m_nodes.size());
            while (begin < end) {
                const char label = pieces[begin].first[depth];
                auto until = begin;
                while (until < end && pieces[until].first[depth] == label) ++until;
                next.push_back({begin, until});
                m_nodes.emplace_back();
                m_labels.push_back(label);
                ++m_nodes[node].children;
                begin = until;
            }
            ++node;
        }
        level = std::move(next);
    }
}

}  // namespace relascope::core
