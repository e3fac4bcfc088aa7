// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/fitted/object_attention.h"

#include <torch/utils.h>

namespace relascope::core {

ObjectAttention::ObjectAttention(torch::Tensor objects, torch::Tensor groups,
                                 std::int64_t firstTokens)
    : m_objects(std::move(objects)),
      m_groups(std::move(groups)),
      m_counted(m_objects.gt(0).any(1)),
      m_first(firstTokens) {
    m_kinds = {"itself", "own object"};
    if (m_groups.defined()) m_kinds.emplace_back("own group");
    for (const char* kind :
         {m_groups.defined() ? "other groups" : "other objects", "background", "first tokens"})
        m_kinds.emplace_back(kind);
}

torch::Tensor ObjectAttention::sharesOf(const torch::Tensor& attention, std::int64_t first,
                                        std::int64_t count) const {
    const auto n = m_objects.size(1);
    const auto objects = m_objects.slice(0, first, first + count);
    const auto on = objects.gt(0), i = on.unsqueeze(2), j = on.unsqueeze(1);
    const auto same = objects.unsqueeze(2).eq(objects.unsqueeze(1)).logical_and(i);
    const auto itself = torch::eye(n, torch::kBool);
    const auto others = i.logical_and(j).logical_and(same.logical_not());
    std::vector<torch::Tensor> kinds = {i.logical_and(itself),
                                        same.logical_and(itself.logical_not())};
    if (m_groups.defined()) {
        const auto groups = m_groups.slice(0, first, first + count);
        const auto own = groups.unsqueeze(2).eq(groups.unsqueeze(1));
        kinds.push_back(others.logical_and(own));
        kinds.push_back(others.logical_and(own.logical_not()));
    } else {
        kinds.push_back(others);
    }
    kinds.push_back(i.logical_and(j.logical_not()));
    const auto rows = attention.slice(-2, m_first, m_first + n).to(torch::kDouble);
    const auto patches = rows.slice(-1, m_first, m_first + n);
    std::vector<torch::Tensor> shares;
    for (const auto& kind : kinds)
        shares.push_back(
            (patches * kind.unsqueeze(1).to(torch::kDouble)).sum({2, 3}));  // [b, heads]
    shares.push_back(
        (rows.slice(-1, 0, m_first).sum(-1) * on.unsqueeze(1).to(torch::kDouble)).sum(2));
    return torch::stack(shares, 2) / on.sum(1).clamp_min(1).view({-1, 1, 1});
}

void ObjectAttention::add(const std::string& layer, std::int64_t first,
                          const torch::Tensor& attention) {
    m_shares[layer].push_back(sharesOf(attention, first, attention.size(0)));
    const auto sum = attention.to(torch::kDouble).sum(0);
    auto& all = m_sums[layer];
    all = all.defined() ? all + sum : sum;
}

torch::Tensor ObjectAttention::shares(const std::string& layer) const {
    return torch::cat(m_shares.at(layer)).index({m_counted});
}

torch::Tensor ObjectAttention::placeAlone(const std::string& layer) const {
    const auto mean = m_sums.at(layer).unsqueeze(0) / static_cast<double>(m_objects.size(0));
    // One example at a time: the maps of all would not fit into the memory.
    std::vector<torch::Tensor> shares;
    for (std::int64_t e = 0; e < m_objects.size(0); ++e) shares.push_back(sharesOf(mean, e, 1));
    return torch::cat(shares).index({m_counted});
}

}  // namespace relascope::core
