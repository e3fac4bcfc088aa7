// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/pairs/auc_draws.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>

#include "types/error.h"

namespace relascope::core {
namespace {

// Places are dealt to so many threads, always as many: sums do not depend on the machine.
constexpr std::size_t kWorkers = 4;
constexpr double kStandardErrors = 1.959964;  // half of a 95 % interval
constexpr std::size_t kWeights = 1U << 21;    // weights of yes, and of no, that one thread holds

/// The draws for one place and attribute: which pairs are needed, and their weights in some lanes.
class DrawnWeights {
public:
    virtual ~DrawnWeights() = default;
    /// Whether the pair has an answer in any draw.
    virtual bool needed(PairTruth truth, std::size_t example, std::size_t cell) const = 0;
    /// Writes the pair's weights in lanes first .. first + count - 1.
    virtual void fill(PairTruth truth, std::size_t example, std::size_t cell, std::size_t first,
                      std::size_t count, float* yes, float* no) const = 0;
};

class Sums {
public:
    Sums(const AucSubject& subject, std::size_t draws)
        : m_subject(subject),
          m_draws(draws),
          m_rowOf(subject.shape.values(), kNoRow),
          below(subject.relations.size() * subject.attributes.size() * draws, 0.0),
          weight(subject.attributes.size() * draws, 0.0) {}

