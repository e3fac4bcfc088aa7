// SPDX-License-Identifier: GPL-3.0-or-later
// The places of an input whose share of a head's attention says what the head does. Of a text: the
// token itself, the previous one, the first one, earlier copies of the token (duplicate token) and
// the tokens that followed earlier copies (induction; Olsson et al., "In-context Learning and
// Induction Heads", 2022). Of an image: the class token, the patch itself and its neighbours. Does
// not include torch.
#pragma once

#include <string>
#include <vector>

#include "types/relation_map.h"

namespace relascope::core {

class HeadPlaces {
public:
    /// Of the tokens of a text or the patches of an image; there are no measures for other inputs.
    explicit HeadPlaces(const ProbeResult& result);

    const std::vector<std::string>& measures() const { return m_names; }
    /// Whether it is attention of the tokens or patches to one another.
    bool fits(const RelationMap& map) const;
    /// The mean attention to the places of each measure, over the rows that have such places: of
    /// all rows, or of `mostRows` spread evenly over a longer input. NaN where no row has any.
    std::vector<double> of(const RelationMap& map, int mostRows = 1 << 30) const;
    /// The same of attention that is spread evenly over the open cells of each row.
    std::vector<double> even(bool causal) const;

private:
    template <class Read>
    std::vector<double> mean(bool causal, int mostRows, Read read) const;

    std::vector<std::string> m_names;
    int m_size = 0;
    /// [measure][row]: columns, ascending.
    std::vector<std::vector<std::vector<int>>> m_places;
};

}  // namespace relascope::core
