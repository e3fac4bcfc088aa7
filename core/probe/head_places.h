// SPDX-License-Identifier: GPL-3.0-or-later
// The places of an input whose share of a head's attention tells what the head does. In a text: the
// token itself, the previous one, the first one, earlier copies of the token (duplicate token) and
// the tokens that followed earlier copies (induction; Olsson et al., "In-context Learning and
// Induction Heads", 2022). In an image: the class token, the patch itself and its neighbours. Does
// not include torch.
#pragma once

#include <string>
#include <vector>

#include "types/relation_map.h"

namespace relascope::core {

class HeadPlaces {
public:
    /// The places among the tokens of a text or the patches of an image; other inputs have no
    /// measures.
    explicit HeadPlaces(const ProbeResult& result);

    const std::vector<std::string>& measures() const { return m_names; }
    /// Whether a map is attention of the tokens or patches to one another.
    bool fits(const RelationMap& map) const;
    /// The mean attention to the places of each measure, over the rows that have such places. NaN
    /// where no row has any.
    std::vector<double> of(const RelationMap& map) const;
    /// The mean attention for some rows of a map, `values` [rows, columns of the map].
    std::vector<double> of(const std::vector<int>& rows, const float* values, bool causal) const;
    /// The mean attention if it were spread evenly over the open cells of each row.
    std::vector<double> even(bool causal) const;

private:
    /// `read(k)`: row k of those in `rows`.
    template <class Read>
    std::vector<double> mean(const std::vector<int>& rows, bool causal, Read read) const;
    std::vector<int> allRows() const;

    std::vector<std::string> m_names;
    int m_size = 0;
    /// [measure][row]: columns, ascending.
    std::vector<std::vector<std::vector<int>>> m_places;
};

}  // namespace relascope::core
