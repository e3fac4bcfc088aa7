// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/parts/score_factors.h"

#include <torch/utils.h>

#include <algorithm>
#include <cmath>

namespace relascope::core {
namespace {

constexpr std::int64_t kTileRows = 256, kTileColumns = 1024;
// Candidates in float32 beyond those that are wanted, which are computed again in double.
constexpr std::int64_t kSpareCandidates = 64;
constexpr std::int64_t kRowsOfTriangle = 2048;
constexpr std::int64_t kAllRows = 4096, kDrawnRows = 2048, kRowsAtOnce = 64;
// What rounding may leave, of the largest score that the lengths of rows allow.
constexpr double kNoSpread = 1e-10, kLeastComponent = 1e-9;

torch::Tensor weightedMean(const torch::Tensor& x, const torch::Tensor& weights) {
    return torch::matmul(weights, x);
}

double number(const torch::Tensor& x) {
    return x.item<double>();
}

/// Factors whose rows are sorted by their lengths, in float32.
struct SortedRows {
    torch::Tensor order, rows;    // [V] int64, [V, width]
    std::vector<double> longest;  // of each block of rows

    SortedRows(const torch::Tensor& x, std::int64_t block) {
        const auto lengths = x.norm(2, 1);
        order = std::get<1>(lengths.sort(0, true));
        rows = x.index_select(0, order).to(torch::kFloat).contiguous();
        for (std::int64_t first = 0; first < x.size(0); first += block)
            longest.push_back(number(lengths[order[first]]));
    }
};

/// The largest of the values that it has met.
class Largest {
public:
    explicit Largest(std::int64_t count) : m_count(count) {}
    double least() const { return m_least; }
    /// Values [n] and the pairs that they are of, [n] int64.
    void add(const torch::Tensor& values, const torch::Tensor& pairs) {
        m_values = m_values.defined() ? torch::cat({m_values, values}) : values;
        m_pairs = m_pairs.defined() ? torch::cat({m_pairs, pairs}) : pairs;
        const auto [top, at] = m_values.topk(std::min(m_count, m_values.size(0)));
        m_values = top, m_pairs = m_pairs.index_select(0, at);
        if (top.size(0) == m_count) m_least = top[m_count - 1].item<double>();
    }
    const torch::Tensor& pairs() const { return m_pairs; }

private:
    std::int64_t m_count;
    double m_least = -INFINITY;
    torch::Tensor m_values, m_pairs;
};

std::vector<ScoredPair> exactPairs(const ScoreFactors& factors, const torch::Tensor& pairs,
                                   std::int64_t top, bool highest) {
    const auto v = factors.k.size(0);
    const auto t = torch::div(pairs, v, "floor"), u = pairs - t * v;
    const auto scores =
        factors.scale * (factors.q.index_select(0, t) * factors.k.index_select(0, u)).sum(1);
    std::vector<ScoredPair> all;
    for (std::int64_t n = 0; n < pairs.size(0); ++n)
        all.push_back(
            {t[n].item<std::int64_t>(), u[n].item<std::int64_t>(), scores[n].item<double>()});
    std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
        if (a.score != b.score) return highest ? a.score > b.score : a.score < b.score;
        return std::pair(a.receiver, a.sender) < std::pair(b.receiver, b.sender);
    });
    if (std::ssize(all) > top) all.resize(static_cast<std::size_t>(top));
    return all;
}

}  // namespace

