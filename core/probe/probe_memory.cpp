// SPDX-License-Identifier: GPL-3.0-or-later
#include "probe/probe_memory.h"

#include <algorithm>
#include <limits>

#include "files/memory.h"
#include "model/architecture.h"
#include "types/error.h"

namespace relascope::core {
namespace {

// Probes below this size are never refused, as the figures are estimates.
constexpr std::uint64_t kAlwaysAllowed = 64ULL << 20;

// Floats of the maps of one layer, or of their factors.
double layerFloats(const WorkEstimate& work, double n) {
    // The factors of `each` numbers a token, or `maps` maps.
    const auto smaller = [n](std::int64_t maps, std::int64_t each) {
        const double whole = n * n * static_cast<double>(maps);
        return each > 0 ? std::min(whole, n * static_cast<double>(each)) : whole;
    };
    const double weights = static_cast<double>(work.symbolScores);
    const double retrieved = work.symbolScores == 0 ? n
                             : work.headFactors > 0
                                 ? std::min(n * weights, static_cast<double>(work.d_model) * n)
                                 : n * weights;
    return smaller(work.heads, work.headFactors) + smaller(work.relations, work.relationFactors) +
           retrieved;
}

}  // namespace

std::uint64_t mapBytes(const ModelOptions& m, std::int64_t tokens) {
    const auto work = m.info().work(m);
    const auto layers = static_cast<double>(std::max<std::int64_t>(1, work.layers));
    return static_cast<std::uint64_t>(4.0 * layers *
                                      layerFloats(work, static_cast<double>(tokens)));
}

std::uint64_t probeBytes(const ModelOptions& m, std::int64_t tokens) {
    const auto work = m.info().work(m);
    const auto n = static_cast<double>(tokens);
    // Within a layer's forward pass: where factors are recorded, scores of some rows at a time, or
    // of all for a few tokens; else scores, their softmax and a copy of the relations. Of a mean
    // feed-forward block a few rows for each token, and the logits of one.
    const double rows = work.headFactors > 0 ? std::min(n, 512.0) : n;
    const double working = 3.0 * rows * n * static_cast<double>(work.heads + work.relations) +
                           n * static_cast<double>(12 * work.d_model + 4 * work.dff) +
                           static_cast<double>(work.vocabulary) * (work.headFactors > 0 ? 4.0 : n);
    return mapBytes(m, tokens) + static_cast<std::uint64_t>(4.0 * working);
}

namespace {

/// The largest number of tokens, at most the context, whose bytes are within the bound; 1 if none
/// are.
std::int64_t longest(const ModelOptions& m, std::uint64_t bound,
                     std::uint64_t (*bytes)(const ModelOptions&, std::int64_t)) {
    std::int64_t fits = 1, most = m.tokens();
    while (fits < most) {  // bytes grow with the length
        const std::int64_t middle = fits + (most - fits + 1) / 2;
        if (bytes(m, middle) <= bound)
            fits = middle;
        else
            most = middle - 1;
    }
    return fits;
}

}  // namespace

std::int64_t longestProbe(const ModelOptions& m, std::uint64_t bytes) {
    return longest(m, bytes, probeBytes);
}
std::int64_t longestResult(const ModelOptions& m, std::uint64_t bytes) {
    return longest(m, bytes, mapBytes);
}

std::uint64_t probeBudget() {
    const std::uint64_t free = availableMemory();
    if (free == 0) return std::numeric_limits<std::uint64_t>::max();  // unknown: no bound
    return std::max(kAlwaysAllowed, free / 5 * 4);
}

void requireProbeMemory(const ModelOptions& m, std::int64_t tokens) {
    const auto needed = probeBytes(m, tokens), budget = probeBudget();
    if (needed <= budget) return;
    throw OptionError("text", std::to_string(tokens) + " tokens need " + byteText(needed) +
                                  " for the maps of " + std::to_string(m.info().work(m).layers) +
                                  " layers, and " + byteText(budget) +
                                  " are free for them; shorten it to " +
                                  std::to_string(longestProbe(m, budget)) + " tokens");
}

void shorten(ProbeSample& sample, std::int64_t longest) {
    const auto most = static_cast<std::size_t>(longest);
    if (sample.source.tokens.size() <= most) return;
    sample.source.tokens.resize(most);
    if (sample.source.labels.size() > most) sample.source.labels.resize(most);
}

}  // namespace relascope::core
