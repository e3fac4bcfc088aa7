// SPDX-License-Identifier: GPL-3.0-or-later
// Where the attention of patches on objects goes: to themselves, their object, others (Lepori et
// al. 2024; interventions.md section 18).
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace relascope::core {

/// Shares of attention, an example each.
class ObjectAttention {
public:
    /// `objects` [examples, places]: the number of the object at each, 0 without one; `groups` of
    /// the same shape, or undefined. Positions before place 0 are `firstTokens`.
    ObjectAttention(torch::Tensor objects, torch::Tensor groups, std::int64_t firstTokens);

    /// "itself", "own object", ["own group",] "other objects" or "other groups", "background",
    /// "first tokens"
    const std::vector<std::string>& kinds() const { return m_kinds; }
    /// Adds the attention of one layer [b, heads, positions, positions] of the examples from
    /// `first` on.
    void add(const std::string& layer, std::int64_t first, const torch::Tensor& attention);
    /// [examples with an object, heads, kinds]: means over the patches on objects.
    torch::Tensor shares(const std::string& layer) const;
    /// [examples with an object, heads, kinds]: shares of the mean map over all examples.
    torch::Tensor placeAlone(const std::string& layer) const;

private:
    torch::Tensor sharesOf(const torch::Tensor& attention, std::int64_t first,
                           std::int64_t count) const;

    torch::Tensor m_objects, m_groups, m_counted;
    std::int64_t m_first;
    std::vector<std::string> m_kinds;
    std::map<std::string, std::vector<torch::Tensor>> m_shares;
    std::map<std::string, torch::Tensor> m_sums;  // sums of maps [heads, positions, positions]
};

}  // namespace relascope::core
