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

}  // namespace

std::uint64_t probeBytes(const ModelOptions& m, std::int64_t tokens) {
    const auto work = m.info().work(m);
    const auto n = static_cast<double>(tokens);
    const auto maps = static_cast<double>(work.heads + work.relations);
    const double retrieved =
        work.symbolScores > 0 ? n * static_cast<double>(work.symbolScores) : n * n;
    const double layer = n * n * maps + retrieved;
    // Within a layer's forward pass: scores, their softmax and a copy of the relations; of a mean
    // feed-forward block and the logits a few rows each token.
    const double working =
        3.0 * n * n * maps +
        n * static_cast<double>(8 * work.d_model + 4 * work.dff + work.vocabulary);
    return static_cast<std::uint64_t>(
        4.0 * (static_cast<double>(std::max<std::int64_t>(1, work.layers)) * layer + working));
}

std::int64_t longestProbe(const ModelOptions& m, std::uint64_t bytes) {
    std::int64_t fits = 1, most = m.tokens();
    while (fits < most) {  // bytes grow with the length
        const std::int64_t middle = fits + (most - fits + 1) / 2;
        if (probeBytes(m, middle) <= bytes)
            fits = middle;
        else
            most = middle - 1;
    }
    return fits;
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

}  // namespace relascope::core