    void add(std::size_t place, std::size_t attribute, const DrawnWeights& drawn) {
        const auto& shape = m_subject.shape;
        const PairTruth truth = m_subject.attributes[attribute];
        const std::size_t cells = shape.cells();
        std::vector<std::uint32_t> needed;  // e * cells + cell
        for (std::size_t e = 0; e < shape.examples; ++e)
            for (const auto cell : m_subject.places[place])
                if (drawn.needed(truth, e, cell))
                    needed.push_back(static_cast<std::uint32_t>(e * cells) + cell);
        if (needed.empty()) return;
        for (std::size_t k = 0; k < needed.size(); ++k)
            m_rowOf[needed[k]] = static_cast<std::uint32_t>(k);
        const std::size_t most = std::clamp<std::size_t>(kWeights / needed.size(), 8, m_draws);
        for (std::size_t first = 0; first < m_draws; first += most) {
            AucLanes lanes;
            lanes.lanes = std::min(most, m_draws - first);
            lanes.yes.resize(needed.size() * lanes.lanes);
            lanes.no.resize(lanes.yes.size());
            std::vector<double> yes(lanes.lanes, 0.0), no(lanes.lanes, 0.0);
            for (std::size_t k = 0; k < needed.size(); ++k) {
                float *yesRow = &lanes.yes[k * lanes.lanes], *noRow = &lanes.no[k * lanes.lanes];
                drawn.fill(truth, needed[k] / cells, needed[k] % cells, first, lanes.lanes, yesRow,
                           noRow);
                for (std::size_t l = 0; l < lanes.lanes; ++l)
                    yes[l] += static_cast<double>(yesRow[l]),
                        no[l] += static_cast<double>(noRow[l]);
            }
            for (std::size_t l = 0; l < lanes.lanes; ++l)
                weight[attribute * m_draws + first + l] += yes[l] * no[l];
            for (std::size_t r = 0; r < m_subject.relations.size(); ++r)
                addWeightedAuc(m_subject.relations[r], place, m_rowOf, lanes,
                               std::span(below).subspan(
                                   (r * m_subject.attributes.size() + attribute) * m_draws + first,
                                   lanes.lanes));
        }
        for (const auto entry : needed) m_rowOf[entry] = kNoRow;
    }

private:
    const AucSubject& m_subject;
    std::size_t m_draws;
    std::vector<std::uint32_t> m_rowOf;

public:
    std::vector<double> below, weight;
};

AucDraws drawnAucs(const AucSubject& subject, std::size_t draws, const DrawnWeights& drawn,
                   const DrawProgress& progress) {
    const std::size_t places = subject.places.size(), attributes = subject.attributes.size();
    std::vector<Sums> sums;
    for (std::size_t w = 0; w < kWorkers; ++w) sums.emplace_back(subject, draws);
    std::atomic<std::size_t> done = 0;
    std::atomic<bool> cancelled = false;
    std::mutex mutex;
    std::exception_ptr failure;
    const auto work = [&](std::size_t w) {
        try {
            for (std::size_t p = w; p < places; p += kWorkers)
                for (std::size_t a = 0; a < attributes && !cancelled; ++a) {
                    sums[w].add(p, a, drawn);
                    ++done;
                    if (w != 0 || !progress) continue;
                    const auto all = static_cast<double>(places * attributes);
                    if (!progress(static_cast<double>(done) / all)) cancelled = true;
                }
        } catch (...) {
            const std::lock_guard lock(mutex);
            failure = std::current_exception();
            cancelled = true;
        }
    };
    {
        // The caller's thread is one of them, so that it is the one that reports.
        std::vector<std::jthread> threads;
        for (std::size_t w = 1; w < kWorkers; ++w) threads.emplace_back(work, w);
        work(0);
    }
    if (failure) std::rethrow_exception(failure);
    if (cancelled) throw Cancelled();
    AucDraws result{attributes, draws, std::move(sums[0].below)};
    for (std::size_t w = 1; w < kWorkers; ++w) {
        for (std::size_t k = 0; k < result.auc.size(); ++k) result.auc[k] += sums[w].below[k];
        for (std::size_t k = 0; k < sums[0].weight.size(); ++k)
            sums[0].weight[k] += sums[w].weight[k];
    }
    for (std::size_t k = 0; k < result.auc.size(); ++k) {
        const double weight = sums[0].weight[k % (attributes * draws)];
        result.auc[k] =
            weight > 0 ? result.auc[k] / weight : std::numeric_limits<double>::quiet_NaN();
    }
    return result;
}

using Groups = std::map<std::int32_t, std::vector<std::uint32_t>>;

Groups groupsOf(const std::vector<std::int32_t>& occupied) {
    Groups groups;
    for (std::size_t e = 0; e < occupied.size(); ++e)
        groups[occupied[e]].push_back(static_cast<std::uint32_t>(e));
    return groups;
}

class PermutationWeights : public DrawnWeights {
public:
    PermutationWeights(const AucSubject& subject, const std::vector<std::int32_t>& occupied,
                       std::size_t draws, std::uint64_t seed)
        : m_cells(subject.shape.cells()),
          m_draws(draws),
          m_from(subject.shape.examples * draws),
          m_members(subject.shape.examples) {
        std::mt19937_64 random(seed);
        for (const auto& [number, members] : groupsOf(occupied)) {
            for (const auto e : members) m_members[e] = &m_groups[number];
            m_groups[number] = members;
            for (std::size_t d = 0; d < draws; ++d) {
                auto order = members;  // Fisher and Yates
                for (std::size_t k = order.size(); k > 1; --k)
                    std::swap(order[k - 1], order[random() % k]);
                for (std::size_t k = 0; k < members.size(); ++k)
                    m_from[members[k] * draws + d] = order[k];
            }
        }
    }
    bool needed(PairTruth truth, std::size_t example, std::size_t cell) const override {
        return std::any_of(m_members[example]->begin(), m_members[example]->end(),
                           [&](auto e) { return truth[e * m_cells + cell] != kPairUndefined; });
    }
    void fill(PairTruth truth, std::size_t example, std::size_t cell, std::size_t first,
              std::size_t count, float* yes, float* no) const override {
        const auto* from = &m_from[example * m_draws + first];
        for (std::size_t l = 0; l < count; ++l) {
            const auto answer = truth[from[l] * m_cells + cell];
            yes[l] = answer == kPairYes ? 1.0F : 0.0F;
            no[l] = answer == kPairNo ? 1.0F : 0.0F;
        }
    }

private:
    std::size_t m_cells, m_draws;
    std::vector<std::uint32_t> m_from;  // [examples, draws]
    Groups m_groups;
    std::vector<const std::vector<std::uint32_t>*> m_members;  // members of each example's group
};

class BootstrapWeights : public DrawnWeights {
public:
    BootstrapWeights(const AucSubject& subject, std::size_t draws, std::uint64_t seed)
        : m_cells(subject.shape.cells()),
          m_draws(draws),
          m_times(subject.shape.examples * draws, 0.0F) {
        std::mt19937_64 random(seed);
        for (std::size_t d = 0; d < draws; ++d)
            for (std::size_t k = 0; k < subject.shape.examples; ++k)
                m_times[random() % subject.shape.examples * draws + d] += 1.0F;
    }
    bool needed(PairTruth truth, std::size_t example, std::size_t cell) const override {
        return truth[example * m_cells + cell] != kPairUndefined;
    }
    void fill(PairTruth truth, std::size_t example, std::size_t cell, std::size_t first,
              std::size_t count, float* yes, float* no) const override {
        const float* times = &m_times[example * m_draws + first];
        const bool isYes = truth[example * m_cells + cell] == kPairYes;
        std::copy(times, times + count, isYes ? yes : no);
        std::fill_n(isYes ? no : yes, count, 0.0F);
    }

private:
    std::size_t m_cells, m_draws;
    std::vector<float> m_times;  // [examples, draws]
};

}  // namespace

AucDraws permutedAucs(const AucSubject& subject, const std::vector<std::int32_t>& occupied,
                      std::size_t draws, std::uint64_t seed, const DrawProgress& progress) {
    return drawnAucs(subject, draws, PermutationWeights(subject, occupied, draws, seed), progress);
}

AucDraws bootstrappedAucs(const AucSubject& subject, std::size_t draws, std::uint64_t seed,
                          const DrawProgress& progress) {
    return drawnAucs(subject, draws, BootstrapWeights(subject, draws, seed), progress);
}

std::pair<double, double> aucInterval(double auc, std::span<const double> drawn,
                                      std::size_t examples) {
    static constexpr double unknown = std::numeric_limits<double>::quiet_NaN(), tail = 0.025;
    const double end = std::min(auc, 1.0 - auc);
    // Draws without an exception are as far from the AUC as a tenth of its exceptions.
    const double nearest = std::min(1e-4, 0.1 * end);
    const auto logit = [&](double p) {
        const double inside = std::clamp(p, nearest, 1.0 - nearest);
        return std::log(inside / (1.0 - inside));
    };
    double count = 0.0, sum = 0.0, squares = 0.0;
    for (const double one : drawn) count += std::isfinite(one);
    if (!std::isfinite(auc) || 2.0 * count < static_cast<double>(drawn.size()) || count < 2.0)
        return {unknown, unknown};
    if (!(end > 0.0)) {
        const double bound =
            std::pow(tail, 1.0 / static_cast<double>(std::max<std::size_t>(1, examples)));
        return auc > 0.5 ? std::pair(bound, 1.0) : std::pair(0.0, 1.0 - bound);
    }
    for (const double one : drawn)
        if (std::isfinite(one)) sum += logit(one);
    for (const double one : drawn)
        if (std::isfinite(one)) squares += std::pow(logit(one) - sum / count, 2);
    const double by = kStandardErrors * std::sqrt(squares / (count - 1.0)), at = logit(auc);
    return {1.0 / (1.0 + std::exp(by - at)), 1.0 / (1.0 + std::exp(-by - at))};
}

bool followsOccupied(const PairShape& shape, PairTruth truth,
                     const std::vector<std::int32_t>& occupied) {
    const std::size_t cells = shape.cells();
    for (const auto& [number, members] : groupsOf(occupied))
        for (const auto e : members)
            if (!std::equal(truth.begin() + static_cast<std::ptrdiff_t>(e * cells),
                            truth.begin() + static_cast<std::ptrdiff_t>((e + 1) * cells),
                            truth.begin() + static_cast<std::ptrdiff_t>(members.front() * cells)))
                return false;
    return true;
}

}  // namespace relascope::core
