// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/pairs/conjunctions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string_view>
#include <unordered_set>

namespace relascope::core {
namespace {

constexpr std::size_t kOfThree = 10, kOfEachMap = 2;
constexpr double kClearlyMore = 0.01;       // of an AUC, or half of what misses to 0 or 1
constexpr std::int64_t kFewestOfEach = 20;  // pairs of each answer

double fromHalf(double auc) {
    return std::isfinite(auc) ? std::abs(auc - 0.5) : 0.0;
}

/// The answer of a conjunction to a pair.
std::uint8_t together(const std::vector<PairAttribute>& attributes, const Conjunction& conjunction,
                      std::size_t at) {
    bool open = false;
    for (const auto& [attribute, holds] : conjunction.members) {
        const auto answer = attributes[attribute].truth[at];
        if (answer == kPairUndefined)
            open = true;
        else if ((answer == kPairYes) != holds)
            return kPairNo;
    }
    return open ? kPairUndefined : kPairYes;
}

/// Answers as a number, with pairs that do not count left out.
std::size_t hashOf(const PairShape& shape, const std::vector<std::uint8_t>& truth) {
    std::string counted;
    counted.reserve(shape.values());
    const std::size_t n = shape.objects;
    for (std::size_t e = 0; e < shape.examples; ++e)
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < (shape.causal ? i : n); ++j)
                if (i != j) counted.push_back(static_cast<char>(truth[(e * n + i) * n + j]));
    return std::hash<std::string_view>()(counted);
}

class ConjunctionSearch {
public:
    ConjunctionSearch(const PairShape& shape, const std::vector<std::vector<float>>& values,
                      const std::vector<PairAttribute>& attributes,
                      const std::vector<std::size_t>& of)
        : m_shape(shape), m_attributes(attributes), m_places(pairPlaces(shape)) {
        for (const auto& map : values)
            m_maps.emplace_back(shape, m_places, std::span(map).first(shape.values()));
        m_best.assign(m_maps.size(), 0.0);
        m_found.resize(m_maps.size());
        for (const auto a : of) {
            const auto truth = std::span(attributes[a].truth).first(shape.values());
            m_asked.insert(hashOf(shape, {truth.begin(), truth.end()}));
            double most = 0.0;
            for (std::size_t m = 0; m < m_maps.size(); ++m) {
                const double by = fromHalf(placeFixedAuc(m_maps[m], truth));
                m_best[m] = std::max(m_best[m], by), most = std::max(most, by);
            }
            m_strength.emplace_back(-most, a);
        }
        std::stable_sort(m_strength.begin(), m_strength.end());
    }

    AskedConjunctions run(std::size_t most) {
        const auto at = [&](std::size_t k) { return m_strength[k].second; };
        const std::size_t count = m_strength.size(), ten = std::min(count, kOfThree);
        for (std::size_t a = 0; a < count; ++a)
            for (std::size_t b = a + 1; b < count; ++b)
                for (const auto& [first, second] :
                     {std::pair(true, true), std::pair(true, false), std::pair(false, true)})
                    ask({{{at(a), first}, {at(b), second}}});
        for (std::size_t a = 0; a < ten; ++a)
            for (std::size_t b = a + 1; b < ten; ++b)
                for (std::size_t c = b + 1; c < ten; ++c)
                    for (std::size_t no = 0; no < 4; ++no)
                        ask({{{at(a), no != 0}, {at(b), no != 1}, {at(c), no != 2}}});
        std::vector<std::pair<double, Conjunction>> all;
        for (auto& found : m_found)
            for (auto& one : found)
                if (std::none_of(all.begin(), all.end(),
                                 [&](const auto& other) { return other.second == one.second; }))
                    all.push_back(std::move(one));
        std::stable_sort(all.begin(), all.end(),
                         [](const auto& a, const auto& b) { return a.first > b.first; });
        AskedConjunctions result{{}, m_count};
        for (auto& one : all)
            if (result.promising.size() < most) result.promising.push_back(std::move(one.second));
        return result;
    }

private:
    void ask(const Conjunction& conjunction) {
        std::vector<std::uint8_t> truth(m_shape.values());
        std::int64_t yes = 0, no = 0;
        for (std::size_t k = 0; k < truth.size(); ++k) {
            truth[k] = together(m_attributes, conjunction, k);
            yes += truth[k] == kPairYes, no += truth[k] == kPairNo;
        }
        if (std::min(yes, no) < kFewestOfEach || !m_asked.insert(hashOf(m_shape, truth)).second)
            return;
        ++m_count;
        for (std::size_t m = 0; m < m_maps.size(); ++m) {
            const double by = fromHalf(placeFixedAuc(m_maps[m], truth));
            const bool more = by - m_best[m] >= kClearlyMore ||
                              (by > m_best[m] && 0.5 - by <= 0.5 * (0.5 - m_best[m]));
            if (!more) continue;
            auto& found = m_found[m];
            found.emplace_back(by, conjunction);
            std::stable_sort(found.begin(), found.end(),
                             [](const auto& a, const auto& b) { return a.first > b.first; });
            if (found.size() > kOfEachMap) found.pop_back();
        }
    }

