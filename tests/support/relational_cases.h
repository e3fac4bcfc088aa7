// SPDX-License-Identifier: GPL-3.0-or-later
// Small relational heads, and the kinds of symbols that they may have.
#pragma once

#include <algorithm>
#include <string>

#include "model/attention/relational_attention.h"

namespace relascope::core {

struct SymbolKind {
    const char* name;
    int maxOffset;  // -1 absolute, -2 the same for every input of the batch
};
inline constexpr SymbolKind kSymbolKinds[] = {
    {"a symbol each", -1}, {"shared symbols", -2}, {"clamped offsets", 5}, {"all offsets", 1100}};

inline RelationalOptions smallHeads() {
    RelationalOptions o;
    o.d_model = 12, o.n_heads = 4, o.head_dim = 3, o.n_relations = 6;
    return o;
}

/// Symbols for `batch` inputs of n tokens: [batch, n, d], [n, d] or the library [.., d].
inline torch::Tensor randomSymbols(const SymbolKind& kind, std::int64_t batch, std::int64_t n,
                                   std::int64_t d, torch::ScalarType type = torch::kFloat) {
    return kind.maxOffset >= 0    ? torch::randn({2 * kind.maxOffset + 1, d}, type)
           : kind.maxOffset == -2 ? torch::randn({n, d}, type)
                                  : torch::randn({batch, n, d}, type);
}
inline Symbols symbolsOf(const SymbolKind& kind, const torch::Tensor& values) {
    return {values, std::max(-1, kind.maxOffset)};
}

/// "shared symbols n 9 identity causal kv 2 dropout 0.3"
inline std::string describe(const RelationalOptions& o, std::int64_t n, const SymbolKind& kind) {
    return std::string(kind.name) + " n " + std::to_string(n) + " " + o.rel_activation +
           (o.causal ? " causal" : "") + (o.symmetric_rels ? " symmetric" : "") + " kv " +
           std::to_string(o.n_kv_heads) + " dropout " + std::to_string(o.dropout);
}

}  // namespace relascope::core
