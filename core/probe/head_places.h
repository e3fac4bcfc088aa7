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

/// How much of a head's attention goes to places of a kind, whatever stands there: to itself, some
/// tokens back, the last tokens, the first token, the start of the line; of an image to itself, its
/// row, its column, its neighbours. Rows of any number of maps are added.
class PlaceShares {
public:
    /// For the tokens of a text, or, with `columns` above 0, the patches of a grid.
    explicit PlaceShares(int objects, int columns = 0);

    /// Row i of a map, [objects]. `lineStart`: the first token of the line of i; -1: not among the
    /// objects, or not known. `firstToken`: whether object 0 is the first of the text.
    void add(int i, const float* row, bool causal, int lineStart, bool firstToken);
    /// The share of the weight on the first token, where it is not among the objects.
    void setFirst(double share) { m_first = share; }
    /// "attends to the last 3 tokens (85 %), whatever they are": the most special of the places
    /// that have 80 % of the weight or more, and leave out half of what even attention would give
    /// to others; empty where none do.
    std::string reading() const;

private:
    static constexpr int kLast = 8, kBack = 16;
    struct Share {
        double weight = 0.0, even = 0.0, rows = 0.0;
        void add(double of, double evenly) { weight += of, even += evenly, rows += 1.0; }
    };

    int m_objects, m_columns;
    double m_first = 0.0;
    Share m_back[kBack + 1], m_last[kLast + 1], m_firstToken, m_line, m_row, m_column, m_near;
};

}  // namespace relascope::core
