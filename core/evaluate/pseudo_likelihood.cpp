// SPDX-License-Identifier: GPL-3.0-or-later
#include "evaluate/pseudo_likelihood.h"

#include <torch/utils.h>

#include <algorithm>

namespace relascope::core {

HiddenRows hiddenRows(const std::vector<std::int64_t>& tokens,
                      const std::vector<std::int64_t>& words, std::int64_t mask,
                      std::int64_t from) {
    HiddenRows hidden;
    std::vector<std::int64_t> all;
    for (std::size_t place = 0; place < tokens.size(); ++place) {
        if (words[place] < 0 || static_cast<std::int64_t>(place) < from) continue;
        auto row = tokens;
        for (auto k = place; k < row.size() && words[k] == words[place]; ++k) row[k] = mask;
        all.insert(all.end(), row.begin(), row.end());
        hidden.places.push_back(static_cast<std::int64_t>(place));
    }
    hidden.rows = torch::tensor(all).view({-1, static_cast<std::int64_t>(tokens.size())});
    return hidden;
}

std::vector<double> hiddenWordScores(
    const std::vector<std::int64_t>& tokens, const HiddenRows& hidden, std::int64_t atATime,
    const std::function<torch::Tensor(const torch::Tensor& rows)>& scores) {
    std::vector<double> all(tokens.size());
    const auto count = std::ssize(hidden.places);
    for (std::int64_t first = 0; first < count; first += atATime) {
        const auto end = std::min(count, first + atATime);
        const auto given = scores(hidden.rows.slice(0, first, end));  // [k, n, vocabulary]
        for (auto k = first; k < end; ++k) {
            const auto place = hidden.places[static_cast<std::size_t>(k)];
            const auto at = given[k - first][place].to(torch::kCPU, torch::kDouble);
            const auto token = tokens[static_cast<std::size_t>(place)];
            all[static_cast<std::size_t>(place)] = torch::log_softmax(at, 0)[token].item<double>();
        }
    }
    return all;
}

}  // namespace relascope::core
