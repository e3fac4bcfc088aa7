// SPDX-License-Identifier: GPL-3.0-or-later
// The nearest known name to a mistyped one, for "did you mean".
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace relascope {

/// Levenshtein distance in bytes.
inline std::size_t editDistance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
            diagonal = above;
        }
    }
    return row.back();
}

/// All of `known` with the distance to `name`, nearest first. If one name contains the other
/// ("context" and "context_length"), the distance is 1.
inline std::vector<std::pair<std::size_t, std::string>> rankedNames(
    std::string_view name, const std::vector<std::string>& known) {
    std::vector<std::pair<std::size_t, std::string>> ranked;
    for (const auto& candidate : known) {
        const bool contains =
            (!name.empty() && candidate.find(name) != std::string::npos) ||
            (candidate.size() >= 4 && name.find(candidate) != std::string_view::npos);
        const std::size_t distance = editDistance(name, candidate);
        ranked.emplace_back(contains ? std::min<std::size_t>(distance, 1) : distance, candidate);
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    return ranked;
}

/// Up to `count` of `known`, nearest to `name` first; names without similarity are left out.
inline std::vector<std::string> nearestNames(std::string_view name,
                                             const std::vector<std::string>& known,
                                             std::size_t count = 3) {
    std::vector<std::string> names;
    for (const auto& [distance, candidate] : rankedNames(name, known))
        if (names.size() < count &&
            (distance <= 1 || distance <= std::max<std::size_t>(2, candidate.size() / 2)))
            names.push_back(candidate);
    return names;
}

/// The sentence for an unknown name: "unknown preset 'quik'; did you mean 'quick'?" or, with
/// nothing near, the nearest name and then the whole list. A list of over 40 names is left out: it
/// would be pages, not a sentence.
inline std::string unknownName(std::string_view what, std::string_view name,
                               const std::vector<std::string>& known) {
    const auto list = [](const std::vector<std::string>& names) {
        std::string text;
        for (std::size_t i = 0; i < names.size(); ++i)
            text += (i == 0 ? "'" : i + 1 == names.size() ? " or '" : ", '") + names[i] + "'";
        return text;
    };
    std::string text = "unknown " + std::string(what) + " '" + std::string(name) + "'";
    if (const auto near = nearestNames(name, known); !near.empty())
        return text + "; did you mean " + list(near) + "?";
    if (known.size() > 40) {
        std::vector<std::string> ranked;
        for (const auto& [distance, candidate] : rankedNames(name, known))
            if (ranked.size() < 3) ranked.push_back(candidate);
        return text + "; the nearest are " + list(ranked);
    }
    if (known.size() > 3) text += "; the nearest is '" + rankedNames(name, known)[0].second + "'";
    return text + "; known names are " + list(known);
}

}  // namespace relascope