ScoreComponents componentsOf(const ScoreFactors& factors, const torch::Tensor& weights,
                             std::int64_t most) {
    const torch::NoGradGuard noGrad;
    ScoreComponents c;
    const auto meanQ = weightedMean(factors.q, weights), meanK = weightedMean(factors.k, weights);
    // The triangles of rows below each other are those of their triangles, and take no copy of all
    // rows.
    std::vector<torch::Tensor> triangles[2];
    const auto width = factors.q.size(1), rows = std::max(kRowsOfTriangle, 2 * width);
    auto crossed = torch::zeros({width, width}, torch::kDouble);
    for (std::int64_t first = 0; first < factors.q.size(0); first += rows) {
        const auto root = weights.slice(0, first, first + rows).sqrt().unsqueeze(1);
        const auto a = root * (factors.q.slice(0, first, first + rows) - meanQ),
                   b = root * (factors.k.slice(0, first, first + rows) - meanK);
        triangles[0].push_back(std::get<1>(at::linalg_qr(a, "r")));
        triangles[1].push_back(std::get<1>(at::linalg_qr(b, "r")));
        crossed += torch::matmul(b.t(), a) * factors.scale;
    }
    const auto whole = [](const std::vector<torch::Tensor>& parts) {
        return parts.size() == 1 ? parts[0] : std::get<1>(at::linalg_qr(torch::cat(parts), "r"));
    };
    const auto rQ = whole(triangles[0]), rK = whole(triangles[1]);
    // The factors behind QR: rows of orthonormal columns.
    const auto [u, s, vt] = at::linalg_svd(factors.scale * torch::matmul(rQ, rK.t()), false);
    const double ofReceivers = std::pow(factors.scale * number(torch::matmul(rQ, meanK).norm()), 2),
                 ofSenders = std::pow(factors.scale * number(torch::matmul(rK, meanQ).norm()), 2),
                 ofPairs = number(s.square().sum()), all = ofReceivers + ofSenders + ofPairs;
    c.deviation = std::sqrt(all);
    const double largest =
        factors.scale * std::sqrt(number(torch::matmul(weights, factors.q.square().sum(1))) *
                                  number(torch::matmul(weights, factors.k.square().sum(1))));
    c.constant = !(c.deviation > kNoSpread * largest);
    if (!c.constant)
        c.receiverShare = ofReceivers / all, c.senderShare = ofSenders / all,
        c.pairShare = ofPairs / all;
    const double first = s.size(0) > 0 ? s[0].item<double>() : 0.0;
    c.oneSided = c.constant || !(first > kNoSpread * largest);
    const auto found = c.oneSided ? 0 : s.gt(kLeastComponent * first).sum().item<std::int64_t>(),
               count = std::min(found, most);
    c.values = s.slice(0, 0, found);
    c.receiverOf = torch::matmul(at::linalg_pinv(rQ, 1e-12), u.slice(1, 0, count));
    c.senderOf = torch::matmul(at::linalg_pinv(rK, 1e-12), vt.slice(0, 0, count).t());
    const auto seen = weights.gt(0).unsqueeze(1).to(torch::kDouble);
    c.receiver = torch::matmul(factors.q - meanQ, c.receiverOf) * seen;
    c.sender = torch::matmul(factors.k - meanK, c.senderOf) * seen;
    if (count == 0) return c;
    const auto at = c.receiver.abs().argmax(0, true);
    const auto sign = torch::where(c.receiver.gather(0, at).lt(0), -1.0, 1.0).to(torch::kDouble);
    for (auto* x : {&c.receiver, &c.sender, &c.receiverOf, &c.senderOf}) *x = *x * sign;
    // <P, P^T> is the trace of a product of moments of q and k.
    c.symmetric = 0.5 + 0.5 * number((crossed * crossed.t()).sum()) / ofPairs;
    return c;
}

double scoreCovariance(const ScoreFactors& one, const ScoreFactors& other,
                       const torch::Tensor& weights) {
    const torch::NoGradGuard noGrad;
    const auto centred = [&](const torch::Tensor& x) { return x - weightedMean(x, weights); };
    const auto moments = [&](const torch::Tensor& a, const torch::Tensor& b) {
        return torch::matmul((centred(a) * weights.unsqueeze(1)).t(), centred(b));
    };
    const auto ofQ = moments(one.q, other.q), ofK = moments(one.k, other.k);
    const auto along = [&](const torch::Tensor& a, const torch::Tensor& m, const torch::Tensor& b) {
        return number(
            torch::dot(torch::matmul(weightedMean(a, weights), m), weightedMean(b, weights)));
    };
    return one.scale * other.scale *
           (number((ofQ * ofK).sum()) + along(one.k, ofQ, other.k) + along(one.q, ofK, other.q));
}

ScoreFactors lessRowMeans(ScoreFactors factors, const torch::Tensor& weights) {
    factors.k = factors.k - weightedMean(factors.k, weights);
    return factors;
}