    PairShape m_shape;
    const std::vector<PairAttribute>& m_attributes;
    std::vector<std::vector<std::uint32_t>> m_places;
    std::vector<SortedPairs> m_maps;
    std::vector<double> m_best;  // of each map the strongest attribute, from 0.5
    std::vector<std::pair<double, std::size_t>> m_strength;            // -strength, attribute
    std::vector<std::vector<std::pair<double, Conjunction>>> m_found;  // of each map
    std::unordered_set<std::size_t> m_asked;
    std::size_t m_count = 0;
};

}  // namespace

std::string conjunctionName(const std::vector<PairAttribute>& attributes,
                            const Conjunction& conjunction) {
    std::string name;
    // What holds comes first.
    for (const bool holding : {true, false})
        for (const auto& [attribute, holds] : conjunction.members)
            if (holds == holding)
                name += std::string(name.empty() ? "" : " and ") + (holds ? "" : "not ") +
                        attributes[attribute].name;
    return name;
}

PairAttribute conjunctionOf(const std::vector<PairAttribute>& attributes,
                            const Conjunction& conjunction) {
    PairAttribute one{conjunctionName(attributes, conjunction), false, {}, {}};
    one.truth.resize(attributes[conjunction.members.front().first].truth.size());
    for (std::size_t k = 0; k < one.truth.size(); ++k)
        one.truth[k] = together(attributes, conjunction, k);
    return one;
}

AskedConjunctions promisingConjunctions(const PairShape& shape,
                                        const std::vector<std::vector<float>>& values,
                                        const std::vector<PairAttribute>& attributes,
                                        const std::vector<std::size_t>& of, std::size_t most) {
    // What asks only of some pairs, as "same colour where shapes differ", is a conjunction itself.
    std::vector<std::size_t> simple;
    for (const auto a : of)
        if (!attributes[a].ordered && attributes[a].name.find(" where ") == std::string::npos)
            simple.push_back(a);
    if (simple.size() < 2 || values.empty()) return {};
    return ConjunctionSearch(shape, values, attributes, simple).run(most);
}

std::size_t attributeNamed(PairAttributes& attributes, const std::string& name) {
    const auto find = [&](std::string_view wanted) {
        const auto at = std::find_if(attributes.all.begin(), attributes.all.end(),
                                     [&](const auto& one) { return one.name == wanted; });
        return at == attributes.all.end() ? std::string::npos
                                          : static_cast<std::size_t>(at - attributes.all.begin());
    };
    if (const auto at = find(name); at != std::string::npos) return at;
    static constexpr std::string_view kAnd = " and ", kNot = "not ";
    Conjunction conjunction;
    for (std::string_view rest = name; !rest.empty();) {
        std::size_t at = std::string::npos, end = 0;
        bool holds = true;
        // A name may have an "and" of its own: "operator and operand".
        for (; at == std::string::npos; end += kAnd.size()) {
            if (end > rest.size()) return std::string::npos;
            end = std::min(rest.find(kAnd, end), rest.size());
            const auto word = rest.substr(0, end);
            at = find(word), holds = true;
            if (at == std::string::npos && word.starts_with(kNot))
                at = find(word.substr(kNot.size())), holds = false;
        }
        if (attributes.all[at].ordered) return std::string::npos;
        conjunction.members.emplace_back(at, holds);
        rest = end <= rest.size() ? rest.substr(end) : std::string_view();
    }
    if (conjunction.members.size() < 2) return std::string::npos;
    attributes.all.push_back(conjunctionOf(attributes.all, conjunction));
    return attributes.all.size() - 1;
}

}  // namespace relascope::core