ExtremePairs extremePairs(const ScoreFactors& factors, std::int64_t top,
                          const std::function<void(double)>& progress) {
    const torch::NoGradGuard noGrad;
    const auto v = factors.q.size(0), w = factors.k.size(0);
    const auto wanted = std::min(top, v * w), kept = std::min(wanted + kSpareCandidates, v * w);
    const SortedRows q(factors.q, kTileRows), k(factors.k * factors.scale, kTileColumns);
    const auto keys = k.rows.t().contiguous();
    struct Tile {
        std::int64_t row, column;
        double bound;
    };
    std::vector<Tile> tiles;
    for (std::size_t r = 0; r < q.longest.size(); ++r)
        for (std::size_t c = 0; c < k.longest.size(); ++c)
            tiles.push_back({static_cast<std::int64_t>(r), static_cast<std::int64_t>(c),
                             q.longest[r] * k.longest[c] * (1.0 + 1e-5)});
    std::stable_sort(tiles.begin(), tiles.end(),
                     [](const auto& a, const auto& b) { return a.bound > b.bound; });
    Largest high(kept), low(kept);  // of the scores, and of their negatives
    ExtremePairs result;
    result.tiles = std::ssize(tiles);
    auto buffer = torch::empty({kTileRows * kTileColumns}, torch::kFloat);
    for (const auto& tile : tiles) {
        if (tile.bound <= high.least() && tile.bound <= low.least()) break;  // as all that follow
        if (progress && result.looked % 64 == 0)
            progress(static_cast<double>(result.looked) / static_cast<double>(result.tiles));
        ++result.looked;
        const auto firstRow = tile.row * kTileRows, firstColumn = tile.column * kTileColumns;
        const auto rows = q.rows.slice(0, firstRow, firstRow + kTileRows);
        const auto columns = keys.slice(1, firstColumn, firstColumn + kTileColumns);
        auto scores = buffer.slice(0, 0, rows.size(0) * columns.size(1))
                          .view({rows.size(0), columns.size(1)});
        at::mm_out(scores, rows, columns);
        const auto [least, most] = scores.aminmax();
        const auto take = [&](Largest& to, const torch::Tensor& values) {
            const auto flat = values.flatten();
            const auto found = flat.gt(to.least()).nonzero().squeeze(1);
            const auto receivers =
                q.order.index_select(0, torch::div(found, columns.size(1), "floor") + firstRow);
            const auto senders = k.order.index_select(0, found % columns.size(1) + firstColumn);
            to.add(flat.index_select(0, found), receivers * w + senders);
        };
        if (most.item<double>() > high.least()) take(high, scores);
        if (-least.item<double>() > low.least()) take(low, -scores);
    }
    if (high.pairs().defined()) result.highest = exactPairs(factors, high.pairs(), wanted, true);
    if (low.pairs().defined()) result.lowest = exactPairs(factors, low.pairs(), wanted, false);
    return result;
}

SelfPreference selfPreference(const ScoreFactors& factors, const torch::Tensor& weights) {
    const torch::NoGradGuard noGrad;
    const auto v = factors.q.size(0);
    SelfPreference result;
    const bool all = v < kAllRows;
    auto rows = torch::arange(v);
    if (!all) {
        auto generator = at::make_generator<at::CPUGeneratorImpl>(1);
        rows = torch::multinomial(weights, kDrawnRows, true, generator);
        result.drawn = kDrawnRows;
    }
    const auto type = all ? torch::kDouble : torch::kFloat;
    const auto keys = (factors.k * factors.scale).to(type).t().contiguous(),
               queries = factors.q.to(type), chances = weights.to(type);
    std::vector<torch::Tensor> found;
    for (std::int64_t first = 0; first < rows.size(0); first += kRowsAtOnce) {
        const auto here = rows.slice(0, first, first + kRowsAtOnce);
        const auto scores = torch::matmul(queries.index_select(0, here), keys);  // [rows, V]
        const auto own = scores.gather(1, here.unsqueeze(1));
        const auto less = torch::matmul(scores.lt(own).to(type), chances),
                   ties = torch::matmul(scores.eq(own).to(type), chances);
        // A row ties with itself.
        found.push_back((less + 0.5 * (ties - chances.index_select(0, here))).to(torch::kDouble));
    }
    const auto wins = torch::cat(found);            // [rows]: sum over u of p_u
    const auto p = weights.index_select(0, rows);   // the chance that u is t is left out
    const auto by = all ? p : torch::ones_like(p);  // drawn rows come as often as they count
    const auto others = (by * (1.0 - p)).sum();
    result.value = number((by * wins).sum() / others);
    if (!all) {
        const auto rest = wins - result.value * (1.0 - p);
        result.error =
            number(rest.std() / (1.0 - p).mean()) / std::sqrt(static_cast<double>(rest.size(0)));
    }
    return result;
}

}  // namespace relascope::core
